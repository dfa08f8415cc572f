"""The order of pending workloads beyond Kueue's own cases (test_order_tables.py)."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal

from hypothesis import given
from hypothesis import strategies as st

from capacity.model import Condition, LocalQueue, Workload
from capacity.order import is_queued, order_caveats, pending_order
from tests.builders import ListedWorkloads, a_cluster_queue, a_fleet, a_workload

T0 = datetime(2026, 12, 1, 9, tzinfo=UTC)


def wl(name: str, seconds: int = 0, *conditions: Condition, **changes) -> Workload:
    created = T0 + timedelta(seconds=seconds)
    return a_workload(name, created=created, conditions=conditions, uid=name, **changes)


def cond(type_: str, reason: str, seconds: int = 0, status: str = "True", message: str = ""):
    return Condition(type_, status, reason, message, T0 + timedelta(seconds=seconds))


def order(*workloads: Workload, requeue_by="Eviction", **queue) -> list[str]:
    fleet = a_fleet(queues=[a_cluster_queue("research", **queue)], workloads=workloads)
    return [w.job for w in pending_order(fleet, "research", requeue_by)]


def test_of_equal_age_the_smaller_uid_goes_first():
    assert order(wl("b"), wl("a"), wl("B")) == ["B", "a", "b"]


def test_an_eviction_for_an_admission_check_sends_to_the_back():
    check = cond("Evicted", "AdmissionCheck", 60)
    assert order(wl("a", 0, check), wl("b", 30), requeue_by="Creation") == ["b", "a"]


def test_a_preempted_workload_keeps_its_place():
    gone = (cond("Evicted", "Preempted", 60), cond("Preempted", "InCohortReclamation", 60))
    assert order(wl("a", 0, *gone), wl("b", 30)) == ["a", "b"]


PREEMPTING = "couldn't assign flavors to pod set main: x. Pending the preemption of 1 workload(s)"


def test_a_preemptor_stays_at_the_head_of_a_best_effort_queue():
    waits = cond("QuotaReserved", "WaitingForPreemptedWorkloads", status="False")
    legacy = cond("QuotaReserved", "Pending", status="False", message=PREEMPTING)
    older = wl("a", 0, priority=5)
    assert order(older, wl("b", 9, waits)) == ["b", "a"]
    assert order(older, wl("b", 9, legacy)) == ["b", "a"]
    assert order(older, wl("b", 9, waits), queueing_strategy="StrictFIFO") == ["a", "b"]


def test_what_kueue_holds_back_has_no_position():
    on_hold = cond("QuotaReserved", "OnHold", status="False")
    waits = cond("QuotaReserved", "Pending", status="False")
    workloads = [
        wl("inactive", active=False),
        wl("held", 0, on_hold),
        wl("gated", admission_gated_by="example.com/gate"),
        wl("replacing", 0, cond("WaitingForReplacementPods", "x")),
        wl("backoff", 0, waits, requeue_at=T0 + timedelta(hours=1), requeue_count=2),
        wl("plain", 1),
    ]
    assert [w.job for w in workloads if is_queued(w)] == ["backoff", "plain"]
    assert order(*workloads) == ["backoff", "plain"]


def test_a_stopped_queue_still_has_an_order():
    assert order(wl("b", 1), wl("a", 0), stop_policy="HoldAndDrain") == ["a", "b"]


def by_usage(consumed, weights, *workloads, mode="UsageBasedAdmissionFairSharing"):
    queues = {
        ("research", name): LocalQueue(
            "research", name, "research", fair_weight=Decimal(weights.get(name, 1)), consumed=use
        )
        for name, use in consumed.items()
    }
    fleet = replace(
        a_fleet(queues=[a_cluster_queue("research", admission_mode=mode)]),
        local_queues=queues,
        workloads=ListedWorkloads(workloads, dict.fromkeys(queues, "research")),
    )
    return [w.job for w in pending_order(fleet, "research")], order_caveats(fleet, "research")


def in_queue(name: str, queue: str, priority: int) -> Workload:
    return replace(wl(name), queue_name=queue, priority=priority)


A_HIGH, B_LOW = in_queue("a-high", "qa", 2), in_queue("b-low", "qb", 1)


def test_with_admission_fair_sharing_the_queue_that_used_less_goes_first():
    used = {"qa": {"cpu": 2000}, "qb": {"cpu": 1000}}
    ordered, caveats = by_usage(used, {}, A_HIGH, B_LOW)
    assert ordered == ["b-low", "a-high"]
    assert len(caveats) == 1
    assert by_usage(used, {}, A_HIGH, B_LOW, mode="NoAdmissionFairSharing") == (
        ["a-high", "b-low"],
        (),
    )


def test_with_admission_fair_sharing_use_counts_by_weight():
    used = {"qa": {"cpu": 10_000}, "qb": {"cpu": 6_000}}
    assert by_usage(used, {}, A_HIGH, B_LOW)[0] == ["b-low", "a-high"]
    assert by_usage(used, {"qa": 2}, A_HIGH, B_LOW)[0] == ["a-high", "b-low"]
    assert by_usage(used, {"qb": 0}, A_HIGH, B_LOW)[0] == ["a-high", "b-low"]


@given(st.permutations([wl(f"w{i}", i % 3, priority=i % 2) for i in range(6)]))
def test_the_order_doesn_t_depend_on_how_the_workloads_were_listed(listed):
    assert order(*listed) == ["w3", "w1", "w5", "w0", "w4", "w2"]


def test_an_unknown_queue_has_nothing_pending():
    assert pending_order(a_fleet(), "nobody") == ()
