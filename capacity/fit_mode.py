"""How one amount of one (flavor, resource) could be had: now, by preemption, or not.

[pure]
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import IntEnum

from capacity.amount import subtract
from capacity.model import Amounts, ClusterQueue, FlavorFungibility, FlavorResource, ResourceFlavor
from capacity.preempt import Reserving, Victim, victims
from capacity.preempt_candidates import Asker
from capacity.quota import (
    Node,
    Tree,
    borrowing_with,
    can_reserve,
    local_available,
    potential_available,
)


class Mode(IntEnum):
    """How a request could be served, the worst first (flavorassigner's preemptionMode)."""

    NO_FIT = 0
    NO_CANDIDATES = 1
    PREEMPT = 2
    RECLAIM = 3
    FIT = 4


@dataclass(frozen=True, slots=True)
class Way:
    """A mode, and how far away the quota is: 0 in the queue itself, else a cohort's height."""

    mode: Mode
    distance: int = 0
    victims: tuple[Victim, ...] = ()


NONE = Way(Mode.NO_FIT)


@dataclass(frozen=True, slots=True)
class Board:
    """The state that requests are tried on: the tree, and who holds quota in each queue.

    ``ignored`` are resources that Kueue doesn't count (``capacity.demand.uncounted``).
    ``oracle`` says what preemption could do; it is simulated on the board unless given.
    """

    tree: Tree
    reserving: Reserving
    flavors: Mapping[str, ResourceFlavor]
    ignored: frozenset[str] = frozenset()
    fair_sharing: bool = False
    oracle: "Oracle | None" = None


Oracle = Callable[[Board, Asker, FlavorResource, int], Way]
"""How a queue could get an amount by stopping others (Kueue's preemptionOracle)."""


def way_of(board: Board, asker: Asker, pair: FlavorResource, amount: int) -> Way:
    """Return how a queue could get an amount, with the victims if by preemption.

    It can't ever if the amount exceeds ``potential_available``; a queue that may not preempt
    waits, which is NO_FIT too.
    """
    node = board.tree.cluster_queue(asker.queue.name)
    if amount > potential_available(node, pair) or pair not in node.quotas:
        return NONE
    distance, reclaims = height_that_fits(node, pair, amount)
    if amount <= can_reserve(node, pair):
        return Way(Mode.FIT, distance)
    quota = node.quotas[pair]
    own = quota.nominal >= amount
    if not (own or reclaims or borrows_by_force(asker.queue, board.fair_sharing)):
        return Way(Mode.NO_FIT, distance)
    if board.oracle is not None:
        return board.oracle(board, asker, pair, amount)
    return by_preemption(board, asker, pair, amount) or Way(Mode.NO_CANDIDATES, distance)


def by_preemption(board: Board, asker: Asker, pair: FlavorResource, amount: int) -> Way | None:
    """Return the way to an amount that doesn't fit now, with its victims; None without any."""
    node = board.tree.cluster_queue(asker.queue.name)
    request = Asker(asker.queue, {pair: amount}, asker.priority, asker.since, asker.now)
    found = victims(board.tree, board.reserving, request, {pair})
    if not found:
        return None
    after = board.tree.copy()
    for victim in found:
        after.remove_usage(victim.cluster_queue, victim.frees)
    own_queue = any(victim.cluster_queue == asker.queue.name for victim in found)
    distance, _ = height_that_fits(after.cluster_queue(node.name), pair, amount)
    return Way(Mode.PREEMPT if own_queue else Mode.RECLAIM, distance, found)


def looks_for_victims(
    node: Node,
    queue: ClusterQueue,
    pair: FlavorResource,
    amount: int,
    fair_sharing: bool = False,
) -> bool:
    """Tell whether Kueue would look for workloads to stop at all.

    It does if the amount is within the queue's nominal or in a subtree that can reclaim from
    elsewhere, or if the queue may borrow by preemption. It may find none: policies can be Never.
    """
    if borrows_by_force(queue, fair_sharing):
        return True
    quota = node.quotas.get(pair)
    own = quota is not None and quota.nominal >= amount
    return own or height_that_fits(node, pair, amount)[1]


def borrows_by_force(queue: ClusterQueue, fair_sharing: bool) -> bool:
    """Tell whether the queue may stop others' workloads also to borrow."""
    rules = queue.preemption
    by_share = fair_sharing and rules.reclaim_within_cohort != "Never"
    return by_share or rules.borrow_within_cohort != "Never"


def height_that_fits(node: Node, pair: FlavorResource, amount: int) -> tuple[int, bool]:
    """Return the height of the lowest subtree whose quota could hold the amount too.

    0 is the queue alone; with it comes whether that subtree has anything above it, so that quota
    in it may be reclaimed from elsewhere. If none could hold it, the whole tree's height.
    """
    if not borrowing_with(node, pair, amount) or node.parent is None:
        return 0, node.parent is not None
    rest = subtract(amount, local_available(node, pair))
    top = node
    for cohort in _above(node):
        if not borrowing_with(cohort, pair, rest):
            return cohort.height, cohort.parent is not None
        rest = subtract(rest, local_available(cohort, pair))
        top = cohort
    return top.height, False


def may_stop_search(way: Way, rules: FlavorFungibility) -> bool:
    """Tell whether the search for a flavor ends here (shouldTryNextFlavor, negated)."""
    if way.mode in (Mode.NO_FIT, Mode.NO_CANDIDATES):
        return False
    by_preemption = way.mode in (Mode.PREEMPT, Mode.RECLAIM)
    if by_preemption and rules.when_can_preempt == "TryNextFlavor":
        return False
    return way.distance == 0 or rules.when_can_borrow != "TryNextFlavor"


def preference(way: Way, rules: FlavorFungibility) -> tuple[int, int, int]:
    """Return a key by which the better of two ways is the greater (isPreferred)."""
    possible = 0 if way.mode is Mode.NO_FIT else 1 if way.mode is Mode.NO_CANDIDATES else 2
    if rules.preference == "PreemptionOverBorrowing":
        return possible, -way.distance, way.mode
    return possible, way.mode, -way.distance


def fits_now(tree: Tree, queue: str, amounts: Amounts) -> bool:
    """Tell whether all amounts together fit without preemption."""
    node = tree.cluster_queue(queue)
    return all(amount <= can_reserve(node, pair) for pair, amount in amounts.items())


def _above(node: Node) -> Iterator[Node]:
    at = node.parent
    while at is not None:
        yield at
        at = at.parent
