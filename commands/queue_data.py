"""Who waits in a queue and in which order, who holds quota there, and how long it takes.

[pure]
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from capacity.errors import Gap, UsageError
from capacity.explain import explain
from capacity.model import ClusterQueue, Fleet, Workload
from capacity.order import is_queued, order_caveats, pending_order
from capacity.quota import Tree
from commands.command import World
from commands.estimate import Wait, wait_of
from commands.history import Recorded, past_jobs, queued_since, reserved_at
from commands.jobs import gang, gpus, held_words
from commands.quota_queue import Blocked, blocked
from commands.reasons import cards_of, main_need, needs_sentence, short_reason

ROWS = 15


@dataclass(frozen=True, slots=True)
class Waiting:
    """One waiting job; ``position`` counts from 1. ``gpus`` are asked for at once."""

    position: int
    uid: str
    job: str
    namespace: str
    gang: str
    card: str
    gpus: int
    priority: int
    priority_class: str | None
    since: datetime
    why: str
    kind: str


@dataclass(frozen=True, slots=True)
class Holding:
    """One job that has quota; ``running`` is False while its start is still being checked."""

    job: str
    namespace: str
    gang: str
    gpus: int
    holds: str
    priority: int
    since: datetime | None
    running: bool


@dataclass(frozen=True, slots=True)
class QueueAnswer:
    """One page of a queue's waiting jobs, and those that hold quota.

    ``order`` tells whose order it is: "kueue" (visibility API) or "gpubot" (Kueue's rules on what
    the objects show, with ``caveats``). ``aside`` counts jobs that wait outside the line (on
    hold, gated, deactivated). ``wait`` is how long ``asked_job``, the job that was asked about, may
    wait; else the first in line.
    """

    queue: str
    strategy: str
    blocked: Blocked | None
    total: int
    gpus_waiting: int
    page: int
    pages: int
    first: Waiting | None
    waiting: tuple[Waiting, ...]
    aside: int
    head_needs: str
    holding: tuple[Holding, ...]
    order: Literal["kueue", "gpubot"]
    caveats: tuple[str, ...]
    wait: Wait | None
    asked_job: Waiting | None
    others: tuple[str, ...]
    asked_at: datetime
    as_of: datetime
    source: str
    gaps: tuple[Gap, ...]


@dataclass(frozen=True, slots=True)
class Line:
    """A queue's pending workloads in order, and whose order it is."""

    workloads: tuple[Workload, ...]
    aside: int
    order: Literal["kueue", "gpubot"]
    caveats: tuple[str, ...]


def line_of(queue: str, fleet: Fleet, world: World) -> Line:
    """Return who waits in order: Kueue's own where it tells, else by its rules.

    Kueue's list may be newer or older than our read; a job that only one of them knows is left
    out if it is gone from ours, and stands last if it is missing from Kueue's.
    """
    pending = fleet.workloads.pending(queue)
    aside = sum(not is_queued(w) for w in pending)
    ours = pending_order(fleet, queue)
    told = world.pending_order(queue)
    if told is None:
        return Line(ours, aside, "gpubot", order_caveats(fleet, queue))
    by_uid = {w.uid: w for w in ours}
    in_order = [by_uid.pop(uid) for uid in told if uid in by_uid]
    return Line((*in_order, *by_uid.values()), aside, "kueue", ())


def answer_queue(
    name: str,
    page: int,
    world: World,
    fleet: Fleet,
    *,
    others: tuple[str, ...] = (),
    job: str = "",
) -> QueueAnswer:
    """Answer with a page of one ClusterQueue, or with the page of ``job`` (a uid).

    Raises UsageError for a page that isn't there.
    """
    queue = fleet.cluster_queues[name]
    line, now = line_of(name, fleet, world), world.now()
    index = next((i for i, w in enumerate(line.workloads) if w.uid == job), 0)
    pages = max(1, -(-len(line.workloads) // ROWS))
    page = index // ROWS + 1 if job else page
    _check(page, pages, name)
    rows = _Rows(fleet, queue, line)
    recorded = world.past({name})
    return QueueAnswer(
        queue=name,
        strategy=queue.queueing_strategy,
        blocked=blocked(queue, cyclic=rows.tree.cyclic(name)),
        total=len(line.workloads),
        gpus_waiting=sum(gpus(w) for w in line.workloads),
        page=page,
        pages=pages,
        first=rows.row(0) if line.workloads else None,
        waiting=rows.rows((page - 1) * ROWS, page * ROWS),
        aside=line.aside,
        head_needs=rows.head_needs(),
        holding=_holding(fleet.workloads.reserving(name)),
        order=line.order,
        caveats=line.caveats,
        wait=rows.wait(index, recorded, now),
        asked_job=rows.row(index) if job and line.workloads else None,
        others=others,
        asked_at=now,
        as_of=fleet.as_of,
        source=fleet.source,
        gaps=(*fleet.gaps, *recorded.gaps),
    )


class _Rows:
    """Builds rows of one queue; the arithmetic is made once."""

    def __init__(self, fleet: Fleet, queue: ClusterQueue, line: Line) -> None:
        self._fleet, self._queue, self._line = fleet, queue, line.workloads
        self.tree = Tree.of(fleet)

    def row(self, index: int) -> Waiting:
        """Return the row of the workload at this place in the line, from 0."""
        workload = self._line[index]
        cause = explain(workload, self._fleet, self.tree)
        strict = self._queue.queueing_strategy == "StrictFIFO" and index > 0
        return Waiting(
            position=index + 1,
            uid=workload.uid,
            job=workload.job,
            namespace=workload.namespace,
            gang=gang(workload),
            card=cards_of(cause.needs),
            gpus=gpus(workload),
            priority=workload.priority,
            priority_class=workload.priority_class,
            since=queued_since(workload),
            why=short_reason(cause, self._line[0].job if strict else ""),
            kind=cause.kind.value,
        )

    def rows(self, start: int, end: int) -> tuple[Waiting, ...]:
        """Return the rows of a page."""
        return tuple(self.row(i) for i in range(start, min(end, len(self._line))))

    def wait(self, index: int, recorded: Recorded, now: datetime) -> Wait | None:
        """Return what is known of the wait of the workload at this place; None if there is none."""
        if not self._line:
            return None
        past = past_jobs(self._fleet, {self._queue.name}, now, recorded)
        job = self._line[index]
        return wait_of(job, self._queue, self._fleet, self.tree, past=past, now=now)

    def head_needs(self) -> str:
        """Return what the first in line needs and the queue has, or nothing."""
        if not self._line:
            return ""
        need = main_need(explain(self._line[0], self._fleet, self.tree).needs)
        return needs_sentence(need, self._queue.name) if need is not None else ""


def _check(page: int, pages: int, name: str) -> None:
    if not 1 <= page <= pages:
        raise UsageError(
            f"The queue of {name} has {pages} {'page' if pages == 1 else 'pages'}, not {page}.",
            f"Ask: /gpu queue {name}",
        )


def _holding(workloads: Iterable[Workload]) -> tuple[Holding, ...]:
    found = [_hold(w) for w in workloads]
    return tuple(sorted(found, key=lambda h: (-h.gpus, h.job)))


def _hold(workload: Workload) -> Holding:
    return Holding(
        job=workload.job,
        namespace=workload.namespace,
        gang=gang(workload),
        gpus=gpus(workload),
        holds=held_words(workload),
        priority=workload.priority,
        since=reserved_at(workload),
        running=workload.is_true("Admitted"),
    )
