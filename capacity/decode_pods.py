"""How much quota one pod of a template needs, in Kueue's whole units, and where it may go.

Only the arithmetic of requests and limits; where Kueue has written its own figures, those are
used instead (see ``decode_workload``). [pure]
"""

from collections.abc import Iterable, Mapping
from functools import lru_cache
from sys import intern

from capacity.decode_wire import Quantities, Quantity, TolerationWire
from capacity.decode_workload_wire import ContainerWire, PodSpecWire, ResourcesWire
from capacity.placement import Requirement, Terms, Toleration
from capacity.quantity import to_amount


@lru_cache(maxsize=16_384)
def amount(resource: str, quantity: Quantity) -> int:
    """Return a quantity as Kueue counts it; remembered, since a cluster uses few different ones."""
    return to_amount(resource, quantity)


def amounts(quantities: Quantities | None) -> dict[str, int]:
    """Return quantities by resource as Kueue counts them."""
    return {intern(r): amount(r, q) for r, q in quantities.items()} if quantities else {}


def pod_requests(spec: PodSpecWire) -> dict[str, int]:
    """Return what one pod asks for, as the scheduler and Kueue add it up.

    Containers and sidecars run together, init containers before them one after the other; limits
    stand in for missing requests; pod-level requests replace the sum (component-helpers/resource).
    """
    total: dict[str, int] = {}
    for container in spec.containers:
        _add(total, _requests(container))
    if spec.init_containers:
        total = _with_init(total, spec.init_containers)
    if spec.resources:
        total |= _limits_under_requests(spec.resources)
    if spec.overhead:
        _add(total, amounts(spec.overhead))
    return total


def tolerations(wires: Iterable[TolerationWire] | None) -> tuple[Toleration, ...]:
    """Return tolerations; how long one lasts doesn't matter here."""
    return tuple(Toleration(t.key, t.operator, t.value, t.effect) for t in wires or ())


def affinity(spec: PodSpecWire) -> Terms:
    """Return the required node affinity; fields other than labels say nothing about a flavor."""
    of_nodes = spec.affinity.node_affinity if spec.affinity else None
    required = of_nodes.required if of_nodes else None
    return tuple(
        tuple(
            Requirement(each.key, each.operator, tuple(each.values or ()))
            for each in term.match_expressions or ()
        )
        for term in (required.node_selector_terms if required else None) or ()
    )


def _requests(container: ContainerWire) -> dict[str, int]:
    return _limits_under_requests(container.resources) if container.resources else {}


def _limits_under_requests(resources: ResourcesWire) -> dict[str, int]:
    return amounts(resources.limits) | amounts(resources.requests)


def _with_init(main: dict[str, int], init: list[ContainerWire]) -> dict[str, int]:
    sidecars: dict[str, int] = {}
    peak: dict[str, int] = {}
    for container in init:
        stage = dict(sidecars)
        _add(stage, _requests(container))
        if container.restart_policy == "Always":
            sidecars = stage
        peak = {r: max(peak.get(r, 0), stage.get(r, 0)) for r in peak | stage}
    _add(main, sidecars)
    return {r: max(main.get(r, 0), peak.get(r, 0)) for r in main | peak}


def _add(total: dict[str, int], more: Mapping[str, int]) -> None:
    for resource, value in more.items():
        total[resource] = total.get(resource, 0) + value
