"""What changed between two reads of the workloads, at a cost of what changed.

Snapshots share the shards that nothing happened in, so an unchanged one is known by its identity.
[pure]
"""

from collections.abc import Iterator, Mapping

from capacity.kueue_workloads import Named, WorkloadView
from capacity.model import Workload, Workloads

Change = tuple[Workload | None, Workload | None]


def changes(before: Workloads, after: Workloads) -> Iterator[Change]:
    """Yield (old, new) of each workload that came, changed or went (None: not there), by uid.

    What was deleted and made anew under its name went and came.
    """
    if isinstance(before, WorkloadView) and isinstance(after, WorkloadView):
        yield from _of_views(before, after)
    else:
        yield from _of({w.uid: w for w in before}, {w.uid: w for w in after})


def _of_views(before: WorkloadView, after: WorkloadView) -> Iterator[Change]:
    if before is after:
        return
    for shard in before.own.keys() | after.own.keys():
        old, new = before.own.get(shard, {}), after.own.get(shard, {})
        if old is not new:
            for name in old.keys() | new.keys():
                was, now = old.get(name), new.get(name)
                if was is not now:
                    yield from _of(_by_uid(was), _by_uid(now))


def _of(old: Mapping[str, Workload], new: Mapping[str, Workload]) -> Iterator[Change]:
    for uid in old.keys() | new.keys():
        was, now = old.get(uid), new.get(uid)
        if was is not now:
            yield was, now


def _by_uid(found: Named | None) -> dict[str, Workload]:
    if found is None:
        return {}
    return {w.uid: w for w in (found if isinstance(found, tuple) else (found,))}
