"""Past stretches in memory, so that an answer never waits for the database.

Filled by ``bot.history``, read by answers; bounded by what is the oldest.
[pure]
"""

import threading
from collections.abc import Collection, Iterable
from datetime import datetime

from capacity.errors import Gap
from commands.history import Recorded, Stretch

MOST = 20_000
MOST_A_QUEUE = 1_000
_LOST = "waits and run times of jobs that are no longer in the cluster"


class Book:
    """The latest stretches by queue; safe to read while it is written.

    An answer says that some are missing from ``expect`` until ``complete``.
    """

    def __init__(self, most: int = MOST, most_a_queue: int = MOST_A_QUEUE) -> None:
        self._lock = threading.Lock()
        self._most, self._most_a_queue = most, most_a_queue
        self._queues: dict[str, dict[tuple[str, datetime], Stretch]] = {}
        self._gaps: tuple[Gap, ...] = ()

    def __len__(self) -> int:
        with self._lock:
            return sum(len(kept) for kept in self._queues.values())

    def expect(self) -> None:
        """Note that there is more, which isn't read yet."""
        self._gaps = (Gap("my own history", None, _LOST),)

    def complete(self) -> None:
        """Note that everything was read."""
        self._gaps = ()

    def put(self, stretches: Iterable[Stretch]) -> None:
        """Take new stretches, and newer knowledge of those that are here."""
        with self._lock:
            for stretch in stretches:
                self._queues.setdefault(stretch.queue, {})[stretch.key] = stretch
            for queue, kept in self._queues.items():
                if len(kept) > self._most_a_queue:
                    self._queues[queue] = _latest(kept.values(), self._most_a_queue)
            if sum(len(kept) for kept in self._queues.values()) > self._most:
                self._shrink()

    def past(self, queues: Collection[str]) -> Recorded:
        """Return what is known of these queues."""
        with self._lock:
            found = [s for q in queues for s in self._queues.get(q, {}).values()]
        return Recorded(found, self._gaps)

    def forget_before(self, moment: datetime) -> None:
        """Forget what had ended by a moment."""
        with self._lock:
            for queue, kept in self._queues.items():
                if any(s.ended_at and s.ended_at < moment for s in kept.values()):
                    left = (s for s in kept.values() if not s.ended_at or s.ended_at >= moment)
                    self._queues[queue] = {s.key: s for s in left}

    def _shrink(self) -> None:
        every = [s for kept in self._queues.values() for s in kept.values()]
        self._queues = {}
        for stretch in _latest(every, self._most * 9 // 10).values():
            self._queues.setdefault(stretch.queue, {})[stretch.key] = stretch


def _latest(stretches: Iterable[Stretch], most: int) -> dict[tuple[str, datetime], Stretch]:
    ordered = sorted(stretches, key=lambda s: (s.began, s.uid))
    return {s.key: s for s in ordered[-most:]}
