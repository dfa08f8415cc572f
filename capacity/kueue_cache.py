"""What the watches have seen so far, and consistent reads of it.

One lock guards everything and is held for microseconds per event. [pure]
"""

import threading
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from capacity.decode import Event, Page
from capacity.kueue_freshness import Freshness, KindState
from capacity.kueue_kinds import (
    CLUSTER_QUEUES,
    COHORTS,
    FLAVORS,
    KINDS,
    LOCAL_QUEUES,
    PRIORITY_CLASSES,
    WORKLOADS,
    Kind,
)
from capacity.kueue_tables import Table
from capacity.kueue_workloads import WorkloadStore, WorkloadView
from capacity.model import Fleet, Workload


class WorkloadTable:
    """Workloads behind the same calls as the small kinds."""

    def __init__(self) -> None:
        self.store = WorkloadStore()

    def put(self, _key: Hashable, value: Workload) -> None:
        """Take a new or changed workload."""
        self.store.put(value)

    def drop(self, key: Any) -> None:
        """Forget a workload if it is there."""
        self.store.drop(*key)

    def keep_only(self, keys: set[Hashable]) -> None:
        """Forget every workload but these."""
        for key in self.store.keys() - keys:
            self.store.drop(*key)


@dataclass(slots=True)
class Sweep:
    """A list that is under way: what was on its pages so far."""

    started: datetime
    seen: set[Hashable] = field(default_factory=set)
    unreadable: dict[str, str] = field(default_factory=dict)


class Cache:
    """The bot's copy of the cluster, fed by one watch per kind."""

    def __init__(self, now: Callable[[], datetime]) -> None:
        self._now = now
        self._changed = threading.Condition()
        self._tables = {kind.plural: Table() for kind in KINDS if kind is not WORKLOADS}
        self._workloads = WorkloadTable()
        self._view: WorkloadView | None = None
        self._fresh = Freshness()

    def sweep(self) -> Sweep:
        """Begin a list of one kind."""
        return Sweep(self._now())

    def page(self, kind: Kind, sweep: Sweep, page: Page[Any]) -> None:
        """Take one page of a list."""
        keyed = [(_key_of(kind, value), value) for value in page.values]
        sweep.seen.update(key for key, _ in keyed)
        sweep.unreadable.update((told.partition(":")[0], told) for told in page.unreadable)
        with self._changed:
            table = self._table(kind)
            for key, value in keyed:
                table.put(key, value)

    def swept(self, kind: Kind, sweep: Sweep) -> None:
        """Take the end of a list: what wasn't on it is gone."""
        with self._changed:
            state = self._fresh.of[kind.plural]
            self._table(kind).keep_only(sweep.seen)
            state.read, state.absent = True, False
            state.failure, state.refused = "", False
            state.unreadable = sweep.unreadable
            self._fresh.confirm(kind, sweep.started)
            self._changed.notify_all()

    def event(self, kind: Kind, event: Event[Any]) -> None:
        """Take one event of a watch."""
        with self._changed:
            self._fresh.confirm(kind, self._now())
            if event.type != "BOOKMARK":
                self._apply(kind, event)

    def opened(self, kind: Kind) -> None:
        """Note that a watch is open."""
        with self._changed:
            self._fresh.opened(kind, self._now())
            self._changed.notify_all()

    def closed(self, kind: Kind, failure: str = "", *, refused: bool = False) -> None:
        """Note that the watch or list ended; ``failure`` says why unless it ended as usual."""
        with self._changed:
            self._fresh.closed(kind, failure, self._now(), refused=refused)
            self._changed.notify_all()

    def missing(self, kind: Kind) -> None:
        """Note that the cluster has no such kind: whatever was held of it is gone."""
        with self._changed:
            self._table(kind).keep_only(set())
            self._fresh.of[kind.plural] = KindState(absent=True)
            self._changed.notify_all()

    def pulse(self, failure: str = "") -> None:
        """Note whether the API server answered just now."""
        with self._changed:
            self._fresh.pulse(failure, self._now())
            self._changed.notify_all()

    def wait(self, seconds: float) -> None:
        """Wait until every kind was read or is known to be unreadable, at most so long."""
        with self._changed:
            self._changed.wait_for(self._fresh.settled, seconds)

    @property
    def healthy_since(self) -> datetime | None:
        """Since when every kind is watched without a failure; None while one isn't."""
        with self._changed:
            return self._fresh.healthy_since

    @property
    def as_of(self) -> datetime | None:
        """The moment up to which everything is known; None before the first list."""
        with self._changed:
            return self._fresh.as_of()

    def trouble(self) -> str:
        """Return why the cluster queues can't be read, in the API server's words."""
        with self._changed:
            state = self._fresh.of[CLUSTER_QUEUES.plural]
            if state.absent:
                return "Kueue's API is not installed"
            return state.failure or self._fresh.pulse_failure or "still being read"

    def uids(self, names: list[tuple[str, str]]) -> tuple[str, ...]:
        """Return the uids of workloads by (namespace, name); unknown ones are left out."""
        with self._changed:
            found = [self._workloads.store.get(*name) for name in names]
        return tuple(workload.uid for workload in found if workload)

    def fleet(self, cluster: str, source: str) -> Fleet | None:
        """Return everything that is known, with its gaps; None if queues never were read."""
        with self._changed:
            as_of = self._fresh.as_of()
            if as_of is None or not self._fresh.of[CLUSTER_QUEUES.plural].read:
                return None
            held = {plural: table.snapshot() for plural, table in self._tables.items()}
            if self._view is None:
                self._view = self._workloads.store.snapshot(held[LOCAL_QUEUES.plural])
            view, gaps = self._view, tuple(self._fresh.gaps(source))
            every_workload = self._fresh.whole(WORKLOADS)
        queues = held[CLUSTER_QUEUES.plural]
        return Fleet(
            cluster=cluster,
            as_of=as_of,
            cluster_queues=queues,
            cohorts=held[COHORTS.plural],
            local_queues=held[LOCAL_QUEUES.plural],
            flavors=held[FLAVORS.plural],
            priority_classes=held[PRIORITY_CLASSES.plural],
            workloads=view,
            source=source,
            gaps=gaps,
            fair_sharing=any(q.weighted_share is not None for q in queues.values()),
            every_workload=every_workload,
        )

    def _table(self, kind: Kind) -> Table | WorkloadTable:
        if kind in (WORKLOADS, LOCAL_QUEUES):
            self._view = None
        return self._workloads if kind is WORKLOADS else self._tables[kind.plural]

    def _apply(self, kind: Kind, event: Event[Any]) -> None:
        key: Hashable = (event.namespace, event.name) if event.namespace else event.name
        label = f"{event.namespace}/{event.name}" if event.namespace else event.name
        table, unreadable = self._table(kind), self._fresh.of[kind.plural].unreadable
        unreadable.pop(label, None)
        if event.type == "DELETED":
            table.drop(key)
        elif event.value is None:
            table.drop(key)
            unreadable[label] = event.message
        else:
            table.put(key, event.value)


def _key_of(kind: Kind, value: Any) -> Hashable:
    return (value.namespace, value.name) if kind in (WORKLOADS, LOCAL_QUEUES) else value.name
