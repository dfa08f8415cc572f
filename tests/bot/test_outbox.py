"""The outbox under Slack's bad days: what is said arrives, in order, and old never covers new."""

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from hypothesis import given, settings
from hypothesis import strategies as st

from bot.blocks import Message, render
from bot.metrics import Metrics
from bot.outbox import Outbox
from bot.playground.fake_slack.faults import ApiFault
from bot.slack_client import SlackDown, SlackRefused
from bot.workers import Workers
from capacity.errors import GpubotError
from gitops.moves import MoveKind
from tests.bot.stage import FakeFlow, FakeStore, Stage, a_request

NOW = datetime(2026, 12, 1, 14, 5, tzinfo=UTC)


@dataclass
class FakePoster:
    """Remembers what is shown; ``faults`` are raised first, one a call."""

    faults: list[GpubotError | None] = field(default_factory=list)
    shown: dict[str, list[str]] = field(default_factory=dict)
    threads: dict[str, list[str]] = field(default_factory=dict)

    async def post(self, channel: str, message: Message, thread: str = "") -> str:
        self._fault()
        ts = f"{len(self.shown) + sum(map(len, self.threads.values()))}.0"
        if thread:
            self.threads.setdefault(thread, []).append(message.text)
        else:
            self.shown[ts] = [message.text]
        return ts

    async def edit(self, channel: str, ts: str, message: Message) -> None:
        self._fault()
        self.shown[ts].append(message.text)

    def _fault(self) -> None:
        fault = self.faults.pop(0) if self.faults else None
        if fault:
            raise fault


def an_outbox(poster: FakePoster) -> tuple[Outbox, FakeFlow]:
    store = FakeStore()
    flow = FakeFlow(store)
    outbox = Outbox(
        store,
        flow.view,
        poster,
        render,
        channel="C0REQUESTS",
        workers=Workers(2, 16),
        metrics=Metrics(),
        now=lambda: NOW,
    )
    flow.requests[42] = a_request()
    return outbox, flow


def drained(outbox: Outbox, times: int = 1) -> None:
    async def run() -> None:
        for _ in range(times):
            outbox._waits.clear()
            outbox._quiet_until = 0.0
            await outbox.drain()

    asyncio.run(run())


def test_a_request_is_one_card_and_a_line_for_each_move() -> None:
    poster = FakePoster()
    outbox, flow = an_outbox(poster)
    flow.tell(42, MoveKind.SUBMITTED)
    flow.tell(42, MoveKind.OPENED)
    drained(outbox)
    flow.tell(42, MoveKind.VOTED, by="li", role="owner of serving")
    drained(outbox)
    (ts,) = poster.shown
    assert poster.threads[ts][0].startswith("Pull request")
    assert "@li approved" in poster.threads[ts][1]
    assert len(poster.shown[ts]) == 2


def test_an_outage_only_delays() -> None:
    poster = FakePoster([SlackDown(detail="500"), SlackDown(detail="500")])
    outbox, flow = an_outbox(poster)
    flow.tell(42, MoveKind.SUBMITTED)
    flow.tell(42, MoveKind.OPENED)
    drained(outbox)
    assert not poster.shown
    assert outbox.pending == 2
    assert outbox.oldest is not None
    drained(outbox, 3)
    assert len(poster.shown) == 1
    assert sum(map(len, poster.threads.values())) == 1


def test_slacks_own_advice_quiets_everything() -> None:
    poster = FakePoster([SlackDown(30.0)])
    outbox, flow = an_outbox(poster)
    flow.tell(42, MoveKind.SUBMITTED)

    async def run() -> None:
        await outbox.drain()
        await outbox.drain()

    asyncio.run(run())
    assert not poster.shown
    drained(outbox)
    assert len(poster.shown) == 1


def test_a_card_that_is_gone_is_posted_anew_and_the_thread_goes_on_there() -> None:
    poster = FakePoster()
    outbox, flow = an_outbox(poster)
    flow.tell(42, MoveKind.SUBMITTED)
    drained(outbox)
    poster.faults = [SlackRefused("thread_not_found", "chat.postMessage")]
    flow.tell(42, MoveKind.OPENED)
    drained(outbox)
    first, second = poster.shown
    assert not poster.threads.get(first)
    assert len(poster.threads[second]) == 1
    assert flow.store.cards[42].ts == second


def test_blocks_that_slack_refuses_are_sent_as_words() -> None:
    poster = FakePoster([SlackRefused("invalid_blocks", "chat.postMessage")])
    outbox, flow = an_outbox(poster)
    flow.tell(42, MoveKind.SUBMITTED)
    drained(outbox)
    assert len(poster.shown) == 1


def test_a_request_that_cant_be_told_holds_up_no_other() -> None:
    poster = FakePoster([SlackRefused("channel_not_found", "chat.postMessage")])
    outbox, flow = an_outbox(poster)
    flow.requests[43] = a_request(43)
    flow.tell(42, MoveKind.SUBMITTED)
    flow.tell(43, MoveKind.SUBMITTED)
    asyncio.run(outbox.drain())
    assert len(poster.shown) == 1
    assert outbox.pending == 2


FAULTS = st.sampled_from(
    [
        None,
        None,
        SlackDown(detail="500"),
        SlackDown(1.0),
        SlackRefused("message_not_found", "chat.update"),
        SlackRefused("channel_not_found", "chat.postMessage"),
    ]
)
STEPS = st.lists(st.sampled_from(["move", "drain"]), max_size=12)


@settings(max_examples=60, deadline=None)
@given(STEPS, st.lists(FAULTS, max_size=12))
def test_whatever_fails_in_whatever_order_the_end_is_one_truthful_thread(
    steps: list[str], faults: list[GpubotError | None]
) -> None:
    poster = FakePoster(list(faults))
    outbox, flow = an_outbox(poster)
    flow.tell(42, MoveKind.SUBMITTED)
    told = 0
    for step in steps:
        if step == "move":
            told += 1
            flow.requests[42] = replace(flow.requests[42], notes=(f"note {told}",))
            flow.tell(42, MoveKind.CANCELLED, text=f"line {told}")
        else:
            drained(outbox)
    poster.faults = []
    drained(outbox, 2)
    lines = [line for thread in poster.threads.values() for line in thread]
    assert outbox.pending == 0 or not flow.store.moves
    assert [f"line {i + 1}" in line for i, line in enumerate(lines)] == [True] * told
    assert flow.store.cards[42].revision == flow.requests[42].revision


def test_against_the_fake_slack_a_rate_limit_is_waited_for(
    staged: Callable[..., Stage],
) -> None:
    stage = staged()
    stage.slack.faults.fail("chat.postMessage", ApiFault(status=429, retry_after=1))
    stage.flow.requests[42] = a_request()
    stage.flow.tell(42, MoveKind.SUBMITTED)
    stage.drain()
    ana = stage.person("U0ANA", "C0REQUESTS")
    assert not ana.messages()
    stage.bot.outbox._quiet_until = 0.0
    stage.drain()
    ana.wait_for_text("Request 42")


def test_against_the_fake_slack_a_slow_channel_holds_up_the_outbox_no_longer_than_a_call(
    staged: Callable[..., Stage],
) -> None:
    stage = staged()
    stage.flow.requests[42] = a_request()
    stage.flow.tell(42, MoveKind.SUBMITTED)
    stage.drain()
    stage.slack.faults.fail("chat.update", ApiFault(status=429, retry_after=30))
    stage.flow.tell(42, MoveKind.OPENED)
    start = time.monotonic()
    stage.drain()
    assert time.monotonic() - start < 5
    assert stage.store.moves


def test_against_the_fake_slack_a_lost_answer_is_not_posted_twice_at_once(
    staged: Callable[..., Stage],
) -> None:
    stage = staged()
    stage.slack.faults.fail("chat.update", ApiFault(drop=True))
    stage.flow.requests[42] = a_request()
    stage.flow.tell(42, MoveKind.SUBMITTED)
    stage.drain()
    stage.flow.tell(42, MoveKind.OPENED)
    stage.drain()
    ana = stage.person("U0ANA", "C0REQUESTS")
    card = ana.wait_for_text("Request 42")
    assert len(ana.see_channel()) == 1
    assert len(ana.see_thread(card)) == 1
