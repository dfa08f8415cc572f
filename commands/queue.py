"""/gpu-queue: who waits in a queue, in which order and for how long, and who holds its quota.

[pure]
"""

from dataclasses import dataclass, replace
from datetime import datetime

from capacity.errors import Gap, UnknownName, UsageError
from capacity.explain import cluster_queue_of
from capacity.model import Fleet, Workload
from commands.command import Ask, Command, World
from commands.footer import footer, gap_notices
from commands.jobs import gpus, named
from commands.nearest import nearest
from commands.page import Action, Bold, Line, Page, Table
from commands.queue_data import QueueAnswer, answer_queue, line_of
from commands.queue_page import queue_page
from commands.scope import Scope, known_names, lookup, no_more, scope_of
from commands.words import count, since

_MOST_QUEUES = 30


@dataclass(frozen=True, slots=True)
class QueueLine:
    """One queue of several: how many wait, for how many GPUs, and who is next since when."""

    queue: str
    waiting: int
    gpus: int
    next_job: str
    next_since: datetime | None


@dataclass(frozen=True, slots=True)
class QueuesAnswer:
    """The waiting lines of a cohort's or a team's queues, the longest first."""

    name: str
    queues: tuple[QueueLine, ...]
    asked_at: datetime
    as_of: datetime
    source: str
    gaps: tuple[Gap, ...]


def answer(ask: Ask, world: World) -> QueueAnswer | QueuesAnswer:
    """Answer for the named queue, team, cohort or job, or for the asker's own team."""
    fleet = world.fleet()
    ask, page = _with_page(ask)
    no_more(ask, 1)
    scope = _scope(ask, fleet, world)
    if isinstance(scope, Workload):
        return _of_job(scope, fleet, world)
    if scope.kind == "cohort" or len(scope.queues) > 1 or not scope.queues:
        return _of_many(scope, fleet, world)
    return answer_queue(scope.queues[0], page, world, fleet, others=scope.others)


def page(found: QueueAnswer | QueuesAnswer) -> Page:
    """Show one queue in order, or several queues in a line each."""
    return queue_page(found) if isinstance(found, QueueAnswer) else _many_page(found)


def _with_page(ask: Ask) -> tuple[Ask, int]:
    """Take a trailing page number off the arguments."""
    *names, last = ask.args or ("",)
    if last.isascii() and last.isdigit() and len(last) < 7:
        return replace(ask, args=tuple(names)), int(last)
    if names:
        raise UsageError(
            f"I don't understand {last!r} here.", "A page is a number: /gpu queue NAME 2"
        )
    return ask, 1


def _scope(ask: Ask, fleet: Fleet, world: World) -> Scope | Workload:
    if not ask.args:
        return scope_of(ask, fleet, world.people())
    name = ask.args[0]
    found = lookup(name, fleet, world.people())
    if found is not None:
        return found
    jobs = named(name, fleet)
    if jobs:
        return jobs[0]
    known = (*known_names(fleet, world.people()), *fleet.workloads.names())
    raise UnknownName("queue, team, cohort or job", name, nearest(name, known))


def _of_job(workload: Workload, fleet: Fleet, world: World) -> QueueAnswer:
    queue = cluster_queue_of(workload, fleet)
    if queue is None or queue not in fleet.cluster_queues:
        raise UsageError(
            f"{workload.job} names the queue {workload.queue_name!r}, which doesn't exist in "
            f"namespace {workload.namespace}.",
            f"Ask: /gpu why {workload.job}",
        )
    waits = workload.status == "Pending"
    return answer_queue(queue, 1, world, fleet, job=workload.uid if waits else "")


def _of_many(scope: Scope, fleet: Fleet, world: World) -> QueuesAnswer:
    lines = [_line(name, fleet, world) for name in scope.queues]
    lines.sort(key=lambda line: (-line.waiting, -line.gpus, line.queue))
    return QueuesAnswer(
        scope.name, tuple(lines), world.now(), fleet.as_of, fleet.source, fleet.gaps
    )


def _line(name: str, fleet: Fleet, world: World) -> QueueLine:
    waiting = line_of(name, fleet, world).workloads
    head = waiting[0] if waiting else None
    return QueueLine(
        queue=name,
        waiting=len(waiting),
        gpus=sum(gpus(w) for w in waiting),
        next_job=head.job if head else "",
        next_since=head.created if head else None,
    )


def _many_page(answer: QueuesAnswer) -> Page:
    shown = answer.queues[:_MOST_QUEUES]
    busy = [line for line in answer.queues if line.waiting]
    return Page(
        headline=_many_headline(answer, busy),
        parts=(Table(("queue", "waiting", "GPUs", "next"), _rows(answer), "", (1, 2)),),
        actions=tuple(Action(f"Show {li.queue}", "ask", f"queue {li.queue}") for li in shown[:5]),
        footer=footer(answer, answer.asked_at),
        notices=gap_notices(answer.gaps),
    )


def _many_headline(answer: QueuesAnswer, busy: list[QueueLine]) -> Line:
    if not answer.queues:
        return (Bold(f"{answer.name} has no queue of its own."),)
    if not busy:
        return (Bold(f"Nothing waits in the {len(answer.queues)} queues of {answer.name}."),)
    total = sum(line.waiting for line in busy)
    waits = "waits" if total == 1 else "wait"
    said = f"{count(total, 'job')} {waits} in {answer.name}; most in {busy[0].queue}"
    return (Bold(f"{said} ({busy[0].waiting})."),)


def _rows(answer: QueuesAnswer) -> tuple[tuple[Line, ...], ...]:
    return tuple(
        (
            (line.queue,),
            (str(line.waiting),),
            (str(line.gpus),),
            (_next(line, answer.asked_at),),
        )
        for line in answer.queues[:_MOST_QUEUES]
    )


def _next(line: QueueLine, now: datetime) -> str:
    if line.next_since is None:
        return ""
    return f"{line.next_job}, {since(line.next_since, now)}"


COMMAND = Command(
    word="queue",
    usage="/gpu-queue [queue, team, cohort or job]",
    summary="who waits in which order, for how long, and who holds the quota",
    examples=("/gpu-queue research", "/gpu-queue llm-ft-7"),
    answer=answer,
    page=page,
)
