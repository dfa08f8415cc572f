"""Writes down what jobs go through, off the way of answers: in memory at once, then in the store.

Looking costs what changed since the last look. What the cluster still shows is caught up after a
restart or an outage, and is never counted twice: a stretch is known by its uid and its beginning.
"""

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime, timedelta
from itertools import islice
from typing import Protocol

import structlog

from bot.history_book import MOST, Book
from bot.history_turns import shown, turns, unfinished
from bot.store_history import Kept
from bot.workers import Workers
from capacity.model import Fleet
from commands.history import WINDOW, Stretch

log = structlog.get_logger(__name__)
BATCH, BATCHES = 500, 4
MOST_UNWRITTEN = 100_000
HEARTBEAT = timedelta(minutes=1)
TIDYING = timedelta(hours=1)
Key = tuple[str, datetime]


class HistoryStore(Protocol):
    """What the history needs of the database; see ``bot.store_history.History``."""

    def read(self, cluster: str, since: datetime, most: int) -> Kept: ...
    def record(
        self, cluster: str, stretches: Sequence[Stretch], until: datetime | None
    ) -> None: ...
    def prune(self, now: datetime) -> int: ...


class Recorder:
    """Looks once when called; the jobs call it again and again, never twice at a time."""

    def __init__(
        self,
        store: HistoryStore,
        book: Book,
        fleet: Callable[[], Fleet],
        *,
        cluster: str,
        now: Callable[[], datetime],
    ) -> None:
        self._store, self._book, self._fleet = store, book, fleet
        self._cluster, self._now = cluster, now
        self._before: Fleet | None = None
        self._left: dict[Key, Stretch] = {}
        self._left_at: datetime | None = None
        self._unwritten: dict[Key, Stretch] = {}
        self._written_until: datetime | None = None
        self._tidied_at: datetime | None = None
        book.expect()

    @property
    def unwritten(self) -> int:
        """Stretches that the database doesn't hold yet, or not as they are now."""
        return len(self._unwritten)

    async def run(self, workers: Workers) -> None:
        """Look once, on a thread of these workers."""
        await workers.run(self.look)

    def look(self) -> None:
        """Note what changed since the last look, and write some of what isn't written yet.

        Raises SourceDown while the cluster or the database doesn't answer; the next look catches
        up.
        """
        fleet = self._fleet()
        if self._before is None:
            self._begin(fleet)
        else:
            self._take(turns(self._before, fleet))
        self._before = fleet
        self._settle(fleet)
        self._write(fleet.as_of)
        self._tidy()

    def _begin(self, fleet: Fleet) -> None:
        """Read what was written before, and take what the cluster shows beyond it."""
        kept = self._store.read(self._cluster, self._now() - WINDOW, MOST)
        known = {stretch.key: stretch for stretch in (*kept.latest, *kept.going)}
        self._left, self._left_at = {s.key: s for s in kept.going}, kept.until
        self._book.put(kept.latest)
        self._take(s for s in shown(fleet) if known.get(s.key) != s)
        self._book.complete()

    def _take(self, stretches: Iterable[Stretch]) -> None:
        new = {stretch.key: stretch for stretch in stretches}
        self._book.put(new.values())
        self._unwritten.update(new)
        for key in new:
            self._left.pop(key, None)
        while len(self._unwritten) > MOST_UNWRITTEN:
            self._unwritten.pop(next(iter(self._unwritten)))

    def _settle(self, fleet: Fleet) -> None:
        """Once every workload is known, end what went on before our start and is gone."""
        if self._left and fleet.every_workload:
            here = {workload.uid: workload for workload in fleet.workloads}
            lost = list(unfinished(self._left.values(), here, self._left_at))
            self._left = {}
            self._take(lost)

    def _write(self, until: datetime) -> None:
        """Write a few batches; that we looked until now is said only once all of it is written."""
        for _ in range(BATCHES):
            batch = list(islice(self._unwritten.values(), BATCH))
            whole = len(batch) == len(self._unwritten) and not self._left
            if not batch and not (whole and self._is_due(until)):
                return
            self._store.record(self._cluster, batch, until if whole else None)
            self._unwritten = dict(islice(self._unwritten.items(), len(batch), None))
            self._written_until = until if whole else self._written_until

    def _is_due(self, until: datetime) -> bool:
        return self._written_until is None or until - self._written_until >= HEARTBEAT

    def _tidy(self) -> None:
        """Forget what is too old, now and then; not before it is known who is still watched."""
        now = self._now()
        due = self._tidied_at is None or now - self._tidied_at >= TIDYING
        if due and not self._unwritten:
            self._tidied_at = now
            self._book.forget_before(now - WINDOW)
            gone = self._store.prune(now)
            log.info("history tidied", forgotten=gone, in_memory=len(self._book))
