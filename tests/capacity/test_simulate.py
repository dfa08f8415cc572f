"""What if? Figures before and after, who starts, who is held back, who could be stopped."""

from dataclasses import replace
from datetime import timedelta

import pytest

from capacity.changes import QuotaChange, changed
from capacity.errors import UnknownName, UsageError
from capacity.model import Cohort, Fleet, PodSet, Preemption, Quota, Workload
from capacity.quota import Tree
from capacity.simulate import LEAVES_OUT, simulate
from tests.builders import (
    A100,
    AS_OF,
    GPU,
    H100,
    a_cluster_queue,
    a_fleet,
    a_workload,
    ago,
    condition,
    groups,
    waiting_condition,
)


def nominal(queue: str, amount: int, pair=H100) -> QuotaChange:
    return QuotaChange(queue, pair, "nominal", amount)


def rows(outcome) -> dict[str, tuple]:
    return {
        row.cluster_queue: (
            (row.before.nominal, row.before.available, row.before.potential),
            (row.after.nominal, row.after.available, row.after.potential),
        )
        for row in outcome.rows
    }


def job(name: str, pods: int = 1, gpus: int = 1, **changes) -> Workload:
    """A workload that asks for nothing but GPUs."""
    return a_workload(
        name, pods, gpus, **{"pod_sets": (PodSet("main", pods, {GPU: gpus}),), **changes}
    )


def names(starts) -> list[str]:
    return [start.workload.job for start in starts]


def test_eight_more_for_research_change_the_whole_tree():
    outcome = simulate(a_fleet(), [nominal("research", 40)])
    assert rows(outcome) == {
        "research": ((32, 4, 48), (40, 12, 56)),
        "vision": ((24, 12, 80), (24, 20, 88)),
        "serving": ((40, 12, 88), (40, 20, 96)),
    }
    (promise,) = outcome.promises
    assert (promise.root, promise.pair, promise.before, promise.after) == ("ml", H100, 96, 104)
    assert outcome.has_effect
    assert outcome.over == ()
    assert outcome.leaves_out[: len(LEAVES_OUT)] == LEAVES_OUT


def research_waiting(strategy: str, *, a100: int = 0) -> Fleet:
    """16, 1, 1 and 8 wait in research, in this order; 4 are available."""
    sizes = {"gang": 16, "one": 1, "two": 1, "eight": 8}
    waiting = [
        job(name, 1, gpus, created=ago(minutes=9 - at))
        for at, (name, gpus) in enumerate(sizes.items())
    ]
    fleet = a_fleet()
    queue = replace(
        fleet.cluster_queues["research"],
        queueing_strategy=strategy,
        resource_groups=groups({H100: (32, 16), A100: (a100, 0)}),
    )
    running = [w for w in fleet.workloads if w.status in ("Admitted", "QuotaReserved")]
    others = [q for name, q in fleet.cluster_queues.items() if name != "research"]
    return a_fleet(queues=[queue, *others], workloads=[*waiting, *running])


def test_a_strict_queue_starts_nobody_behind_a_head_that_doesn_t_fit():
    fleet = research_waiting("StrictFIFO")
    assert names(simulate(fleet, [nominal("research", 40)]).starts) == []
    assert names(simulate(fleet, [nominal("research", 44)]).starts) == ["gang"]


def test_a_best_effort_queue_passes_over_it():
    outcome = simulate(research_waiting("BestEffortFIFO"), [nominal("research", 40)])
    assert names(outcome.already) == ["one", "two"]
    assert names(outcome.starts) == ["eight"]


def test_another_flavor_takes_what_doesn_t_fit_the_first():
    fleet = research_waiting("StrictFIFO", a100=16)
    outcome = simulate(fleet, [nominal("research", 40)])
    assert names(outcome.already) == ["gang", "one", "two"]
    assert outcome.already[0].assignment.flavors == {"main": {GPU: "a100"}}
    assert names(outcome.starts) == ["eight"]


def test_a_flavor_that_kueue_refused_before_isn_t_given():
    fleet = research_waiting("StrictFIFO", a100=16)
    message = (
        "couldn't assign flavors to pod set main: flavor a100 doesn't match node affinity, "
        "insufficient unused quota for nvidia.com/gpu in flavor h100, 12 more needed"
    )
    refused = [
        replace(w, conditions=(waiting_condition(message),)) if w.job == "gang" else w
        for w in fleet.workloads
    ]
    fleet = replace(fleet, workloads=replace(fleet.workloads, items=tuple(refused)))
    assert names(simulate(fleet, [nominal("research", 40)]).already) == []


def test_a_borrowing_limit_beyond_what_the_tree_lends_has_no_effect():
    fleet = a_fleet(
        queues=[
            a_cluster_queue("a", {H100: (4, 20)}),
            a_cluster_queue("b", {H100: (4,)}),
        ]
    )
    outcome = simulate(fleet, [QuotaChange("a", H100, "borrowing", 40)])
    assert not outcome.has_effect
    assert outcome.rows[0].changed
    assert simulate(fleet, [QuotaChange("a", H100, "borrowing", None)]).has_effect is False


def test_lending_less_shrinks_what_others_can_ever_have():
    outcome = simulate(a_fleet(), [QuotaChange("serving", H100, "lending", 0)])
    assert rows(outcome)["vision"] == ((24, 12, 80), (24, 2, 56))
    assert rows(outcome)["serving"] == ((40, 12, 88), (40, 12, 88))


def test_cutting_a_nominal_below_what_is_reserved_evicts_nobody_but_exposes():
    outcome = simulate(a_fleet(), [nominal("research", 20)])
    (over,) = outcome.over
    assert (over.cluster_queue, over.before, over.after) == ("research", 12, 24)
    assert over.reclaimers == (("serving", "Any"),)
    assert [w.job for w in over.exposed] == ["sweep-2", "eval-2", "eval-1", "llm-pretrain"]
    assert rows(outcome)["research"] == ((32, 4, 48), (20, -8, 36))
    assert rows(outcome)["vision"] == ((24, 12, 80), (24, 0, 68))


def test_a_move_between_queues_keeps_the_trees_promise():
    outcome = simulate(a_fleet(), [nominal("research", 40), nominal("vision", 16)])
    (promise,) = outcome.promises
    assert (promise.before, promise.after) == (96, 96)
    assert rows(outcome)["vision"][1][0] == 16


def test_a_cut_holds_back_who_would_have_started():
    fleet = a_fleet(
        queues=[a_cluster_queue("research", {H100: (8,)})],
        workloads=[job("next", 1, 8)],
    )
    outcome = simulate(fleet, [nominal("research", 4)])
    assert (names(outcome.held_back), names(outcome.starts)) == (["next"], [])


def test_an_extra_workload_starts_where_there_is_room():
    fleet = a_fleet(
        queues=[a_cluster_queue("research", {H100: (8,)}, reserved={H100: 4})], workloads=[]
    )
    fits, not_now = job("small", 1, 4), job("big", 1, 5)
    outcome = simulate(fleet, extra=[fits])
    assert names(outcome.starts) == ["small"]
    assert outcome.starts[0].assignment.usage == {H100: 4}
    assert [row.pair for row in outcome.rows] == [H100]
    assert names(simulate(fleet, extra=[not_now]).starts) == []


RDMA = "rdma/hca"


def test_a_resource_that_others_run_without_quota_for_isn_t_counted_and_that_is_told():
    asked = replace(job("w"), pod_sets=(PodSet("main", 1, {GPU: 1, RDMA: 1}),))
    running = replace(job("r", state="Admitted"), pod_sets=asked.pod_sets)
    queue = a_cluster_queue("research", {H100: (8,)})
    outcome = simulate(a_fleet(queues=[queue], workloads=[running]), extra=[asked])
    assert names(outcome.starts) == ["w"]
    assert outcome.leaves_out[-1] == "rdma/hca, which Kueue doesn't count in this cluster"
    assert names(simulate(a_fleet(queues=[queue], workloads=[]), extra=[asked]).starts) == []


def test_an_extra_workload_may_take_another_s_place():
    fleet = a_fleet(
        queues=[a_cluster_queue("research", {H100: (8,)})],
        workloads=[job("waiting", 1, 8)],
    )
    urgent = job("urgent", 1, 8, priority=10)
    outcome = simulate(fleet, extra=[urgent])
    assert (names(outcome.starts), names(outcome.held_back)) == (["urgent"], ["waiting"])


def two_queues(*workloads: Workload, **own) -> Fleet:
    """``own`` and ``other`` have 8 each; ``other`` holds all 16."""
    queues = (
        a_cluster_queue("own", {H100: (8,)}, **own),
        a_cluster_queue("other", {H100: (8,)}, reserved={H100: 16}),
    )
    running = (
        job("old", 1, 8, queue="other", state="Admitted", created=ago(hours=9)),
        job("new", 1, 8, queue="other", state="Admitted", created=ago(hours=1)),
    )
    return a_fleet(queues=queues, workloads=(*running, *workloads))


def test_a_start_by_preemption_names_its_victims():
    fleet = two_queues(preemption=Preemption(reclaim_within_cohort="Any"))
    (start,) = simulate(fleet, extra=[job("mine", 1, 8, queue="own")]).starts
    assert [victim.workload.job for victim in start.assignment.victims] == ["new"]


def test_one_victim_is_stopped_once():
    fleet = two_queues(
        preemption=Preemption(reclaim_within_cohort="Any"), queueing_strategy="BestEffortFIFO"
    )
    extra = [
        job(name, 1, 4, queue="own", created=ago(minutes=m))
        for name, m in [("a", 9), ("b", 5), ("c", 1)]
    ]
    starts = simulate(fleet, extra=extra).starts
    assert names(starts) == ["a", "b"]
    assert [len(start.assignment.victims) for start in starts] == [1, 0]


def test_a_head_that_waits_within_its_nominal_keeps_it_from_borrowers():
    """``strict``'s head needs 8 of its own 8, of which 4 are lent; 4 stay kept for it."""
    queues = (
        a_cluster_queue("strict", {H100: (8,)}, queueing_strategy="StrictFIFO"),
        a_cluster_queue("greedy", {H100: (0,)}, reserved={H100: 4}),
    )
    waiting = (
        job("head", 1, 8, queue="strict", created=ago(minutes=1)),
        job("borrower", 1, 4, queue="greedy", created=ago(minutes=9)),
    )
    fleet = a_fleet(queues=queues, workloads=waiting)
    extra = job("late", 1, 1, queue="greedy", created=ago(minutes=0))
    assert names(simulate(fleet, extra=[extra]).already) == []
    reclaims = replace(queues[0], preemption=Preemption(reclaim_within_cohort="Any"))
    fleet = replace(fleet, cluster_queues={**fleet.cluster_queues, "strict": reclaims})
    assert names(simulate(fleet, extra=[extra]).already) == ["borrower"]


def test_those_within_their_own_quota_go_before_borrowers():
    queues = (a_cluster_queue("rich", {H100: (4,)}), a_cluster_queue("poor", {H100: (0,)}))
    waiting = (
        job("lender", 1, 4, queue="rich", created=ago(minutes=1)),
        job("borrower", 1, 4, queue="poor", created=ago(minutes=9), priority=100),
    )
    fleet = a_fleet(queues=queues, workloads=waiting)
    assert names(simulate(fleet, [nominal("poor", 0)]).already) == ["lender"]


def test_with_fair_sharing_the_lower_share_goes_first_and_the_caveat_is_told():
    queues = (
        a_cluster_queue("bank", {H100: (4,)}),
        a_cluster_queue("had", {H100: (0,)}, reserved={H100: 2}),
        a_cluster_queue("hadn't", {H100: (0,)}),
    )
    waiting = (
        job("more", 1, 2, queue="had", created=ago(minutes=9)),
        job("first", 1, 2, queue="hadn't", created=ago(minutes=1)),
    )
    for fair, winner in ((True, "first"), (False, "more")):
        fleet = a_fleet(queues=queues, workloads=waiting, fair_sharing=fair)
        outcome = simulate(fleet, [nominal("bank", 4)])
        assert names(outcome.already) == [winner]
        assert any("fair" in text for text in outcome.leaves_out) is fair


def test_whoever_is_in_backoff_or_whose_queue_is_stopped_isn_t_tried():
    later = job("later", requeue_at=AS_OF + timedelta(hours=1))
    held = job("held", conditions=(condition("Requeued", "False", "PodsReadyTimeout"),))
    fleet = a_fleet(queues=[a_cluster_queue("research")], workloads=[later, held])
    assert simulate(fleet, [nominal("research", 9)]).already == ()
    stopped = a_fleet(
        queues=[a_cluster_queue("research", stop_policy="Hold")], workloads=[job("w")]
    )
    assert simulate(stopped, [nominal("research", 9)]).already == ()


def test_equal_workloads_behind_one_that_failed_aren_t_tried_again():
    queue = a_cluster_queue("research", {H100: (8,)}, reserved={H100: 8})
    many = [job(f"w{i}", 1, 8, created=ago(minutes=i)) for i in range(3000)]
    fleet = a_fleet(queues=[queue], workloads=many)
    outcome = simulate(fleet, [nominal("research", 16)])
    assert len(outcome.starts) == 1
    assert not any("first" in text for text in outcome.leaves_out)


def test_a_run_cut_short_says_so():
    queue = a_cluster_queue("research", {H100: (0,)})
    many = [job(f"w{i}", 1, i + 1, created=ago(minutes=i)) for i in range(2100)]
    outcome = simulate(a_fleet(queues=[queue], workloads=many), [nominal("research", 0)])
    assert any("2000" in text for text in outcome.leaves_out)


def test_the_quota_of_a_cohort_can_be_changed_too():
    fleet = a_fleet(cohorts=[Cohort("ml", None, groups({H100: (8,)}))])
    outcome = simulate(fleet, [QuotaChange("ml", H100, "nominal", 0, "Cohort")])
    assert rows(outcome)["vision"] == ((24, 20, 88), (24, 12, 80))


def test_a_nominal_under_an_orchestrator_takes_effect_later_and_the_outcome_says_so():
    queue = replace(
        a_cluster_queue("q", {H100: (8,)}),
        effective_resource_groups=groups({H100: (6,)}),
    )
    fleet = a_fleet(queues=[queue])
    outcome = simulate(fleet, [nominal("q", 16)])
    assert rows(outcome)["q"] == ((6, 6, 6), (6, 6, 6))
    assert any("orchestrator" in text for text in outcome.leaves_out)
    limited = changed(queue, QuotaChange("q", H100, "borrowing", 3))
    assert limited.effective_resource_groups == groups({H100: (6, 3)})


def test_the_tree_that_is_passed_in_stays_as_it_is():
    fleet = a_fleet()
    tree = Tree.of(fleet)
    before = tree.availability()
    assert simulate(fleet, [nominal("research", 40)], tree=tree).has_effect
    assert tree.availability() == before


def test_one_figure_changes_and_nothing_else():
    queue = a_fleet().cluster_queues["research"]
    after = changed(queue, QuotaChange("research", H100, "borrowing", None))
    flavors = after.resource_groups[0].flavors
    assert flavors[0].resources == {GPU: Quota(32, None, None)}
    assert flavors[1] == queue.resource_groups[0].flavors[1]


@pytest.mark.parametrize(
    ("change", "error"),
    [
        (nominal("nobody", 1), UnknownName),
        (nominal("research", 1, A100._replace(flavor="b200")), UsageError),
        (QuotaChange("research", H100, "nominal", None), UsageError),
        (QuotaChange("ml", H100, "nominal", 1, "Cohort"), UsageError),
    ],
)
def test_a_change_of_what_doesn_t_exist_is_refused(change: QuotaChange, error: type[Exception]):
    with pytest.raises(error):
        simulate(a_fleet(), [change])
