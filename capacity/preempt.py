"""Whom Kueue would stop to make room for a workload: its classical preemption, simulated.

The rules are Kueue v0.19's (pkg/scheduler/preemption): candidates by policy and place in the
cohort tree are taken in order until the request fits, then given back where that still fits.
Fair sharing has other rules.

[pure]
"""

from collections.abc import Callable, Collection
from dataclasses import dataclass

from capacity.demand import reserved_by
from capacity.model import Amounts, FlavorResource, Workload
from capacity.preempt_candidates import Asker, Candidate, Way, candidates, is_within_nominal
from capacity.quota import Node, Tree, borrowing_with, can_reserve, usage

Reserving = Callable[[str], Collection[Workload]]
"""Workloads that hold quota in a ClusterQueue."""

_REASONS = {
    Way.SAME_QUEUE: "InClusterQueue",
    Way.HIERARCHICAL: "InCohortReclamation",
    Way.WITHOUT_BORROWING: "InCohortReclamation",
    Way.WHILE_BORROWING: "InCohortReclaimWhileBorrowing",
}


@dataclass(frozen=True, slots=True)
class Victim:
    """A workload that would be stopped, where it runs, and Kueue's reason for choosing it."""

    workload: Workload
    cluster_queue: str
    reason: str
    frees: Amounts


def victims(
    tree: Tree, reserving: Reserving, asker: Asker, contested: Collection[FlavorResource]
) -> tuple[Victim, ...]:
    """Return the workloads that Kueue would stop so that the asker's request fits; () for none.

    ``contested`` are the pairs that don't fit without preemption. The tree isn't changed.
    """
    found = candidates(tree, reserving, asker, contested)
    if not found:
        return ()
    for borrowing in _attempts(tree, asker, contested, found):
        taken = _take(tree.copy(), asker, contested, found, borrowing)
        if taken:
            return tuple(
                Victim(c.workload, c.queue, _REASONS[c.way], reserved_by(c.workload)) for c in taken
            )
    return ()


def _attempts(
    tree: Tree, asker: Asker, contested: Collection[FlavorResource], found: list[Candidate]
) -> tuple[bool, ...]:
    """Return in which order Kueue tries with and without borrowing."""
    ways = {candidate.way for candidate in found}
    forbidden = asker.queue.preemption.borrow_within_cohort == "Never"
    node = tree.cluster_queue(asker.queue.name)
    under = all(usage(node, pair) < _nominal(node, pair) for pair in contested)
    if ways <= {Way.SAME_QUEUE} or (forbidden and not under):
        return (True,)
    if forbidden and Way.HIERARCHICAL not in ways:
        return (False, True)
    return (True, False)


def _take(
    board: Tree,
    asker: Asker,
    contested: Collection[FlavorResource],
    found: list[Candidate],
    borrowing: bool,
) -> list[Candidate]:
    taken: list[Candidate] = []
    node = board.cluster_queue(asker.queue.name)
    for candidate in found:
        if not _still_valid(board, asker, contested, candidate, borrowing):
            continue
        board.remove_usage(candidate.queue, reserved_by(candidate.workload))
        taken.append(candidate)
        if _fits(node, asker.wanted, borrowing):
            return _given_back(board, node, asker.wanted, taken, borrowing)
    return []


def _given_back(
    board: Tree, node: Node, wanted: Amounts, taken: list[Candidate], borrowing: bool
) -> list[Candidate]:
    kept = taken[-1:]
    for candidate in reversed(taken[:-1]):
        held = reserved_by(candidate.workload)
        board.add_usage(candidate.queue, held)
        if not _fits(node, wanted, borrowing):
            board.remove_usage(candidate.queue, held)
            kept.insert(0, candidate)
    return kept


def _still_valid(
    board: Tree,
    asker: Asker,
    contested: Collection[FlavorResource],
    candidate: Candidate,
    borrowing: bool,
) -> bool:
    """Tell whether a candidate may be taken: others must still use more than their own quota."""
    if candidate.way is Way.SAME_QUEUE:
        return True
    if borrowing and candidate.way is Way.WITHOUT_BORROWING:
        return False
    at: Node | None = board.cluster_queue(candidate.queue)
    while at is not None and at.number != candidate.common:
        if is_within_nominal(at, contested):
            return False
        at = at.parent
    return True


def _fits(node: Node, wanted: Amounts, borrowing: bool) -> bool:
    return all(
        amount <= can_reserve(node, pair) and (borrowing or not borrowing_with(node, pair, amount))
        for pair, amount in wanted.items()
    )


def _nominal(node: Node, pair: FlavorResource) -> int:
    quota = node.quotas.get(pair)
    return quota.nominal if quota else 0
