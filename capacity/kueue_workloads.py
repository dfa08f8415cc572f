"""Workloads by what is asked of them, with snapshots that cost microseconds.

A snapshot shares everything with the live store; the store copies a small part before it changes
it for the first time after a snapshot (copy-on-write in shards). [pure]
"""

import heapq
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime

from capacity.kueue_tables import Shelves
from capacity.model import LocalQueue, Workload

_SHARDS = 1024
FINISHED_KEPT = 5_000

Named = Workload | tuple[Workload, ...]
ByUid = dict[str, Workload]


class WorkloadStore:
    """The live side: takes what the watch says, gives snapshots.

    Not for several writers; the caller holds its lock around calls. Of the finished workloads
    only the latest ``FINISHED_KEPT`` stay, so that history is bounded.
    """

    def __init__(self, finished_kept: int = FINISHED_KEPT) -> None:
        self._own: Shelves[int, Named] = Shelves()
        self._owners: Shelves[int, Named] = Shelves()
        self._reserving: Shelves[str, Workload] = Shelves()
        self._pending: Shelves[tuple[str, str], Workload] = Shelves()
        self._done: Shelves[str, Workload] = Shelves()
        self._finished: list[tuple[datetime, str, str, str]] = []
        self._finished_uids: set[str] = set()
        self._finished_kept = finished_kept
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def get(self, namespace: str, name: str) -> Workload | None:
        """Return the workload of this name in this namespace, or None."""
        found = _each(self._own.get(_shard(name), name))
        return next((w for w in found if w.namespace == namespace), None)

    def put(self, workload: Workload) -> None:
        """Take a new or changed workload."""
        self.drop(workload.namespace, workload.name)
        self._count += 1
        _add(self._own, workload.name, workload)
        if workload.job != workload.name:
            _add(self._owners, workload.job, workload)
        self._index(workload)

    def drop(self, namespace: str, name: str) -> None:
        """Forget a workload; nothing happens when it isn't known."""
        old = self.get(namespace, name)
        if old is None:
            return
        self._count -= 1
        _remove(self._own, old.name, old)
        if old.job != old.name:
            _remove(self._owners, old.job, old)
        self._pending.drop((old.namespace, old.queue_name), old.uid)
        if old.admission:
            self._reserving.drop(old.admission.cluster_queue, old.uid)
            self._done.drop(old.admission.cluster_queue, old.uid)

    def keys(self) -> set[tuple[str, str]]:
        """Return (namespace, name) of every workload."""
        named = (found for shelf in self._own.shelves() for found in shelf.values())
        return {(w.namespace, w.name) for found in named for w in _each(found)}

    def snapshot(self, local_queues: Mapping[tuple[str, str], LocalQueue]) -> "WorkloadView":
        """Return the workloads as they are now; ``local_queues`` says which queue they wait in."""
        return WorkloadView(
            self._own.snapshot(),
            self._owners.snapshot(),
            self._reserving.snapshot(),
            self._pending.snapshot(),
            self._done.snapshot(),
            self._count,
            _doors(local_queues),
        )

    def _index(self, workload: Workload) -> None:
        finished = workload.condition("Finished")
        if finished and finished.status == "True":
            if workload.admission:
                self._done.put(workload.admission.cluster_queue, workload.uid, workload)
            self._keep_finished(workload, finished.last_transition)
        elif workload.admission and workload.is_true("QuotaReserved"):
            self._reserving.put(workload.admission.cluster_queue, workload.uid, workload)
        else:
            self._pending.put((workload.namespace, workload.queue_name), workload.uid, workload)

    def _keep_finished(self, workload: Workload, at: datetime) -> None:
        if workload.uid in self._finished_uids:
            return
        self._finished_uids.add(workload.uid)
        heapq.heappush(self._finished, (at, workload.uid, workload.namespace, workload.name))
        if len(self._finished) <= self._finished_kept:
            return
        _, uid, namespace, name = heapq.heappop(self._finished)
        self._finished_uids.discard(uid)
        oldest = self.get(namespace, name)
        if oldest and oldest.uid == uid:
            self.drop(namespace, name)


@dataclass(frozen=True, slots=True, eq=False)
class WorkloadView:
    """Workloads at one moment: implements ``capacity.model.Workloads``."""

    own: Mapping[int, dict[str, Named]]
    owners: Mapping[int, dict[str, Named]]
    by_cluster_queue: Mapping[str, ByUid]
    by_local_queue: Mapping[tuple[str, str], ByUid]
    done: Mapping[str, ByUid]
    count: int
    doors: Mapping[str, list[tuple[str, str]]]

    def __len__(self) -> int:
        return self.count

    def __iter__(self) -> Iterator[Workload]:
        for shelf in self.own.values():
            for found in shelf.values():
                yield from _each(found)

    def reserving(self, cluster_queue: str) -> Collection[Workload]:
        return self.by_cluster_queue.get(cluster_queue, {}).values()

    def pending(self, cluster_queue: str) -> Collection[Workload]:
        doors = self.doors.get(cluster_queue, ())
        waiting = [self.by_local_queue[door] for door in doors if door in self.by_local_queue]
        if len(waiting) == 1:
            return waiting[0].values()
        return tuple(w for door in waiting for w in door.values())

    def finished(self, cluster_queue: str) -> Collection[Workload]:
        return self.done.get(cluster_queue, {}).values()

    def named(self, name: str) -> Collection[Workload]:
        shard = _shard(name)
        own = _each(self.own.get(shard, {}).get(name))
        jobs = _each(self.owners.get(shard, {}).get(name))
        return own + jobs

    def names(self) -> Collection[str]:
        return _Names(self.own, self.owners)


@dataclass(frozen=True, slots=True, eq=False)
class _Names(Collection[str]):
    own: Mapping[int, dict[str, Named]]
    owners: Mapping[int, dict[str, Named]]

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and any(
            name in side.get(_shard(name), ()) for side in (self.own, self.owners)
        )

    def __iter__(self) -> Iterator[str]:
        for shelf in self.own.values():
            yield from shelf
        for shard, shelf in self.owners.items():
            own = self.own.get(shard, {})
            yield from (name for name in shelf if name not in own)

    def __len__(self) -> int:
        return sum(1 for _ in self)


def _doors(queues: Mapping[tuple[str, str], LocalQueue]) -> dict[str, list[tuple[str, str]]]:
    doors: dict[str, list[tuple[str, str]]] = {}
    for key, queue in queues.items():
        doors.setdefault(queue.cluster_queue, []).append(key)
    return doors


def _shard(name: str) -> int:
    return hash(name) % _SHARDS


def _each(found: Named | None) -> tuple[Workload, ...]:
    if found is None:
        return ()
    return found if isinstance(found, tuple) else (found,)


def _add(shelves: Shelves[int, Named], name: str, workload: Workload) -> None:
    shard = _shard(name)
    others = _each(shelves.get(shard, name))
    shelves.put(shard, name, (*others, workload) if others else workload)


def _remove(shelves: Shelves[int, Named], name: str, workload: Workload) -> None:
    shard = _shard(name)
    rest = tuple(w for w in _each(shelves.get(shard, name)) if w is not workload)
    if rest:
        shelves.put(shard, name, rest if len(rest) > 1 else rest[0])
    else:
        shelves.drop(shard, name)
