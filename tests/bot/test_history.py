"""The history of jobs: what is written of each stretch, across restarts, outages and relists."""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.history import BATCH, BATCHES, Recorder
from bot.history_book import Book
from bot.store import Store
from capacity.errors import SourceDown
from capacity.model import Condition
from commands.history import Stretch, past_jobs
from tests.bot.history_world import Bot, Cluster, with_condition
from tests.builders import NOW, ago
from tests.commands.test_estimate import a_stretch, some


@pytest.fixture
def cluster() -> Cluster:
    return Cluster()


@pytest.fixture
def bot(cluster: Cluster) -> Bot:
    return Bot(cluster)


def truth(cluster: Cluster) -> list[Stretch]:
    return sorted(cluster.truth.values(), key=lambda s: (s.began, s.uid))


def test_a_job_is_followed_from_its_wait_to_its_end(cluster: Cluster, bot: Bot) -> None:
    job = cluster.submit()
    bot.look()
    assert bot.written == []
    cluster.pass_time(600)
    cluster.start(job)
    bot.look()
    (going,) = bot.written
    assert (going.end, going.began - going.queued_since) == ("", timedelta(minutes=10))
    cluster.pass_time(3600)
    cluster.finish(job)
    bot.look()
    assert bot.written == bot.remembered == truth(cluster)


def test_a_job_that_is_stopped_and_queued_again_has_two_waits(cluster: Cluster, bot: Bot) -> None:
    job = cluster.submit()
    for deed in (cluster.start, cluster.evict, cluster.start, cluster.finish):
        cluster.pass_time(60)
        deed(job)
        bot.look()
    first, second = bot.written
    assert (first.end, first.reason, second.end) == ("evicted", "Preempted", "finished")
    assert second.queued_since == first.ended_at
    assert bot.written == truth(cluster)


def test_an_evicted_job_holds_its_quota_until_kueue_has_taken_it_back(
    cluster: Cluster, bot: Bot
) -> None:
    job = cluster.submit()
    cluster.start(job)
    bot.look()
    cluster.pass_time(60)
    told = Condition("Evicted", "True", "PodsReadyTimeout", "", cluster.at)
    stopping = cluster.jobs[job]
    cluster.store.put(replace(stopping, conditions=with_condition(stopping, told)))
    bot.look()
    assert bot.written[0].end == ""
    cluster.pass_time(30)
    cluster.evict(job)
    bot.look()
    assert bot.written[0].ended_at == cluster.at


def test_what_happened_while_nobody_looked_is_caught_up_from_what_is_still_there(
    cluster: Cluster, bot: Bot
) -> None:
    early = cluster.submit()
    cluster.start(early)
    bot.look()
    late = cluster.submit()
    cluster.pass_time(7200)
    cluster.finish(early)
    cluster.start(late)
    cluster.pass_time(60)
    cluster.finish(late)
    cluster.pass_time(900)
    bot.restart()
    bot.look()
    assert bot.written == bot.remembered == truth(cluster)


def test_what_vanished_while_nobody_looked_is_not_guessed(cluster: Cluster, bot: Bot) -> None:
    job = cluster.submit()
    cluster.start(job)
    cluster.pass_time(60)
    bot.look()
    known = cluster.at
    cluster.pass_time(7200)
    cluster.delete(job)
    bot.restart()
    bot.look()
    (lost,) = bot.written
    assert (lost.end, lost.ended_at, lost.ended_by_itself) == ("lost", known, False)


def test_an_end_and_a_new_beginning_while_nobody_looked_are_no_guess_either(
    cluster: Cluster, bot: Bot
) -> None:
    job = cluster.submit()
    cluster.start(job)
    bot.look()
    for deed in (cluster.evict, cluster.start):
        cluster.pass_time(600)
        deed(job)
    bot.restart()
    bot.look()
    first, second = bot.written
    assert (first.end, first.ended_at) == ("lost", NOW)
    assert (second.end, second.began - second.queued_since) == ("", timedelta(minutes=10))


def test_relists_restarts_and_a_second_replica_count_nothing_twice(
    cluster: Cluster, bot: Bot
) -> None:
    job = cluster.submit()
    cluster.start(job)
    bot.look()
    replica = Bot(cluster, bot.store)
    for _ in range(3):
        cluster.relist()
        bot.look()
        replica.look()
        bot.restart()
        bot.look()
    cluster.finish(job)
    for each in (replica, bot):
        each.look()
    assert bot.written == truth(cluster)
    assert len(bot.remembered) == 1


def test_a_job_that_is_deleted_under_our_eyes_ended_then(cluster: Cluster, bot: Bot) -> None:
    job = cluster.submit()
    cluster.start(job)
    bot.look()
    cluster.pass_time(5)
    cluster.delete(job)
    bot.look()
    assert bot.written == truth(cluster)
    assert bot.written[0].ended_by_itself


@pytest.mark.parametrize("why", ["the watch was broken", "nobody looked for long"])
def test_a_job_that_went_out_of_our_sight_is_lost(cluster: Cluster, bot: Bot, why: str) -> None:
    job = cluster.submit()
    cluster.start(job)
    bot.look()
    cluster.whole = why != "the watch was broken"
    cluster.pass_time(5 if not cluster.whole else 300)
    cluster.delete(job)
    bot.look()
    assert (bot.written[0].end, bot.written[0].ended_at) == ("lost", NOW)


def test_a_wait_that_was_given_up_is_kept_if_it_was_seen(cluster: Cluster, bot: Bot) -> None:
    job, unseen = cluster.submit(), cluster.submit()
    cluster.pass_time(50)
    bot.look()
    cluster.pass_time(10)
    cluster.delete(job)
    bot.look()
    (given_up,) = bot.written
    assert (given_up.end, given_up.reserved_at, given_up.gpus) == ("withdrawn", None, 16)
    assert given_up.ended_at - given_up.queued_since == timedelta(minutes=1)
    cluster.pass_time(600)
    cluster.delete(unseen)
    bot.restart()
    bot.look()
    assert bot.written == [given_up]


def test_a_waiting_job_that_kueue_finishes_because_it_was_deleted_gave_up_its_wait(
    cluster: Cluster, bot: Bot
) -> None:
    job = cluster.submit()
    bot.look()
    cluster.pass_time(600)
    gone = Condition("Finished", "True", "OwnerNotFound", "", cluster.at)
    waiting = cluster.jobs[job]
    cluster.store.put(replace(waiting, conditions=with_condition(waiting, gone)))
    cluster.pass_time(300)
    bot.look()
    (given_up,) = bot.written
    assert given_up.ended_at - given_up.queued_since == timedelta(minutes=10)
    cluster.delete(job)
    bot.look()
    assert bot.written == [given_up]


def test_a_job_that_did_not_wait_for_its_turn_gives_up_nothing(cluster: Cluster, bot: Bot) -> None:
    job = cluster.submit()
    cluster.store.put(replace(cluster.jobs[job], active=False))
    bot.look()
    cluster.delete(job)
    bot.look()
    assert bot.written == []


def test_while_the_database_is_away_nothing_is_lost_and_it_is_said(
    cluster: Cluster, bot: Bot
) -> None:
    bot.store.down = True
    job = cluster.submit()
    cluster.start(job)
    with pytest.raises(SourceDown):
        bot.look()
    (gap,) = bot.book.past({"research"}).gaps
    assert gap.source == "my own history"
    bot.store.down = False
    bot.look()
    assert bot.book.past({"research"}).gaps == ()
    bot.store.down = True
    cluster.finish(job)
    with pytest.raises(SourceDown):
        bot.look()
    assert (bot.recorder.unwritten, bot.remembered) == (1, truth(cluster))
    assert bot.book.past({"research"}).gaps == ()
    bot.store.down = False
    bot.look()
    assert (bot.recorder.unwritten, bot.written) == (0, truth(cluster))


def test_it_is_written_in_batches_and_said_to_be_whole_only_at_the_end(
    cluster: Cluster, bot: Bot
) -> None:
    for _ in range(BATCH * BATCHES + 1):
        cluster.start(cluster.submit())
    bot.look()
    assert (bot.recorder.unwritten, bot.store.writes, bot.store.until) == (1, BATCHES, None)
    bot.look()
    assert (bot.recorder.unwritten, bot.store.until) == (0, cluster.at)


def test_what_is_too_old_is_forgotten_once_all_is_written(cluster: Cluster, bot: Bot) -> None:
    for _ in range(BATCH * BATCHES + 1):
        cluster.start(cluster.submit())
    bot.look()
    assert bot.store.tidied == 0
    for _ in range(3):
        bot.look()
    assert bot.store.tidied == 1
    cluster.pass_time(3600)
    bot.look()
    assert bot.store.tidied == 2


def test_where_nothing_happens_nothing_is_written_but_once_a_minute(
    cluster: Cluster, bot: Bot
) -> None:
    cluster.start(cluster.submit())
    bot.look()
    before = bot.store.writes
    for _ in range(24):
        cluster.pass_time(5)
        bot.look()
    assert bot.store.writes - before == 2
    assert bot.store.until == cluster.at


def test_a_crash_before_anything_was_whole_leaves_no_stretch_open_for_ever(
    cluster: Cluster, bot: Bot
) -> None:
    jobs = [cluster.submit() for _ in range(BATCH * BATCHES + 1)]
    for job in jobs:
        cluster.start(job)
    cluster.pass_time(60)
    bot.look()
    cluster.delete(jobs[0])
    bot.restart()
    bot.look()
    (lost,) = [s for s in bot.written if s.end == "lost"]
    assert lost.ended_at == lost.began == NOW


def test_until_all_workloads_are_known_an_absent_one_is_not_called_gone(
    cluster: Cluster, bot: Bot
) -> None:
    job = cluster.submit()
    cluster.start(job)
    bot.look()
    bot.restart()
    there, cluster.store = cluster.store, Cluster().store
    cluster.whole = False
    bot.look()
    assert bot.written[0].end == ""
    cluster.store, cluster.whole = there, True
    bot.look()
    assert [s.end for s in bot.written] == [""]


def test_an_end_that_was_seen_is_not_called_unseen_later(cluster: Cluster, bot: Bot) -> None:
    job = cluster.submit()
    cluster.start(job)
    bot.look()
    bot.restart()
    cluster.whole = False
    bot.look()
    cluster.finish(job)
    bot.look()
    cluster.delete(job)
    cluster.whole = True
    bot.look()
    assert bot.written == bot.remembered == truth(cluster)


def test_a_job_that_was_stopped_and_started_between_two_looks_ended_out_of_sight(
    cluster: Cluster, bot: Bot
) -> None:
    job = cluster.submit()
    cluster.start(job)
    bot.look()
    for deed in (cluster.evict, cluster.start):
        cluster.pass_time(2)
        deed(job)
    bot.look()
    first, second = bot.written
    assert (first.end, first.ended_at, second.end) == ("lost", NOW, "")


def test_the_real_database_gives_a_new_bot_what_the_old_one_saw(
    cluster: Cluster, store: Store
) -> None:
    def bot() -> tuple[Recorder, Book]:
        book = Book()
        now: Callable = lambda: cluster.at  # noqa: E731
        return Recorder(store.history, book, cluster.fleet, cluster="prod-eu", now=now), book

    job, going = cluster.submit(), cluster.submit()
    cluster.start(job)
    cluster.start(going)
    recorder, _ = bot()
    recorder.look()
    cluster.pass_time(100)
    cluster.finish(job)
    recorder.look()
    cluster.delete(job)
    recorder.look()
    again, book = bot()
    again.look()
    found = book.past({"research"})
    assert found.gaps == ()
    assert sorted(found.stretches, key=lambda s: s.uid) == truth(cluster)
    assert len(past_jobs(cluster.fleet(), {"research"}, cluster.at, found)) == 2


def test_the_book_is_bounded_by_what_is_the_oldest_and_forgets_what_is_too_old() -> None:
    book = Book(most=100, most_a_queue=60)
    at = [ago(hours=200 - i) for i in range(200)]
    book.put(a_stretch(f"s{i:03}", 0, reserved_at=at[i], ended_at=at[i]) for i in range(100))
    assert len(book) == 60
    assert min(s.uid for s in book.past({"research"}).stretches) == "s040"
    vision = [
        a_stretch(f"v{i:03}", 0, queue="vision", reserved_at=at[i], ended_at=at[i])
        for i in range(100, 150)
    ]
    book.put(vision)
    assert len(book) == 90
    assert len(book.past({"vision"}).stretches) == 50
    book.forget_before(at[145])
    assert {s.uid for s in book.past({"vision", "research"}).stretches} == {
        f"v{i}" for i in range(145, 150)
    }


def test_newer_knowledge_of_a_stretch_takes_the_place_of_older() -> None:
    book = Book()
    for stretch in some(1):
        book.put([replace(stretch, ended_at=None, end="")])
        book.put([stretch])
    assert list(book.past({"research"}).stretches) == some(1)
    assert book.past({"vision"}).stretches == []


OF_JOBS = {
    "Pending": ("start", "delete"),
    "Admitted": ("finish", "evict", "delete"),
    "Finished": ("delete",),
}
DEEDS = ("submit", "start", "finish", "evict", "delete", "look", "look", "wait", "restart",
         "outage", "blind", "relist")  # fmt: skip


@settings(max_examples=150, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(DEEDS), st.integers(0, 9)), max_size=60))
def test_whatever_happens_nothing_is_invented_or_counted_twice(
    steps: list[tuple[str, int]],
) -> None:
    cluster = Cluster()
    bot = Bot(cluster)
    for deed, number in steps:
        cluster.pass_time(1)
        play(cluster, bot, deed, number)
    bot.store.down, cluster.whole = False, True
    bot.look()
    seen = {s.key: s for s in bot.written if s.reserved_at is not None}
    assert len(seen) == len([s for s in bot.written if s.reserved_at is not None])
    for key, stretch in seen.items():
        check(stretch, cluster.truth[key], bot)
    there = {
        s.key for s in cluster.truth.values() if s.uid in cluster.jobs and not_over(s, cluster)
    }
    assert there <= seen.keys()


def not_over(stretch: Stretch, cluster: Cluster) -> bool:
    """Whether the Workload still shows it, so that it can't be missing."""
    return stretch.end in ("", "finished")


def check(stretch: Stretch, real: Stretch, bot: Bot) -> None:
    """A stretch is as it really was; an end that nobody saw is said to be so, and never too late."""
    unseen = replace(stretch, ended_at=None, end="", reason="")
    assert unseen == replace(real, ended_at=None, end="", reason="")
    if stretch.end == "lost":
        assert real.end
        assert real.ended_at >= stretch.ended_at
    elif stretch.end == "deleted":
        assert real.end in ("deleted", "finished", "evicted")
        assert timedelta(0) <= stretch.ended_at - real.ended_at <= timedelta(minutes=1)
    else:
        assert stretch == real


def play(cluster: Cluster, bot: Bot, deed: str, number: int) -> None:
    jobs = sorted(cluster.jobs)
    job = jobs[number % len(jobs)] if jobs else ""
    status = cluster.jobs[job].status if job else ""
    if deed in OF_JOBS.get(status, ()):
        getattr(cluster, deed)(job)
    match deed:
        case "submit" | "relist":
            getattr(cluster, deed)()
        case "look":
            try:
                bot.look()
            except SourceDown:
                assert bot.store.down
        case "wait":
            cluster.pass_time(number * 20)
        case "restart":
            bot.restart()
        case "outage":
            bot.store.down = not bot.store.down
        case "blind":
            cluster.whole = not cluster.whole
