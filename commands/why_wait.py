"""When enough quota may come free, from how long jobs ran here before.

[pure]
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from capacity.causes import Need
from capacity.demand import reserved_by
from capacity.model import Fleet, Workload
from capacity.quota import Node, can_reserve
from commands.history import Stretch, reserved_at
from commands.jobs import gpus
from commands.ranges import Range, in_words
from commands.run_times import RunTimes

_MOST_JOBS = 300


@dataclass(frozen=True, slots=True)
class Release:
    """How many jobs must end for a job to fit, and the range of time in which they likely do.

    ``open``: it may take longer than ``high``. ``basis`` says which run times the end of the last
    job that is needed rests on.
    """

    jobs: int
    low: timedelta
    high: timedelta
    open: bool
    basis: str

    @property
    def words(self) -> str:
        """The range in words."""
        return in_words(self.low, self.high, is_open=self.open)


def release(
    node: Node, need: Need, fleet: Fleet, past: Sequence[Stretch], now: datetime
) -> Release | None:
    """Return when the need may fit, if jobs of its tree end as jobs did before.

    A running job's time left is the middle half of past ones that reached its age, and no more
    than its own time limit. None if too few past jobs are known, or if even all known ends
    wouldn't make room. New jobs may take what comes free; that isn't counted.
    """
    times = RunTimes(past, now)
    ends = [e for q in node.root.cluster_queues() for e in _ends(q.name, need, fleet, times, now)]
    soon = _until_fit(node, need, sorted(ends, key=lambda e: e.low)[:_MOST_JOBS])
    late = _until_fit(node, need, sorted(ends, key=lambda e: (e.open, e.high))[:_MOST_JOBS])
    if soon is None or late is None:
        return None
    first, last = soon[1], late[1]
    return Release(late[0], first.low, max(first.low, last.high), last.open, last.basis)


@dataclass(frozen=True, slots=True)
class _End:
    """When a job likely ends, counted from now; ``open``: later than ``high``, maybe."""

    queue: str
    workload: Workload
    low: timedelta
    high: timedelta
    open: bool
    basis: str


def _ends(queue: str, need: Need, fleet: Fleet, times: RunTimes, now: datetime) -> Iterator[_End]:
    for workload in fleet.workloads.reserving(queue):
        started = reserved_at(workload)
        if started is None or not reserved_by(workload).get(need.pair):
            continue
        left = times.left(queue, gpus(workload), now - started)
        if left is not None:
            yield _end(queue, workload, left, _limit(workload, started, now))


def _end(queue: str, workload: Workload, left: Range, limit: timedelta | None) -> _End:
    if limit is None or (limit > left.high and not left.open):
        return _End(queue, workload, left.low, left.high, left.open, left.basis)
    return _End(queue, workload, min(left.low, limit), limit, False, left.basis)


def _limit(workload: Workload, started: datetime, now: datetime) -> timedelta | None:
    """Return how much longer it may run at most, by its own time limit; None without one."""
    if workload.max_execution_seconds is None:
        return None
    allowed = timedelta(seconds=workload.max_execution_seconds - workload.past_execution_seconds)
    return max(timedelta(0), allowed - (now - started))


def _until_fit(node: Node, need: Need, ends: Sequence[_End]) -> tuple[int, _End] | None:
    """Free what each job holds in this order until the need fits; return how many, and the last."""
    tree = node.tree.copy()
    for freed, end in enumerate(ends, 1):
        tree.remove_usage(end.queue, {need.pair: reserved_by(end.workload)[need.pair]})
        if can_reserve(tree.cluster_queue(node.name), need.pair) >= need.wanted:
            return freed, end
    return None
