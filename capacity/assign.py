"""Which flavors Kueue would give a workload, and whether it fits now or after preemption.

The search of Kueue v0.19 (pkg/scheduler/flavorassigner): pod sets one after the other, those of a
group together, flavors in order of preference, fungibility deciding when the search may stop. A
workload that replaces another of its job asks only for what it needs more, on the same flavors.
Topology, partial admission and admission checks don't count.

[pure]
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime

from capacity.amount import add
from capacity.causes import Kind
from capacity.demand import PODS, group_of, pod_set_demand, selects
from capacity.fit_mode import NONE, Board, Mode, Way, may_stop_search, preference, way_of
from capacity.messages import parse_message
from capacity.model import (
    Amounts,
    ClusterQueue,
    FlavorResource,
    PodSet,
    ResourceGroup,
    Workload,
)
from capacity.order import queue_order_timestamp
from capacity.preempt import Victim, victims
from capacity.preempt_candidates import Asker

_NO_MATCH = Kind.NO_MATCHING_FLAVOR
Requests = Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Assignment:
    """The flavors found for a workload: by pod set, then by resource.

    ``mode`` is the worst over all of them; ``usage`` what would be reserved; ``distance`` how far
    away the farthest quota is (0: no borrowing). ``victims`` would be stopped first; a mode that
    needs some but finds none for the whole is NO_CANDIDATES. ``old`` is the workload that this one
    replaces: ``usage`` is only what is needed beyond it.
    """

    mode: Mode
    flavors: Mapping[str, Mapping[str, str]]
    usage: Amounts
    distance: int = 0
    victims: tuple[Victim, ...] = ()
    old: Workload | None = None


@dataclass(frozen=True, slots=True)
class _Choice:
    flavor: str
    ways: Mapping[str, Way]
    worst: Way


@dataclass(frozen=True, slots=True)
class _Task:
    """One group's search; ``assumed`` is what the pod sets before it were given."""

    board: Board
    asker: Asker
    pod_sets: tuple[PodSet, ...]
    assumed: Amounts
    refused: frozenset[str]
    old: Workload | None

    def allows(self, flavor: str) -> bool:
        """Tell whether all pods of the group may go to a flavor."""
        known = self.board.flavors.get(flavor)
        if known is None or flavor in self.refused:
            return False
        return all(selects(pod_set, known) for pod_set in self.pod_sets)


def assign(board: Board, queue: ClusterQueue, workload: Workload, now: datetime) -> Assignment:
    """Return the flavors that a queue would give a workload on this board."""
    asker = Asker(queue, {}, workload.priority, queue_order_timestamp(workload), now)
    old = _old(board, queue, workload)
    usage: dict[FlavorResource, int] = {}
    given: dict[str, Mapping[str, str]] = {}
    ways: dict[FlavorResource, Way] = {}
    for pod_sets in _groups(workload):
        task = _Task(board, asker, pod_sets, usage, _refused(workload, pod_sets), old)
        wanted = {p.name: _wanted(board, workload, p, queue) for p in pod_sets}
        chosen = _choose(task, _sum(wanted.values()))
        if chosen is None:
            return Assignment(Mode.NO_FIT, given, usage)
        ways.update(chosen.values())
        for pod_set in pod_sets:
            mine = {name: chosen[name][0] for name in wanted[pod_set.name]}
            given[pod_set.name] = {name: pair.flavor for name, pair in mine.items()}
            for name, pair in mine.items():
                more = _more(old, [pod_set], name, pair.flavor, wanted[pod_set.name][name])
                usage[pair] = add(usage.get(pair, 0), more or 0)
    return replace(_whole(board, replace(asker, wanted=usage), given, ways), old=old)


def _whole(
    board: Board,
    asker: Asker,
    given: Mapping[str, Mapping[str, str]],
    ways: Mapping[FlavorResource, Way],
) -> Assignment:
    mode = min((way.mode for way in ways.values()), default=Mode.FIT)
    distance = max((way.distance for way in ways.values()), default=0)
    if mode in (Mode.FIT, Mode.NO_FIT):
        return Assignment(mode, given, asker.wanted, distance)
    contested = {pair for pair, way in ways.items() if way.mode is not Mode.FIT}
    found = victims(board.tree, board.reserving, asker, contested)
    mode = mode if found else Mode.NO_CANDIDATES
    return Assignment(mode, given, asker.wanted, distance, found)


def _old(board: Board, queue: ClusterQueue, workload: Workload) -> Workload | None:
    """Return the workload that this one replaces, if it holds quota of the same queue."""
    if not workload.replaces:
        return None
    held = board.reserving(queue.name)
    return next((w for w in held if f"{w.namespace}/{w.name}" == workload.replaces), None)


def _more(
    old: Workload | None, pod_sets: Iterable[PodSet], resource: str, flavor: str, amount: int
) -> int | None:
    """Return how much more of a flavor is needed than the old workload holds.

    None if it holds another flavor: pods of one job must not change it.
    """
    held = old.admission.assignments if old and old.admission else None
    for pod_set in pod_sets if held is not None else ():
        mine = next((each for each in held or () if each.name == pod_set.name), None)
        if mine is None or mine.flavors.get(resource) != flavor:
            return None
        amount -= mine.usage.get(resource, 0)
    return amount


def _groups(workload: Workload) -> Iterable[tuple[PodSet, ...]]:
    """Return the pod sets that must get the same flavors together, in order."""
    groups: dict[str, tuple[PodSet, ...]] = {}
    for at, pod_set in enumerate(workload.pod_sets):
        name = pod_set.group or str(at)
        groups[name] = (*groups.get(name, ()), pod_set)
    return groups.values()


def _refused(workload: Workload, pod_sets: Iterable[PodSet]) -> frozenset[str]:
    """Return the flavors that Kueue said before can't serve these pod sets at all."""
    waits = workload.condition("QuotaReserved")
    if waits is None or waits.status == "True":
        return frozenset()
    names = {pod_set.name for pod_set in pod_sets}
    told = (p for p in parse_message(waits.message).pod_sets if p.pod_set in names)
    refusals = (refusal for each in told for refusal in each.refusals)
    return frozenset(r.flavor for r in refusals if r.flavor and r.kind is _NO_MATCH)


def _wanted(board: Board, workload: Workload, pod_set: PodSet, queue: ClusterQueue) -> Requests:
    """Return what needs a flavor: nothing of it where the queue has no quota of nothing."""
    asked = pod_set_demand(workload, pod_set)
    if group_of(queue, PODS) is None:
        del asked[PODS]
    return {
        name: amount
        for name, amount in asked.items()
        if name not in board.ignored and (amount > 0 or group_of(queue, name) is not None)
    }


def _sum(each: Iterable[Requests]) -> Requests:
    total: dict[str, int] = {}
    for requests in each:
        for name, amount in requests.items():
            total[name] = total.get(name, 0) + amount
    return total


def _choose(task: _Task, wanted: Requests) -> dict[str, tuple[FlavorResource, Way]] | None:
    """Return each resource's flavor; None if one of them can't be served at all."""
    chosen: dict[str, tuple[FlavorResource, Way]] = {}
    for resource in wanted:
        group = group_of(task.asker.queue, resource)
        if group is None:
            return None
        if resource in chosen:
            continue
        here = {name: amount for name, amount in wanted.items() if name in group.covered_resources}
        best = _search(task, group, here)
        if best is None or best.worst.mode is Mode.NO_FIT:
            return None
        for name, way in best.ways.items():
            chosen[name] = (FlavorResource(best.flavor, name), way)
    return chosen


def _search(task: _Task, group: ResourceGroup, wanted: Requests) -> _Choice | None:
    rules = task.asker.queue.flavor_fungibility
    best: _Choice | None = None
    for flavor in group.flavors:
        if not task.allows(flavor.name):
            continue
        choice = _try(task, flavor.name, wanted)
        if may_stop_search(choice.worst, rules):
            return choice
        if best is None or preference(choice.worst, rules) > preference(best.worst, rules):
            best = choice
    return best


def _try(task: _Task, flavor: str, wanted: Requests) -> _Choice:
    ways: dict[str, Way] = {}
    for resource, amount in wanted.items():
        pair = FlavorResource(flavor, resource)
        more = _more(task.old, task.pod_sets, resource, flavor, amount)
        if more is None:
            return _Choice(flavor, ways, NONE)
        ways[resource] = way_of(task.board, task.asker, pair, add(task.assumed.get(pair, 0), more))
        if ways[resource].mode is Mode.NO_FIT:
            return _Choice(flavor, ways, NONE)
    rules = task.asker.queue.flavor_fungibility
    worst = min(ways.values(), key=lambda way: preference(way, rules))
    return _Choice(flavor, ways, worst)
