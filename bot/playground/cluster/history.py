"""What ran on the cards in the weeks before the start, so that usage and waits have a past.

Made backwards from the jobs of the start: never two pods on a card, quieter at weekends, the
same for the same seed. Of some runs of the last two weeks the finished Workloads are still there.
"""

import math
import random
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from statistics import NormalDist

from bot.playground.cluster.cards import PER_NODE, Gpu, GpuNode, PodRun
from bot.playground.cluster.job import Job, Spec

DAYS = 28
REMEMBERED = timedelta(days=14)
_NUMBERS = 1_000_000
_KEPT = {"research": (36, 28), "vision": (18, 22), "serving": (18, 22)}
"""How many finished Workloads of a whole node's GPUs, and of less, each queue still has."""
_WAITS = {True: (52.0, 1.2), False: (9.0, 1.1)}
"""Median in minutes and spread (of the logarithm) of waits: whole nodes, and less."""
_LONGEST = timedelta(hours=9)
_CHUNKS = (4, 2, 1, 1)
_TEAMS = (("research", 45), ("vision", 25), ("serving", 30))
_JOBS = {
    "research": (("train", "training", 6), ("eval", "eval", 3), ("notebook", "notebook", 1)),
    "vision": (("detect", "training", 4), ("labels", "eval", 3), ("notebook", "notebook", 3)),
    "serving": (("batch", "serving", 6), ("canary", "serving", 3), ("stuck", "stuck", 1)),
}


@dataclass(frozen=True, slots=True)
class _Slot:
    node: GpuNode
    gpus: tuple[Gpu, ...]
    busy_from: datetime


def past(
    nodes: Iterable[GpuNode], present: Iterable[PodRun], start: datetime, seed: int
) -> list[PodRun]:
    """Return the runs that ended before the start, on the cards that ``present`` leaves free."""
    dice = random.Random(f"{seed}/past")  # noqa: S311  # a story, not a secret
    held = list(present)
    slots = [slot for node in nodes for slot in _slots(node, held, start)]
    taken: set[str] = set()
    return [run for slot in slots for run in _backwards(slot, start, dice, taken)]


def _slots(node: GpuNode, present: list[PodRun], start: datetime) -> Iterator[_Slot]:
    rest = list(node.gpus)
    for run in present:
        if run.node == node.name:
            yield _Slot(node, run.gpus, run.start)
            rest = [gpu for gpu in rest if gpu not in run.gpus]
    for size in (*_CHUNKS, *_CHUNKS):
        if len(rest) >= size:
            yield _Slot(node, tuple(rest[:size]), start)
            rest = rest[size:]


def _backwards(
    slot: _Slot, start: datetime, dice: random.Random, taken: set[str]
) -> Iterator[PodRun]:
    first, end = start - timedelta(days=DAYS), slot.busy_from
    while True:
        pause = dice.expovariate(1 / 2.0) * (3 if end.weekday() >= 5 else 1)
        end -= timedelta(hours=pause)
        length = timedelta(hours=min(20.0, max(0.3, dice.lognormvariate(1.3, 0.8))))
        if end - length < first:
            return
        team = dice.choices([t for t, _ in _TEAMS], [w for _, w in _TEAMS])[0]
        name, behaviour, _ = dice.choices(_JOBS[team], [w for *_, w in _JOBS[team]])[0]
        number = dice.randrange(1_000, 10_000)
        while (job := f"{name}-{number}") in taken:
            number += 1
        taken.add(job)
        yield PodRun(
            namespace=team,
            pod=f"{job}-0",
            job=job,
            queue=team,
            node=slot.node.name,
            gpus=slot.gpus,
            start=end - length,
            end=end,
            behaviour=behaviour,
            seed=number,
        )
        end -= length


def remembered(
    runs: Iterable[PodRun],
    nodes: Iterable[GpuNode],
    checked: Collection[str],
    *,
    start: datetime,
    seed: int,
) -> list[Job]:
    """Return finished jobs of past runs, oldest first, each with the wait that it had before.

    ``checked`` are the queues that have an admission check.
    """
    dice = random.Random(f"{seed}/remembered")  # noqa: S311  # a story, not a secret
    on_h100 = {node.name for node in nodes if node.flavor == "h100"}
    late = [r for r in runs if r.node in on_h100 and r.start >= start - REMEMBERED]
    chosen = [each for queue in _KEPT for each in _chosen(late, queue, dice)]
    jobs = []
    for number, (run, wait) in enumerate(sorted(chosen, key=lambda each: each[0].start)):
        jobs.append(_finished(run, wait, _NUMBERS + number, checked=run.queue in checked))
    return jobs


def _chosen(
    runs: Sequence[PodRun], queue: str, dice: random.Random
) -> Iterator[tuple[PodRun, timedelta]]:
    for whole, count in zip((True, False), _KEPT[queue], strict=True):
        alike = [r for r in runs if r.queue == queue and (len(r.gpus) == PER_NODE) == whole]
        picked = dice.sample(alike, min(count, len(alike)))
        yield from zip(picked, _waits(len(picked), *_WAITS[whole]), strict=True)


def _waits(count: int, median: float, spread: float) -> Iterator[timedelta]:
    """Yield waits that lie as a log-normal law says: at evenly spaced shares of it."""
    for number in range(count):
        share = NormalDist().inv_cdf((number + 0.5) / count)
        yield min(_LONGEST, timedelta(minutes=median * math.exp(spread * share)))


def _finished(run: PodRun, wait: timedelta, number: int, *, checked: bool) -> Job:
    end = run.end or run.start
    spec = Spec(
        run.queue,
        run.job,
        1,
        len(run.gpus),
        end - run.start,
        on="h100",
        behaviour=run.behaviour,
    )
    reserved = run.start - (spec.check if checked else timedelta(0))
    job = Job(spec, reserved - wait, number)
    job.mark_reserved(run.queue, "h100", reserved)
    if checked:
        job.mark_checking(reserved)
    job.mark_admitted(run.start)
    job.mark_running(run.start)
    job.mark_finished(end)
    return job
