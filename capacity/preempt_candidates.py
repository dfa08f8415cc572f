"""Who may be stopped for a workload, in the order in which Kueue would try.

[pure]
"""

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from datetime import datetime
from enum import Enum

from capacity.amount import add, subtract
from capacity.demand import reserved_by
from capacity.model import Amounts, ClusterQueue, FlavorResource, Workload
from capacity.order import queue_order_timestamp
from capacity.quota import Node, Tree, local_available, subtree_quota, usage


class Way(Enum):
    """By what right a candidate may be stopped."""

    SAME_QUEUE = "same queue"
    HIERARCHICAL = "the asker is closer to the quota"
    WHILE_BORROWING = "even if the asker then borrows"
    WITHOUT_BORROWING = "only if the asker doesn't borrow"


@dataclass(frozen=True, slots=True)
class Asker:
    """A request for quota: from which queue, how much, with which priority, since when."""

    queue: ClusterQueue
    wanted: Amounts
    priority: int
    since: datetime
    now: datetime


@dataclass(frozen=True, slots=True)
class Candidate:
    """A workload that may be stopped; ``common`` is the lowest cohort above both queues."""

    workload: Workload
    queue: str
    way: Way
    common: int | None


def candidates(
    tree: Tree,
    reserving: Callable[[str], Collection[Workload]],
    asker: Asker,
    contested: Collection[FlavorResource],
) -> list[Candidate]:
    """Return the candidates in Kueue's order: those already being stopped come first."""
    node = tree.cluster_queue(asker.queue.name)
    found = [*_of_others(node, reserving, asker, contested)]
    if asker.queue.preemption.within_cluster_queue != "Never":
        for workload in reserving(node.name):
            if _may_stop(asker, workload, asker.queue.preemption.within_cluster_queue, contested):
                found.append(Candidate(workload, node.name, Way.SAME_QUEUE, None))
    return sorted(found, key=lambda candidate: _order(candidate, asker.now))


def is_within_nominal(node: Node, pairs: Collection[FlavorResource]) -> bool:
    """Tell whether a node uses no more than its own subtree's quota of every pair."""
    return all(usage(node, pair) <= subtree_quota(node, pair) for pair in pairs)


def _of_others(
    node: Node,
    reserving: Callable[[str], Collection[Workload]],
    asker: Asker,
    contested: Collection[FlavorResource],
) -> Iterator[Candidate]:
    policy = asker.queue.preemption.reclaim_within_cohort
    if node.parent is None or policy == "Never" or node.cyclic:
        return
    for queue, common, advantage in _borrowers(node, asker.wanted, contested):
        for workload in reserving(queue.name):
            if _may_stop(asker, workload, policy, contested):
                way = Way.HIERARCHICAL if advantage else _way(asker, workload)
                yield Candidate(workload, queue.name, way, common.number)


def _borrowers(
    node: Node, wanted: Amounts, contested: Collection[FlavorResource]
) -> Iterator[tuple[Node, Node, bool]]:
    """Yield queues over their quota, the cohort shared with them, and who is closer to the quota.

    From the lowest subtree that could hold the request on, the asker is closer than those outside.
    """
    advantage, rest = _fits_in_quota(node, wanted)
    below, cohort = node, node.parent
    while cohort is not None:
        for queue in _over(cohort, below, contested):
            yield queue, cohort, advantage
        fits, rest = _fits_in_quota(cohort, rest)
        advantage = advantage or fits
        below, cohort = cohort, cohort.parent


def _over(cohort: Node, skipped: Node, contested: Collection[FlavorResource]) -> Iterator[Node]:
    for child in cohort.children:
        if child != skipped and not is_within_nominal(child, contested):
            if child.kind == "ClusterQueue":
                yield child
            else:
                yield from _over(child, skipped, contested)


def _fits_in_quota(node: Node, wanted: Amounts) -> tuple[bool, Amounts]:
    fits = all(
        add(usage(node, pair), amount) <= subtree_quota(node, pair)
        for pair, amount in wanted.items()
    )
    rest = {
        pair: max(0, subtract(amount, local_available(node, pair)))
        for pair, amount in wanted.items()
    }
    return fits, rest


def _may_stop(
    asker: Asker, workload: Workload, policy: str, contested: Collection[FlavorResource]
) -> bool:
    if not any(pair in contested for pair in reserved_by(workload)):
        return False
    if policy == "Any" or workload.priority < asker.priority:
        return True
    if policy != "LowerOrNewerEqualPriority" or workload.priority != asker.priority:
        return False
    return queue_order_timestamp(workload) > asker.since


def _way(asker: Asker, workload: Workload) -> Way:
    rules = asker.queue.preemption
    threshold = rules.max_priority_threshold
    too_high = workload.priority >= asker.priority or (
        threshold is not None and workload.priority > threshold
    )
    if rules.borrow_within_cohort == "Never" or too_high:
        return Way.WITHOUT_BORROWING
    return Way.WHILE_BORROWING


def _order(candidate: Candidate, now: datetime) -> tuple[bool, int, int, float, str]:
    workload = candidate.workload
    reserved = workload.condition("QuotaReserved")
    held = reserved is not None and reserved.status == "True"
    since = reserved.last_transition if reserved and held else now
    rank = {Way.HIERARCHICAL: 0, Way.SAME_QUEUE: 2}.get(candidate.way, 1)
    return (
        not workload.is_true("Evicted"),
        rank,
        workload.priority,
        -since.timestamp(),
        workload.uid,
    )
