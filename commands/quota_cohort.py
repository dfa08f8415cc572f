"""A cohort as a tree: who owns, holds, borrows and lends what, and what is free.

[pure]
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from capacity.errors import Gap, UsageError
from capacity.model import ClusterQueue, FlavorResource, Fleet
from capacity.quota import Node, Tree, available, can_reserve, potential_available, usage
from commands.quota_figures import (
    Borrower,
    PairFigures,
    borrowed_in_tree,
    borrowers,
    figures,
    free_in_tree,
    gpu_pairs_first,
    nominal_in_tree,
)
from commands.quota_queue import blocked
from commands.words import count, is_gpu

ROWS = 30
_DETAILED = 3


@dataclass(frozen=True, slots=True)
class Row:
    """One queue or cohort of the tree, ``depth`` levels below the asked one.

    For a cohort ``nominal``, ``reserved`` and ``admitted`` are sums over all below it, and
    ``own_nominal`` is the quota of the Cohort object itself. A limit of None is no limit.
    ``admitted`` is the part of ``reserved`` whose pods may run; ``lent_least`` is what others hold
    of it for certain; ``most_ever`` is what it could hold if nothing else ran. ``blocked`` is
    "stopped", "inactive" or "cycle" for a queue that admits nothing.
    """

    depth: int
    name: str
    kind: str
    is_root: bool
    nominal: int
    own_nominal: int
    borrowing_limit: int | None
    lending_limit: int | None
    reserved: int
    admitted: int
    borrowed: int
    lent_least: int
    can_reserve: int
    most_ever: int
    blocked: str


@dataclass(frozen=True, slots=True)
class CohortPair:
    """The tree on one (flavor, resource).

    ``free`` is signed: below zero, more is reserved than there is. ``shared_free`` is the part
    that any queue may get; the rest is kept by lending limits.
    """

    pair: FlavorResource
    total: int
    reserved: int
    free: int
    shared_free: int
    borrowers: tuple[Borrower, ...]
    rows: tuple[Row, ...]


@dataclass(frozen=True, slots=True)
class CohortQuotaAnswer:
    """A cohort's tree, one page of it; ``queues`` counts all queues below.

    ``in_full`` asks for all figures of each row, not only the few that a phone shows.
    """

    cohort: str
    parent: str | None
    queues: int
    page: int
    pages: int
    in_full: bool
    pairs: tuple[CohortPair, ...]
    asked_at: datetime
    as_of: datetime
    source: str
    gaps: tuple[Gap, ...]


def answer_cohort(
    cohort: str, fleet: Fleet, now: datetime, page: int, *, in_full: bool = False
) -> CohortQuotaAnswer:
    """Answer for a cohort; raises UsageError for a page that isn't there."""
    tree = Tree.of(fleet)
    node = tree.cohort(cohort)
    nodes = tuple(_walk(node, 0))
    pages = max(1, -(-len(nodes) // ROWS))
    if not 1 <= page <= pages:
        raise UsageError(
            f"{cohort} has {count(pages, 'page')}, not {page}.", f"Ask: /gpu quota {cohort}"
        )
    shown = nodes[(page - 1) * ROWS : page * ROWS]
    return CohortQuotaAnswer(
        cohort=cohort,
        parent=node.parent.name if node.parent else None,
        queues=sum(n.kind == "ClusterQueue" for _, n in nodes),
        page=page,
        pages=pages,
        in_full=in_full,
        pairs=tuple(_pair(node, pair, shown) for pair in _pairs(nodes)),
        asked_at=now,
        as_of=fleet.as_of,
        source=fleet.source,
        gaps=fleet.gaps,
    )


def _walk(node: Node, depth: int, seen: frozenset[int] = frozenset()) -> Iterator[tuple[int, Node]]:
    yield depth, node
    for child in node.children:
        if child.number not in seen:
            yield from _walk(child, depth + 1, seen | {node.number})


def _pairs(nodes: tuple[tuple[int, Node], ...]) -> tuple[FlavorResource, ...]:
    listed = gpu_pairs_first(dict.fromkeys(pair for _, node in nodes for pair in node.quotas))
    gpus = tuple(pair for pair in listed if is_gpu(pair.resource))
    return gpus or listed


def _pair(node: Node, pair: FlavorResource, shown: tuple[tuple[int, Node], ...]) -> CohortPair:
    borrows = borrowed_in_tree(node.root, pair)
    total, free = nominal_in_tree(node, pair), free_in_tree(node, pair)
    inside = {queue.name for queue in node.cluster_queues()}
    return CohortPair(
        pair=pair,
        total=total,
        reserved=_reserved(node, pair),
        free=free,
        shared_free=available(node, pair),
        borrowers=tuple(b for b in borrowers(node, pair) if b.queue in inside),
        rows=tuple(_row(depth, at, pair, borrows) for depth, at in shown if _has(at, pair)),
    )


def _has(node: Node, pair: FlavorResource) -> bool:
    return node.kind == "Cohort" or pair in node.quotas


def _reserved(node: Node, pair: FlavorResource) -> int:
    return sum(usage(queue, pair) for queue in node.cluster_queues())


def _row(depth: int, node: Node, pair: FlavorResource, borrows: int) -> Row:
    queue = node.source
    if isinstance(queue, ClusterQueue):
        return _queue_row(depth, node, queue, figures(node, queue, pair, borrows))
    return _cohort_row(depth, node, pair)


def _queue_row(depth: int, node: Node, queue: ClusterQueue, found: PairFigures) -> Row:
    stopped = blocked(queue, cyclic=node.cyclic)
    return Row(
        depth=depth,
        name=node.name,
        kind=node.kind,
        is_root=node.parent is None,
        nominal=found.nominal,
        own_nominal=found.nominal,
        borrowing_limit=found.borrowing_limit,
        lending_limit=found.lending_limit,
        reserved=found.reserved,
        admitted=found.admitted,
        borrowed=found.borrowed,
        lent_least=found.lent.least,
        can_reserve=found.can_reserve,
        most_ever=found.most_ever,
        blocked=stopped.kind if stopped else "",
    )


def _cohort_row(depth: int, node: Node, pair: FlavorResource) -> Row:
    quota = node.quotas.get(pair)
    queues = [(q, q.source) for q in node.cluster_queues()]
    admitted = (
        min(s.admitted.get(pair, 0), usage(q, pair))
        for q, s in queues
        if isinstance(s, ClusterQueue)
    )
    return Row(
        depth=depth,
        name=node.name,
        kind=node.kind,
        is_root=node.parent is None,
        nominal=nominal_in_tree(node, pair),
        own_nominal=quota.nominal if quota else 0,
        borrowing_limit=quota.borrowing_limit if quota else None,
        lending_limit=quota.lending_limit if quota else None,
        reserved=_reserved(node, pair),
        admitted=sum(admitted),
        borrowed=0,
        lent_least=0,
        can_reserve=can_reserve(node, pair),
        most_ever=potential_available(node, pair),
        blocked="cycle" if node.cyclic else "",
    )
