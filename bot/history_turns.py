"""What became of jobs between two looks at the cluster: stretches that began, went on or ended.

What nobody saw isn't guessed: an end out of our sight is "lost", and counts as still going on then.
[pure]
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from capacity.explain import cluster_queue_of
from capacity.kueue_changes import changes
from capacity.model import Fleet, Workload
from commands.history import End, Stretch, awaits_quota, queued_since, stretch_of
from commands.jobs import gpus

# What went within a time this short went about now; longer ago nobody was looking.
WATCHED = timedelta(minutes=1)


@dataclass(frozen=True, slots=True)
class Sight:
    """Two looks: what was known at the first, and whether all was followed in between."""

    before: Fleet
    after: Fleet

    @property
    def whole(self) -> bool:
        """Tell whether what is gone since the first look can be said to have gone just now."""
        known = self.before.every_workload and self.after.every_workload
        return known and self.after.as_of - self.before.as_of <= WATCHED


def turns(before: Fleet, after: Fleet) -> Iterator[Stretch]:
    """Yield every stretch that is new, or of which more is known, since the first look."""
    sight = Sight(before, after)
    for old, new in changes(before.workloads, after.workloads):
        if old is not None and new is not None and _same(old, new):
            continue
        was, now = stretch_of(old) if old else None, stretch_of(new) if new else None
        if now is not None and now != was:
            yield now
        if was is not None and not was.end and (now is None or now.key != was.key):
            yield _over(was, new, sight)
        elif old is not None and was is None and now is None:
            yield from _given_up(old, new, sight)


def shown(fleet: Fleet) -> Iterator[Stretch]:
    """Yield what the cluster shows by itself, of jobs that hold quota or held it to their end."""
    for workload in fleet.workloads:
        stretch = stretch_of(workload)
        if stretch is not None:
            yield stretch


def unfinished(
    going: Iterable[Stretch], here: Mapping[str, Workload], until: datetime | None
) -> Iterator[Stretch]:
    """Yield the ends of stretches that were going on when nobody looked any more, at ``until``.

    ``here`` are all workloads by uid. One that still shows its stretch tells by itself how it
    went on; of the others only that they went on until then is known (None: that they began).
    """
    for stretch in going:
        workload = here.get(stretch.uid)
        now = stretch_of(workload) if workload else None
        if now is None or now.key != stretch.key:
            yield _ended(stretch, until or stretch.began, "lost")


def _same(old: Workload, new: Workload) -> bool:
    """Tell whether nothing that a stretch is made of differs: after a list everything is new."""
    return old.admission == new.admission and old.conditions == new.conditions


def _over(was: Stretch, new: Workload | None, sight: Sight) -> Stretch:
    if new is None:
        if sight.whole:
            return _ended(was, sight.after.as_of, "deleted")
        return _ended(was, sight.before.as_of, "lost")
    given_back, evicted = new.condition("QuotaReserved"), new.condition("Evicted")
    if given_back is None or given_back.status == "True":  # it has quota again already
        return _ended(was, sight.before.as_of, "lost")
    cause = evicted if evicted and evicted.status == "True" else given_back
    return _ended(was, given_back.last_transition, "evicted", cause.reason)


def _ended(was: Stretch, at: datetime, end: End, reason: str = "") -> Stretch:
    return replace(was, ended_at=max(at, was.began), end=end, reason=reason)


def _given_up(old: Workload, new: Workload | None, sight: Sight) -> Iterator[Stretch]:
    """Yield a wait that ended without quota: Kueue finishes a Workload whose job was deleted."""
    queue, at = cluster_queue_of(old, sight.before), _gone_at(new, sight)
    if queue is None or at is None or not awaits_quota(old):
        return
    since = queued_since(old)
    yield Stretch(
        uid=old.uid,
        queue=queue,
        flavor="",
        gpus=gpus(old),
        pods=sum(pod_set.count for pod_set in old.pod_sets),
        priority=old.priority,
        queued_since=since,
        reserved_at=None,
        ended_at=max(since, at),
        end="withdrawn",
    )


def _gone_at(new: Workload | None, sight: Sight) -> datetime | None:
    """Return when a waiting job left; None if it is still there, or nobody saw it leave."""
    if new is None:
        return sight.after.as_of if sight.whole else None
    finished = new.condition("Finished")
    return finished.last_transition if finished and finished.status == "True" else None
