"""A Workload's JSON to its model value, as compact as it can be.

A large cluster holds 100,000 Workloads of a few shapes. Equal names, messages, pod sets and
reservations are therefore one object each, shared by all Workloads that have them. [pure]
"""

from collections.abc import Hashable, Iterable, Mapping
from datetime import UTC, datetime
from sys import intern
from typing import TypeVar

from capacity.decode_places import Places, places
from capacity.decode_pods import affinity, amounts, pod_requests, tolerations
from capacity.decode_wire import ConditionWire, Quantities
from capacity.decode_workload_wire import (
    AdmissionWire,
    AssignmentWire,
    PodSetWire,
    TopologyRequestWire,
    WorkloadMetaWire,
    WorkloadStatusWire,
    WorkloadWire,
)
from capacity.model import (
    Admission,
    AdmissionCheckState,
    Condition,
    Owner,
    PodSet,
    PodSetAssignment,
    Workload,
)

T = TypeVar("T")
NEVER = datetime(1970, 1, 1, tzinfo=UTC)
_SHARED_MOST = 20_000
_shared: dict[Hashable, object] = {}
_NONE: Mapping[str, int] = {}


def workload_value(wire: WorkloadWire) -> Workload:
    """Return the Workload; pods' requests are Kueue's own figures where it has written them.

    Kueue's figures (the reservation, else ``status.resourceRequests``) include LimitRange
    defaults, RuntimeClass overhead, resource transformations and device classes, which the
    template alone doesn't show.
    """
    meta, spec, status = wire.metadata, wire.spec, wire.status
    requeue = status.requeue_state
    reference = spec.priority_class_ref
    priority_class = reference.name if reference else spec.priority_class_name
    return Workload(
        uid=meta.uid,
        namespace=intern(meta.namespace),
        name=meta.name,
        queue_name=intern(spec.queue_name),
        created=meta.creation_timestamp or NEVER,
        pod_sets=_pod_sets(spec.pod_sets, status),
        owner=_owner(meta),
        priority=spec.priority or 0,
        priority_class=intern(priority_class) if priority_class else None,
        active=spec.active is not False,
        admission=_admission(status.admission) if status.admission else None,
        conditions=conditions(status.conditions or ()),
        requeue_count=(requeue.count or 0) if requeue else 0,
        requeue_at=requeue.requeue_at if requeue else None,
        reclaimable={r.name: r.count for r in status.reclaimable_pods}
        if status.reclaimable_pods
        else _NONE,
        admission_checks=_checks(status),
        evictions=_evictions(status),
        admission_gated_by=meta.annotations.gated_by if meta.annotations else "",
        max_execution_seconds=spec.maximum_execution_time_seconds,
        past_execution_seconds=status.past or status.past_v1beta1 or 0,
        replaces=meta.annotations.replaces if meta.annotations else "",
    )


def conditions(wires: Iterable[ConditionWire]) -> tuple[Condition, ...]:
    """Return status conditions; a message that many objects share is kept once."""
    return tuple(
        Condition(
            intern(c.type),
            intern(c.status),
            intern(c.reason),
            intern(c.message),
            c.last_transition_time or NEVER,
        )
        for c in wires
    )


def _pod_sets(wires: list[PodSetWire], status: WorkloadStatusWire) -> tuple[PodSet, ...]:
    seen: dict[str, tuple[Quantities, int]] = {}
    counts = {wire.name: wire.count for wire in wires}
    for request in status.resource_requests or ():
        seen[request.name] = (request.resources or {}, counts.get(request.name, 0))
    for placed in status.admission.pod_set_assignments if status.admission else ():
        count = counts.get(placed.name, 0) if placed.count is None else placed.count
        seen[placed.name] = (placed.resource_usage or {}, count)
    return _share(tuple(_pod_set(wire, seen.get(wire.name)) for wire in wires))


def _pod_set(wire: PodSetWire, seen: tuple[Quantities, int] | None) -> PodSet:
    requests = _per_pod(*seen) if seen else None
    if requests is None:
        requests = pod_requests(wire.template.spec)
    selector = wire.template.spec.node_selector or {}
    topology = _topology(wire.topology_request)
    group = wire.topology_request.pod_set_group_name if wire.topology_request else None
    plain = (wire.name, wire.count, wire.min_count, topology, group)
    where = (tolerations(wire.template.spec.tolerations), affinity(wire.template.spec))
    key = (*plain, *where, tuple(requests.items()), tuple(selector.items()))
    found = _shared.get(key)
    if isinstance(found, PodSet):
        return found
    name = intern(wire.name)
    return _remember(
        key,
        PodSet(name, wire.count, requests, wire.min_count, selector, topology, *where, group),
    )


def _per_pod(total: Quantities, count: int) -> dict[str, int] | None:
    """Return the share of one pod, or None where the total doesn't tell it."""
    whole = amounts(total)
    if not whole or count <= 0 or any(value % count for value in whole.values()):
        return None
    return {resource: value // count for resource, value in whole.items()}


def _topology(wire: TopologyRequestWire | None) -> str | None:
    if wire is None:
        return None
    if wire.required:
        return f"required {wire.required}"
    if wire.preferred:
        return f"preferred {wire.preferred}"
    return "unconstrained" if wire.unconstrained else None


def _admission(wire: AdmissionWire) -> Admission:
    placed = tuple(_assignment_key(a) for a in wire.pod_set_assignments)
    key = (wire.cluster_queue, placed)
    found = _shared.get(key)
    if isinstance(found, Admission):
        return found
    assignments = tuple(
        PodSetAssignment(intern(name), count, dict(flavors), dict(usage), where)
        for name, count, flavors, usage, where in placed
    )
    return _remember(key, Admission(intern(wire.cluster_queue), assignments))


def _assignment_key(
    wire: AssignmentWire,
) -> tuple[str, int, tuple[tuple[str, str], ...], tuple[tuple[str, int], ...], Places]:
    flavors = tuple((intern(r), intern(f)) for r, f in (wire.flavors or {}).items())
    usage = tuple(amounts(wire.resource_usage).items())
    return wire.name, wire.count or 0, flavors, usage, places(wire.topology_assignment)


def _owner(meta: WorkloadMetaWire) -> Owner | None:
    """Return the owner that a person submitted: Kueue's note of it, else the controlling owner."""
    references = meta.owner_references or []
    notes = meta.annotations
    if notes and notes.owner_name:
        kind = notes.owner_kind.rpartition("Kind=")[2]
        uid = next((r.uid for r in references if r.name == notes.owner_name), "")
        return Owner(intern(kind), notes.owner_name, uid)
    first = next((r for r in references if r.controller), references[0] if references else None)
    return Owner(intern(first.kind), first.name, first.uid) if first else None


def _checks(status: WorkloadStatusWire) -> tuple[AdmissionCheckState, ...]:
    return tuple(
        AdmissionCheckState(intern(c.name), intern(c.state), intern(c.message), c.retry_count or 0)
        for c in status.admission_checks or ()
    )


def _evictions(status: WorkloadStatusWire) -> tuple[tuple[str, int], ...]:
    """Return evictions by reason, spelt with their cause as in Kueue's events (ReasonWithCause)."""
    stats = status.scheduling_stats
    return tuple(
        (intern(e.reason + (f"DueTo{e.underlying_cause}" if e.underlying_cause else "")), e.count)
        for e in (stats.evictions if stats else None) or ()
    )


def _reclaimable(status: WorkloadStatusWire) -> Mapping[str, int]:
    pods = status.reclaimable_pods
    return {intern(r.name): r.count for r in pods} if pods else _NONE


def _share(value: tuple[PodSet, ...]) -> tuple[PodSet, ...]:
    """Return one tuple for all Workloads of one shape; its pod sets are shared already.

    Identity is safe as the key: the remembered tuple keeps its pod sets alive.
    """
    key = ("pod sets", *map(id, value))
    found = _shared.get(key)
    if isinstance(found, tuple):
        return found
    return _remember(key, value)


def _remember(key: Hashable, value: T) -> T:
    if len(_shared) >= _SHARED_MOST:
        _shared.clear()
    _shared[key] = value
    return value
