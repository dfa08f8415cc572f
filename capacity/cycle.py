"""Scheduling cycles: who of the waiting workloads would start, one head per queue at a time.

As Kueue v0.19's scheduler: in each cycle every queue's head is tried, those within their own
quota before those that borrow, then by priority and age. A StrictFIFO head that doesn't fit blocks
its queue; BestEffortFIFO passes over it. A head that waits for quota within its own nominal keeps
that from borrowers of the same cycle, unless its queue can always reclaim it.

[pure]
"""

from collections.abc import Callable, Collection, Hashable
from dataclasses import dataclass, field, replace

from capacity.assign import Assignment, assign
from capacity.demand import pod_set_demand
from capacity.fit_mode import Board, Mode, fits_now
from capacity.model import (
    Admission,
    ClusterQueue,
    Condition,
    FlavorResource,
    Fleet,
    PodSetAssignment,
    Workload,
)
from capacity.order import queue_order_timestamp
from capacity.quota import Tree, usage
from capacity.share import dominant_resource_share


@dataclass(frozen=True, slots=True)
class Start:
    """A waiting workload that would get quota: where, on which flavors, at whose cost."""

    workload: Workload
    cluster_queue: str
    assignment: Assignment


@dataclass(slots=True)
class Line:
    """A queue's waiting workloads; of those equal in shape to one that failed, none is tried."""

    queue: ClusterQueue
    waiting: list[Workload]
    failed: set[Hashable] = field(default_factory=set)

    def head(self) -> Workload | None:
        """Return the one to try next."""
        while self.waiting and _shape(self.waiting[0]) in self.failed:
            self.waiting.pop(0)
        return self.waiting[0] if self.waiting else None

    def pass_over(self) -> bool:
        """Take a head that failed out of the way; False if it blocks the queue instead."""
        if self.queue.queueing_strategy == "StrictFIFO":
            return False
        self.failed.add(_shape(self.waiting.pop(0)))
        return True


@dataclass(slots=True)
class Floor:
    """What changes while cycles run: the tree, and who holds quota where."""

    fleet: Fleet
    tree: Tree
    ignored: frozenset[str] = frozenset()
    started: dict[str, list[Workload]] = field(default_factory=dict)
    stopped: set[str] = field(default_factory=set)

    def board(self) -> Board:
        """Return the state to try requests on."""
        fleet = self.fleet
        return Board(self.tree, self.reserving, fleet.flavors, self.ignored, fleet.fair_sharing)

    def reserving(self, cluster_queue: str) -> Collection[Workload]:
        """Return who holds quota in a queue by now."""
        held = [*self.fleet.workloads.reserving(cluster_queue)]
        held += self.started.get(cluster_queue, [])
        return [workload for workload in held if workload.uid not in self.stopped]

    def start(self, entry: Start) -> None:
        """Give a workload its quota, after its victims have given theirs back."""
        for victim in entry.assignment.victims:
            self.stopped.add(victim.workload.uid)
            self.tree.remove_usage(victim.cluster_queue, victim.frees)
        if entry.assignment.old:
            self.stopped.add(entry.assignment.old.uid)
        self.tree.add_usage(entry.cluster_queue, entry.assignment.usage)
        self.started.setdefault(entry.cluster_queue, []).append(_admitted(entry, self.fleet))


def run(floor: Floor, lines: Collection[Line], limit: int) -> tuple[tuple[Start, ...], bool]:
    """Return who would start, in order, and whether the limit of tries cut it short."""
    starts: list[Start] = []
    tried = 0
    while tried < limit:
        entries = _entries(floor, lines)
        tried += len(entries)
        found, moved = _cycle(floor, entries)
        starts += found
        if not moved:
            return tuple(starts), False
    return tuple(starts), True


Entries = list[tuple[Line, Start]]


def _entries(floor: Floor, lines: Collection[Line]) -> Entries:
    board, now = floor.board(), floor.fleet.as_of
    heads = [(line, head) for line in lines if (head := line.head()) is not None]
    entries = [
        (line, Start(head, line.queue.name, assign(board, line.queue, head, now)))
        for line, head in heads
    ]
    key = _fair_key(floor) if floor.fleet.fair_sharing else _classical_key
    return sorted(entries, key=lambda entry: key(entry[1]))


def _cycle(floor: Floor, entries: Entries) -> tuple[list[Start], bool]:
    """Process one cycle's heads; return who starts and whether anything moved."""
    starts: list[Start] = []
    moved = False
    kept = floor.tree.copy()
    for line, entry in entries:
        found = entry.assignment
        if found.mode in (Mode.NO_FIT, Mode.NO_CANDIDATES):
            if found.mode is Mode.NO_CANDIDATES:
                _keep(kept, line.queue, found)
            moved = line.pass_over() or moved
        elif _still_possible(floor, kept, entry):
            for victim in found.victims:
                kept.remove_usage(victim.cluster_queue, victim.frees)
            kept.add_usage(line.queue.name, found.usage)
            floor.start(entry)
            line.waiting.pop(0)
            starts.append(entry)
            moved = True
    return starts, moved


def _still_possible(floor: Floor, kept: Tree, entry: Start) -> bool:
    if entry.assignment.victims:
        return not any(v.workload.uid in floor.stopped for v in entry.assignment.victims)
    return fits_now(kept, entry.cluster_queue, entry.assignment.usage)


def _keep(kept: Tree, queue: ClusterQueue, found: Assignment) -> None:
    """Hold what a waiting head is entitled to (reserveCapacityForUnreclaimablePreempt)."""
    if queue.preemption.reclaim_within_cohort == "Any":
        return
    node = kept.cluster_queue(queue.name)
    amounts: dict[FlavorResource, int] = {}
    for pair, amount in found.usage.items():
        quota, used = node.quotas[pair], usage(node, pair)
        if found.distance == 0:
            amounts[pair] = max(0, min(amount, quota.nominal - used))
        elif quota.borrowing_limit is None:
            amounts[pair] = amount
        else:
            amounts[pair] = min(amount, quota.nominal + quota.borrowing_limit - used)
    kept.add_usage(queue.name, amounts)


def _classical_key(entry: Start) -> tuple[float, ...]:
    since = queue_order_timestamp(entry.workload).timestamp()
    return entry.assignment.distance, -entry.workload.priority, since


def _fair_key(floor: Floor) -> Callable[[Start], tuple[float, ...]]:
    def key(entry: Start) -> tuple[float, ...]:
        node = floor.tree.cluster_queue(entry.cluster_queue)
        share = dominant_resource_share(node, entry.assignment.usage)
        return *share.order, *_classical_key(entry)[1:]

    return key


def _shape(workload: Workload) -> Hashable:
    return (
        workload.priority,
        workload.replaces,
        tuple(
            (
                pod_set.count - workload.reclaimable.get(pod_set.name, 0),
                tuple(sorted(pod_set.requests.items())),
                tuple(sorted(pod_set.node_selector.items())),
                (pod_set.tolerations, pod_set.affinity, pod_set.group),
            )
            for pod_set in workload.pod_sets
        ),
    )


def _admitted(entry: Start, fleet: Fleet) -> Workload:
    workload, given = entry.workload, entry.assignment.flavors
    assignments = tuple(
        PodSetAssignment(
            pod_set.name,
            pod_set.count,
            given[pod_set.name],
            _part(pod_set_demand(workload, pod_set), given[pod_set.name]),
        )
        for pod_set in workload.pod_sets
    )
    reserved = Condition("QuotaReserved", "True", "QuotaReserved", "", fleet.as_of)
    others = tuple(c for c in workload.conditions if c.type != "QuotaReserved")
    return replace(
        workload,
        admission=Admission(entry.cluster_queue, assignments),
        conditions=(reserved, *others),
        reclaimable={},
    )


def _part(amounts: dict[str, int], flavors: Collection[str]) -> dict[str, int]:
    return {resource: amount for resource, amount in amounts.items() if resource in flavors}
