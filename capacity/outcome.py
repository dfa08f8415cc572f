"""What a what-if found: figures before and after, who starts, who could be stopped.

[pure]
"""

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass

from capacity.amount import add
from capacity.cycle import Start
from capacity.demand import reserved_by
from capacity.model import ClusterQueue, FlavorResource, Fleet, Workload
from capacity.quota import (
    Node,
    Tree,
    available,
    borrowed,
    excess,
    potential_available,
    usage,
)


@dataclass(frozen=True, slots=True)
class Figures:
    """One queue's figures on one (flavor, resource), before anybody starts or stops.

    ``available`` is signed. A None limit is no limit.
    """

    nominal: int
    borrowing_limit: int | None
    lending_limit: int | None
    reserved: int
    available: int
    potential: int
    borrowed: int


@dataclass(frozen=True, slots=True)
class Row:
    """One queue's figures before and after."""

    cluster_queue: str
    pair: FlavorResource
    before: Figures
    after: Figures

    @property
    def changed(self) -> bool:
        """Whether the change touches this queue at all."""
        return self.before != self.after


@dataclass(frozen=True, slots=True)
class Promise:
    """The sum of nominal quotas in a tree before and after: what is promised of the hardware."""

    root: str
    pair: FlavorResource
    before: int
    after: int


@dataclass(frozen=True, slots=True)
class Over:
    """A queue that comes to hold more than its own quota, or more of it than before.

    Nothing is evicted by that alone. ``reclaimers`` are the queues that may take theirs back, with
    their policy; ``exposed`` the workloads that would be stopped first, as many as hold the excess.
    """

    cluster_queue: str
    pair: FlavorResource
    before: int
    after: int
    reclaimers: tuple[tuple[str, str], ...]
    exposed: tuple[Workload, ...]


@dataclass(frozen=True, slots=True)
class Outcome:
    """The difference that a change makes.

    ``starts`` would get quota because of it, ``held_back`` would get quota only without it.
    ``already`` would start either way: quota isn't what they wait for. ``leaves_out`` says what
    the simulation doesn't know; it belongs beside every answer.
    """

    rows: tuple[Row, ...]
    promises: tuple[Promise, ...]
    over: tuple[Over, ...]
    starts: tuple[Start, ...]
    held_back: tuple[Start, ...]
    already: tuple[Start, ...]
    leaves_out: tuple[str, ...]

    @property
    def has_effect(self) -> bool:
        """Whether it changes what people feel: what is available or possible, or who starts."""
        moved = any(
            (row.before.available, row.before.potential)
            != (row.after.available, row.after.potential)
            for row in self.rows
        )
        return moved or bool(self.starts or self.held_back)


def rows(
    before: Tree, after: Tree, roots: Collection[Node], pairs: Iterable[FlavorResource]
) -> Iterator[Row]:
    """Yield every queue's figures on these pairs in the trees below the roots."""
    wanted = tuple(pairs)
    for root in roots:
        for node in root.cluster_queues():
            for pair in wanted:
                if pair in node.quotas:
                    then = Node(after, node.number)
                    yield Row(node.name, pair, _figures(node, pair), _figures(then, pair))


def promises(
    after: Tree, roots: Collection[Node], pairs: Iterable[FlavorResource]
) -> Iterator[Promise]:
    """Yield the nominal sums of each tree."""
    for pair in pairs:
        for root in roots:
            total = _promised(root, pair)
            yield Promise(root.name, pair, total, _promised(Node(after, root.number), pair))


def over_quota(changed: Iterable[Row], after: Tree, fleet: Fleet) -> Iterator[Over]:
    """Yield the queues whose excess grows."""
    for row in changed:
        node = after.cluster_queue(row.cluster_queue)
        then = excess(node, row.pair)
        now = max(0, row.before.reserved - row.before.nominal)
        if then > now:
            yield Over(
                row.cluster_queue,
                row.pair,
                now,
                then,
                tuple(_reclaimers(node, row.pair)),
                _exposed(fleet, row.cluster_queue, row.pair, then),
            )


def _figures(node: Node, pair: FlavorResource) -> Figures:
    quota = node.quotas[pair]
    return Figures(
        nominal=quota.nominal,
        borrowing_limit=quota.borrowing_limit,
        lending_limit=quota.lending_limit,
        reserved=usage(node, pair),
        available=available(node, pair),
        potential=potential_available(node, pair),
        borrowed=borrowed(node, pair),
    )


def _promised(node: Node, pair: FlavorResource) -> int:
    total = 0
    rest = [node]
    while rest:
        at = rest.pop()
        quota = at.quotas.get(pair)
        total = add(total, quota.nominal if quota else 0)
        rest.extend(at.children)
    return total


def _reclaimers(node: Node, pair: FlavorResource) -> Iterator[tuple[str, str]]:
    for other in node.root.cluster_queues():
        source, quota = other.source, other.quotas.get(pair)
        if other == node or quota is None or not quota.nominal:
            continue
        if isinstance(source, ClusterQueue):
            policy = source.preemption.reclaim_within_cohort
            if policy != "Never":
                yield other.name, policy


def _exposed(
    fleet: Fleet, cluster_queue: str, pair: FlavorResource, amount: int
) -> tuple[Workload, ...]:
    """Return the workloads that others would stop first: lowest priority, then newest."""
    held = [w for w in fleet.workloads.reserving(cluster_queue) if reserved_by(w).get(pair)]
    held.sort(key=lambda w: (w.priority, -_since(w), w.uid))
    taken: list[Workload] = []
    rest = amount
    for workload in held:
        if rest <= 0:
            break
        taken.append(workload)
        rest -= reserved_by(workload)[pair]
    return tuple(taken)


def _since(workload: Workload) -> float:
    reserved = workload.condition("QuotaReserved")
    return (reserved.last_transition if reserved else workload.created).timestamp()
