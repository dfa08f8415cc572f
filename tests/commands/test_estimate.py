"""Waits and run times by jobs alike: who is compared with whom, and what is said of it."""

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from capacity.errors import Gap
from capacity.model import Fleet, PodSet, Workload
from capacity.quota import Tree
from commands.estimate import Wait, wait_of
from commands.history import WINDOW, Recorded, Stretch, past_jobs, stretch_of
from commands.parse import parse
from commands.ranges import FEWEST
from commands.run_times import RunTimes
from commands.table import run
from commands.wait_say import wait_words
from tests.builders import (
    A100,
    ANA,
    GPU,
    H100,
    NOW,
    ON_H100,
    FakeWorld,
    a_cluster_queue,
    a_fleet,
    a_workload,
    ago,
    condition,
    finished_workloads,
)

_QUEUE = a_cluster_queue("research", {H100: (64,), A100: (8,)})


def a_stretch(uid: str, waited: float, **changes: object) -> Stretch:
    """One that got its quota 20 hours ago after so many minutes, and ran an hour."""
    reserved = ago(hours=20)
    base = Stretch(
        uid=uid,
        queue="research",
        flavor="h100",
        gpus=16,
        pods=2,
        priority=0,
        queued_since=reserved - timedelta(minutes=waited),
        reserved_at=reserved,
        admitted_at=reserved,
        ended_at=reserved + timedelta(hours=1),
        end="finished",
        reason="Succeeded",
    )
    return replace(base, **changes)


def some(count: int, **changes: object) -> list[Stretch]:
    """Stretches that waited 10, 20, 30 ... minutes."""
    return [a_stretch(f"s{i}", 10 * (i + 1), **changes) for i in range(count)]


def on_h100(job: str, pods: int = 2, gpus: int = 8, **changes: object) -> Workload:
    pod_sets = (PodSet("main", pods, {GPU: gpus}, node_selector=ON_H100),)
    return a_workload(job, pods, gpus, pod_sets=pod_sets, **changes)


def wait(
    past: Iterable[Stretch], job: Workload | None = None, others: Iterable[Workload] = ()
) -> Wait:
    job = job or on_h100("mine", created=ago(minutes=5))
    fleet = a_fleet(queues=[_QUEUE], workloads=(job, *others))
    return wait_of(job, _QUEUE, fleet, Tree.of(fleet), past=tuple(past), now=NOW)


def test_a_range_needs_ten_jobs_that_got_quota() -> None:
    assert wait(some(FEWEST - 1)).typical is None
    assert wait(some(FEWEST - 1)).known == FEWEST - 1
    found = wait(some(40)).typical
    assert found is not None
    assert (found.words, found.jobs) == ("1 h 30 min to 5 h", 40)
    assert found.basis == "last day, 40 jobs of 8 to 32 H100"


def test_half_to_twice_the_size_is_alike_else_all_sizes_count_but_never_jobs_without_gpus() -> None:
    alike = [*some(5, gpus=8), *[a_stretch(f"t{i}", 30, gpus=32) for i in range(5)]]
    assert wait(alike).typical.sizes == (8, 32)
    other = [a_stretch(f"u{i}", 30, gpus=33) for i in range(5)]
    mixed = wait([*some(5), *other]).typical
    assert (mixed.sizes, mixed.jobs) == (None, 10)
    assert mixed.basis == "last day, 10 jobs of any size on H100"
    assert wait([*some(5), *[replace(o, gpus=0) for o in other]]).typical is None


def test_a_job_that_is_bound_to_a_card_is_not_compared_with_other_cards() -> None:
    quick = [a_stretch(f"a{i}", 1, flavor="a100") for i in range(40)]
    assert wait(quick).typical is None
    assert wait_words("mine", wait(quick)) == (
        "How long it takes can't be said: no job got quota here on H100 in the last 14 days."
    )
    free = wait(quick, a_workload("mine", 2, 8))
    assert (free.card, free.typical.jobs) == ("GPUs", 40)


def test_jobs_of_other_queues_do_not_count() -> None:
    assert wait(some(40, queue="vision")).typical is None


def test_what_still_waits_counts_as_at_least_so_long() -> None:
    others = [on_h100(f"o{i}", created=ago(hours=30)) for i in range(40)]
    calm, jammed = wait(some(40)).typical, wait(some(40), others=others).typical
    assert (calm.words, calm.open, calm.going) == ("1 h 30 min to 5 h", False, 1)
    assert (jammed.words, jammed.open, jammed.going) == ("3 h 30 min to over 1 d 6 h", True, 41)
    assert "40 jobs of 8 to 32 H100 and 41 that still wait" in wait_words(
        "mine", wait(some(40), others=others)
    )


def test_when_most_still_wait_only_the_least_is_said() -> None:
    others = [on_h100(f"o{i}", created=ago(hours=30)) for i in range(400)]
    assert wait(some(40), others=others).typical.words == "over 1 d 6 h"


def test_jobs_that_can_not_start_are_not_counted_as_waiting() -> None:
    old = ago(hours=90)
    asides = [
        *(on_h100(f"a{i}", created=old, active=False) for i in range(40)),
        *(on_h100(f"b{i}", created=old, admission_gated_by="x/y") for i in range(40)),
        *(on_h100(f"c{i}", 16, 8, created=old) for i in range(40)),
        *(a_workload(f"d{i}", 2, 8, queue="other", created=old) for i in range(40)),
        *(
            on_h100(f"e{i}", created=old, conditions=(condition("Requeued", "False", at=old),))
            for i in range(40)
        ),
    ]
    assert wait(some(40), others=asides).typical.going == 1


def test_waits_that_were_given_up_count_as_at_least_so_long() -> None:
    gone = [
        a_stretch(f"w{i}", 0, queued_since=ago(hours=60), reserved_at=None,
                  ended_at=ago(hours=20), end="withdrawn", flavor="")
        for i in range(40)
    ]  # fmt: skip
    assert wait([*some(40), *gone]).typical.words == "3 h 30 min to over 1 d 16 h"


def test_a_job_that_waits_longer_than_typical_is_told_so_and_how_much_more_it_took_others() -> None:
    late = wait(some(60), on_h100("mine", created=ago(hours=8)))
    assert late.is_long
    assert wait_words("mine", late).endswith(
        "mine has waited longer than that, 8 h; 12 jobs that had waited as long took "
        "30 min to 1 h 30 min more."
    )
    later = wait(some(60), on_h100("mine", created=ago(hours=9)))
    assert wait_words("mine", later).endswith(
        "mine has waited longer than that, 9 h; too few jobs waited as long to say how much more "
        "it takes."
    )
    assert not wait(some(60), on_h100("mine", created=ago(hours=2))).is_long


def test_when_most_that_wait_now_wait_longer_than_typical_it_is_slower_now() -> None:
    """A jam is a few jobs beside hundreds of the last two weeks: the range alone would hide it."""
    past = [a_stretch(f"s{i}", 10 * (i % 40)) for i in range(400)]
    stuck = [on_h100(f"o{i}", created=ago(hours=9)) for i in range(4)]
    slow = wait(past, others=stuck)
    assert (slow.typical.high, slow.longer, slow.line) == (timedelta(hours=5), 4, 5)
    assert wait_words("mine", slow).endswith(
        "no promise). It is slower now: 4 of 5 such jobs wait longer than that."
    )
    assert not wait(past, others=stuck[:2]).is_slow
    fresh = [on_h100(f"f{i}", created=ago(hours=1)) for i in range(4)]
    assert not wait(past, others=(*stuck, *fresh)).is_slow


def test_short_waits_are_not_rounded_to_nothing_and_an_open_end_not_up() -> None:
    quick = [a_stretch(f"s{i}", i / 100) for i in range(40)]
    assert wait(quick).typical.words == "under 1 min"
    others = [on_h100(f"o{i}", created=ago(minutes=119)) for i in range(60)]
    assert wait(some(11), others=others).typical.words == "over 1 h 30 min"


def test_a_wait_that_began_before_the_window_counts_from_the_windows_start_on() -> None:
    """Its like that ended sooner were then, and aren't known: else all would look as slow."""
    old = a_stretch(
        "old", 0, queued_since=NOW - WINDOW - timedelta(hours=9), reserved_at=NOW - WINDOW
    )
    assert wait([*some(40), old]).typical.jobs == 40
    seen = replace(old, reserved_at=NOW - WINDOW + timedelta(hours=1))
    assert wait([*some(40), seen]).typical.jobs == 41
    assert wait([*some(40), seen]).typical.words == wait(some(40)).typical.words


def test_the_days_are_those_that_the_jobs_lie_in() -> None:
    def spread(days: float) -> list[Stretch]:
        at = NOW - timedelta(days=days)
        return [*some(40), a_stretch("x", 0, queued_since=at, reserved_at=at, ended_at=at)]

    assert [wait(spread(d)).typical.days for d in (0.9, 1.1, 13.5)] == [1, 2, 14]


def test_what_the_cluster_shows_goes_before_what_was_written_down_of_the_same_stretch() -> None:
    job = a_workload("a", 2, 8, state="Finished", created=ago(hours=5), since=ago(hours=4))
    shown = stretch_of(job)
    written = replace(shown, ended_at=None, end="", reason="")
    other = a_stretch("gone", 30)
    fleet = a_fleet(queues=[_QUEUE], workloads=(job,))
    found = past_jobs(fleet, {"research"}, NOW, Recorded((written, other)))
    assert sorted(found, key=lambda s: s.uid) == [other, shown]
    assert past_jobs(fleet, {"vision"}, NOW, Recorded((written, other))) == ()


def test_a_job_that_was_stopped_and_queued_again_waits_twice() -> None:
    job = a_workload("a", 2, 8, state="Admitted", created=ago(hours=9), since=ago(hours=1))
    job = replace(job, conditions=(*job.conditions, condition("Requeued", at=ago(hours=2))))
    first = a_stretch(job.uid, 30, end="evicted", reason="Preempted", ended_at=ago(hours=3))
    fleet = a_fleet(queues=[_QUEUE], workloads=(job,))
    found = past_jobs(fleet, {"research"}, NOW, Recorded((first,)))
    assert [s.began - s.queued_since for s in found] == [timedelta(minutes=30), timedelta(hours=1)]


def test_what_a_workload_shows_of_itself() -> None:
    job = a_workload("a", 4, 8, state="Finished", created=ago(hours=9), since=ago(hours=8),
                     ended=ago(hours=2), priority=7)  # fmt: skip
    assert stretch_of(job) == Stretch(
        job.uid, "research", "h100", 32, 4, 7, ago(hours=9), ago(hours=8), ago(hours=8),
        ago(hours=2), "finished", "Succeeded",
    )  # fmt: skip
    assert stretch_of(a_workload("b")) is None


def runs(stretches: Iterable[Stretch], age: float, gpus: int = 16):
    return RunTimes(stretches, NOW).left("research", gpus, timedelta(hours=age))


def ran(uid: str, hours: float, **changes: object) -> Stretch:
    return a_stretch(uid, 5, ended_at=ago(hours=20) + timedelta(hours=hours), **changes)


def test_time_left_looks_only_at_jobs_that_reached_the_age() -> None:
    past = [ran(f"r{i}", i + 1) for i in range(20)]
    young, old = runs(past, 0.5), runs(past, 8.5)
    assert (young.words, young.jobs) == ("4 h 30 min to 14 h", 20)
    assert (old.words, old.jobs) == ("2 h 30 min to 8 h 30 min", 12)
    assert runs(past, 11) is None


def test_jobs_that_were_stopped_by_others_would_have_run_longer() -> None:
    past = [ran(f"r{i}", i + 1) for i in range(20)]
    stopped = [ran(f"e{i}", 1, end="evicted", reason="Preempted") for i in range(20)]
    replaced = [ran(f"w{i}", 1, reason="WorkloadSliceReplaced") for i in range(20)]
    lost = [ran(f"l{i}", 1, end="lost", reason="") for i in range(20)]
    for cut in (stopped, replaced, lost):
        assert runs([*past, *cut], 1.5).words == runs(past, 1.5).words
        assert runs([*past, *cut], 0.5).going == 20
    own = [ran(f"d{i}", 1, end="deleted", reason="") for i in range(20)]
    timed = "DeactivatedDueToMaximumExecutionTimeExceeded"
    limits = [ran(f"m{i}", 1, end="evicted", reason=timed) for i in range(20)]
    for ended in (own, limits):
        assert runs([*past, *ended], 0.5).low == timedelta(minutes=30)


def test_sizes_are_alike_for_run_times_too() -> None:
    small = [ran(f"r{i}", 1, gpus=1) for i in range(20)]
    large = [ran(f"s{i}", i + 1) for i in range(20)]
    assert runs([*small, *large], 0.5).sizes == (8, 32)
    assert runs([*small, *large[:9]], 0.5).sizes is None


def test_a_history_that_can_not_be_read_is_a_gap_and_the_clusters_own_is_used() -> None:
    gap = Gap("my own history", None, "waits of jobs that are gone")
    world = FakeWorld(the_past=Recorded((), (gap,)))
    for question in ("queue research", "why llm-ft-7"):
        answer, page = run(parse(question, ANA), world)
        assert answer.wait.typical.jobs == 40
        assert answer.gaps == (gap,)
        assert "I couldn't read my own history yet" in str(page.notices)
    running = run(parse("why chat", ANA), world)[0]
    assert running.gaps == ()


def test_what_was_written_down_counts_though_the_cluster_forgot_it() -> None:
    def fleet() -> Fleet:
        return a_fleet(workloads=a_fleet().workloads.items[:13])

    written = [s for w in finished_workloads() if (s := stretch_of(w))]
    question = parse("queue research", ANA)
    assert run(question, FakeWorld(fleet()))[0].wait.typical is None
    world = FakeWorld(fleet(), the_past=Recorded(written))
    assert run(question, world)[0].wait.typical.jobs == 40


moments = st.integers(0, 20 * 24 * 60).map(lambda m: NOW - timedelta(minutes=m))


@st.composite
def stretches(draw: st.DrawFn) -> Stretch:
    queued, reserved, ended = sorted(draw(st.tuples(moments, moments, moments)))
    uid, gpus = draw(st.uuids()), draw(st.sampled_from((0, 1, 2, 8, 16, 64)))
    end = draw(st.sampled_from(("", "finished", "evicted", "deleted", "lost", "withdrawn")))
    return Stretch(
        str(uid), "research", draw(st.sampled_from(("h100", "a100", ""))), gpus, 1, 0, queued,
        None if end == "withdrawn" else reserved, None, ended if end else None, end,
    )  # fmt: skip


@given(st.lists(stretches(), max_size=60), st.lists(moments, max_size=10))
def test_whatever_happened_the_range_is_in_order_and_its_basis_is_counted(
    past: list[Stretch], waiting: list[datetime]
) -> None:
    others = [on_h100(f"o{i}", created=at) for i, at in enumerate(waiting)]
    found = wait(past, others=others)
    for shown in (found.typical, found.more, runs(past, 0.0), runs(past, 30.0, gpus=1)):
        if shown is not None:
            assert timedelta(0) <= shown.low <= shown.high
            assert FEWEST <= shown.jobs <= len(past)
            assert shown.going <= len(past) + len(others) + 1
            assert 1 <= shown.days <= 14
    assert wait_words("mine", found)
