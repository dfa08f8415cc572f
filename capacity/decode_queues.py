"""Queues, cohorts, flavors and priority classes from their JSON to model values.

v1beta1's names and values become v1beta2's here, so that nothing behind it knows of two versions.
[pure]
"""

from collections.abc import Iterable
from decimal import Decimal

from capacity.decode_pods import amount, amounts, tolerations
from capacity.decode_wire import (
    AdmissionScopeWire,
    ClusterQueueSpecWire,
    ClusterQueueWire,
    CohortWire,
    EffectiveQuotaWire,
    FairSharingWire,
    FlavorUsageWire,
    FungibilityWire,
    LocalQueueWire,
    PreemptionWire,
    PriorityClassWire,
    QuotaWire,
    ResourceFlavorWire,
    ResourceGroupWire,
    ShareWire,
)
from capacity.decode_workload import conditions
from capacity.model import (
    AdmissionCheckRule,
    ClusterQueue,
    Cohort,
    FlavorFungibility,
    FlavorQuotas,
    FlavorResource,
    LocalQueue,
    Preemption,
    Quota,
    ResourceFlavor,
    ResourceGroup,
    WorkloadPriorityClass,
)
from capacity.placement import Taint
from capacity.quantity import parse

_LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"


def cluster_queue_value(wire: ClusterQueueWire) -> ClusterQueue:
    """Return the ClusterQueue; a spec without a field gets the default that Kueue gives it."""
    spec, status, meta = wire.spec, wire.status, wire.metadata
    notes = {k: v for k, v in (meta.annotations or {}).items() if k != _LAST_APPLIED}
    return ClusterQueue(
        name=meta.name,
        cohort=spec.cohort_name or spec.cohort or None,
        resource_groups=_groups(spec.resource_groups or ()),
        effective_resource_groups=_effective(status.effective_quota),
        queueing_strategy=spec.queueing_strategy or "BestEffortFIFO",
        preemption=_preemption(spec.preemption),
        flavor_fungibility=_fungibility(spec.flavor_fungibility),
        stop_policy=spec.stop_policy or "None",
        fair_weight=_weight(spec.fair_sharing),
        admission_checks=_check_rules(spec),
        namespace_selector=spec.namespace_selector,
        conditions=conditions(status.conditions or ()),
        reserved=_totals(status.flavors_reservation),
        reported_borrowed=_borrowed(status.flavors_reservation),
        admitted=_totals(status.flavors_usage),
        pending_workloads=status.pending_workloads,
        reserving_workloads=status.reserving_workloads,
        admitted_workloads=status.admitted_workloads,
        weighted_share=_share(status.fair_sharing),
        labels=meta.labels or {},
        annotations=notes,
        generation=meta.generation,
        admission_mode=_admission_mode(spec.admission_scope),
    )


def cohort_value(wire: CohortWire) -> Cohort:
    """Return the Cohort."""
    return Cohort(
        name=wire.metadata.name,
        parent=wire.spec.parent_name or None,
        resource_groups=_groups(wire.spec.resource_groups or ()),
        effective_resource_groups=_effective(wire.status.effective_quota),
        fair_weight=_weight(wire.spec.fair_sharing),
        weighted_share=_share(wire.status.fair_sharing),
    )


def local_queue_value(wire: LocalQueueWire) -> LocalQueue:
    """Return the LocalQueue."""
    spec, status, meta = wire.spec, wire.status, wire.metadata
    shares = status.fair_sharing.admission_fair_sharing_status if status.fair_sharing else None
    return LocalQueue(
        namespace=meta.namespace,
        name=meta.name,
        cluster_queue=spec.cluster_queue,
        stop_policy=spec.stop_policy or "None",
        conditions=conditions(status.conditions or ()),
        pending_workloads=status.pending_workloads,
        reserving_workloads=status.reserving_workloads,
        admitted_workloads=status.admitted_workloads,
        reserved=_totals(status.flavors_reservation),
        admitted=_totals(status.flavors_usage or status.flavor_usage),
        fair_weight=_weight(spec.fair_sharing),
        consumed=amounts(shares.consumed_resources) if shares else {},
    )


def resource_flavor_value(wire: ResourceFlavorWire) -> ResourceFlavor:
    """Return the ResourceFlavor."""
    spec = wire.spec
    return ResourceFlavor(
        wire.metadata.name,
        spec.node_labels or {},
        tuple(Taint(t.key, t.value, t.effect) for t in spec.node_taints or ()),
        spec.topology_name or None,
        tolerations(spec.tolerations),
    )


def priority_class_value(wire: PriorityClassWire) -> WorkloadPriorityClass:
    """Return the WorkloadPriorityClass."""
    return WorkloadPriorityClass(wire.metadata.name, wire.value, wire.description)


def _groups(wires: Iterable[ResourceGroupWire]) -> tuple[ResourceGroup, ...]:
    return tuple(
        ResourceGroup(
            tuple(group.covered_resources),
            tuple(
                FlavorQuotas(flavor.name, {q.name: _quota(q) for q in flavor.resources})
                for flavor in group.flavors
            ),
        )
        for group in wires
    )


def _quota(wire: QuotaWire) -> Quota:
    borrowing, lending = wire.borrowing_limit, wire.lending_limit
    return Quota(
        amount(wire.name, wire.nominal_quota),
        None if borrowing is None else amount(wire.name, borrowing),
        None if lending is None else amount(wire.name, lending),
    )


def _effective(wire: EffectiveQuotaWire | None) -> tuple[ResourceGroup, ...] | None:
    if wire is None or wire.resource_groups is None:
        return None
    return _groups(wire.resource_groups)


def _preemption(wire: PreemptionWire | None) -> Preemption:
    if wire is None:
        return Preemption()
    borrow = wire.borrow_within_cohort
    return Preemption(
        wire.reclaim_within_cohort or "Never",
        wire.within_cluster_queue or "Never",
        (borrow.policy if borrow else None) or "Never",
        borrow.max_priority_threshold if borrow else None,
    )


def _fungibility(wire: FungibilityWire | None) -> FlavorFungibility:
    """Return the fungibility; v1beta1's Borrow and Preempt are both MayStopSearch since v1beta2."""
    if wire is None:
        return FlavorFungibility()
    renamed = {"Borrow": "MayStopSearch", "Preempt": "MayStopSearch"}
    borrow = wire.when_can_borrow or "MayStopSearch"
    preempt = wire.when_can_preempt or "TryNextFlavor"
    return FlavorFungibility(
        renamed.get(borrow, borrow), renamed.get(preempt, preempt), wire.preference
    )


def _admission_mode(wire: AdmissionScopeWire | None) -> str:
    return (wire.admission_mode if wire else None) or "NoAdmissionFairSharing"


def _check_rules(spec: ClusterQueueSpecWire) -> tuple[AdmissionCheckRule, ...]:
    plain = tuple(AdmissionCheckRule(name) for name in spec.admission_checks or ())
    strategy = spec.admission_checks_strategy
    rules = (strategy.admission_checks if strategy else None) or ()
    return plain + tuple(AdmissionCheckRule(c.name, tuple(c.on_flavors or ())) for c in rules)


def _totals(wires: list[FlavorUsageWire] | None) -> dict[FlavorResource, int]:
    return {
        FlavorResource(flavor.name, used.name): amount(used.name, used.total)
        for flavor in wires or ()
        for used in flavor.resources
    }


def _borrowed(wires: list[FlavorUsageWire] | None) -> dict[FlavorResource, int]:
    return {
        FlavorResource(flavor.name, used.name): amount(used.name, used.borrowed)
        for flavor in wires or ()
        for used in flavor.resources
    }


def _weight(wire: FairSharingWire | None) -> Decimal:
    return Decimal(1) if wire is None or wire.weight is None else parse(wire.weight)


def _share(wire: ShareWire | None) -> int | None:
    return wire.weighted_share if wire else None
