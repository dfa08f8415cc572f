"""Jobs: never twice at once, one boundary, and due by the clock of a zone."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.digests import Digests
from bot.jobs import Jobs, last_due
from bot.metrics import Metrics
from bot.workers import Workers
from capacity.errors import SourceDown, UsageError
from commands.command import Asker
from commands.page import Page

START = datetime(2024, 1, 1, tzinfo=UTC)
BERLIN = ZoneInfo("Europe/Berlin")


def run_jobs(story: Callable[[Jobs], Awaitable[None]]) -> Metrics:
    metrics = Metrics()

    async def main() -> None:
        jobs = Jobs(metrics)
        await story(jobs)
        jobs.start()
        await asyncio.sleep(0.4)
        await jobs.stop()

    asyncio.run(main())
    return metrics


def test_a_job_that_breaks_or_is_refused_runs_again() -> None:
    calls: list[str] = []

    async def breaks() -> None:
        calls.append("breaks")
        raise RuntimeError("no")

    async def down() -> None:
        calls.append("down")
        raise SourceDown("the forge", None)

    async def story(jobs: Jobs) -> None:
        jobs.every(0.1, "breaks", breaks)
        jobs.every(0.1, "down", down)

    metrics = run_jobs(story)
    assert calls.count("breaks") >= 2
    assert calls.count("down") >= 2
    read = metrics.registry.get_sample_value
    assert read("gpubot_jobs_total", {"job": "breaks", "outcome": "broken"})
    assert read("gpubot_jobs_total", {"job": "down", "outcome": "SourceDown"})


def test_a_job_never_runs_twice_at_once_and_soon_is_not_lost() -> None:
    running = 0
    most = 0
    turns = 0

    async def work() -> None:
        nonlocal running, most, turns
        running += 1
        most = max(most, running)
        await asyncio.sleep(0.05)
        running -= 1
        turns += 1

    async def story(jobs: Jobs) -> None:
        jobs.every(30, "work", work)
        for _ in range(5):
            jobs.soon("work")

    run_jobs(story)
    assert most == 1
    assert turns >= 2


def test_what_runs_at_the_end_is_given_a_moment() -> None:
    ended: list[bool] = []

    async def work() -> None:
        await asyncio.sleep(0.7)
        ended.append(True)

    async def story(jobs: Jobs) -> None:
        jobs.every(30, "work", work)

    run_jobs(story)
    assert ended == [True]


@pytest.mark.parametrize(
    ("cron", "zone", "now", "due"),
    [
        ("0 9 * * mon", BERLIN, (2026, 12, 1, 0, 0), (2026, 11, 30, 8, 0)),
        ("0 9 * * mon", BERLIN, (2026, 7, 6, 7, 0), (2026, 7, 6, 7, 0)),
        ("0 9 * * mon", BERLIN, (2026, 7, 6, 6, 59), (2026, 6, 29, 7, 0)),
        ("30 2 * * *", BERLIN, (2026, 3, 29, 10, 0), (2026, 3, 29, 1, 30)),
        ("0 0 1 1 *", ZoneInfo("UTC"), (2026, 12, 1, 0, 0), (2026, 1, 1, 0, 0)),
    ],
)
def test_it_was_due_by_the_clock_of_its_zone(
    cron: str, zone: ZoneInfo, now: tuple[int, ...], due: tuple[int, ...]
) -> None:
    assert last_due(cron, zone, datetime(*now, tzinfo=UTC)) == datetime(*due, tzinfo=UTC)


@given(
    st.integers(0, 4 * 365 * 24 * 60).map(lambda m: START + timedelta(minutes=m)),
    st.sampled_from(["0 9 * * mon", "*/15 8-18 * * *", "0 3 1 * *"]),
    st.sampled_from(["Europe/Berlin", "America/New_York", "Asia/Kolkata", "UTC"]),
)
def test_the_last_due_moment_is_past_and_the_same_until_the_next(
    now: datetime, cron: str, zone: str
) -> None:
    due = last_due(cron, ZoneInfo(zone), now)
    assert due is not None
    assert due <= now
    assert last_due(cron, ZoneInfo(zone), due) == due


def test_a_schedule_that_is_none_is_said_so() -> None:
    with pytest.raises(UsageError, match="is not a schedule"):
        last_due("every monday", BERLIN, datetime(2026, 12, 1, tzinfo=UTC))


@dataclass
class Wish:
    id: int = 1
    channel: str = "C0PLATFORM"
    ask: str = "digest"
    cron: str = "0 9 * * mon"
    time_zone: str = "Europe/Berlin"
    created_at: datetime = datetime(2026, 11, 1, tzinfo=UTC)


@dataclass
class FakeDigestStore:
    wishes: list[Wish] = field(default_factory=lambda: [Wish()])
    claims: dict[tuple[int, str], datetime] = field(default_factory=dict)
    done: set[tuple[int, str]] = field(default_factory=set)

    def subscriptions(self) -> list[Wish]:
        return self.wishes

    def claim(self, subscription_id: int, period: str, now: datetime) -> bool:
        key = (subscription_id, period)
        if key in self.done or now - self.claims.get(key, now - timedelta(days=1)) < timedelta(
            minutes=10
        ):
            return False
        self.claims[key] = now
        return True

    def sent(self, subscription_id: int, period: str) -> None:
        self.done.add((subscription_id, period))


@dataclass
class Desk:
    """Sends digests at the moments it is given; ``down`` makes the next posts fail."""

    store: FakeDigestStore = field(default_factory=FakeDigestStore)
    posted: list[tuple[str, str]] = field(default_factory=list)
    down: int = 0

    def send(self, *moments: datetime) -> None:
        async def post(channel: str, page: Page) -> None:
            if self.down:
                self.down -= 1
                raise SourceDown("Slack", None)
            self.posted.append((channel, str(page.headline[0])))

        def answer(text: str, asker: Asker) -> Page:
            return Page((f"{text} in {asker.time_zone}",))

        async def main() -> None:
            workers = Workers(1, 4)
            for moment in moments:
                digests = Digests(self.store, answer, post, workers, lambda m=moment: m)  # type: ignore[misc]
                await digests.send_due()
            workers.close()

        asyncio.run(main())


MONDAY = datetime(2026, 11, 30, 8, 0, 30, tzinfo=UTC)


def test_a_digest_is_sent_once_a_period() -> None:
    desk = Desk()
    desk.send(MONDAY, MONDAY + timedelta(minutes=1), MONDAY + timedelta(days=3))
    assert desk.posted == [("C0PLATFORM", "digest in Europe/Berlin")]
    desk.send(MONDAY + timedelta(days=7))
    assert len(desk.posted) == 2


def test_missed_periods_are_caught_up_once() -> None:
    desk = Desk()
    desk.send(MONDAY + timedelta(days=23))
    assert len(desk.posted) == 1


def test_a_new_subscription_waits_for_its_first_due_moment() -> None:
    desk = Desk(FakeDigestStore([Wish(created_at=MONDAY + timedelta(days=1))]))
    desk.send(MONDAY + timedelta(days=2))
    assert not desk.posted


def test_a_digest_that_slack_didnt_take_is_sent_after_its_lease() -> None:
    desk = Desk(down=1)
    desk.send(MONDAY, MONDAY + timedelta(minutes=1), MONDAY + timedelta(minutes=11))
    assert len(desk.posted) == 1


def test_one_channels_trouble_is_not_the_others() -> None:
    desk = Desk(FakeDigestStore([Wish(1), Wish(2, "C0RESEARCH")]), down=1)
    desk.send(MONDAY)
    assert [channel for channel, _ in desk.posted] == ["C0RESEARCH"]


def test_soon_is_soon() -> None:
    moments: list[float] = []

    async def work() -> None:
        moments.append(time.monotonic())

    async def main() -> None:
        jobs = Jobs(Metrics())
        jobs.every(60, "work", work)
        jobs.start()
        await asyncio.sleep(0.1)
        jobs.soon("work")
        await asyncio.sleep(0.1)
        await jobs.stop()

    asyncio.run(main())
    assert len(moments) == 2
