"""How long jobs waited and ran here, from the workloads that the cluster still remembers.

A range with its basis, never a promise; too few jobs give no range at all.

[pure]
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import chain

from capacity.model import Fleet, Workload
from commands.jobs import gpus
from commands.words import span

WINDOW = timedelta(days=14)
FEWEST = 10


@dataclass(frozen=True, slots=True)
class Range:
    """What the middle half of ``jobs`` past jobs took, and over which ``days``.

    ``gpus`` is the size that they are alike in; None when jobs of all sizes were taken.
    """

    low: timedelta
    high: timedelta
    jobs: int
    days: int
    gpus: int | None

    @property
    def words(self) -> str:
        """The range in words: "20 min to 2 h"."""
        low, high = span(self.low), span(self.high)
        return low if low == high else f"{low} to {high}"


@dataclass(frozen=True, slots=True)
class Past:
    """One job of the past: its size, how long it waited, how long it ran (None: still runs)."""

    queue: str
    gpus: int
    waited: timedelta
    ran: timedelta | None


def past_jobs(fleet: Fleet, queues: Collection[str], now: datetime) -> tuple[Past, ...]:
    """Return the jobs that got quota in these ClusterQueues in the last 14 days."""
    start = now - WINDOW
    kept = fleet.workloads
    held = chain.from_iterable((kept.finished(q), kept.reserving(q)) for q in queues)
    found = (_past(w, start) for w in chain.from_iterable(held))
    return tuple(past for past in found if past is not None)


def typical_wait(past: Sequence[Past], size: int) -> Range | None:
    """Return how long jobs of about this many GPUs waited, else jobs of any size; None if few.

    "About" is between half and twice as many.
    """
    alike = [p.waited for p in past if size <= 2 * p.gpus <= 4 * size]
    if len(alike) >= FEWEST:
        return _range(alike, size)
    return _range([p.waited for p in past], None) if len(past) >= FEWEST else None


def time_left(past: Sequence[Past], age: timedelta) -> Range | None:
    """Return how much longer jobs ran here that had reached this age; None if there were few."""
    longer = [p.ran - age for p in past if p.ran is not None and p.ran > age]
    return _range(longer, None) if len(longer) >= FEWEST else None


def reserved_at(workload: Workload) -> datetime | None:
    """Return when it got its quota, if it has it (or had it to the end)."""
    reserved = workload.condition("QuotaReserved")
    if reserved is None or reserved.status != "True":
        return None
    return reserved.last_transition


def queued_since(workload: Workload) -> datetime:
    """Return since when it waits, as Kueue's metrics count: its requeueing, else its creation."""
    requeued = workload.condition("Requeued")
    return requeued.last_transition if requeued else workload.created


def _past(workload: Workload, start: datetime) -> Past | None:
    reserved = reserved_at(workload)
    if reserved is None or reserved < start or workload.admission is None:
        return None
    queue = workload.admission.cluster_queue
    finished = workload.condition("Finished")
    ended = finished.last_transition if finished and finished.status == "True" else None
    waited = max(timedelta(0), reserved - min(queued_since(workload), reserved))
    return Past(queue, gpus(workload), waited, ended - reserved if ended else None)


def _range(durations: Sequence[timedelta], size: int | None) -> Range:
    ordered = sorted(durations)
    low, high = ordered[len(ordered) // 4], ordered[(3 * len(ordered)) // 4]
    return Range(_rough(low), _rough(high), len(ordered), WINDOW.days, size)


def _rough(duration: timedelta) -> timedelta:
    """Round to what a person would say: minutes up to an hour by fives, hours by halves."""
    minutes = duration.total_seconds() / 60
    for limit, step in ((10, 1), (60, 5), (600, 30)):
        if minutes < limit:
            return timedelta(minutes=step * round(minutes / step))
    return timedelta(hours=round(minutes / 60))
