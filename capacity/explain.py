"""Why a workload waits, from its conditions, its queue and the arithmetic.

Kueue's own reason decides where it is granular (UnadmittedWorkloadsObservability); else its
message does; a message that isn't known gives UNKNOWN and is kept verbatim.

[pure]
"""

from capacity.amount import subtract
from capacity.causes import (
    GRANULAR,
    Cause,
    Gang,
    Kind,
    Message,
    Need,
    Requeue,
    most_severe,
)
from capacity.demand import candidates, demand, selects
from capacity.messages import parse_message
from capacity.model import ClusterQueue, Condition, FlavorResource, Fleet, Workload
from capacity.quota import Node, Tree, can_reserve, potential_available, subtree_quota, usage
from capacity.stories import eviction_of, preemption_of

_GRANULAR = {str(kind): kind for kind in GRANULAR}
_BEFORE_ADMISSION = {
    str(kind): kind for kind in (Kind.UNSATISFIED_ADMISSION_CHECKS, Kind.PENDING_DELAYED_TOPOLOGY)
}


def explain(workload: Workload, fleet: Fleet, tree: Tree) -> Cause:
    """Return why a workload waits, or what it does instead."""
    name = cluster_queue_of(workload, fleet)
    queue = fleet.cluster_queues.get(name) if name else None
    reserved = workload.condition("QuotaReserved")
    waits = reserved if reserved is not None and reserved.status != "True" else None
    message = parse_message(waits.message, queue) if waits else None
    kind, shown, granular = _kind(workload, waits, message)
    pending = workload.status == "Pending"
    return Cause(
        kind=kind,
        status=workload.status,
        cluster_queue=name,
        reason=shown.reason if shown else None,
        message=message if shown is waits or shown is None else parse_message(shown.message, queue),
        granular=granular,
        since=shown.last_transition if shown else None,
        needs=_needs(workload, queue, fleet, tree, message) if queue and pending else (),
        requeue=_requeue(workload, fleet),
        checks=tuple(check for check in workload.admission_checks if check.state != "Ready"),
        gang=_gang(workload),
        evicted=eviction_of(workload),
        preempted=preemption_of(workload, fleet),
    )


def cluster_queue_of(workload: Workload, fleet: Fleet) -> str | None:
    """Return the ClusterQueue that holds or would take a workload; None if its queue is unknown."""
    if workload.admission is not None:
        return workload.admission.cluster_queue
    local = fleet.local_queues.get((workload.namespace, workload.queue_name))
    return local.cluster_queue if local else None


def _kind(
    workload: Workload, waits: Condition | None, message: Message | None
) -> tuple[Kind, Condition | None, bool]:
    """Return the kind, the condition that shows it, and whether Kueue named the kind itself."""
    if workload.is_true("Finished"):
        return Kind.FINISHED, workload.condition("Finished"), True
    evicted = workload.condition("Evicted")
    if not workload.active:
        return Kind.DEACTIVATED, evicted or waits, True
    if workload.is_true("QuotaReserved"):
        if evicted is not None and evicted.status == "True":
            return Kind.EVICTING, evicted, True
        return _after_reservation(workload)
    if waits is None or message is None:
        kind = Kind.ADMISSION_GATED if workload.admission_gated_by else Kind.PENDING_EVALUATION
        return kind, None, False
    named = _GRANULAR.get(waits.reason)
    kind = named or message.kind
    if workload.admission_gated_by:
        kind = most_severe((kind, Kind.ADMISSION_GATED)) or kind
    return kind, waits, named is not None


def _after_reservation(workload: Workload) -> tuple[Kind, Condition | None, bool]:
    if workload.is_true("Admitted"):
        ready = workload.condition("PodsReady")
        if ready is None or ready.status == "True":
            return Kind.RUNNING, workload.condition("Admitted"), True
        recovering = ready.reason == Kind.RECOVERING
        return (Kind.RECOVERING if recovering else Kind.STARTING), ready, True
    admitted = workload.condition("Admitted")
    named = _BEFORE_ADMISSION.get(admitted.reason) if admitted else None
    if named is not None:
        return named, admitted, True
    unready = any(check.state != "Ready" for check in workload.admission_checks)
    kind = Kind.UNSATISFIED_ADMISSION_CHECKS if unready else Kind.UNKNOWN
    return kind, admitted or workload.condition("QuotaReserved"), False


def _needs(
    workload: Workload, queue: ClusterQueue, fleet: Fleet, tree: Tree, message: Message | None
) -> tuple[Need, ...]:
    node, wanted = tree.cluster_queue(queue.name), demand(workload)
    return tuple(
        need_of(node, pair, wanted[pair.resource], _matches(workload, pair, fleet, message))
        for pair in candidates(queue, wanted)
    )


def need_of(node: Node, pair: FlavorResource, wanted: int, matches: bool = True) -> Need:
    """Return what a queue could give of one (flavor, resource) against what is wanted."""
    unused = max(0, subtract(subtree_quota(node, pair), usage(node, pair)))
    now = can_reserve(node, pair)
    lent = 0 if node.cyclic else max(0, subtract(unused, now))
    return Need(pair, wanted, now, potential_available(node, pair), lent, matches)


def _matches(
    workload: Workload, pair: FlavorResource, fleet: Fleet, message: Message | None
) -> bool:
    flavor = fleet.flavors.get(pair.flavor)
    if flavor is not None and not all(selects(pod_set, flavor) for pod_set in workload.pod_sets):
        return False
    refusals = message.refusals if message else ()
    return not any(
        refusal.kind is Kind.NO_MATCHING_FLAVOR and refusal.flavor == pair.flavor
        for refusal in refusals
    )


def _requeue(workload: Workload, fleet: Fleet) -> Requeue | None:
    condition = workload.condition("Requeued")
    held = condition is not None and condition.status == "False"
    if not (workload.requeue_count or workload.requeue_at or held):
        return None
    later = workload.requeue_at is not None and workload.requeue_at > fleet.as_of
    waiting = workload.status == "Pending" and (later or held)
    reason = condition.reason if condition else None
    return Requeue(workload.requeue_count, workload.requeue_at, waiting, reason)


def _gang(workload: Workload) -> Gang | None:
    ready = workload.condition("PodsReady")
    if ready is None or not workload.is_true("Admitted") or workload.is_true("Finished"):
        return None
    return Gang(ready.status == "True", ready.reason, ready.last_transition, ready.message)
