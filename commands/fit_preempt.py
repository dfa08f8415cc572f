"""What a job could get if Kueue stopped others for it: an upper bound from policies and priorities.

Candidates as in Kueue's preemption: jobs of lower priority in the own queue (withinClusterQueue),
borrowers' jobs while the queue stays within its own quota (reclaimWithinCohort), and jobs of lower
priority for a borrower (borrowWithinCohort). The scheduler also weighs order, fair shares and
which jobs it takes; so more than this can't come, less may.

[pure]
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from capacity.model import ClusterQueue, FlavorResource, Fleet, Workload
from capacity.quota import Node, Tree, borrowed, can_reserve, subtree_quota, usage
from commands.jobs import held


@dataclass(frozen=True, slots=True)
class Wish:
    """A job of some priority that wants so much of one (flavor, resource) in a queue."""

    queue: ClusterQueue
    pair: FlavorResource
    wanted: int
    priority: int


@dataclass(frozen=True, slots=True)
class AfterPreemption:
    """What could be reserved at most, and how much of it others would lose.

    ``own`` is what lower priorities of the same queue hold, ``lenders`` what each other queue
    could lose.
    """

    available: int
    own: int
    lenders: tuple[tuple[str, int], ...]


def after_preemption(wish: Wish, tree: Tree, fleet: Fleet) -> AfterPreemption:
    """Return what a wish could get at most if others were stopped for it."""
    changed = tree.copy()
    own = _own(wish, fleet)
    if own:
        changed.remove_usage(wish.queue.name, {wish.pair: own})
    node = changed.cluster_queue(wish.queue.name)
    lenders = tuple(_lost(node, wish, fleet))
    for name, amount in lenders:
        changed.remove_usage(name, {wish.pair: amount})
    return AfterPreemption(can_reserve(node, wish.pair), own, lenders)


def _own(wish: Wish, fleet: Fleet) -> int:
    if wish.queue.preemption.within_cluster_queue == "Never":
        return 0
    holders = fleet.workloads.reserving(wish.queue.name)
    return _held((w for w in holders if w.priority < wish.priority), wish.pair)


def _lost(node: Node, wish: Wish, fleet: Fleet) -> Iterator[tuple[str, int]]:
    """Yield what each other queue of the tree could lose to this wish."""
    within = usage(node, wish.pair) + wish.wanted <= subtree_quota(node, wish.pair)
    policies = wish.queue.preemption
    policy = policies.reclaim_within_cohort if within else policies.borrow_within_cohort
    if policy == "Never":
        return
    below = None if policy == "Any" else wish.priority
    if not within and policies.max_priority_threshold is not None:
        below = min(wish.priority, policies.max_priority_threshold + 1)
    for other in node.root.cluster_queues():
        over = borrowed(other, wish.pair)
        if other != node and over > 0:
            holders = fleet.workloads.reserving(other.name)
            candidates = (w for w in holders if below is None or w.priority < below)
            lost = min(over, _held(candidates, wish.pair))
            if lost:
                yield other.name, lost


def _held(workloads: Iterable[Workload], pair: FlavorResource) -> int:
    return sum(held(workload).get(pair, 0) for workload in workloads)
