"""Why one job waits, what it needs, and what would help: the answer's data.

[pure]
"""

from dataclasses import dataclass
from datetime import datetime

from capacity.causes import Cause, Need
from capacity.errors import Gap
from capacity.explain import explain
from capacity.model import ClusterQueue, Fleet, Workload
from capacity.quota import Tree
from capacity.topology import Room, Wish, room, wish
from commands.command import World
from commands.estimate import Wait, wait_of
from commands.history import Recorded, past_jobs, queued_since, reserved_at
from commands.jobs import full_name, gang, gpus, held_words
from commands.queue_data import line_of
from commands.reasons import cards_of, main_need
from commands.why_help import Remedy, remedies


@dataclass(frozen=True, slots=True)
class WhyAnswer:
    """One job: its cause, its place in line (1 is first; None outside it), and what would help.

    ``need`` is what stands between it and quota. ``strict`` tells that nothing overtakes
    ``ahead_of_it``, the first in line ("namespace/job"). ``job_priority`` is Kueue's number.
    ``together`` is which topology level its pods share, ``room`` what is free there, ``places``
    where they stand.
    """

    job: str
    workload: str
    uid: str
    namespace: str
    kind: str
    queue_name: str
    queue: str | None
    gang: str
    pods: int
    card: str
    gpus: int
    job_priority: int
    priority_class: str | None
    queued_since: datetime
    reserved_at: datetime | None
    holds: str
    cause: Cause
    need: Need | None
    position: int | None
    in_line: int
    strict: bool
    ahead_of_it: str
    reclaim: str
    evictions: tuple[tuple[str, int], ...]
    together: Wish | None
    room: Room | None
    places: tuple[tuple[str, int], ...]
    remedies: tuple[Remedy, ...]
    wait: Wait | None
    namesakes: int
    asked_at: datetime
    as_of: datetime
    source: str
    gaps: tuple[Gap, ...]


@dataclass(frozen=True, slots=True)
class ChoicesAnswer:
    """Several unfinished jobs have the name: (name to ask with, its queue, its state)."""

    name: str
    choices: tuple[tuple[str, str, str], ...]
    asked_at: datetime
    as_of: datetime
    source: str
    gaps: tuple[Gap, ...]


def answer_job(workload: Workload, fleet: Fleet, world: World, namesakes: int) -> WhyAnswer:
    """Answer for one workload; ``namesakes`` counts older jobs of the same name."""
    tree, now = Tree.of(fleet), world.now()
    cause = explain(workload, fleet, tree)
    queue = fleet.cluster_queues.get(cause.cluster_queue or "")
    line = line_of(queue.name, fleet, world).workloads if queue and _waits(workload) else ()
    position = next((i + 1 for i, w in enumerate(line) if w.uid == workload.uid), None)
    head = full_name(line[0]) if position and position > 1 else ""
    waits, queues = _waits(workload), _same_tree(queue, tree) if queue else frozenset()
    recorded = world.past(queues) if waits else Recorded()
    past = past_jobs(fleet, queues, now, recorded) if waits else ()
    return WhyAnswer(
        job=workload.job,
        workload=workload.name,
        uid=workload.uid,
        namespace=workload.namespace,
        kind=workload.owner.kind if workload.owner else "Workload",
        queue_name=workload.queue_name,
        queue=queue.name if queue else None,
        gang=gang(workload),
        pods=sum(p.count for p in workload.pod_sets),
        card=cards_of(cause.needs),
        gpus=gpus(workload),
        job_priority=workload.priority,
        priority_class=workload.priority_class,
        queued_since=queued_since(workload),
        reserved_at=reserved_at(workload),
        holds=held_words(workload),
        cause=cause,
        need=main_need(cause.needs),
        position=position,
        in_line=len(line),
        strict=queue is not None and queue.queueing_strategy == "StrictFIFO",
        ahead_of_it=head,
        reclaim=queue.preemption.reclaim_within_cohort if queue else "",
        evictions=workload.evictions,
        together=wish(workload.pod_sets),
        room=room(cause),
        places=_places(workload),
        remedies=remedies(workload, cause, fleet, tree, past=past, now=now) if waits else (),
        wait=wait_of(workload, queue, fleet, tree, past=past, now=now) if waits and queue else None,
        namesakes=namesakes,
        asked_at=now,
        as_of=fleet.as_of,
        source=fleet.source,
        gaps=(*fleet.gaps, *recorded.gaps),
    )


def choices(name: str, found: tuple[Workload, ...], fleet: Fleet, now: datetime) -> ChoicesAnswer:
    """Answer with the jobs that the name may mean; the workload's own name where jobs clash."""
    names = [full_name(w) for w in found]
    shown = tuple(
        (
            full if names.count(full) == 1 else f"{w.namespace}/{w.name}",
            w.queue_name,
            w.status,
        )
        for full, w in zip(names, found, strict=True)
    )
    return ChoicesAnswer(name, shown, now, fleet.as_of, fleet.source, fleet.gaps)


def _places(workload: Workload) -> tuple[tuple[str, int], ...]:
    assigned = workload.admission.assignments if workload.admission else ()
    return tuple(place for each in assigned for place in each.places)


def _waits(workload: Workload) -> bool:
    return workload.status == "Pending"


def _same_tree(queue: ClusterQueue, tree: Tree) -> frozenset[str]:
    return frozenset(n.name for n in tree.cluster_queue(queue.name).root.cluster_queues())
