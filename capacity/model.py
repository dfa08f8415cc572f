"""Kueue's objects as frozen values, in Kueue's words (API v1beta2).

Amounts are exact integers in the resource's own unit: millicores for ``cpu``, whole units for
everything else (bytes for memory, cards for ``nvidia.com/gpu``), as Kueue counts them internally
(pkg/resources). A limit of None means "no limit"; ``UNLIMITED`` is Kueue's largest amount.
"""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import NamedTuple, Protocol

from capacity.errors import Gap
from capacity.placement import Taint, Terms, Toleration

UNLIMITED = 2**63 - 1


class FlavorResource(NamedTuple):
    """One (flavor, resource) pair: what every quota, limit and amount is counted per."""

    flavor: str
    resource: str


Amounts = Mapping[FlavorResource, int]


@dataclass(frozen=True, slots=True)
class Quota:
    """Quota of one (flavor, resource); a None limit means no limit, 0 means never."""

    nominal: int
    borrowing_limit: int | None = None
    lending_limit: int | None = None


@dataclass(frozen=True, slots=True)
class FlavorQuotas:
    """One flavor's quotas by resource name, in the order of the spec."""

    name: str
    resources: Mapping[str, Quota]


@dataclass(frozen=True, slots=True)
class ResourceGroup:
    """Resources that share flavors; the order of flavors is the order of preference."""

    covered_resources: tuple[str, ...]
    flavors: tuple[FlavorQuotas, ...]


@dataclass(frozen=True, slots=True)
class Condition:
    """A status condition; ``status`` is "True", "False" or "Unknown"."""

    type: str
    status: str
    reason: str
    message: str
    last_transition: datetime


@dataclass(frozen=True, slots=True)
class Preemption:
    """A ClusterQueue's preemption policies, with Kueue's defaults."""

    reclaim_within_cohort: str = "Never"
    within_cluster_queue: str = "Never"
    borrow_within_cohort: str = "Never"
    max_priority_threshold: int | None = None


@dataclass(frozen=True, slots=True)
class FlavorFungibility:
    """Which flavor is tried next when a workload would have to borrow or preempt."""

    when_can_borrow: str = "MayStopSearch"
    when_can_preempt: str = "TryNextFlavor"
    preference: str | None = None


@dataclass(frozen=True, slots=True)
class AdmissionCheckRule:
    """An AdmissionCheck of a ClusterQueue; no ``on_flavors`` means every flavor."""

    name: str
    on_flavors: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ClusterQueue:
    """A ClusterQueue: quota per (flavor, resource), its rules, and what Kueue reports.

    ``resource_groups`` is the spec's; ``effective_resource_groups`` is ``status.effectiveQuota``
    and replaces it for all arithmetic when set (KEP-12382). ``reserved`` is
    ``status.flavorsReservation`` (what headroom subtracts), ``admitted`` is ``flavorsUsage``.
    """

    name: str
    cohort: str | None = None
    resource_groups: tuple[ResourceGroup, ...] = ()
    effective_resource_groups: tuple[ResourceGroup, ...] | None = None
    queueing_strategy: str = "BestEffortFIFO"
    preemption: Preemption = Preemption()
    flavor_fungibility: FlavorFungibility = FlavorFungibility()
    stop_policy: str = "None"
    fair_weight: Decimal = Decimal(1)
    admission_checks: tuple[AdmissionCheckRule, ...] = ()
    namespace_selector: Mapping[str, object] | None = None
    conditions: tuple[Condition, ...] = ()
    reserved: Amounts = field(default_factory=dict)
    reported_borrowed: Amounts = field(default_factory=dict)
    admitted: Amounts = field(default_factory=dict)
    pending_workloads: int = 0
    reserving_workloads: int = 0
    admitted_workloads: int = 0
    weighted_share: int | None = None
    labels: Mapping[str, str] = field(default_factory=dict)
    annotations: Mapping[str, str] = field(default_factory=dict)
    generation: int = 0
    admission_mode: str = "NoAdmissionFairSharing"


@dataclass(frozen=True, slots=True)
class Cohort:
    """A Cohort; its nominal quota is added to its children's."""

    name: str
    parent: str | None = None
    resource_groups: tuple[ResourceGroup, ...] = ()
    effective_resource_groups: tuple[ResourceGroup, ...] | None = None
    fair_weight: Decimal = Decimal(1)
    weighted_share: int | None = None


@dataclass(frozen=True, slots=True)
class LocalQueue:
    """A namespace's door to a ClusterQueue; jobs name it in ``kueue.x-k8s.io/queue-name``."""

    namespace: str
    name: str
    cluster_queue: str
    stop_policy: str = "None"
    conditions: tuple[Condition, ...] = ()
    pending_workloads: int = 0
    reserving_workloads: int = 0
    admitted_workloads: int = 0
    reserved: Amounts = field(default_factory=dict)
    admitted: Amounts = field(default_factory=dict)
    fair_weight: Decimal = Decimal(1)
    consumed: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ResourceFlavor:
    """A kind of node: its labels, taints and, for topology-aware scheduling, its Topology.

    ``tolerations`` are added to every pod that gets the flavor.
    """

    name: str
    node_labels: Mapping[str, str] = field(default_factory=dict)
    node_taints: tuple[Taint, ...] = ()
    topology: str | None = None
    tolerations: tuple[Toleration, ...] = ()


@dataclass(frozen=True, slots=True)
class WorkloadPriorityClass:
    """A named priority for Workloads; higher goes first."""

    name: str
    value: int
    description: str = ""


@dataclass(frozen=True, slots=True)
class PodSet:
    """Identical pods of a Workload: ``count`` pods, each asking for ``requests`` (per pod).

    ``tolerations`` of None aren't known. Pod sets of one ``group`` get the same flavors.
    """

    name: str
    count: int
    requests: Mapping[str, int]
    min_count: int | None = None
    node_selector: Mapping[str, str] = field(default_factory=dict)
    topology: str | None = None
    tolerations: tuple[Toleration, ...] | None = None
    affinity: Terms = ()
    group: str | None = None


@dataclass(frozen=True, slots=True)
class PodSetAssignment:
    """Where a pod set was placed: flavor by resource, and usage in total for ``count`` pods.

    ``places`` are the topology domains that its pods stand in, with how many each; empty without
    topology-aware scheduling, and at most the first 64.
    """

    name: str
    count: int
    flavors: Mapping[str, str]
    usage: Mapping[str, int]
    places: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True, slots=True)
class Admission:
    """The quota reservation of a Workload in a ClusterQueue."""

    cluster_queue: str
    assignments: tuple[PodSetAssignment, ...]


@dataclass(frozen=True, slots=True)
class AdmissionCheckState:
    """State of one AdmissionCheck: Pending, Ready, Retry or Rejected; ``retries`` so far."""

    name: str
    state: str
    message: str = ""
    retries: int = 0


@dataclass(frozen=True, slots=True)
class Owner:
    """The object that a person submitted: its kind, name and uid (Job, JobSet, RayJob ...)."""

    kind: str
    name: str
    uid: str


@dataclass(frozen=True, slots=True)
class Workload:
    """A Workload: the unit that Kueue queues and admits, all pods or none.

    An elastic job that grows gets a new one, which ``replaces`` the old ("namespace/name").
    """

    uid: str
    namespace: str
    name: str
    queue_name: str
    created: datetime
    pod_sets: tuple[PodSet, ...]
    owner: Owner | None = None
    priority: int = 0
    priority_class: str | None = None
    active: bool = True
    admission: Admission | None = None
    conditions: tuple[Condition, ...] = ()
    requeue_count: int = 0
    requeue_at: datetime | None = None
    reclaimable: Mapping[str, int] = field(default_factory=dict)
    admission_checks: tuple[AdmissionCheckState, ...] = ()
    evictions: tuple[tuple[str, int], ...] = ()
    admission_gated_by: str = ""
    max_execution_seconds: int | None = None
    past_execution_seconds: int = 0
    replaces: str = ""

    def condition(self, type_: str) -> Condition | None:
        """Return the condition of this type, or None if Kueue has not set it."""
        return next((c for c in self.conditions if c.type == type_), None)

    def is_true(self, type_: str) -> bool:
        """Tell whether the condition of this type is "True"."""
        found = self.condition(type_)
        return found is not None and found.status == "True"

    @property
    def job(self) -> str:
        """The name a person knows it by: the owner's, else the Workload's own."""
        return self.owner.name if self.owner else self.name

    @property
    def status(self) -> str:
        """Kueue's own word: Finished, Admitted, QuotaReserved or Pending (workload.Status)."""
        for word in ("Finished", "Admitted", "QuotaReserved"):
            if self.is_true(word):
                return word
        return "Pending"


class Workloads(Protocol):
    """Workloads by what is asked of them; cheap at 100,000."""

    def __len__(self) -> int: ...
    def __iter__(self) -> Iterator[Workload]: ...
    def reserving(self, cluster_queue: str) -> Collection[Workload]:
        """Unfinished workloads that hold quota in this ClusterQueue."""
        ...

    def pending(self, cluster_queue: str) -> Collection[Workload]:
        """Unfinished workloads without quota whose LocalQueue points to this ClusterQueue."""
        ...

    def finished(self, cluster_queue: str) -> Collection[Workload]:
        """Finished workloads that held quota in this ClusterQueue, as far as they are kept."""
        ...

    def named(self, name: str) -> Collection[Workload]:
        """Workloads whose own or whose owner's name is this."""
        ...

    def names(self) -> Collection[str]:
        """Every name that ``named`` knows."""
        ...


@dataclass(frozen=True, slots=True)
class Fleet:
    """A consistent read of the cluster at ``as_of`` (the last event or list seen).

    ``source`` says where it comes from ("Kueue, cluster prod-eu"). ``gaps`` names what is stale
    or missing; an object that is absent because its source is down is a gap, never a zero.
    ``every_workload`` tells that no Workload is missing for such a reason: one that isn't here
    isn't in the cluster, or ended so long ago that it isn't kept.
    """

    cluster: str
    as_of: datetime
    cluster_queues: Mapping[str, ClusterQueue]
    cohorts: Mapping[str, Cohort]
    local_queues: Mapping[tuple[str, str], LocalQueue]
    flavors: Mapping[str, ResourceFlavor]
    priority_classes: Mapping[str, WorkloadPriorityClass]
    workloads: Workloads
    source: str = "Kueue"
    gaps: tuple[Gap, ...] = ()
    fair_sharing: bool = False
    every_workload: bool = False


def effective_resource_groups(node: ClusterQueue | Cohort) -> tuple[ResourceGroup, ...]:
    """Return the quota in force: ``status.effectiveQuota`` when set, else the spec (KEP-12382)."""
    if node.effective_resource_groups is not None:
        return node.effective_resource_groups
    return node.resource_groups


def quotas(node: ClusterQueue | Cohort) -> dict[FlavorResource, Quota]:
    """Return the quota in force by (flavor, resource), in order of preference."""
    return {
        FlavorResource(flavor.name, resource): quota
        for group in effective_resource_groups(node)
        for flavor in group.flavors
        for resource, quota in flavor.resources.items()
    }
