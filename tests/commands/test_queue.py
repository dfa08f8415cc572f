"""Order, waits and holders beyond the golden pages."""

from dataclasses import replace
from datetime import timedelta

import pytest

from capacity.errors import UsageError
from commands.history import past_jobs
from commands.jobs import gang, gpus, held_words
from commands.parse import parse
from commands.queue_page import ordinal
from commands.table import run
from tests.builders import (
    ANA,
    GPU,
    NOW,
    FakeWorld,
    a_cluster_queue,
    a_fleet,
    a_workload,
    ago,
    condition,
    finished_workloads,
    waiting_workloads,
)


def ask(text: str, world: FakeWorld | None = None):
    return run(parse(text, ANA), world or FakeWorld())[0]


def test_kueues_own_order_is_used_and_said():
    uids = tuple(w.uid for w in reversed(waiting_workloads()))
    answer = ask("queue research", FakeWorld(orders={"research": uids}))
    assert [w.uid for w in answer.waiting] == list(uids)
    assert answer.order == "kueue"


def test_jobs_that_kueues_list_does_not_know_yet_stand_last_and_gone_ones_are_left_out():
    first, *_ = waiting_workloads()
    answer = ask("queue research", FakeWorld(orders={"research": ("uid-gone", first.uid)}))
    assert answer.waiting[0].uid == first.uid
    assert answer.total == 5


def test_without_kueues_list_the_order_is_ours_and_said():
    assert ask("queue research").order == "gpubot"


def test_priority_goes_before_age():
    jobs = (a_workload("old", created=ago(hours=9)), a_workload("urgent", priority=100))
    fleet = a_fleet(queues=[a_cluster_queue("research")], workloads=jobs)
    assert [w.job for w in ask("queue research", FakeWorld(fleet)).waiting] == ["urgent", "old"]


def test_jobs_outside_the_line_are_counted_apart():
    jobs = (
        a_workload("a"),
        a_workload("b", active=False),
        a_workload("c", admission_gated_by="x/y"),
    )
    fleet = a_fleet(queues=[a_cluster_queue("research")], workloads=jobs)
    answer, page = run(parse("queue research", ANA), FakeWorld(fleet))
    assert (answer.total, answer.aside) == (1, 2)
    assert "2 more jobs stand outside the line" in str(page.parts)


def test_a_job_that_runs_shows_its_queue_without_a_place():
    assert ask("queue chat").asked_job is None
    assert ask("queue chat").queue == "serving"


def test_a_job_far_back_shows_the_page_that_it_is_on():
    jobs = [a_workload(f"j{i:02}", created=ago(minutes=90 - i)) for i in range(40)]
    fleet = a_fleet(queues=[a_cluster_queue("research")], workloads=jobs)
    answer = ask("queue j20", FakeWorld(fleet))
    assert (answer.page, answer.asked_job.position) == (2, 21)


def test_a_job_whose_queue_does_not_exist_is_told_so():
    jobs = (a_workload("lost", queue_name="nowhere"),)
    fleet = a_fleet(queues=[a_cluster_queue("research")], workloads=jobs)
    with pytest.raises(UsageError) as caught:
        ask("queue lost", FakeWorld(fleet))
    assert "doesn't exist in namespace research" in caught.value.sentence


def test_a_wait_is_a_range_with_its_basis():
    wait = ask("queue research").wait
    assert (wait.typical.jobs, wait.typical.going, wait.gpus) == (40, 3, 16)
    assert timedelta(minutes=10) <= wait.typical.low < wait.typical.high
    assert wait.typical.high <= timedelta(minutes=135)


def test_the_wait_is_that_of_the_job_that_was_asked_about_else_of_the_first():
    assert (ask("queue research").wait.gpus, ask("queue eval-3").wait.gpus) == (16, 1)
    assert ask("queue chat").wait is None


def test_jobs_from_before_the_window_do_not_count():
    fleet = a_fleet(workloads=finished_workloads(5))
    assert len(past_jobs(fleet, {"research"}, NOW)) == 5
    assert len(past_jobs(fleet, {"research"}, NOW + timedelta(days=30))) == 0


def test_a_wait_is_counted_from_the_requeueing_as_in_kueues_metrics():
    job = a_workload("a", state="Admitted", created=ago(hours=9), since=ago(hours=1))
    job = replace(job, conditions=(*job.conditions, condition("Requeued", at=ago(hours=2))))
    (past,) = past_jobs(a_fleet(workloads=(job,)), {"research"}, NOW)
    assert past.reserved_at - past.queued_since == timedelta(hours=1)


def test_finished_pods_of_a_running_gang_hold_nothing():
    job = a_workload("a", 4, 8, state="Admitted", reclaimable={"main": 1})
    assert held_words(job) == "24 H100"


def test_a_gang_is_said_by_its_pods_and_gpus():
    job = a_workload("a", 2, 8)
    mixed = replace(job, pod_sets=(*job.pod_sets, replace(job.pod_sets[0], name="b", count=1)))
    assert (gang(job), gpus(job)) == ("2 x 8", 16)
    assert (gang(mixed), gpus(mixed)) == ("2 x 8 + 1 x 8", 24)
    bare = replace(job, pod_sets=(replace(job.pod_sets[0], requests={"cpu": 1000}),))
    assert (gang(bare), gpus(bare)) == ("2 pods", 0)
    assert GPU in job.pod_sets[0].requests


def test_ordinals():
    assert [ordinal(n) for n in (1, 2, 3, 4, 11, 12, 13, 21, 111)] == [
        "1st", "2nd", "3rd", "4th", "11th", "12th", "13th", "21st", "111th",
    ]  # fmt: skip


def test_a_page_beyond_the_last_is_refused():
    with pytest.raises(UsageError):
        ask("queue research 9")
    with pytest.raises(UsageError):
        ask("queue research next")
