"""Causes, stories and remedies beyond the golden pages; and every kind of cause has its words."""

from dataclasses import replace

import pytest

from capacity.causes import Kind
from capacity.errors import UsageError
from capacity.model import Preemption
from commands.page import plain
from commands.parse import parse
from commands.table import run
from commands.why_say import headline
from tests.builders import (
    ANA,
    H100,
    FakeWorld,
    a_cluster_queue,
    a_fleet,
    a_workload,
    ago,
    condition,
    the_queues,
    waiting_condition,
)
from tests.commands.stories import STORIES, preempted_world


def ask(text: str, world: FakeWorld | None = None):
    return run(parse(text, ANA), world or FakeWorld())[0]


def remedies(answer) -> str:
    return " | ".join(f"{r.what} {r.value}" for r in answer.remedies)


def test_the_remedies_of_the_example():
    said = remedies(ask("why llm-ft-7"))
    assert "run it as 1 x 4" in said
    assert "use A100: research can get 24 now" in said
    assert "raise research's own quota by 12 to 44 research h100 nominal 44" in said


def test_a_higher_borrowing_limit_is_offered_only_where_it_is_enough():
    """In the example 12 are free in ml and 16 are needed: no limit would help."""
    assert "borrowing limit" not in remedies(ask("why llm-ft-7"))
    job = a_workload("train", 1, 8, created=ago(minutes=50), conditions=(waiting_condition("?"),))
    queue = replace(the_queues()[0], queueing_strategy="BestEffortFIFO")
    message = "couldn't assign flavors to pod set main: insufficient unused quota for nvidia.com/gpu in flavor h100, 4 more needed"
    job = replace(job, conditions=(waiting_condition(message),))
    only = replace(queue, resource_groups=a_cluster_queue("x", {H100: (32, 16)}).resource_groups)
    fleet = a_fleet(queues=(only, *the_queues()[1:]), workloads=(job,))
    assert "borrowing limit by 4 to 20 research h100 borrowing 20" in remedies(
        ask("why train", FakeWorld(fleet))
    )


def test_an_estimate_comes_only_with_enough_history():
    fleet = a_fleet()
    young = tuple(w for w in fleet.workloads if not w.job.startswith("past"))
    bare = FakeWorld(replace(fleet, workloads=replace(fleet.workloads, items=young)))
    assert "wait until 12 H100 more come free" in remedies(ask("why llm-ft-7", bare))
    assert "wait until 1 job" in remedies(ask("why llm-ft-7"))


def test_a_preempted_job_tells_who_took_its_gpus():
    answer = ask("why eval-9", preempted_world())
    said = plain(headline(answer))
    assert "serving took back GPUs it had lent" in said
    assert "for job api-canary, priority high" in said


def test_older_jobs_of_the_same_name_are_counted_not_shown():
    jobs = (
        a_workload("train"),
        a_workload("train", state="Finished", created=ago(hours=9), uid="old", name="old"),
    )
    fleet = a_fleet(queues=[a_cluster_queue("research")], workloads=jobs)
    answer, page = run(parse("why train", ANA), FakeWorld(fleet))
    assert answer.namesakes == 1
    assert "1 older job of this name not shown" in plain(page.footer)


def test_two_jobs_of_one_name_in_one_namespace_are_told_apart_by_their_workloads():
    jobs = (a_workload("train", name="job-a"), a_workload("train", name="job-b", uid="b"))
    fleet = a_fleet(queues=[a_cluster_queue("research")], workloads=jobs)
    answer = ask("why train", FakeWorld(fleet))
    assert {c[0] for c in answer.choices} == {"research/job-a", "research/job-b"}
    assert ask("why research/job-b", FakeWorld(fleet)).workload == "job-b"


def test_lent_quota_is_told_with_what_brings_it_back():
    message = "couldn't assign flavors to pod set main: insufficient unused quota for nvidia.com/gpu in flavor h100, 2 more needed"
    job = a_workload("big", 1, 14, queue="vision", conditions=(waiting_condition(message),))
    queues = the_queues()
    for policy, words in (("Never", "return only as jobs there end"), ("Any", "reclaim Any")):
        vision = replace(queues[1], preemption=Preemption(reclaim_within_cohort=policy))
        only = replace(
            vision, resource_groups=a_cluster_queue("x", {H100: (24, None, 16)}).resource_groups
        )
        fleet = a_fleet(queues=(queues[0], only, queues[2]), workloads=(job,))
        answer, page = run(parse("why big", ANA), FakeWorld(fleet))
        assert answer.need.own_lent == 2
        assert words in str(page.parts)


def test_no_job_is_asked_for_by_name():
    with pytest.raises(UsageError):
        ask("why")


@pytest.mark.parametrize("kind", list(Kind))
def test_every_kind_of_cause_has_a_sentence(kind: Kind):
    answer = ask("why llm-ft-7")
    said = plain(headline(replace(answer, cause=replace(answer.cause, kind=kind))))
    assert said.startswith("llm-ft-7 ")
    assert "  " not in said


def test_a_limit_on_run_time_bounds_the_estimate():
    fleet = a_fleet()
    items = tuple(
        replace(w, max_execution_seconds=20 * 3600) if w.job == "llm-pretrain" else w
        for w in fleet.workloads
    )
    world = FakeWorld(replace(fleet, workloads=replace(fleet.workloads, items=items)))
    assert "1 min" in ask("why llm-ft-7", world).remedies[0].price


def test_a_job_that_lost_a_node_says_so():
    job = a_workload(
        "train",
        conditions=(
            condition("Evicted", "True", "NodeFailures", "Workload was evicted", ago(minutes=2)),
            waiting_condition("Workload was evicted as there was no replacement for a failed node"),
        ),
    )
    fleet = a_fleet(queues=[a_cluster_queue("research")], workloads=(job,))
    _, page = run(parse("why train", ANA), FakeWorld(fleet))
    assert "a node failed" in str(page.parts)


@pytest.mark.parametrize("text", ["why llm-ft-7 please", "quota research now", "quota research 2"])
def test_words_that_mean_nothing_are_not_ignored(text: str):
    with pytest.raises(UsageError) as caught:
        run(parse(text, ANA), FakeWorld())
    assert text.rpartition(" ")[2] in caught.value.sentence
    assert text.rpartition(" ")[0] in caught.value.next_step


def test_nobody_is_told_of_quota_that_lacks_when_a_place_does():
    said = plain(run(parse("why train-1", ANA), STORIES["why-no-place"][1])[1].headline)
    assert said.startswith("train-1 waits for room in one place: its 4 pods must stand in one rack")
    assert "Quota isn't what it lacks" in said


@pytest.mark.parametrize(
    "text", ["queue research foo 2", "quota research --show foo", "fit 8 --resource cpu"]
)
def test_no_word_is_dropped(text: str):
    with pytest.raises(UsageError):
        run(parse(text, ANA), FakeWorld())
