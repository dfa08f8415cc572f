"""What the simulated controllers write: specs from Git, status from what happens."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from bot.playground.cluster.job import Job, State
from bot.playground.cluster.objects import Object, ObjectStore, key_of
from bot.playground.cluster.workload_json import stamp, workload_json
from bot.playground.cluster.world import World
from capacity.model import Amounts, ClusterQueue, quotas
from capacity.quantity import to_text

_BOOKKEEPING = ("generation", "creationTimestamp")


def apply(store: ObjectStore, plural: str, wanted: Object, at: datetime) -> bool:
    """Store an object from Git if it differs from what is there; its status is kept."""
    namespace, name = key_of(wanted)
    held = store.object(plural, namespace, name)
    meta = {**wanted["metadata"], "generation": 1, "creationTimestamp": stamp(at)}
    if held:
        meta |= {key: held["metadata"][key] for key in _BOOKKEEPING}
        if _spec_of(held) == _spec_of(wanted) and held["metadata"] == meta:
            return False
        meta["generation"] += _spec_of(held) != _spec_of(wanted)
    status = {"status": held["status"]} if held and "status" in held else {}
    return store.put(plural, {**wanted, "metadata": meta, **status})


def publish(store: ObjectStore, world: World, started: datetime) -> None:
    """Write the status of everything; what hasn't changed makes no event."""
    _workloads(store, world)
    reserved = world.held(state for state in State if state.holds)
    admitted = world.held(state for state in State if state.admitted)
    for queue in world.rules.cluster_queues.values():
        mine = [job for job in world.jobs if job.spec.queue == queue.name]
        held, used = reserved.get(queue.name, {}), admitted.get(queue.name, {})
        active = _active(queue, started)
        status = {
            "conditions": [active],
            "flavorsReservation": _usage(queue, held, borrowed=True),
            "flavorsUsage": _usage(queue, used, borrowed=True),
            **_counts(mine),
        }
        _write(store, "clusterqueues", "", queue.name, status)
    for (namespace, name), door in world.rules.local_queues.items():
        behind = world.rules.cluster_queues.get(door.cluster_queue)
        if behind is None:
            continue
        mine = [job for job in world.jobs if (job.spec.queue, job.spec.queue) == (namespace, name)]
        status = {
            "conditions": [_ready("Can submit new workloads to localQueue", started)],
            "flavorsReservation": _usage(behind, reserved.get(name, {}), borrowed=False),
            "flavorsUsage": _usage(behind, admitted.get(name, {}), borrowed=False),
            **_counts(mine),
        }
        _write(store, "localqueues", namespace, name, status)


def pending_items(world: World, queue: str) -> list[dict[str, Any]] | None:
    """Return the visibility API's items of a queue in order; None for no such queue."""
    if queue not in world.rules.cluster_queues:
        return None
    return [
        {
            "metadata": {
                "name": job.workload_name,
                "namespace": job.spec.queue,
                "creationTimestamp": stamp(job.created),
            },
            "priority": job.spec.priority,
            "localQueueName": job.spec.queue,
            "positionInClusterQueue": position,
            "positionInLocalQueue": position,
        }
        for position, job in enumerate(world.pending(queue))
    ]


def _workloads(store: ObjectStore, world: World) -> None:
    kept = set()
    for job in world.jobs:
        key = (job.spec.queue, job.workload_name)
        kept.add(key)
        if job.state is not State.FINISHED or not _is_over(store.object("workloads", *key)):
            store.put("workloads", workload_json(job))
    for body in store.objects("workloads"):
        if key_of(body) not in kept:
            store.delete("workloads", *key_of(body))


def _is_over(body: Object | None) -> bool:
    """Tell whether the Workload is written as finished: nothing changes any more."""
    written = body["status"]["conditions"] if body else ()
    return any(condition["type"] == "Finished" for condition in written)


def _write(
    store: ObjectStore, plural: str, namespace: str, name: str, status: Mapping[str, Any]
) -> None:
    held = store.object(plural, namespace, name)
    if held is not None:
        store.put(plural, {**held, "status": status})


def _spec_of(body: Object) -> Object:
    return {k: v for k, v in body.items() if k not in ("metadata", "status")}


def _active(queue: ClusterQueue, since: datetime) -> Object:
    if queue.stop_policy == "None":
        return _ready("Can admit new workloads", since)
    told = "Can't admit new workloads: is stopped."
    return {**_ready(told, since), "status": "False", "reason": "Stopped"}


def _ready(message: str, since: datetime) -> Object:
    return {
        "type": "Active",
        "status": "True",
        "reason": "Ready",
        "message": message,
        "lastTransitionTime": stamp(since),
    }


def _counts(jobs: Iterable[Job]) -> dict[str, int]:
    states = [job.state for job in jobs]
    return {
        "pendingWorkloads": states.count(State.WAITING),
        "reservingWorkloads": sum(state.holds for state in states),
        "admittedWorkloads": sum(state.admitted for state in states),
    }


def _usage(queue: ClusterQueue, held: Amounts, *, borrowed: bool) -> list[Object]:
    found: dict[str, list[Object]] = {}
    for pair, quota in quotas(queue).items():
        total = held.get(pair, 0)
        entry = {"name": pair.resource, "total": to_text(pair.resource, total)}
        if borrowed:
            over = max(0, total - quota.nominal) if queue.cohort else 0
            entry["borrowed"] = to_text(pair.resource, over)
        found.setdefault(pair.flavor, []).append(entry)
    return [{"name": flavor, "resources": entries} for flavor, entries in found.items()]
