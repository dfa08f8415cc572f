"""The parts of Kueue's JSON that are read, as they stand on the wire.

Fields that no answer needs are not named here, so the decoder skips them without building
anything. Names that exist in v1beta1 only stand beside their v1beta2 successors; an object has
one or the other. [pure]
"""

from datetime import datetime
from typing import Any

import msgspec

Quantity = str | int | float
Quantities = dict[str, Quantity]


class Wire(msgspec.Struct, rename="camel", gc=False):
    """A JSON object whose keys are the camelCase of its fields; unknown keys are skipped."""


class OwnerWire(Wire):
    """An owner reference."""

    kind: str
    name: str
    uid: str = ""
    controller: bool = False


class MetaWire(Wire):
    """Object metadata, with labels and annotations."""

    name: str
    namespace: str = ""
    uid: str = ""
    resource_version: str = ""
    generation: int = 0
    labels: dict[str, str] | None = None
    annotations: dict[str, str] | None = None


class ConditionWire(Wire):
    """A status condition."""

    type: str
    status: str
    last_transition_time: datetime | None = None
    reason: str = ""
    message: str = ""


class NamedWire(Wire):
    """A reference by name."""

    name: str


class QuotaWire(Wire):
    """Quota of one resource in one flavor."""

    name: str
    nominal_quota: Quantity = 0
    borrowing_limit: Quantity | None = None
    lending_limit: Quantity | None = None


class FlavorQuotasWire(Wire):
    """Quotas of one flavor."""

    name: str
    resources: list[QuotaWire] = msgspec.field(default_factory=list)


class ResourceGroupWire(Wire):
    """Resources that share flavors."""

    covered_resources: list[str] = msgspec.field(default_factory=list)
    flavors: list[FlavorQuotasWire] = msgspec.field(default_factory=list)


class FairSharingWire(Wire):
    """Fair sharing of a spec: the weight."""

    weight: Quantity | None = None


class AdmissionSharingWire(Wire):
    """What admission fair sharing counted for a LocalQueue."""

    consumed_resources: Quantities | None = None


class ShareWire(Wire):
    """Fair sharing of a status."""

    weighted_share: int | None = None
    admission_fair_sharing_status: AdmissionSharingWire | None = None


class UsageWire(Wire):
    """Total (and borrowed) of one resource."""

    name: str
    total: Quantity = 0
    borrowed: Quantity = 0


class FlavorUsageWire(Wire):
    """Totals of one flavor."""

    name: str
    resources: list[UsageWire] = msgspec.field(default_factory=list)


class BorrowWithinCohortWire(Wire):
    """When a borrower may preempt."""

    policy: str | None = None
    max_priority_threshold: int | None = None


class PreemptionWire(Wire):
    """Preemption policies."""

    reclaim_within_cohort: str | None = None
    within_cluster_queue: str | None = None
    borrow_within_cohort: BorrowWithinCohortWire | None = None


class FungibilityWire(Wire):
    """Flavor fungibility."""

    when_can_borrow: str | None = None
    when_can_preempt: str | None = None
    preference: str | None = None


class CheckRuleWire(Wire):
    """An AdmissionCheck with the flavors that it is for."""

    name: str
    on_flavors: list[str] | None = None


class CheckStrategyWire(Wire):
    """AdmissionChecks of a ClusterQueue."""

    admission_checks: list[CheckRuleWire] | None = None


class AdmissionScopeWire(Wire):
    """How LocalQueues share a ClusterQueue."""

    admission_mode: str | None = None


class ClusterQueueSpecWire(Wire):
    """Spec of a ClusterQueue; ``cohort`` and ``admission_checks`` are v1beta1's."""

    resource_groups: list[ResourceGroupWire] | None = None
    cohort_name: str | None = None
    cohort: str | None = None
    queueing_strategy: str | None = None
    namespace_selector: dict[str, Any] | None = None
    flavor_fungibility: FungibilityWire | None = None
    preemption: PreemptionWire | None = None
    admission_checks_strategy: CheckStrategyWire | None = None
    admission_checks: list[str] | None = None
    stop_policy: str | None = None
    fair_sharing: FairSharingWire | None = None
    admission_scope: AdmissionScopeWire | None = None


class EffectiveQuotaWire(Wire):
    """The quota in force where an orchestrator sets it (KEP-12382)."""

    resource_groups: list[ResourceGroupWire] | None = None


class ClusterQueueStatusWire(Wire):
    """Status of a ClusterQueue."""

    conditions: list[ConditionWire] | None = None
    flavors_reservation: list[FlavorUsageWire] | None = None
    flavors_usage: list[FlavorUsageWire] | None = None
    pending_workloads: int = 0
    reserving_workloads: int = 0
    admitted_workloads: int = 0
    fair_sharing: ShareWire | None = None
    effective_quota: EffectiveQuotaWire | None = None


class ClusterQueueWire(Wire):
    """A ClusterQueue."""

    metadata: MetaWire
    spec: ClusterQueueSpecWire = msgspec.field(default_factory=ClusterQueueSpecWire)
    status: ClusterQueueStatusWire = msgspec.field(default_factory=ClusterQueueStatusWire)


class CohortSpecWire(Wire):
    """Spec of a Cohort."""

    parent_name: str | None = None
    resource_groups: list[ResourceGroupWire] | None = None
    fair_sharing: FairSharingWire | None = None


class CohortStatusWire(Wire):
    """Status of a Cohort."""

    fair_sharing: ShareWire | None = None
    effective_quota: EffectiveQuotaWire | None = None


class CohortWire(Wire):
    """A Cohort."""

    metadata: MetaWire
    spec: CohortSpecWire = msgspec.field(default_factory=CohortSpecWire)
    status: CohortStatusWire = msgspec.field(default_factory=CohortStatusWire)


class LocalQueueSpecWire(Wire):
    """Spec of a LocalQueue."""

    cluster_queue: str = ""
    stop_policy: str | None = None
    fair_sharing: FairSharingWire | None = None


class LocalQueueStatusWire(Wire):
    """Status of a LocalQueue; ``flavor_usage`` is v1beta1's."""

    conditions: list[ConditionWire] | None = None
    pending_workloads: int = 0
    reserving_workloads: int = 0
    admitted_workloads: int = 0
    flavors_reservation: list[FlavorUsageWire] | None = None
    flavors_usage: list[FlavorUsageWire] | None = None
    flavor_usage: list[FlavorUsageWire] | None = None
    fair_sharing: ShareWire | None = None


class LocalQueueWire(Wire):
    """A LocalQueue."""

    metadata: MetaWire
    spec: LocalQueueSpecWire = msgspec.field(default_factory=LocalQueueSpecWire)
    status: LocalQueueStatusWire = msgspec.field(default_factory=LocalQueueStatusWire)


class TaintWire(Wire):
    """A node taint."""

    key: str
    effect: str = ""
    value: str = ""


class TolerationWire(Wire):
    """What a pod, or every pod on a flavor, tolerates."""

    key: str = ""
    operator: str = ""
    value: str = ""
    effect: str = ""


class FlavorSpecWire(Wire):
    """Spec of a ResourceFlavor."""

    node_labels: dict[str, str] | None = None
    node_taints: list[TaintWire] | None = None
    tolerations: list[TolerationWire] | None = None
    topology_name: str | None = None


class ResourceFlavorWire(Wire):
    """A ResourceFlavor."""

    metadata: MetaWire
    spec: FlavorSpecWire = msgspec.field(default_factory=FlavorSpecWire)


class PriorityClassWire(Wire):
    """A WorkloadPriorityClass."""

    metadata: MetaWire
    value: int = 0
    description: str = ""
