"""In which order a ClusterQueue's pending workloads stand, by Kueue's own rules.

The visibility API tells the same from the scheduler's memory and is to be preferred; this is what
Kueue v0.19 would answer as far as the objects show it (pkg/cache/queue/cluster_queue.go,
baseCompareFunc, and GetQueueOrderTimestamp). A position is no promise: BestEffortFIFO passes over
workloads that don't fit, and cohorts choose between queues' heads.

[pure]
"""

import math
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Literal

from capacity.model import ClusterQueue, Fleet, LocalQueue, Workload

RequeueBy = Literal["Eviction", "Creation"]
"""Kueue's config waitForPodsReady.requeuingStrategy.timestamp; Eviction is the default."""

EQUAL: Mapping[str, float] = {}
"""Kueue's config admissionFairSharing.resourceWeights; a resource without one weighs 1."""

_BY_USAGE = "UsageBasedAdmissionFairSharing"
_APPROXIMATE_USE = (
    "LocalQueues that used less go first here; their recent use is approximated from their "
    "last published status, with equal weight for every resource."
)


def pending_order(
    fleet: Fleet,
    cluster_queue: str,
    requeue_by: RequeueBy = "Eviction",
    resource_weights: Mapping[str, float] = EQUAL,
) -> tuple[Workload, ...]:
    """Return the workloads that wait in a ClusterQueue, the next one first.

    A workload in backoff keeps its place. A stopped ClusterQueue still has an order.
    ``order_caveats`` says what the objects don't show.
    """
    waiting = [w for w in fleet.workloads.pending(cluster_queue) if is_queued(w)]
    return arrange(fleet, cluster_queue, waiting, requeue_by, resource_weights)


def arrange(
    fleet: Fleet,
    cluster_queue: str,
    workloads: Iterable[Workload],
    requeue_by: RequeueBy = "Eviction",
    resource_weights: Mapping[str, float] = EQUAL,
) -> tuple[Workload, ...]:
    """Return workloads as a ClusterQueue would line them up, whether or not they are in it yet."""
    queue = fleet.cluster_queues.get(cluster_queue)
    waiting = sorted(workloads, key=lambda workload: _base_key(workload, requeue_by))
    sticky = _sticky(queue, waiting)
    if sticky is not None:
        waiting.remove(sticky)
        waiting.insert(0, sticky)
    if queue is not None and queue.admission_mode == _BY_USAGE:
        waiting.sort(key=lambda workload: _use(fleet, workload, resource_weights))
    return tuple(waiting)


def order_caveats(fleet: Fleet, cluster_queue: str) -> tuple[str, ...]:
    """Return what could make Kueue's own order differ from ``pending_order``, as sentences."""
    queue = fleet.cluster_queues.get(cluster_queue)
    if queue is None or queue.admission_mode != _BY_USAGE:
        return ()
    return (_APPROXIMATE_USE,)


def is_queued(workload: Workload) -> bool:
    """Tell whether Kueue holds the workload in its queue (workload.IsAdmissible).

    Not when it is finished, deactivated, on hold, gated, already has quota, or waits for
    replacement pods.
    """
    reservation = workload.condition("QuotaReserved")
    on_hold = reservation is not None and reservation.reason == "OnHold"
    return (
        workload.active
        and not on_hold
        and not workload.admission_gated_by
        and not workload.is_true("QuotaReserved")
        and not workload.is_true("Finished")
        and not workload.is_true("WaitingForReplacementPods")
    )


def queue_order_timestamp(workload: Workload, requeue_by: RequeueBy = "Eviction") -> datetime:
    """Return the time that Kueue sorts a workload by among its equals in priority.

    Its creation, so a preempted workload keeps its place; but the eviction if that was for pods
    that didn't become ready in time or for an admission check.
    """
    evicted = workload.condition("Evicted")
    if evicted is not None and evicted.status == "True":
        by_pods = evicted.reason == "PodsReadyTimeout" and requeue_by == "Eviction"
        if by_pods or evicted.reason == "AdmissionCheck":
            return evicted.last_transition
    return workload.created


def waits_for_preemption(workload: Workload) -> bool:
    """Tell whether the workload made others stop and now waits for them to be gone."""
    waits = workload.condition("QuotaReserved")
    if waits is None or waits.status == "True":
        return False
    pending = ". Pending the preemption of " in waits.message
    return pending or waits.reason == "WaitingForPreemptedWorkloads"


def _base_key(workload: Workload, requeue_by: RequeueBy) -> tuple[int, datetime, str]:
    return -workload.priority, queue_order_timestamp(workload, requeue_by), workload.uid


def _sticky(queue: ClusterQueue | None, ordered: Iterable[Workload]) -> Workload | None:
    """Return the preemptor that a BestEffortFIFO queue keeps at its head, if it shows."""
    if queue is None or queue.queueing_strategy != "BestEffortFIFO":
        return None
    return next((workload for workload in ordered if waits_for_preemption(workload)), None)


def _use(fleet: Fleet, workload: Workload, resource_weights: Mapping[str, float]) -> float:
    """Return a LocalQueue's published use by its weight, as afs.CalculateUsage does."""
    local = fleet.local_queues.get((workload.namespace, workload.queue_name))
    return 0.0 if local is None else _weighted_use(local, resource_weights)


def _weighted_use(local: LocalQueue, resource_weights: Mapping[str, float]) -> float:
    weight = float(local.fair_weight)
    if weight <= 0:
        return math.inf
    use = sum(
        resource_weights.get(resource, 1.0)
        * (amount / 1000 if resource == "cpu" else float(amount))
        for resource, amount in sorted(local.consumed.items())
    )
    return use / weight
