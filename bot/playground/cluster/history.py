"""What ran on the cards in the weeks before the start, so that usage has a past.

Made backwards from the jobs of the start: never two pods on a card, quieter at weekends, the
same for the same seed.
"""

import random
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from bot.playground.cluster.cards import Gpu, GpuNode, PodRun

DAYS = 28
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
    return [run for slot in slots for run in _backwards(slot, start, dice)]


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


def _backwards(slot: _Slot, start: datetime, dice: random.Random) -> Iterator[PodRun]:
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
        job = f"{name}-{number}"
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
