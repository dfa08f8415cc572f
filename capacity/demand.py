"""What a workload asks for: totals over its pod sets, and the flavors that may serve them.

[pure]
"""

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice

from capacity.model import (
    ClusterQueue,
    FlavorResource,
    Fleet,
    PodSet,
    ResourceFlavor,
    ResourceGroup,
    Workload,
    effective_resource_groups,
    quotas,
)
from capacity.placement import selected, untolerated

PODS = "pods"
_SAMPLE = 5


def pod_set_demand(workload: Workload, pod_set: PodSet) -> dict[str, int]:
    """Return what a pod set asks for in total, without pods that it has already given back."""
    count = max(0, pod_set.count - workload.reclaimable.get(pod_set.name, 0))
    return {resource: each * count for resource, each in pod_set.requests.items()} | {PODS: count}


def demand(workload: Workload) -> dict[str, int]:
    """Return what all pod sets ask for together, by resource; ``pods`` counts the pods."""
    total: dict[str, int] = {}
    for pod_set in workload.pod_sets:
        for resource, amount in pod_set_demand(workload, pod_set).items():
            total[resource] = total.get(resource, 0) + amount
    return total


def group_of(queue: ClusterQueue, resource: str) -> ResourceGroup | None:
    """Return the resource group that serves a resource; None if the queue has no quota of it."""
    groups = effective_resource_groups(queue)
    return next((group for group in groups if resource in group.covered_resources), None)


def candidates(queue: ClusterQueue, wanted: Mapping[str, int]) -> Iterator[FlavorResource]:
    """Yield every (flavor, resource) that could serve what is wanted, in order of preference."""
    for resource, amount in wanted.items():
        group = group_of(queue, resource)
        if amount > 0 and group is not None:
            for flavor in group.flavors:
                yield FlavorResource(flavor.name, resource)


def uncounted(fleet: Fleet, asked: Iterable[str]) -> frozenset[str]:
    """Return those resources that Kueue demonstrably doesn't count in this cluster.

    Its configuration can exclude resources by prefix, which no object shows. The proof is a
    workload that asks for the resource and got its quota without it. Only a few workloads of each
    queue are looked at; without proof a resource counts.
    """
    unproven = {name for name in asked if name != PODS}
    proven: set[str] = set()
    for queue in fleet.cluster_queues:
        for workload in islice(fleet.workloads.reserving(queue), _SAMPLE):
            proven |= _without_quota(workload) & unproven
        if proven == unproven:
            break
    return frozenset(proven)


def _without_quota(workload: Workload) -> set[str]:
    if workload.admission is None:
        return set()
    given = {name for each in workload.admission.assignments for name in each.flavors}
    asked = {name for p in workload.pod_sets for name, each in p.requests.items() if each > 0}
    return asked - given


def selects(pod_set: PodSet, flavor: ResourceFlavor) -> bool:
    """Tell whether a pod set's selector, affinity and tolerations allow a flavor, as Kueue sees it.

    Tolerations that aren't known refuse nothing.
    """
    if pod_set.tolerations is not None:
        tolerations = (*pod_set.tolerations, *flavor.tolerations)
        if untolerated(flavor.node_taints, tolerations) is not None:
            return False
    return selected(flavor.node_labels, pod_set.node_selector, pod_set.affinity)


def reserved_by(workload: Workload) -> dict[FlavorResource, int]:
    """Return the quota that a workload holds, without pods that it has already given back.

    Kueue frees whole pods of the assigned usage (workload.Info, ScaledTo): what a pod holds is
    rounded down.
    """
    held: dict[FlavorResource, int] = {}
    for given in workload.admission.assignments if workload.admission else ():
        back = min(workload.reclaimable.get(given.name, 0), given.count)
        for resource, amount in given.usage.items():
            if resource in given.flavors:
                kept = amount // given.count * (given.count - back) if back else amount
                pair = FlavorResource(given.flavors[resource], resource)
                held[pair] = held.get(pair, 0) + kept
    return held


def stray_usage(fleet: Fleet) -> dict[str, dict[FlavorResource, int]]:
    """Return, by ClusterQueue, quota held on pairs that the queue no longer lists.

    Kueue still counts it against the cohort but has no place for it in the queue's status. Looks
    at every workload that holds quota; give the result to ``Tree.build``.
    """
    found: dict[str, dict[FlavorResource, int]] = {}
    for name, queue in fleet.cluster_queues.items():
        listed = quotas(queue)
        for workload in fleet.workloads.reserving(name):
            for pair, amount in reserved_by(workload).items():
                if pair not in listed:
                    held = found.setdefault(name, {})
                    held[pair] = held.get(pair, 0) + amount
    return found
