"""What jobs went through here: how long they waited for quota, how long they held it, their end.

A job that is stopped and queued again goes through several stretches. Gpubot writes them down as
it sees them (``bot.history``); the cluster itself remembers its unfinished and finished Workloads.

[pure]
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import chain
from typing import Literal

from capacity.errors import Gap
from capacity.model import Fleet, Workload
from capacity.order import is_queued
from commands.jobs import gpus
from commands.words import is_gpu

WINDOW = timedelta(days=14)

End = Literal["", "finished", "evicted", "deleted", "withdrawn", "lost"]


@dataclass(frozen=True, slots=True)
class Stretch:
    """One wait for quota and, unless it was given up, one hold of it in a ClusterQueue.

    ``queued_since`` is Kueue's own (the requeueing, else the creation); ``reserved_at`` None is a
    wait without quota at its end. ``end`` is empty while it holds quota; "lost" is an end that
    nobody saw: at ``ended_at`` it still went on. ``reason`` is Kueue's (Succeeded, Preempted ...).
    ``flavor`` is where most of its ``gpus`` are, empty without any; ``pods`` start at once.
    """

    uid: str
    queue: str
    flavor: str
    gpus: int
    pods: int
    priority: int
    queued_since: datetime
    reserved_at: datetime | None
    admitted_at: datetime | None = None
    ended_at: datetime | None = None
    end: End = ""
    reason: str = ""

    @property
    def began(self) -> datetime:
        """When it got its quota, or began to wait if it never did: one a uid."""
        return self.reserved_at or self.queued_since

    @property
    def key(self) -> tuple[str, datetime]:
        """What is the same whenever and by whomever this stretch is seen."""
        return self.uid, self.began

    @property
    def ended_by_itself(self) -> bool:
        """Tell whether the job was done, rather than stopped by others or out of our sight."""
        if self.end == "finished":
            return self.reason != "WorkloadSliceReplaced"
        return self.end == "deleted" or (
            self.end == "evicted" and self.reason.startswith("Deactivated")
        )


@dataclass(frozen=True, slots=True)
class Recorded:
    """What was written down of some queues, and what of it can't be read now."""

    stretches: Sequence[Stretch] = ()
    gaps: tuple[Gap, ...] = ()


def past_jobs(
    fleet: Fleet, queues: Collection[str], now: datetime, recorded: Recorded = Recorded()
) -> tuple[Stretch, ...]:
    """Return the stretches of these ClusterQueues that reach into the last 14 days.

    What the cluster shows goes before what was written down of the same stretch.
    """
    start, kept = now - WINDOW, fleet.workloads
    held = chain.from_iterable((kept.finished(q), kept.reserving(q)) for q in queues)
    shown = (stretch_of(workload) for workload in chain.from_iterable(held))
    found = {s.key: s for s in recorded.stretches if s.queue in queues}
    found.update((s.key, s) for s in shown if s is not None)
    return tuple(s for s in found.values() if s.ended_at is None or s.ended_at >= start)


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


def awaits_quota(workload: Workload) -> bool:
    """Tell whether it waits in its queue for nothing but its turn: not on hold, nor held back."""
    requeued = workload.condition("Requeued")
    held_back = requeued is not None and requeued.status == "False"
    return not held_back and is_queued(workload)


def stretch_of(workload: Workload) -> Stretch | None:
    """Return the stretch that a Workload shows; None if it holds no quota and didn't to its end."""
    reserved = reserved_at(workload)
    if reserved is None or workload.admission is None:
        return None
    admitted, finished = workload.condition("Admitted"), workload.condition("Finished")
    done = finished if finished and finished.status == "True" else None
    return Stretch(
        uid=workload.uid,
        queue=workload.admission.cluster_queue,
        flavor=_flavor(workload),
        gpus=gpus(workload),
        pods=sum(pod_set.count for pod_set in workload.pod_sets),
        priority=workload.priority,
        queued_since=min(queued_since(workload), reserved),
        reserved_at=reserved,
        admitted_at=admitted.last_transition if admitted and admitted.status == "True" else None,
        ended_at=max(done.last_transition, reserved) if done else None,
        end="finished" if done else "",
        reason=done.reason if done else "",
    )


def _flavor(workload: Workload) -> str:
    amounts: dict[str, int] = {}
    for resource, flavor, amount in _gpus_by_flavor(workload):
        if is_gpu(resource):
            amounts[flavor] = amounts.get(flavor, 0) + amount
    return max(amounts, key=amounts.__getitem__, default="")


def _gpus_by_flavor(workload: Workload) -> Iterable[tuple[str, str, int]]:
    for given in workload.admission.assignments if workload.admission else ():
        for resource, flavor in given.flavors.items():
            yield resource, flavor, given.usage.get(resource, 0)
