"""How much longer running jobs may go on, by how long jobs like them ran.

[pure]
"""

from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta

from commands.history import Stretch
from commands.ranges import FEWEST, Like, Range, likes, range_of, spell
from commands.survival import Curve, Spell


class RunTimes:
    """The run times of the past by queue and size; each kind's curve is made once."""

    def __init__(self, past: Iterable[Stretch], now: datetime) -> None:
        self._now = now
        self._past: dict[str, list[Stretch]] = {}
        for stretch in past:
            if stretch.reserved_at is not None:
                self._past.setdefault(stretch.queue, []).append(stretch)
        self._made: dict[tuple[str, Like], tuple[Curve, list[datetime]]] = {}

    def left(self, queue: str, size: int, age: timedelta) -> Range | None:
        """Return how much longer jobs went on that had reached an age; None if too few ended.

        Jobs of the queue with half to twice its GPUs, else of any size. Those that still run, or
        that others stopped, count as at least what they ran.
        """
        for like in likes(size):
            curve, ended = self._curve(queue, like)
            if curve.ends(age) >= FEWEST:
                return range_of(curve, like, ended, self._now, age)
        return None

    def _curve(self, queue: str, like: Like) -> tuple[Curve, list[datetime]]:
        key = queue, like
        if key not in self._made:
            mine = [s for s in self._past.get(queue, ()) if like.size(s.gpus)]
            ended = [s.ended_at for s in mine if s.ended_at and s.ended_by_itself]
            self._made[key] = Curve(_spells(mine, self._now)), ended
        return self._made[key]


def _spells(past: Iterable[Stretch], now: datetime) -> Iterator[Spell]:
    for stretch in past:
        if stretch.reserved_at is not None:
            over = stretch.ended_at or now
            yield spell(stretch.reserved_at, over, now, ended=stretch.ended_by_itself)
