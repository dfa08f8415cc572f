"""Which flavors Kueue would give a workload, and whether it fits now or after preemption.

The search of Kueue v0.19 (pkg/scheduler/flavorassigner): pod sets one after the other, flavors in
order of preference, fungibility deciding when the search may stop. Taints and affinity count only
where Kueue has said so before; topology, partial admission and admission checks don't.

[pure]
"""

from collections.abc import Mapping
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


@dataclass(frozen=True, slots=True)
class Assignment:
    """The flavors found for a workload: by pod set, then by resource.

    ``mode`` is the worst over all of them; ``usage`` what would be reserved; ``distance`` how far
    away the farthest quota is (0: no borrowing). ``victims`` would be stopped first; a mode that
    needs some but finds none for the whole is NO_CANDIDATES.
    """

    mode: Mode
    flavors: Mapping[str, Mapping[str, str]]
    usage: Amounts
    distance: int = 0
    victims: tuple[Victim, ...] = ()


@dataclass(frozen=True, slots=True)
class _Choice:
    flavor: str
    ways: Mapping[str, Way]
    worst: Way


@dataclass(frozen=True, slots=True)
class _Task:
    """One pod set's search; ``assumed`` is what the pod sets before it were given."""

    board: Board
    asker: Asker
    pod_set: PodSet
    assumed: Amounts
    refused: frozenset[str]


def assign(board: Board, queue: ClusterQueue, workload: Workload, now: datetime) -> Assignment:
    """Return the flavors that a queue would give a workload on this board."""
    asker = Asker(queue, {}, workload.priority, queue_order_timestamp(workload), now)
    refused = _refused(workload)
    usage: dict[FlavorResource, int] = {}
    given: dict[str, Mapping[str, str]] = {}
    ways: dict[FlavorResource, Way] = {}
    for pod_set in workload.pod_sets:
        wanted = _wanted(board, workload, pod_set, queue)
        chosen = _choose(_Task(board, asker, pod_set, usage, refused), wanted)
        if chosen is None:
            return Assignment(Mode.NO_FIT, given, usage)
        given[pod_set.name] = {resource: pair.flavor for resource, (pair, _) in chosen.items()}
        for resource, (pair, way) in chosen.items():
            usage[pair] = add(usage.get(pair, 0), wanted[resource])
            ways[pair] = way
    return _whole(board, replace(asker, wanted=usage), given, ways)


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


def _refused(workload: Workload) -> frozenset[str]:
    """Return the flavors that Kueue said can't serve it: for taints or affinity."""
    waits = workload.condition("QuotaReserved")
    if waits is None or waits.status == "True":
        return frozenset()
    refusals = parse_message(waits.message).refusals
    return frozenset(r.flavor for r in refusals if r.flavor and r.kind is _NO_MATCH)


def _wanted(
    board: Board, workload: Workload, pod_set: PodSet, queue: ClusterQueue
) -> dict[str, int]:
    """Return what needs quota: pods only where the queue counts them."""
    asked = pod_set_demand(workload, pod_set)
    if group_of(queue, PODS) is None:
        del asked[PODS]
    ignored = board.ignored
    return {name: amount for name, amount in asked.items() if amount > 0 and name not in ignored}


def _choose(task: _Task, wanted: Mapping[str, int]) -> dict[str, tuple[FlavorResource, Way]] | None:
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


def _search(task: _Task, group: ResourceGroup, wanted: Mapping[str, int]) -> _Choice | None:
    rules = task.asker.queue.flavor_fungibility
    best: _Choice | None = None
    for flavor in group.flavors:
        known = task.board.flavors.get(flavor.name)
        if known is None or known.name in task.refused or not selects(task.pod_set, known):
            continue
        choice = _try(task, flavor.name, wanted)
        if may_stop_search(choice.worst, rules):
            return choice
        if best is None or preference(choice.worst, rules) > preference(best.worst, rules):
            best = choice
    return best


def _try(task: _Task, flavor: str, wanted: Mapping[str, int]) -> _Choice:
    ways: dict[str, Way] = {}
    for resource, amount in wanted.items():
        pair = FlavorResource(flavor, resource)
        total = add(task.assumed.get(pair, 0), amount)
        ways[resource] = way_of(task.board, task.asker, pair, total)
        if ways[resource].mode is Mode.NO_FIT:
            return _Choice(flavor, ways, NONE)
    rules = task.asker.queue.flavor_fungibility
    worst = min(ways.values(), key=lambda way: preference(way, rules))
    return _Choice(flavor, ways, worst)
