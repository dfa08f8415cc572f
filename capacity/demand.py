"""What a workload asks for: totals over its pod sets, and the flavors that may serve them.

[pure]
"""

from collections.abc import Iterator, Mapping

from capacity.model import (
    ClusterQueue,
    FlavorResource,
    PodSet,
    ResourceFlavor,
    ResourceGroup,
    Workload,
    effective_resource_groups,
)

PODS = "pods"


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


def selects(pod_set: PodSet, flavor: ResourceFlavor) -> bool:
    """Tell whether a pod set's node selector allows a flavor: no label of it is contradicted.

    Kueue looks only at keys that the flavor has (flavorSelector). Node affinity and tolerations
    aren't in the model, so they can still refuse.
    """
    labels = flavor.node_labels
    return all(labels.get(key, value) == value for key, value in pod_set.node_selector.items())
