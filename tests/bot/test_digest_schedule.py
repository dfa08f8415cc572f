"""The weekly digest end to end: due by a zone's clock, once for all replicas, caught up once."""

import asyncio
import threading
from datetime import UTC, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from bot.digests import Digests
from bot.jobs import last_due
from bot.settings import Settings
from bot.store import Store, open_store
from bot.text import render
from bot.wiring import subscribe
from bot.workers import Workers
from capacity.errors import UsageError
from commands.command import Asker
from commands.page import Page
from commands.parse import parse
from commands.table import run
from tests.builders import FakeWorld
from tests.commands.meters import FakeMeter
from tests.commands.test_digest import ALL, EUR, QUIET

BERLIN = "Europe/Berlin"
WISH = ("C0PLATFORM=digest",)


def at(*when: int) -> datetime:
    return datetime(*when, tzinfo=UTC)


def settings(digests: tuple[str, ...] = WISH, **changes) -> Settings:
    return Settings(digests=digests, digest_time_zone=BERLIN, **changes)


@pytest.fixture
def url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path / 'gpubot.db'}"


class Replica:
    """One bot of several: its own connection to the database, its own clock, its own posts."""

    def __init__(self, url: str) -> None:
        self.store = open_store(url)
        self.posted: list[str] = []
        self.at = at(2026, 1, 1)

    def subscribe(self, wishes: Settings, now: datetime) -> None:
        subscribe(wishes, self.store, now)

    def send(self, *moments: datetime) -> None:
        async def post(channel: str, page: Page) -> None:
            self.posted.append(f"{channel}\n{render(page)}")

        async def main() -> None:
            workers = Workers(1, 4)
            digests = Digests(self.store.digests, self.answer, post, workers, lambda: self.at)
            for moment in moments:
                self.at = moment
                await digests.send_due()
            workers.close()

        asyncio.run(main())

    def answer(self, text: str, asker: Asker) -> Page:
        meter = FakeMeter(ALL, QUIET)
        world = FakeWorld(at=self.at, the_meter=meter, the_prices=EUR)
        return run(parse(text, asker), world)[1]


def minutes(start: datetime, hours: float) -> list[datetime]:
    return [start + timedelta(minutes=10 * n) for n in range(int(hours * 6))]


@pytest.mark.parametrize(
    ("change", "before", "after"),
    [
        ("clocks go back", at(2026, 10, 19, 7), at(2026, 10, 26, 8)),
        ("clocks go forward", at(2026, 3, 23, 8), at(2026, 3, 30, 7)),
    ],
)
def test_nine_o_clock_stays_nine_o_clock_across_a_change_of_clocks(url, change, before, after):
    bot = Replica(url)
    bot.subscribe(settings(), before - timedelta(days=1))
    for due in (before, after):
        already = len(bot.posted)
        bot.send(due - timedelta(minutes=1))
        assert len(bot.posted) == already, change
        bot.send(due, due + timedelta(minutes=5))
        assert len(bot.posted) == already + 1, change
        assert due.astimezone(ZoneInfo(BERLIN)).hour == 9
    assert "week 43:" in bot.posted[1] or "week 13:" in bot.posted[1]


def test_the_digest_is_of_the_week_that_ended_in_its_zone(url) -> None:
    bot = Replica(url)
    bot.subscribe(settings(), at(2026, 11, 29))
    bot.send(at(2026, 11, 30, 8, 0, 20))
    (digest,) = bot.posted
    assert digest.startswith(
        "C0PLATFORM\nprod-eu week 48: 29\N{NO-BREAK SPACE}% of 96 GPUs were busy"
    )
    assert "2026-11-22 23:00" in digest
    assert "2026-11-29 23:00 UTC" in digest.replace("\n", " ")


def test_weeks_that_were_missed_are_caught_up_once(url) -> None:
    bot = Replica(url)
    bot.subscribe(settings(), at(2026, 10, 1))
    bot.send(at(2026, 10, 5, 7))
    bot.send(*minutes(at(2026, 11, 4, 3), 12))
    assert len(bot.posted) == 2
    bot.send(*minutes(at(2026, 11, 9, 7), 4))
    assert len(bot.posted) == 3


def test_several_replicas_send_one(url) -> None:
    replicas = [Replica(url) for _ in range(3)]
    for replica in replicas:
        replica.subscribe(settings(), at(2026, 11, 1))
    due = at(2026, 11, 9, 8)
    threads = [
        threading.Thread(target=r.send, args=[due, due + timedelta(minutes=1)]) for r in replicas
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert sum(len(replica.posted) for replica in replicas) == 1


def test_a_restart_sends_nothing_again(url) -> None:
    first = Replica(url)
    first.subscribe(settings(), at(2026, 11, 1))
    first.send(at(2026, 11, 9, 8))
    first.store.close()
    second = Replica(url)
    second.subscribe(settings(), at(2026, 11, 9, 8, 1))
    second.send(*minutes(at(2026, 11, 9, 8, 1), 24))
    assert (len(first.posted), len(second.posted)) == (1, 0)


def wishes(store: Store) -> set[tuple[str, str]]:
    return {(s.channel, s.ask) for s in store.digests.subscriptions()}


def test_the_settings_are_the_subscriptions_no_more_and_no_less(url) -> None:
    store = open_store(url)
    store.digests.subscribe(
        "C0OWN", "digest", cron="0 8 * * *", time_zone="UTC", by="ana", now=at(2026, 1, 1)
    )
    subscribe(settings(("C1=digest", "C2=digest vision")), store, at(2026, 1, 2))
    assert wishes(store) == {("C0OWN", "digest"), ("C1", "digest"), ("C2", "digest vision")}
    subscribe(settings(("C2=digest vision",)), store, at(2026, 1, 3))
    assert wishes(store) == {("C0OWN", "digest"), ("C2", "digest vision")}


def test_a_wish_without_a_question_is_refused_at_the_start(url) -> None:
    with pytest.raises(UsageError, match="CHANNEL=question"):
        subscribe(settings(("C1",)), open_store(url), at(2026, 1, 1))


def test_a_moment_that_the_clocks_skip_is_due_at_the_next_one() -> None:
    due = last_due("30 2 * * *", ZoneInfo(BERLIN), at(2026, 3, 29, 12))
    assert due is not None
    assert at(2026, 3, 29, 0, 30) <= due <= at(2026, 3, 29, 1, 30)


def test_a_moment_that_comes_twice_is_one_period(url) -> None:
    bot = Replica(url)
    bot.subscribe(settings(digest_cron="30 2 * * *"), at(2026, 10, 24, 12))
    bot.send(*minutes(at(2026, 10, 25, 0, 20), 5))
    assert len(bot.posted) == 1
