"""What if? A change of quota or a new workload, tried on the cohort trees it touches.

The same scheduling cycles run twice, without and with the change; the difference is its doing.

[pure]
"""

from collections.abc import Collection, Iterable, Iterator, Sequence

from capacity.changes import QuotaChange, apply_to
from capacity.cycle import Floor, Line, Start, run
from capacity.demand import candidates, demand, uncounted
from capacity.explain import cluster_queue_of
from capacity.fits import blocked
from capacity.model import ClusterQueue, FlavorResource, Fleet, Workload
from capacity.order import arrange, is_queued, order_caveats
from capacity.outcome import Outcome, over_quota, promises, rows
from capacity.quota import Node, Tree

TRIES = 2000
"""Heads tried per run; beyond this a what-if says that it was cut short."""

LEAVES_OUT = (
    "topology",
    "admission checks",
    "partial admission of elastic jobs",
    "workloads that finish or arrive meanwhile",
    "that stopped workloads queue again",
)
_FAIR = "whom fair sharing stops, and in which order it tries (judged roughly, without its rules)"
_CUT = f"queues beyond the first {TRIES} workloads tried"
_UNCOUNTED = "{name}, which Kueue doesn't count in this cluster"
_ORCHESTRATED = "when the orchestrator of {name}'s quota takes the new nominal over"


def simulate(
    fleet: Fleet,
    changes: Sequence[QuotaChange] = (),
    extra: Sequence[Workload] = (),
    tree: Tree | None = None,
) -> Outcome:
    """Return what the changes, and extra workloads that would be submitted, make different.

    ``tree`` saves building it from the fleet; it isn't changed. Raises UnknownName or UsageError
    for a change of what doesn't exist.
    """
    before = tree.copy() if tree else Tree.of(fleet)
    after = before.copy()
    apply_to(after, changes)
    homes = {workload.uid: cluster_queue_of(workload, fleet) for workload in extra}
    roots = _roots(before, changes, homes.values())
    pairs = tuple(_pairs(fleet, changes, extra))
    found = tuple(rows(before, after, roots, pairs))
    without, _ = run(*_floor(fleet, before, roots, (), homes), TRIES)
    floor, lines = _floor(fleet, after, roots, extra, homes)
    with_it, cut = run(floor, lines, TRIES)
    return Outcome(
        rows=found,
        promises=tuple(promises(after, roots, pairs)),
        over=tuple(over_quota(found, after, fleet)),
        starts=_only(with_it, without),
        held_back=_only(without, with_it),
        already=_both(without, with_it),
        leaves_out=(
            *_caveats(fleet, after, changes, roots),
            *(_UNCOUNTED.format(name=name) for name in sorted(floor.ignored)),
            *([_CUT] if cut else []),
        ),
    )


def _roots(
    tree: Tree, changes: Iterable[QuotaChange], homes: Iterable[str | None]
) -> tuple[Node, ...]:
    nodes = [
        tree.cohort(change.target) if change.kind == "Cohort" else tree.cluster_queue(change.target)
        for change in changes
    ]
    nodes += [tree.cluster_queue(name) for name in homes if name]
    return tuple(dict.fromkeys(node.root for node in nodes))


def _pairs(
    fleet: Fleet, changes: Iterable[QuotaChange], extra: Iterable[Workload]
) -> Iterator[FlavorResource]:
    found = [change.pair for change in changes]
    for workload in extra:
        queue = fleet.cluster_queues.get(cluster_queue_of(workload, fleet) or "")
        found += candidates(queue, demand(workload)) if queue else ()
    yield from dict.fromkeys(found)


def _floor(
    fleet: Fleet,
    tree: Tree,
    roots: Collection[Node],
    extra: Sequence[Workload],
    homes: dict[str, str | None],
) -> tuple[Floor, list[Line]]:
    lines = []
    for root in roots:
        for node in root.cluster_queues():
            queue = Node(tree, node.number).source
            assert isinstance(queue, ClusterQueue)
            if not blocked(node, queue):
                new = [workload for workload in extra if homes[workload.uid] == node.name]
                lines.append(Line(queue, _waiting(fleet, node.name, new)))
    asked = {
        name for line in lines for w in line.waiting for p in w.pod_sets for name in p.requests
    }
    lacking = asked.difference(pair.resource for pair in tree.pairs)
    return Floor(fleet, tree.copy(), uncounted(fleet, lacking)), lines


def _waiting(fleet: Fleet, cluster_queue: str, new: list[Workload]) -> list[Workload]:
    """Return who would be tried: whoever is in backoff isn't."""
    ready = [w for w in fleet.workloads.pending(cluster_queue) if _is_tried(w, fleet)]
    return [*arrange(fleet, cluster_queue, [*ready, *new])]


def _is_tried(workload: Workload, fleet: Fleet) -> bool:
    later = workload.requeue_at is not None and workload.requeue_at > fleet.as_of
    requeued = workload.condition("Requeued")
    held = requeued is not None and requeued.status == "False"
    return is_queued(workload) and not later and not held


def _only(these: Iterable[Start], others: Iterable[Start]) -> tuple[Start, ...]:
    known = {start.workload.uid for start in others}
    return tuple(start for start in these if start.workload.uid not in known)


def _both(these: Iterable[Start], others: Iterable[Start]) -> tuple[Start, ...]:
    known = {start.workload.uid for start in others}
    return tuple(start for start in these if start.workload.uid in known)


def _caveats(
    fleet: Fleet, after: Tree, changes: Iterable[QuotaChange], roots: Iterable[Node]
) -> Iterator[str]:
    yield from LEAVES_OUT
    if fleet.fair_sharing:
        yield _FAIR
    for change in changes:
        source = (
            after.cohort(change.target)
            if change.kind == "Cohort"
            else after.cluster_queue(change.target)
        ).source
        if change.field == "nominal" and source and source.effective_resource_groups is not None:
            yield _ORCHESTRATED.format(name=change.target)
    names = [node.name for root in roots for node in root.cluster_queues()]
    yield from dict.fromkeys(text for name in names for text in order_caveats(fleet, name))
