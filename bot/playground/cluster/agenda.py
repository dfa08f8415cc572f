"""What will happen when, in the order in which it happens."""

import heapq
from collections.abc import Callable
from datetime import datetime
from itertools import count

Deed = Callable[[datetime], None]


class Agenda:
    """Deeds by their time; those of the same moment keep the order in which they were noted."""

    def __init__(self) -> None:
        self._entries: list[tuple[datetime, int, Deed]] = []
        self._numbers = count()

    def note(self, at: datetime, deed: Deed) -> None:
        """Note a deed for a moment."""
        heapq.heappush(self._entries, (at, next(self._numbers), deed))

    def due(self, now: datetime) -> tuple[datetime, Deed] | None:
        """Take the next deed if its time has come."""
        if not self._entries or self._entries[0][0] > now:
            return None
        at, _, deed = heapq.heappop(self._entries)
        return at, deed
