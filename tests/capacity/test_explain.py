"""Why a workload waits: kinds by condition and message, the arithmetic, and its history."""

from dataclasses import replace
from datetime import timedelta

import pytest

from capacity.causes import Kind
from capacity.explain import explain
from capacity.model import AdmissionCheckState, Condition, Fleet, PodSet, ResourceFlavor, Workload
from capacity.quota import Tree
from tests.builders import (
    A100,
    AS_OF,
    GPU,
    H100,
    a_fleet,
    a_workload,
    ago,
    condition,
    waiting_condition,
    waiting_workloads,
)

UNUSED = (
    "couldn't assign flavors to pod set main: insufficient unused quota for nvidia.com/gpu in "
    "flavor h100, 12 more needed"
)


def cause(workload: Workload, fleet: Fleet | None = None):
    fleet = fleet or a_fleet()
    return explain(workload, fleet, Tree.of(fleet))


def wl(*conditions: Condition, **changes) -> Workload:
    return replace(a_workload("j", 2, 8, conditions=conditions), **changes)


def test_llm_ft_7_waits_for_twelve_more():
    found = cause(waiting_workloads()[0])
    assert (found.kind, found.status, found.cluster_queue) == (
        Kind.WAITING_FOR_QUOTA,
        "Pending",
        "research",
    )
    assert (found.reason, found.granular, found.since) == ("Pending", False, AS_OF)
    need = found.need(H100)
    assert need is not None
    assert (need.wanted, need.available, need.potential, need.short) == (16, 4, 48, 12)
    other = found.need(A100)
    assert other is not None
    assert (other.available, other.short, other.matches) == (24, 0, False)
    assert found.message is not None
    assert found.message.refusals[0].needed == 12
    assert found.requeue is not None
    assert (found.requeue.count, found.requeue.waiting) == (3, False)


def test_own_quota_that_is_lent_shows():
    found = cause(a_workload("big", 1, 13, queue="vision"))
    need = found.need(H100)
    assert need is not None
    assert (need.available, need.own_lent, need.short) == (12, 2, 1)


def test_a_granular_reason_is_kueues_own_and_wins_over_the_message():
    found = cause(wl(waiting_condition("a text of tomorrow", "ExceedsMaxQuota")))
    assert (found.kind, found.granular) == (Kind.EXCEEDS_MAX_QUOTA, True)
    assert found.message is not None
    assert found.message.kind is Kind.UNKNOWN


@pytest.mark.parametrize("reason", ["Pending", "Inadmissible", "Waiting"])
def test_a_legacy_reason_is_classified_by_its_message(reason: str):
    found = cause(wl(waiting_condition("ClusterQueue research is inactive", reason)))
    assert (found.kind, found.granular, found.reason) == (Kind.SUSPENDED, False, reason)


def test_an_unknown_message_is_kept_verbatim():
    found = cause(wl(waiting_condition("a text of tomorrow")))
    assert found.kind is Kind.UNKNOWN
    assert found.message is not None
    assert found.message.text == "a text of tomorrow"


def test_a_new_workload_without_condition_waits_for_evaluation():
    found = cause(wl())
    assert (found.kind, found.reason, found.message) == (Kind.PENDING_EVALUATION, None, None)
    assert found.need(H100) is not None


def test_a_gate_shows_even_before_kueue_says_so():
    assert cause(wl(admission_gated_by="a.io/x")).kind is Kind.ADMISSION_GATED
    gated = wl(waiting_condition(UNUSED), admission_gated_by="a.io/x")
    assert cause(gated).kind is Kind.ADMISSION_GATED


def test_a_workload_of_an_unknown_queue_has_no_needs():
    found = cause(replace(wl(waiting_condition("LocalQueue x doesn't exist")), queue_name="x"))
    assert (found.cluster_queue, found.needs, found.kind) == (None, (), Kind.MISCONFIGURED)


def test_pods_already_given_back_are_not_asked_for_again():
    found = cause(wl(reclaimable={"main": 1}))
    need = found.need(H100)
    assert need is not None
    assert need.wanted == 8


def test_pod_sets_add_up_and_resources_without_quota_are_left_out():
    pod_sets = (PodSet("a", 1, {GPU: 2, "cpu": 1000}), PodSet("b", 3, {GPU: 1}))
    found = cause(wl(pod_sets=pod_sets))
    assert {need.pair: need.wanted for need in found.needs} == {H100: 5, A100: 5}


def test_a_node_selector_that_contradicts_a_flavor_rules_it_out():
    fleet = replace(
        a_fleet(),
        flavors={
            "h100": ResourceFlavor("h100", {"card": "h100"}),
            "a100": ResourceFlavor("a100", {"card": "a100"}),
        },
    )
    selecting = PodSet("main", 1, {GPU: 1}, node_selector={"card": "a100", "zone": "b"})
    found = cause(wl(pod_sets=(selecting,)), fleet)
    assert {need.pair: need.matches for need in found.needs} == {H100: False, A100: True}


def reserved(*more: Condition, **changes) -> Workload:
    return replace(
        a_workload("j", state="QuotaReserved"),
        conditions=(condition("QuotaReserved"), *more),
        **changes,
    )


def test_quota_without_admission_waits_for_its_checks():
    checks = (
        AdmissionCheckState("prov", "Pending", "waiting for nodes"),
        AdmissionCheckState("ok", "Ready"),
    )
    told = condition("Admitted", "False", "UnsatisfiedAdmissionChecks")
    for workload in (reserved(told, admission_checks=checks), reserved(admission_checks=checks)):
        found = cause(workload)
        assert found.kind is Kind.UNSATISFIED_ADMISSION_CHECKS
        assert [check.name for check in found.checks] == ["prov"]
        assert found.needs == ()


def test_quota_without_admission_for_no_known_reason_is_unknown():
    assert cause(reserved()).kind is Kind.UNKNOWN


def test_a_late_topology_is_its_own_kind():
    late = condition("Admitted", "False", "PendingDelayedTopologyRequests")
    assert cause(reserved(late)).kind is Kind.PENDING_DELAYED_TOPOLOGY


@pytest.mark.parametrize(
    ("status", "reason", "kind"),
    [
        ("False", "WaitForStart", Kind.STARTING),
        ("False", "WaitForRecovery", Kind.RECOVERING),
        ("True", "Started", Kind.RUNNING),
    ],
)
def test_an_admitted_gang_starts_recovers_or_runs(status: str, reason: str, kind: Kind):
    ready = condition("PodsReady", status, reason, "Not all pods are ready or succeeded")
    found = cause(reserved(condition("Admitted"), ready))
    assert found.kind is kind
    assert found.gang is not None
    assert (found.gang.ready, found.gang.reason) == (status == "True", reason)


def test_a_finished_workload_only_is_finished():
    found = cause(a_workload("j", state="Finished"))
    assert (found.kind, found.needs, found.gang) == (Kind.FINISHED, (), None)


PREEMPTED = (
    "Preempted to accommodate a workload (UID: uid-serving-chat, JobUID: job-serving-chat) due to "
    "reclamation within the cohort; preemptor path: /ml/serving; preemptee path: /ml/research"
)


def preempted(status: str = "True", message: str = PREEMPTED) -> tuple[Condition, ...]:
    at = ago(minutes=23)
    return (
        condition("Preempted", status, "InCohortReclamation", message, at),
        condition("Evicted", status, "Preempted", message, at),
    )


def test_the_story_of_a_preemption_names_who_why_path_and_when():
    found = cause(wl(waiting_condition(PREEMPTED), *preempted()))
    story = found.preempted
    assert story is not None
    assert (story.reason, story.because) == (
        "InCohortReclamation",
        "reclamation within the cohort",
    )
    assert (story.by_uid, story.by_job_uid) == ("uid-serving-chat", "job-serving-chat")
    assert (story.by_path, story.from_path) == (("ml", "serving"), ("ml", "research"))
    assert (story.current, story.at) == (True, ago(minutes=23))
    assert story.by is not None
    assert story.by.job == "chat"
    assert found.kind is Kind.PENDING_EVALUATION
    assert found.evicted is not None
    assert (found.evicted.reason, found.evicted.cause) == ("Preempted", None)


def test_a_preemption_stays_as_history_once_quota_is_back():
    found = cause(reserved(condition("Admitted"), *preempted("False", f"Previously: {PREEMPTED}")))
    assert found.kind is Kind.RUNNING
    assert found.preempted is not None
    assert (found.preempted.current, found.preempted.by_path) == (False, ("ml", "serving"))
    assert found.evicted is not None
    assert not found.evicted.current


@pytest.mark.parametrize(
    "message",
    [
        (
            "Preempted to accommodate a workload (UID: UNKNOWN, JobUID: UNKNOWN) due to UNKNOWN; "
            "preemptor path: UNKNOWN; preemptee path: UNKNOWN"
        ),
        "Preempted to accommodate a higher priority Workload",
    ],
)
def test_a_preemption_that_kueue_knows_little_about_claims_nothing(message: str):
    story = cause(wl(*preempted(message=message))).preempted
    assert story is not None
    assert (story.by_uid, story.by_job_uid, story.because, story.by_path) == (None, None, "", ())
    assert (story.by, story.text) == (None, message)


def test_an_older_kueue_tells_no_path():
    message = "Preempted to accommodate a workload (UID: u, JobUID: j) due to prioritization in the ClusterQueue"
    story = cause(wl(*preempted(message=message))).preempted
    assert story is not None
    assert (story.by_uid, story.because) == ("u", "prioritization in the ClusterQueue")
    assert story.from_path == ()


def test_an_eviction_that_still_holds_quota_is_under_way():
    found = cause(reserved(condition("Evicted", reason="ClusterQueueStopped")))
    assert (found.kind, found.reason) == (Kind.EVICTING, "ClusterQueueStopped")


@pytest.mark.parametrize(
    ("reason", "message", "because"),
    [
        ("Deactivated", "The workload is deactivated", None),
        (
            "Deactivated",
            "The workload is deactivated due to exceeding the maximum number of re-queuing retries",
            "RequeuingLimitExceeded",
        ),
        (
            "Deactivated",
            "The workload is deactivated due to exceeding the maximum execution time",
            "MaximumExecutionTimeExceeded",
        ),
        (
            "Deactivated",
            'The workload is deactivated due to AdmissionCheck in Rejected state: "prov" (no)',
            "AdmissionCheck",
        ),
        ("DeactivatedDueToRequeuingLimitExceeded", "older", "RequeuingLimitExceeded"),
    ],
)
def test_a_deactivated_workload_says_what_led_to_it(reason: str, message: str, because):
    found = cause(wl(condition("Evicted", "True", reason, message), active=False))
    assert found.kind is Kind.DEACTIVATED
    assert found.evicted is not None
    assert (found.evicted.reason, found.evicted.cause) == ("Deactivated", because)
    assert found.message is not None
    assert found.message.text == message


def test_backoff_shows_until_when():
    later = AS_OF + timedelta(minutes=5)
    held = condition("Requeued", "False", "PodsReadyTimeout", "Exceeded the PodsReady timeout x/y")
    found = cause(wl(held, requeue_count=2, requeue_at=later))
    assert found.requeue is not None
    assert (found.requeue.count, found.requeue.at) == (2, later)
    assert (found.requeue.waiting, found.requeue.reason) == (True, "PodsReadyTimeout")


def test_a_past_requeue_time_is_no_backoff():
    again = condition("Requeued", "True", "BackoffFinished")
    found = cause(wl(again, requeue_count=2, requeue_at=AS_OF - timedelta(minutes=5)))
    assert found.requeue is not None
    assert not found.requeue.waiting
    assert cause(wl()).requeue is None
