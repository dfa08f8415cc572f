"""When enough quota may come free, from how long jobs ran here before.

[pure]
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from capacity.causes import Need
from capacity.demand import reserved_by
from capacity.model import Fleet, Workload
from capacity.quota import Node, can_reserve
from commands.history import Past, reserved_at, time_left
from commands.words import span

_MOST_JOBS = 300


@dataclass(frozen=True, slots=True)
class Release:
    """How many jobs must end for a job to fit, and the range of time in which they likely do."""

    jobs: int
    low: timedelta
    high: timedelta

    @property
    def words(self) -> str:
        """The range in words."""
        low, high = span(self.low), span(self.high)
        return low if low == high else f"{low} to {high}"


def release(
    node: Node, need: Need, fleet: Fleet, past: Sequence[Past], now: datetime
) -> Release | None:
    """Return when the need may fit, if jobs of its tree end as jobs did before.

    A running job's time left is the middle half of past ones that reached its age, and no more
    than its own time limit. None if too few past jobs are known, or if even all known ends
    wouldn't make room. New jobs may take what comes free; that isn't counted.
    """
    ends = [e for q in node.root.cluster_queues() for e in _ends(q.name, need, fleet, past, now)]
    ends = ends[:_MOST_JOBS]
    soon = _until_fit(node, need, sorted(ends, key=lambda e: e.low))
    late = _until_fit(node, need, sorted(ends, key=lambda e: e.high))
    if soon is None or late is None:
        return None
    return Release(late[0], soon[1].low, max(soon[1].low, late[1].high))


@dataclass(frozen=True, slots=True)
class _End:
    queue: str
    workload: Workload
    low: timedelta
    high: timedelta


def _ends(queue: str, need: Need, fleet: Fleet, past: Sequence[Past], now: datetime) -> list[_End]:
    here = [p for p in past if p.queue == queue]
    found = []
    for workload in fleet.workloads.reserving(queue):
        started = reserved_at(workload)
        if started is None or not reserved_by(workload).get(need.pair):
            continue
        left = time_left(here, now - started)
        if left is not None:
            limit = _limit(workload, started, now)
            found.append(_End(queue, workload, min(left.low, limit), min(left.high, limit)))
    return found


def _limit(workload: Workload, started: datetime, now: datetime) -> timedelta:
    if workload.max_execution_seconds is None:
        return timedelta.max
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
