"""The lookout under bad days: a start is told once where that can be, and never lost."""

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from itertools import count
from pathlib import Path

import aiohttp
import pytest
from aiohttp.client_reqrep import ConnectionKey
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.slack_client import SlackDown, SlackRefused
from bot.starts import Awaited
from bot.starts_watch import Lookout
from bot.store import Store, open_store
from bot.store_starts import LEASE, Job, Person
from bot.workers import Workers
from capacity.errors import GpubotError, SourceDown
from capacity.model import Fleet, Workload
from commands.page import Page, plain
from tests.bot.test_starts import JOB, admitted, evicted, finished
from tests.builders import NOW, a_cluster_queue, a_fleet, a_workload, ago

ROOT = Path(__file__).resolve().parents[2]
ANA = Person("T1", "U0ANA")
RESERVED = a_workload("train", 2, 8, state="QuotaReserved", created=ago(minutes=50))


@dataclass
class Town:
    """The cluster and the people as a lookout sees them, and a clock.

    ``faults`` are raised by the next posts, one a call; ``arrived`` makes them come after the
    message did. ``down`` makes the cluster unreadable.
    """

    workloads: list[Workload] = field(default_factory=lambda: [JOB])
    at: datetime = NOW
    whole: bool = True
    down: SourceDown | None = None
    seen_at: datetime | None = None
    faults: list[GpubotError | None] = field(default_factory=list)
    arrived: bool = False
    gone: set[str] = field(default_factory=set)
    asked: GpubotError | None = None
    told: list[tuple[str, Page]] = field(default_factory=list)

    def now(self) -> datetime:
        return self.at

    def fleet(self) -> Fleet:
        if self.down:
            raise self.down
        fleet = a_fleet(queues=[a_cluster_queue("research")], workloads=self.workloads)
        return replace(fleet, as_of=self.seen_at or self.at, every_workload=self.whole)

    async def post(self, account: str, page: Page) -> None:
        fault = self.faults.pop(0) if self.faults else None
        if fault is None or self.arrived:
            self.told.append((account, page))
        if fault is not None:
            raise fault

    async def reachable(self, account: str) -> bool:
        if self.asked:
            raise self.asked
        return account not in self.gone

    def words(self) -> list[str]:
        return [plain(page.headline) for _, page in self.told]

    def doubts(self) -> list[bool]:
        return ["you may have had this already" in plain(page.footer) for _, page in self.told]


@pytest.fixture
def db(tmp_path: Path) -> Iterator[Store]:
    store = open_store(f"sqlite:///{tmp_path}/gpubot.db")
    yield store
    store.close()


def wish(store: Store, uid: str = JOB.uid, account: str = "U0ANA") -> Awaited:
    job = Job("prod-eu", "research", "train", uid)
    got = store.starts.wish(Person("T1", account), job, NOW - timedelta(minutes=10))
    assert got is not None
    return got[0]


def a_lookout(store: Store, town: Town, workspace: str = "T1") -> Lookout:
    return Lookout(
        store.starts,
        town.fleet,
        workspace=lambda: workspace,
        post=town.post,
        reachable=town.reachable,
        workers=Workers(2, 16),
        now=town.now,
    )


def look(*lookouts: Lookout, times: int = 1) -> None:
    async def run() -> None:
        for _ in range(times):
            for lookout in lookouts:
                lookout._quiet_until = 0.0
            await asyncio.gather(*(lookout.look() for lookout in lookouts))

    asyncio.run(run())


def test_a_start_is_told_once_however_often_one_looks(db: Store) -> None:
    town = Town()
    wish(db)
    lookout = a_lookout(db, town)
    look(lookout, times=3)
    town.workloads = [RESERVED]
    look(lookout, times=3)
    assert town.told == []
    assert lookout.waiting == 1
    town.workloads = [admitted()]
    look(lookout, times=3)
    [said] = town.words()
    assert said.startswith("train has its 16 H100 and starts")
    assert town.told[0][0] == "U0ANA"


def test_everybody_who_waits_is_told_and_nobody_else(db: Store) -> None:
    town = Town(workloads=[admitted()])
    wish(db)
    wish(db, account="U0RAE")
    db.starts.wish(Person("T2", "U0LI"), Job("prod-eu", "research", "train", JOB.uid), ago(hours=1))
    look(a_lookout(db, town), times=2)
    assert [account for account, _ in town.told] == ["U0ANA", "U0RAE"]


def test_before_slack_was_reached_nobody_looks(db: Store) -> None:
    town = Town(workloads=[admitted()])
    wish(db)
    look(a_lookout(db, town, workspace=""))
    assert town.told == []


def test_a_click_of_this_moment_is_left_to_its_own_answer(db: Store) -> None:
    town = Town(workloads=[admitted()])
    got = db.starts.wish(ANA, Job("prod-eu", "research", "train", JOB.uid), NOW)
    assert got is not None
    lookout = a_lookout(db, town)
    look(lookout)
    assert town.told == []
    town.at += timedelta(seconds=6)
    look(lookout)
    assert len(town.told) == 1


def test_a_start_that_does_not_last_is_told_too_and_that_is_all(db: Store) -> None:
    town = Town(workloads=[admitted()])
    wish(db)
    lookout = a_lookout(db, town)
    look(lookout)
    town.at += timedelta(minutes=20)
    town.workloads = [evicted()]
    look(lookout, times=3)
    town.workloads = [admitted()]
    look(lookout, times=3)
    assert [w.split(" ")[1] for w in town.words()] == ["has", "was"]
    assert db.starts.all("T1") == ()


def test_a_start_that_lasts_an_hour_is_no_longer_looked_at(db: Store) -> None:
    town = Town(workloads=[admitted()])
    wish(db)
    lookout = a_lookout(db, town)
    look(lookout)
    town.at += timedelta(minutes=61)
    look(lookout)
    town.workloads = [evicted()]
    look(lookout)
    assert len(town.told) == 1
    assert db.starts.all("T1") == ()


def test_a_cluster_that_cant_be_read_says_nothing_about_any_job(db: Store) -> None:
    town = Town(workloads=[], down=SourceDown("Kueue", None))
    wish(db)
    lookout = a_lookout(db, town)
    town.at += timedelta(days=20)
    look(lookout, times=3)
    assert town.told == []
    town.down, town.workloads = None, [admitted()]
    look(lookout)
    assert len(town.told) == 1


@pytest.mark.parametrize("trouble", ["not whole", "old"])
def test_a_list_with_a_gap_never_calls_a_job_gone(db: Store, trouble: str) -> None:
    """A reader that just started, or that lost the API server, knows fewer jobs than there are."""
    town = Town(workloads=[])
    if trouble == "old":
        town.seen_at = NOW - timedelta(minutes=5)
    else:
        town.whole = False
    wish(db)
    lookout = a_lookout(db, town)
    look(lookout, times=3)
    assert town.told == []
    town.whole, town.seen_at = True, None
    look(lookout, times=3)
    assert [w.startswith("train is no longer there.") for w in town.words()] == [True]


def test_what_was_noted_is_told_although_the_cluster_is_down_by_now(db: Store) -> None:
    town = Town(workloads=[admitted()], faults=[SlackDown(1.0)])
    wish(db)
    look(a_lookout(db, town))
    town.down = SourceDown("Kueue", None)
    look(a_lookout(db, town))
    assert len(town.told) == 1


def test_an_outage_of_slack_only_delays_and_the_message_says_as_of_when(db: Store) -> None:
    town = Town(workloads=[admitted()], faults=[SlackDown(detail="500")] * 3)
    wish(db)
    lookout = a_lookout(db, town)
    for _ in range(4):
        look(lookout)
        town.at += timedelta(minutes=10)
    look(lookout)
    [(_, page)] = town.told
    assert "as of 14:03:14 UTC" in plain(page.footer)


def refused_connection() -> SlackDown:
    down = SlackDown(detail="refused")
    key = ConnectionKey("127.0.0.1", 1, False, None, None, None, None)  # type: ignore[arg-type]
    down.__cause__ = aiohttp.ClientConnectorError(key, OSError("refused"))
    return down


@pytest.mark.parametrize(
    ("fault", "doubt"),
    [
        (SlackDown(1.0), False),
        (refused_connection(), False),
        (SlackDown(detail="the answer was lost"), True),
        (SlackRefused("internal", "chat.postMessage"), False),
    ],
)
def test_only_a_message_that_may_have_arrived_says_that_it_may_be_a_repetition(
    db: Store, fault: GpubotError, doubt: bool
) -> None:
    town = Town(workloads=[admitted()], faults=[fault])
    wish(db)
    lookout = a_lookout(db, town)
    look(lookout)
    town.at += timedelta(minutes=11)
    look(lookout, times=2)
    assert town.doubts() == [doubt]


def test_slacks_own_advice_quiets_the_others_as_well(db: Store) -> None:
    town = Town(workloads=[admitted()], faults=[SlackDown(30.0)])
    wish(db)
    wish(db, account="U0RAE")
    lookout = a_lookout(db, town)

    async def run() -> None:
        await lookout.look()
        await lookout.look()

    asyncio.run(run())
    assert town.told == []
    assert lookout.untold == 2
    look(lookout)
    assert [account for account, _ in town.told] == ["U0ANA", "U0RAE"]


def test_people_who_left_are_forgotten_and_hold_up_nobody(db: Store) -> None:
    town = Town(workloads=[admitted()], gone={"U0ANA"})
    wish(db)
    wish(db, account="U0RAE")
    look(a_lookout(db, town))
    assert [account for account, _ in town.told] == ["U0RAE"]
    assert [a.account for a in db.starts.all("T1")] == ["U0RAE"]


def test_an_account_that_cant_be_written_to_is_forgotten(db: Store) -> None:
    town = Town(
        workloads=[admitted()], faults=[SlackRefused("channel_not_found", "chat.postMessage")]
    )
    wish(db)
    look(a_lookout(db, town), times=2)
    assert town.told == []
    assert db.starts.all("T1") == ()


def test_when_slack_cant_say_who_is_still_there_the_message_waits(db: Store) -> None:
    town = Town(workloads=[admitted()], asked=SlackDown(detail="500"))
    wish(db)
    lookout = a_lookout(db, town)
    look(lookout, times=2)
    assert town.told == []
    town.asked = None
    look(lookout)
    assert town.doubts() == [False]


def test_what_was_stopped_before_it_was_told_is_not_told(db: Store) -> None:
    town = Town(workloads=[admitted()], faults=[SlackDown(1.0)])
    wish(db)
    lookout = a_lookout(db, town)
    look(lookout)
    assert db.starts.stop(ANA, JOB.uid)
    look(lookout, times=2)
    assert town.told == []


def test_two_replicas_tell_a_start_once(store: Store, store_url: str) -> None:
    """On both databases; each replica has its own connections."""
    other = open_store(store_url)
    town = Town(workloads=[admitted(uid=f"uid-{n}") for n in range(5)])
    for n in range(5):
        wish(store, uid=f"uid-{n}")
    look(a_lookout(store, town), a_lookout(other, town), times=3)
    assert len(town.told) == 5
    other.close()


def test_a_restart_in_between_loses_and_repeats_nothing(tmp_path: Path) -> None:
    url, town = f"sqlite:///{tmp_path}/gpubot.db", Town()

    def life(*workloads: Workload) -> None:
        town.workloads = list(workloads)
        store = open_store(url)
        look(a_lookout(store, town), times=2)
        store.close()

    store = open_store(url)
    wish(store)
    store.close()
    for workload in (JOB, admitted(), admitted(), evicted(), evicted()):
        life(workload)
    assert [w.split(" ")[1] for w in town.words()] == ["has", "was"]


KILLED = """
import asyncio, os, signal, sys
from bot.store import open_store
from tests.bot.test_starts_watch import Town, a_lookout, admitted

class Doomed(Town):
    async def post(self, account, page):
        if sys.argv[2] == "before":
            os.kill(os.getpid(), signal.SIGKILL)
        with open(sys.argv[3], "a") as file:
            file.write(account + "\\n")
        os.kill(os.getpid(), signal.SIGKILL)

store = open_store(sys.argv[1])
asyncio.run(a_lookout(store, Doomed(workloads=[admitted()])).look())
"""


@pytest.mark.parametrize("when", ["before", "after"])
def test_a_bot_that_is_killed_around_its_post_tells_it_again_and_says_that_it_may_be_twice(
    store: Store, store_url: str, tmp_path: Path, when: str
) -> None:
    wish(store)
    said = tmp_path / "said"
    said.touch()
    killed = subprocess.run(
        [sys.executable, "-c", KILLED, store_url, when, str(said)],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        check=False,
    )
    assert killed.returncode == -signal.SIGKILL
    assert said.read_text() == ("U0ANA\n" if when == "after" else "")
    town = Town(workloads=[JOB])
    lookout = a_lookout(store, town)
    look(lookout)
    assert town.told == [], "another replica may be telling it just now"
    town.at += LEASE
    look(lookout, times=2)
    assert town.doubts() == [True]
    assert town.words()[0].startswith("train has its 16 H100 and starts")


NUMBERS = count()
STATES: dict[str, Callable[[str], list[Workload]]] = {
    "waits": lambda uid: [replace(JOB, uid=uid)],
    "runs": lambda uid: [admitted(uid=uid)],
    "stopped": lambda uid: [evicted(uid=uid)],
    "done": lambda uid: [replace(finished(), uid=uid)],
    "gone": lambda uid: [],
}
FAULTS = st.sampled_from(
    [None, None, SlackDown(1.0), SlackRefused("internal", "x"), SlackDown(detail="lost")]
)


@pytest.fixture(scope="module")
def long_lived(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    store = open_store(f"sqlite:///{tmp_path_factory.mktemp('starts')}/gpubot.db")
    yield store
    store.close()


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(st.sampled_from(sorted(STATES)), st.booleans()), max_size=8),
    st.lists(FAULTS, max_size=8),
    st.booleans(),
)
def test_whatever_happens_a_start_is_told_and_each_thing_once_unless_in_doubt(
    long_lived: Store,
    steps: list[tuple[str, bool]],
    faults: list[GpubotError | None],
    arrived: bool,
) -> None:
    """Jobs come and go, the list has gaps, Slack fails: at the end everything noted was told."""
    uid = f"uid-{next(NUMBERS)}"
    for left in long_lived.starts.all("T1"):
        long_lived.starts.forget(left)
    wish(long_lived, uid=uid)
    town = Town(faults=list(faults), arrived=arrived)
    for state, whole in steps:
        town.workloads, town.whole = STATES[state](uid), whole
        look(a_lookout(long_lived, town))
        town.at += timedelta(minutes=1)
    town.faults, town.down = [], SourceDown("Kueue", None)
    for _ in range(3):
        town.at += timedelta(minutes=11)
        look(a_lookout(long_lived, town))
    left = long_lived.starts.all("T1")
    assert all(a.news is None for a in left)
    sure = [w for w, doubt in zip(town.words(), town.doubts(), strict=True) if not doubt]
    if not arrived:
        assert len(set(sure)) == len(sure) <= 2
    states = [state for state, _ in steps]
    first = next((s for s, whole in steps if s in ("runs", "done") or (s == "gone" and whole)), "")
    said = {
        "runs": "and starts",
        "done": "has finished already",
        "gone": "no longer there",
    }.get(first)
    assert (said is None) == (town.told == [] and len(left) == 1), states
    if said:
        assert said in town.words()[0]
    assert not [a for a in left if a.started_at is None] or first == ""
