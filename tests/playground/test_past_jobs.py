"""The playground has a past: finished jobs of two weeks, of which the bot makes its history."""

import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from bot.playground.cluster import PlaygroundCluster
from bot.playground.play import Playground
from capacity.kueue import ClusterReader
from capacity.model import Fleet
from commands.command import Asker
from commands.history import WINDOW, stretch_of
from commands.parse import parse
from commands.table import run
from tests.builders import FakeWorld

T0 = datetime(2026, 12, 1, 14, tzinfo=UTC)
QUEUES = ("research", "vision", "serving")


@pytest.fixture(scope="module")
def cluster() -> Iterator[PlaygroundCluster]:
    made = PlaygroundCluster(start=T0)
    made.pause()
    made.start()
    yield made
    made.stop()


@pytest.fixture(scope="module")
def fleet(cluster: PlaygroundCluster) -> Fleet:
    reader = ClusterReader(cluster.config(), now=cluster.now)
    reader.start()
    found = reader.fleet()
    reader.stop()
    return found


def test_each_queue_has_about_forty_finished_jobs_of_two_weeks_and_all_sizes(fleet: Fleet) -> None:
    for queue in QUEUES:
        jobs = [s for w in fleet.workloads.finished(queue) if (s := stretch_of(w))]
        assert 40 <= len(jobs) <= 64
        assert {s.gpus for s in jobs} == {1, 2, 4, 8}
        assert T0 - WINDOW <= min(s.began for s in jobs) < T0 - timedelta(days=12)
        assert all(s.queued_since < s.began < s.ended_at < T0 for s in jobs)


def test_they_ran_on_the_cards_that_usage_tells_of(
    cluster: PlaygroundCluster, fleet: Fleet
) -> None:
    runs = {(r.namespace, r.job, r.end): r for r in cluster.pods(T0 - WINDOW, T0)}
    for queue in QUEUES:
        for workload in fleet.workloads.finished(queue):
            stretch = stretch_of(workload)
            (run_,) = [
                r for (space, job, end), r in runs.items()
                if (space, job) == (queue, workload.job) and end and end.replace(microsecond=0) == stretch.ended_at
            ]  # fmt: skip
            assert len(run_.gpus) == stretch.gpus


def test_they_are_the_same_in_every_run_and_move_nothing_else(fleet: Fleet) -> None:
    again = PlaygroundCluster(start=T0)
    jobs = {job.uid: job for job in again._world.jobs}
    assert {w.uid: w.job for w in fleet.workloads} == {u: j.spec.name for u, j in jobs.items()}
    names = [job.spec.name for job in again._world.jobs if job.number < 1_000]
    assert names[0] == "llm-pretrain"


def test_the_typical_wait_of_the_first_in_line_can_be_said(fleet: Fleet) -> None:
    answer, page = run(parse("queue research", Asker()), FakeWorld(fleet, at=T0))
    typical = answer.wait.typical
    assert (typical.words, typical.jobs, typical.days) == ("20 min to 2 h", 38, 14)
    assert "Typical wait here for 16 H100: 20 min to 2 h (middle half, by past waits:" in str(page)
    why, _ = run(parse("why llm-ft-7", Asker()), FakeWorld(fleet, at=T0))
    assert any("likely in" in remedy.price for remedy in why.remedies)
    for job in ("eval-3", "ablation-1"):
        assert run(parse(f"queue {job}", Asker()), FakeWorld(fleet, at=T0))[0].wait.typical


def test_the_whole_bot_writes_its_history_and_still_has_it_after_a_restart(tmp_path: Path) -> None:
    def written(playground: Playground) -> int:
        now = playground.cluster.now()
        return len(playground.app.backend.store.history.read("prod-eu", now - WINDOW, 1_000).latest)

    with_past = Playground(tmp_path).start()
    try:
        end = time.monotonic() + 10
        while written(with_past) < 140:
            assert time.monotonic() < end, "waited 10 s for the history"
            time.sleep(0.05)
    finally:
        with_past.stop()
    again = Playground(tmp_path)
    again.start()
    try:
        assert written(again) >= 140
        end = time.monotonic() + 10
        book = again.app.backend.sources.book
        while len(book) < 140 or book.past(QUEUES).gaps:
            assert time.monotonic() < end, "waited 10 s for the past"
            time.sleep(0.05)
    finally:
        again.stop()
