"""Kueue's own cases of who goes first, and of places in queues (docs/kueue-tables.md)."""

from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from itertools import permutations

from capacity.model import ClusterQueue, Fleet, LocalQueue, Workload
from capacity.order import EQUAL, RequeueBy, pending_order, queue_order_timestamp
from capacity.quantity import to_amount
from tests.builders import ListedWorkloads, a_fleet
from tests.capacity.kueue_tables import each, orders, pending
from tests.capacity.kueue_tables.orders import T0, backoff, wl


def fleet_of(workloads, queues, doors) -> Fleet:
    """Return a fleet of ClusterQueues by name, and of LocalQueues."""
    by_key = {(door.namespace, door.name): door for door in doors}
    homes = {key: door.cluster_queue for key, door in by_key.items()}
    return replace(
        a_fleet(queues=queues),
        local_queues=by_key,
        workloads=ListedWorkloads(tuple(workloads), homes),
    )


def strict(*workloads: Workload, requeue_by: RequeueBy = "Eviction") -> list[str]:
    """Return the order in a StrictFIFO queue."""
    door = LocalQueue("default", "lq", "cq")
    fleet = fleet_of(workloads, [ClusterQueue("cq", queueing_strategy="StrictFIFO")], [door])
    return [w.name for w in pending_order(fleet, "cq", requeue_by)]


@each(orders.STRICT)
def test_who_goes_first_of_two(case: orders.Case):
    want = [w.name for w in case.order]
    assert strict(*case.order, requeue_by=case.requeue_by) == want
    assert strict(*reversed(case.order), requeue_by=case.requeue_by) == want


def test_a_queue_gives_the_oldest_first():
    waiting = {"now": wl("now"), "before": wl("before", -1), "after": wl("after", 1)}
    assert strict(*waiting.values())[0] == "before"
    del waiting["before"]
    waiting["after"] = wl("after", -60)
    assert strict(*waiting.values())[0] == "after"
    del waiting["after"], waiting["now"]
    assert strict(*waiting.values()) == []


@each(orders.BY_USAGE)
def test_who_goes_first_where_local_queues_share_by_use(case: orders.Used):
    names = {w.queue_name for w in case.workloads}
    doors = [
        LocalQueue(
            "default",
            name,
            "cq",
            fair_weight=Decimal(case.weights.get(name, "1")),
            consumed={r: to_amount(r, n) for r, n in case.consumed.get(name, {}).items()},
        )
        for name in names
    ]
    for listed in permutations(case.workloads):
        fleet = fleet_of(listed, [ClusterQueue("cq", admission_mode=case.mode)], doors)
        order = pending_order(fleet, "cq", "Eviction", case.resource_weights or EQUAL)
        assert order[0].name == case.first


@each(orders.SAME)
def test_the_order_of_equals_is_always_the_same(case: tuple[str, ...]):
    in_backoff = case[2:] if len(case) == 4 else ()
    workloads = [backoff(name) if name in in_backoff else wl(name) for name in case]
    assert {tuple(strict(*listed)) for listed in permutations(workloads)} == {case}


@each(orders.TIMESTAMPS)
def test_the_time_that_a_workload_is_sorted_by(case):
    conditions, by_eviction, by_creation = case
    workload = wl("w", 0, *conditions)
    assert queue_order_timestamp(workload) == T0 + timedelta(seconds=by_eviction)
    assert queue_order_timestamp(workload, "Creation") == T0 + timedelta(seconds=by_creation)


def fleet_of_case(case: pending.Case) -> Fleet:
    doors = [
        LocalQueue(*door.split("/"), home) for home, names in case.doors.items() for door in names
    ]
    return fleet_of(reversed(case.workloads), [ClusterQueue(home) for home in case.doors], doors)


def places(fleet: Fleet, cluster_queue: str) -> list[tuple[Workload, pending.Place]]:
    """Return the places of all that wait in a ClusterQueue, from 0."""
    ahead: dict[tuple[str, str], int] = {}
    found = []
    for at, workload in enumerate(pending_order(fleet, cluster_queue)):
        door = (workload.namespace, workload.queue_name)
        ahead[door] = ahead.get(door, -1) + 1
        found.append((workload, (workload.name, at, ahead[door])))
    return found


def shown(found: list[pending.Place], case: pending.Case) -> tuple[pending.Place, ...]:
    return tuple(found[case.offset :][: max(0, case.limit)])


@each(pending.CLUSTER_QUEUE)
def test_places_in_a_cluster_queue(case: pending.Case):
    fleet = fleet_of_case(case)
    known = case.asked in fleet.cluster_queues
    found = [place for _, place in places(fleet, case.asked)]
    assert (shown(found, case) if known else None) == case.places


@each(pending.LOCAL_QUEUE)
def test_places_in_a_local_queue(case: pending.Case):
    fleet = fleet_of_case(case)
    namespace, _, name = case.asked.partition("/")
    door = fleet.local_queues.get((namespace, name))
    found = [
        place
        for workload, place in (places(fleet, door.cluster_queue) if door else ())
        if (workload.namespace, workload.queue_name) == (namespace, name)
    ]
    assert (shown(found, case) if door else None) == case.places
