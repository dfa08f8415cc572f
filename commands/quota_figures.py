"""The figures of one queue on one (flavor, resource), and what stops it from reserving more.

[pure]
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from capacity.amount import add, subtract
from capacity.model import UNLIMITED, ClusterQueue, FlavorResource
from capacity.quota import (
    Node,
    available,
    borrowed,
    can_borrow,
    can_reserve,
    excess,
    local_available,
    local_quota,
    potential_available,
    subtree_quota,
    usage,
)
from commands.words import is_gpu

StopKind = Literal["own quota", "borrowing limit", "cohort"]


@dataclass(frozen=True, slots=True)
class Stop:
    """What ends a queue's headroom: its own quota, a borrowing limit (whose?), or a cohort's end.

    ``node`` is the queue or cohort whose limit it is; ``limit`` the borrowing limit.
    """

    kind: StopKind
    node: str
    limit: int | None = None


@dataclass(frozen=True, slots=True)
class Lent:
    """How many of a queue's own units others hold: only bounds, because Kueue keeps no record."""

    least: int
    most: int


@dataclass(frozen=True, slots=True)
class PairFigures:
    """One queue's quota on one (flavor, resource), in Kueue's words and units.

    ``reserved`` is what headroom subtracts; ``admitted`` the part whose pods may run.
    ``can_reserve`` fits now without preemption; ``most_ever`` if nothing else ran. ``cohort_free``
    is what the cohort above still has (negative: promised more than it has); None without cohort.
    ``over`` is what is reserved beyond all that the queue is allowed.
    """

    pair: FlavorResource
    nominal: int
    borrowing_limit: int | None
    lending_limit: int | None
    reserved: int
    admitted: int
    borrowed: int
    can_reserve: int
    can_borrow: int
    most_ever: int
    cohort_free: int | None
    over: int
    lent: Lent
    stop: Stop


@dataclass(frozen=True, slots=True)
class Borrower:
    """A queue of the same tree that holds more than its own quota."""

    queue: str
    amount: int


@dataclass(frozen=True, slots=True)
class Reclaimer:
    """A queue of the same tree and whether it may stop borrowers to get its own quota back.

    ``policy`` is reclaimWithinCohort: Never, LowerPriority or Any; ``nominal`` what it can claim.
    """

    queue: str
    policy: str
    nominal: int


def figures(
    node: Node, queue: ClusterQueue, pair: FlavorResource, tree_borrows: int
) -> PairFigures:
    """Return a queue's figures on a pair that it lists.

    ``tree_borrows`` is ``borrowed_in_tree`` of its root: asked once for many queues of a tree.
    """
    quota = node.quotas[pair]
    above = node.parent
    return PairFigures(
        pair=pair,
        nominal=quota.nominal,
        borrowing_limit=quota.borrowing_limit,
        lending_limit=quota.lending_limit,
        reserved=usage(node, pair),
        admitted=min(queue.admitted.get(pair, 0), usage(node, pair)),
        borrowed=borrowed(node, pair),
        can_reserve=can_reserve(node, pair),
        can_borrow=can_borrow(node, pair),
        most_ever=potential_available(node, pair),
        cohort_free=None if above is None else available(above, pair),
        over=_over(node, pair),
        lent=_lent(node, pair, tree_borrows),
        stop=stop(node, pair),
    )


def stop(node: Node, pair: FlavorResource) -> Stop:
    """Return what binds ``available``: the first borrowing limit on the way up, or the top."""
    at = node
    while (above := at.parent) is not None and not node.cyclic:
        quota = at.quotas.get(pair)
        limit = quota.borrowing_limit if quota else None
        if limit is not None and _with_limit(at, pair, limit) < available(above, pair):
            return Stop("borrowing limit", at.name, limit)
        at = above
    return Stop("own quota" if at == node else "cohort", at.name)


def gpu_pairs_first(pairs: Iterable[FlavorResource]) -> tuple[FlavorResource, ...]:
    """Return GPU pairs before the others, else in the order of preference."""
    return tuple(sorted(pairs, key=lambda pair: not is_gpu(pair.resource)))


def borrowed_in_tree(root: Node, pair: FlavorResource) -> int:
    """Return what all queues of a tree borrow together."""
    return sum(borrowed(queue, pair) for queue in root.cluster_queues())


def borrowers(node: Node, pair: FlavorResource) -> tuple[Borrower, ...]:
    """Return the other queues of the tree that borrow this pair, the largest first."""
    others = ((q.name, borrowed(q, pair)) for q in node.root.cluster_queues() if q != node)
    found = [Borrower(name, amount) for name, amount in others if amount > 0]
    return tuple(sorted(found, key=lambda b: (-b.amount, b.queue)))


def reclaimers(node: Node, pair: FlavorResource) -> tuple[Reclaimer, ...]:
    """Return the other queues of the tree that own this pair, with their reclaim policy."""
    found = []
    for other in node.root.cluster_queues():
        quota = other.quotas.get(pair)
        if other != node and quota and quota.nominal and isinstance(other.source, ClusterQueue):
            policy = other.source.preemption.reclaim_within_cohort
            found.append(Reclaimer(other.name, policy, quota.nominal))
    return tuple(sorted(found, key=lambda r: (r.policy == "Never", r.queue)))


def free_in_tree(node: Node, pair: FlavorResource) -> int:
    """Return all that is unreserved at and below a node: shared, and kept by lending limits.

    Negative when more is reserved than the tree has.
    """
    kept = sum(local_available(below, pair) for below in _below(node))
    return add(available(node, pair), kept)


def nominal_in_tree(node: Node, pair: FlavorResource) -> int:
    """Return the sum of nominal quotas at and below a node, its own included."""
    total = 0
    for each in (node, *_below(node)):
        quota = each.quotas.get(pair)
        total = add(total, quota.nominal if quota else 0)
    return total


def _below(node: Node) -> Iterable[Node]:
    rest = list(node.children)
    seen = {node.number}
    while rest:
        at = rest.pop()
        if at.number not in seen:
            seen.add(at.number)
            yield at
            rest.extend(at.children)


def _with_limit(node: Node, pair: FlavorResource, limit: int) -> int:
    """Return what the borrowing limit leaves of the parent's quota, as in ``available``."""
    local = local_quota(node, pair)
    lendable = subtract(subtree_quota(node, pair), local)
    used = max(0, subtract(usage(node, pair), local))
    return add(subtract(lendable, used), limit)


def _over(node: Node, pair: FlavorResource) -> int:
    """Return what is reserved beyond the queue's own quota and borrowing limit, if any."""
    beyond = excess(node, pair)
    if node.parent is None:
        return beyond
    limit = node.quotas[pair].borrowing_limit
    return max(0, beyond - limit) if limit is not None else 0


def _lent(node: Node, pair: FlavorResource, tree_borrows: int) -> Lent:
    """Return bounds on what others hold of a queue's own quota.

    At least its unused own quota that it can't reserve now; at most its unused lendable quota, and
    no more than all others borrow.
    """
    unused = max(0, subtract(subtree_quota(node, pair), usage(node, pair)))
    if node.parent is None or node.cyclic or unused in (0, UNLIMITED):
        return Lent(0, 0)
    lendable = unused - min(unused, local_available(node, pair))
    others = max(0, tree_borrows - borrowed(node, pair))
    least = max(0, unused - can_reserve(node, pair))
    return Lent(least, max(least, min(lendable, others)))
