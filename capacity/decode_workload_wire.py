"""The parts of a Workload's JSON that are read: a few hundred bytes of several thousand.

[pure]
"""

from datetime import datetime

import msgspec

from capacity.decode_wire import (
    ConditionWire,
    NamedWire,
    OwnerWire,
    Quantities,
    TolerationWire,
    Wire,
)


class WorkloadNotesWire(
    msgspec.Struct,
    gc=False,
    rename={
        "gated_by": "kueue.x-k8s.io/admission-gated-by",
        "owner_name": "kueue.x-k8s.io/job-owner-name",
        "owner_kind": "kueue.x-k8s.io/job-owner-gvk",
        "replaces": "kueue.x-k8s.io/workload-slice-replacement-for",
    },
):
    """The annotations of a Workload that Kueue acts on."""

    gated_by: str = ""
    owner_name: str = ""
    owner_kind: str = ""
    replaces: str = ""


class WorkloadMetaWire(Wire):
    """Metadata of a Workload."""

    name: str
    namespace: str = ""
    uid: str = ""
    resource_version: str = ""
    creation_timestamp: datetime | None = None
    annotations: WorkloadNotesWire | None = None
    owner_references: list[OwnerWire] | None = None


class ResourcesWire(Wire):
    """Requests and limits."""

    requests: Quantities | None = None
    limits: Quantities | None = None


class ContainerWire(Wire):
    """A container; ``restart_policy`` "Always" makes an init container a sidecar."""

    resources: ResourcesWire | None = None
    restart_policy: str | None = None


class RequirementWire(Wire):
    """What a node's label must be."""

    key: str = ""
    operator: str = ""
    values: list[str] | None = None


class TermWire(Wire):
    """Requirements that must hold together."""

    match_expressions: list[RequirementWire] | None = None


class NodeSelectorWire(Wire):
    """Terms of which one must hold."""

    node_selector_terms: list[TermWire] | None = None


class NodeAffinityWire(Wire, rename={"required": "requiredDuringSchedulingIgnoredDuringExecution"}):
    """Which nodes a pod must or would like to run on; only the first counts for quota."""

    required: NodeSelectorWire | None = None


class AffinityWire(Wire):
    """Affinity of a pod."""

    node_affinity: NodeAffinityWire | None = None


class PodSpecWire(Wire):
    """What of a pod decides how much quota it needs and where it may run."""

    containers: list[ContainerWire] = msgspec.field(default_factory=list)
    init_containers: list[ContainerWire] | None = None
    overhead: Quantities | None = None
    resources: ResourcesWire | None = None
    node_selector: dict[str, str] | None = None
    tolerations: list[TolerationWire] | None = None
    affinity: AffinityWire | None = None


class TemplateWire(Wire):
    """A pod template."""

    spec: PodSpecWire = msgspec.field(default_factory=PodSpecWire)


class TopologyRequestWire(Wire):
    """Which topology level a pod set must or should share, and with which others its flavors."""

    required: str | None = None
    preferred: str | None = None
    unconstrained: bool | None = None
    pod_set_group_name: str | None = None


class PodSetWire(Wire):
    """A pod set."""

    name: str = "main"
    count: int = 1
    min_count: int | None = None
    template: TemplateWire = msgspec.field(default_factory=TemplateWire)
    topology_request: TopologyRequestWire | None = None


class WorkloadSpecWire(Wire):
    """Spec of a Workload; ``priority_class_name`` is v1beta1's."""

    pod_sets: list[PodSetWire] = msgspec.field(default_factory=list)
    queue_name: str = ""
    priority_class_ref: NamedWire | None = None
    priority_class_name: str | None = None
    priority: int | None = None
    active: bool | None = None
    maximum_execution_time_seconds: int | None = None


class NamesWire(Wire):
    """Names of domains, without what they all begin and end with."""

    prefix: str = ""
    suffix: str = ""
    roots: list[str] = msgspec.field(default_factory=list)


class LevelNamesWire(Wire):
    """The domains' names on one level: one for all, or each its own."""

    universal: str | None = None
    individual: NamesWire | None = None


class PodCountsWire(Wire):
    """Pods of each domain: the same in all, or each its own."""

    universal: int | None = None
    individual: list[int] | None = None


class SliceWire(Wire):
    """Domains that are told together (v1beta2)."""

    domain_count: int = 0
    values_per_level: list[LevelNamesWire] = msgspec.field(default_factory=list)
    pod_counts: PodCountsWire = msgspec.field(default_factory=PodCountsWire)


class DomainWire(Wire):
    """One domain and its pods (v1beta1)."""

    values: list[str] = msgspec.field(default_factory=list)
    count: int = 0


class PlacesWire(Wire):
    """Where the pods of a pod set stand; ``domains`` is v1beta1's."""

    slices: list[SliceWire] | None = None
    domains: list[DomainWire] | None = None


class AssignmentWire(Wire):
    """Where a pod set was placed."""

    name: str = "main"
    flavors: dict[str, str] | None = None
    resource_usage: Quantities | None = None
    count: int | None = None
    topology_assignment: PlacesWire | None = None


class AdmissionWire(Wire):
    """A quota reservation."""

    cluster_queue: str
    pod_set_assignments: list[AssignmentWire] = msgspec.field(default_factory=list)


class RequeueWire(Wire):
    """Back-off after evictions."""

    count: int | None = None
    requeue_at: datetime | None = None


class ReclaimableWire(Wire):
    """Pods of a pod set that are done and give their quota back."""

    name: str
    count: int = 0


class CheckStateWire(Wire):
    """State of an AdmissionCheck."""

    name: str
    state: str = "Pending"
    message: str = ""
    retry_count: int | None = None


class RequestWire(Wire):
    """What the scheduler tried to fit for a pod set, in total for all its pods."""

    name: str
    resources: Quantities | None = None


class EvictionWire(Wire):
    """How often a Workload was evicted for a reason."""

    reason: str
    underlying_cause: str = ""
    count: int = 0


class SchedulingStatsWire(Wire):
    """Statistics of scheduling."""

    evictions: list[EvictionWire] | None = None


class WorkloadStatusWire(
    Wire,
    rename={
        "past_v1beta1": "accumulatedPastExexcutionTimeSeconds",
        "past": "accumulatedPastExecutionTimeSeconds",
        "requeue_state": "requeueState",
        "reclaimable_pods": "reclaimablePods",
        "admission_checks": "admissionChecks",
        "resource_requests": "resourceRequests",
        "scheduling_stats": "schedulingStats",
    },
):
    """Status of a Workload; v1beta1 misspells the execution time."""

    conditions: list[ConditionWire] | None = None
    admission: AdmissionWire | None = None
    requeue_state: RequeueWire | None = None
    reclaimable_pods: list[ReclaimableWire] | None = None
    admission_checks: list[CheckStateWire] | None = None
    resource_requests: list[RequestWire] | None = None
    scheduling_stats: SchedulingStatsWire | None = None
    past: int | None = None
    past_v1beta1: int | None = None


class WorkloadWire(Wire):
    """A Workload."""

    metadata: WorkloadMetaWire
    spec: WorkloadSpecWire = msgspec.field(default_factory=WorkloadSpecWire)
    status: WorkloadStatusWire = msgspec.field(default_factory=WorkloadStatusWire)
