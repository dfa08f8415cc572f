"""Would it fit? Per flavor: now, by preemption, later, never, or not offered."""

from dataclasses import replace

import pytest

from capacity.errors import UnknownName
from capacity.fits import LEAVES_OUT, FitResult, Verdict, fits
from capacity.model import Admission, Cohort, Fleet, PodSet, Preemption
from capacity.quota import Tree
from tests.builders import (
    A100,
    GPU,
    H100,
    a_cluster_queue,
    a_fleet,
    a_workload,
    ago,
    condition,
)


def ask(queue: str, gpus: int, fleet: Fleet | None = None, priority: int = 0, **more: int):
    fleet = fleet or a_fleet()
    return fits(Tree.of(fleet), queue, {GPU: gpus, **more}, fleet, priority)


def flavor(result: FitResult, name: str):
    found = result.flavor(name)
    assert found is not None
    return found


def test_two_times_eight_don_t_fit_into_vision_now_but_another_flavor_takes_them():
    result = ask("vision", 16)
    h100, a100 = flavor(result, "h100"), flavor(result, "a100")
    assert (h100.verdict, a100.verdict, result.verdict) == (
        Verdict.WAIT,
        Verdict.NOW,
        Verdict.NOW,
    )
    (need,) = h100.needs
    assert (need.available, need.short, need.potential, need.own_lent) == (12, 4, 80, 2)
    assert h100.binding == need
    assert a100.binding is None
    assert result.leaves_out == LEAVES_OUT
    assert result.blocked == ""


@pytest.mark.parametrize(
    ("gpus", "verdict"),
    [(4, Verdict.NOW), (5, Verdict.WAIT), (48, Verdict.WAIT), (49, Verdict.NEVER)],
)
def test_research_gets_four_now_and_forty_eight_ever(gpus: int, verdict: Verdict):
    assert flavor(ask("research", gpus), "h100").verdict is verdict


def test_the_best_flavor_decides_within_a_group_and_the_worst_group_decides():
    result = ask("research", 30, **{"rdma/hca": 1})
    assert [group.resources for group in result.groups] == [(GPU,), ("rdma/hca",)]
    assert [group.verdict for group in result.groups] == [Verdict.WAIT, Verdict.NOT_OFFERED]
    assert result.verdict is Verdict.NOT_OFFERED


def test_a_resource_that_others_run_without_quota_for_isn_t_counted():
    running = replace(
        a_workload("r", state="Admitted"), pod_sets=(PodSet("main", 1, {GPU: 1, "cpu": 1000}),)
    )
    queue = a_cluster_queue("q", {H100: (8,)})
    fleet = a_fleet(
        queues=[queue],
        workloads=[replace(running, admission=Admission("q", running.admission.assignments))],
    )
    assert ask("q", 4, fleet, cpu=1000).ignored == ("cpu",)
    assert ask("q", 4, fleet, cpu=1000).verdict is Verdict.NOW
    assert ask("q", 4, a_fleet(queues=[queue]), cpu=1000).verdict is Verdict.NOT_OFFERED


def test_a_resource_that_isn_t_asked_for_doesn_t_matter():
    assert ask("research", 4, cpu=0).verdict is Verdict.NOW


def reclaiming(**rules: str) -> Fleet:
    """``own`` has 8 of its own, all lent to ``other``, which holds 16 with 8 of its own."""
    queues = (
        a_cluster_queue("own", {H100: (8,)}, preemption=Preemption(**rules), reserved={H100: 0}),
        a_cluster_queue("other", {H100: (8,)}, reserved={H100: 16}),
    )
    running = (
        a_workload("old", 1, 8, queue="other", state="Admitted", created=ago(hours=9)),
        a_workload("new", 1, 8, queue="other", state="Admitted", created=ago(hours=1)),
    )
    return a_fleet(queues=queues, workloads=running)


def test_preemption_names_its_victims():
    fit = flavor(ask("own", 8, reclaiming(reclaim_within_cohort="Any")), "h100")
    assert fit.verdict is Verdict.PREEMPTION
    assert [(v.workload.job, v.cluster_queue, v.reason) for v in fit.victims] == [
        ("new", "other", "InCohortReclamation")
    ]
    assert fit.victims[0].frees == {
        H100: 8,
    }


def test_a_policy_that_finds_nobody_means_waiting():
    fleet = reclaiming(reclaim_within_cohort="LowerPriority")
    assert flavor(ask("own", 8, fleet), "h100").verdict is Verdict.WAIT
    assert flavor(ask("own", 8, fleet, priority=1), "h100").verdict is Verdict.PREEMPTION
    assert flavor(ask("own", 8, reclaiming()), "h100").verdict is Verdict.WAIT


def test_without_the_running_workloads_only_the_policy_is_looked_at():
    tree = Tree.of(reclaiming(reclaim_within_cohort="LowerPriority"))
    fit = flavor(fits(tree, "own", {GPU: 8}), "h100")
    assert (fit.verdict, fit.simulated, fit.victims) == (Verdict.PREEMPTION, False, ())
    assert flavor(fits(Tree.of(reclaiming()), "own", {GPU: 8}), "h100").verdict is Verdict.WAIT


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"stop_policy": "Hold"}, "it is stopped (Hold)"),
        (
            {"conditions": (condition("Active", "False", "FlavorNotFound", "Can't admit x."),)},
            "Can't admit x.",
        ),
    ],
)
def test_a_queue_that_takes_nothing_makes_everything_wait(changes, why: str):
    queue = a_cluster_queue("q", {H100: (8,)}, **changes)
    result = ask("q", 1, a_fleet(queues=[queue]))
    assert (result.verdict, result.blocked) == (Verdict.WAIT, why)
    assert flavor(result, "h100").verdict is Verdict.NOW


def test_a_parent_cycle_blocks():
    fleet = a_fleet(queues=[a_cluster_queue("q", {H100: (8,)})], cohorts=[Cohort("ml", "ml")])
    result = ask("q", 1, fleet)
    assert result.blocked == "its cohorts are in a parent cycle"
    assert result.verdict is Verdict.NEVER


def test_an_unknown_queue_is_answered_with_the_nearest():
    with pytest.raises(UnknownName):
        ask("reserch", 1)


def test_the_fit_agrees_with_the_need_of_a_waiting_job():
    fleet = a_fleet()
    full = replace(fleet.cluster_queues["research"], reserved={H100: 48, A100: 0})
    fleet = replace(fleet, cluster_queues={**fleet.cluster_queues, "research": full})
    assert flavor(ask("research", 1, fleet), "h100").verdict is Verdict.WAIT
