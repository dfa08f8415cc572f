"""The real Slack side of the bot against the fake Slack, with hand-made stand-ins behind it."""

import asyncio
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from bot.inbox import Inbox
from bot.metrics import Metrics
from bot.playground.fake_slack.person import SlackPerson
from bot.playground.fake_slack.server import FakeSlack, application
from bot.playground.serving import Serving
from bot.server import Server
from bot.server import application as health
from bot.slack import Access, Ports, Slack
from bot.starts import Awaited
from bot.store_starts import Person
from bot.workers import Workers
from capacity.errors import Conflict, Denied, GpubotError
from commands.command import Asker
from commands.page import Page
from commands.parse import parse
from commands.table import run
from gitops.moves import Move, MoveKind
from gitops.needs import Need
from gitops.people import Actor
from gitops.policy import Verdict
from gitops.ports import Outcome, Preview, View
from gitops.request import Content, Draft, Facts, Request, Vote
from tests.builders import FakeWorld

CONTENT = Content(1, "d1ff", "ba5e", None, "p0l1cy")
NEEDS = Need(
    "all of these",
    op="all",
    children=(
        Need("an owner of serving", roles={"li": "owner of serving", "tom": "owner of serving"}),
        Need("one of platform", roles={"kim": "platform", "pat": "platform"}),
    ),
)
DIFF = """--- a/clusters/prod/queues.yaml
+++ b/clusters/prod/queues.yaml
@@ -12,3 +12,3 @@
       resources:
       - name: nvidia.com/gpu
-        nominalQuota: 32
+        nominalQuota: 40
"""


def a_draft(**changes: Any) -> Draft:
    draft = Draft(
        "nominal", "research", "h100", "nvidia.com/gpu", "32", "40", "camera-ready ablations"
    )
    return replace(draft, requester="ana", team="research", cluster="prod-eu", **changes)


def a_request(number: int = 42, **changes: Any) -> Request:
    now = datetime(2026, 12, 1, 14, 5, tzinfo=UTC)
    request = Request(
        number, "abcd", a_draft(), Facts(True, 8), CONTENT, now, now + timedelta(days=3), diff=DIFF
    )
    return replace(request, **changes)


def a_verdict(need: Need | None = NEEDS, **changes: Any) -> Verdict:
    return replace(Verdict(True, False, "borrowing teams", "", "p0l1cy", need), **changes)


def a_view(request: Request | None = None, verdict: Verdict | None = None) -> View:
    now = datetime(2026, 12, 1, 14, 5, 30, tzinfo=UTC)
    return View(request or a_request(), verdict or a_verdict(), now)


@dataclass
class InboxRow:
    key: str
    payload: Mapping[str, Any]
    done: bool = False


@dataclass
class OutboxRow:
    id: int
    request_id: int
    move: Move


@dataclass
class SentCard:
    channel: str
    ts: str
    revision: int


@dataclass
class FakeStore:
    """Inbox, outbox and cards in memory; ``slow`` delays the inbox, ``error`` breaks it."""

    rows: dict[str, InboxRow] = field(default_factory=dict)
    moves: list[OutboxRow] = field(default_factory=list)
    cards: dict[int, SentCard] = field(default_factory=dict)
    slow: float = 0.0
    error: Exception | None = None

    def receive(
        self,
        key: str,
        payload: dict[str, Any],
        now: datetime,
        late: threading.Event | None = None,
    ) -> bool:
        time.sleep(self.slow)
        if self.error:
            raise self.error
        if key in self.rows:
            return False
        self.rows[key] = InboxRow(key, payload)
        return True

    def undone(self, limit: int) -> tuple[InboxRow, ...]:
        return tuple(row for row in self.rows.values() if not row.done)[:limit]

    def finish(self, key: str) -> None:
        self.rows[key].done = True

    def pending_moves(self, limit: int) -> Sequence[OutboxRow]:
        return self.moves[:limit]

    def moves_done(self, ids: Sequence[int]) -> None:
        self.moves = [row for row in self.moves if row.id not in ids]

    def card(self, request_id: int) -> SentCard | None:
        return self.cards.get(request_id)

    def card_sent(self, request_id: int, channel: str, ts: str, revision: int) -> bool:
        self.cards[request_id] = SentCard(channel, ts, revision)
        return True


@dataclass
class FakeFlow:
    """A flow of one simple policy: li or tom and kim or pat may vote; ``error`` fails every call."""

    store: FakeStore
    requests: dict[int, Request] = field(default_factory=dict)
    verdict: Verdict = field(default_factory=a_verdict)
    calls: list[tuple[Any, ...]] = field(default_factory=list)
    error: Exception | None = None
    refusal: GpubotError | None = None
    slow: float = 0.0

    def submit(self, draft: Draft, by: Actor, key: str, now: datetime) -> Request:
        self._called("submit", draft, by, key)
        number = 42 + len(self.requests)
        self.requests[number] = a_request(number, draft=replace(draft, requester="ana"))
        self.tell(number, MoveKind.SUBMITTED)
        return self.requests[number]

    def decide(
        self,
        request_id: int,
        version: int,
        choice: Any,
        by: Actor,
        reason: str,
        key: str,
        now: datetime,
    ) -> Outcome:
        self._called("decide", request_id, version, choice, by, reason, key)
        person = {"U0LI": "li", "U0KIM": "kim"}.get(by.account)
        if person is None:
            raise Denied(
                "You can't approve this: it needs an owner of serving. Your role here: none."
            )
        request = self.requests[request_id]
        if version != request.version:
            raise Conflict("The request was changed since; look again.")
        if any(v.person == person for v in request.votes):
            return Outcome(request, False, "You have approved this already.")
        vote = Vote(person, "owner of serving", choice, reason, now, by.account, request.content)
        self.requests[request_id] = replace(request, votes=(*request.votes, vote))
        self.tell(request_id, MoveKind.VOTED, by=person, role=vote.role, text=reason)
        return Outcome(self.requests[request_id], True, "")

    def cancel(self, request_id: int, by: Actor, reason: str, key: str, now: datetime) -> Outcome:
        self._called("cancel", request_id, by, key)
        self.tell(request_id, MoveKind.CANCELLED, by="ana")
        return Outcome(self.requests[request_id], True, "")

    def preview(self, draft: Draft, by: Actor, now: datetime) -> Preview:
        return Preview(draft, self.refusal, verdict=self.verdict)

    def view(self, request_id: int, now: datetime) -> View:
        return View(self.requests[request_id], self.verdict, now)

    def open(self, now: datetime) -> tuple[View, ...]:
        return tuple(self.view(number, now) for number in self.requests)

    def tell(self, number: int, kind: MoveKind, **move: str) -> None:
        request = self.requests[number]
        self.requests[number] = replace(request, revision=request.revision + 1)
        at = datetime.now(UTC)
        self.store.moves.append(OutboxRow(time.monotonic_ns(), number, Move(kind, at, **move)))

    def _called(self, *call: Any) -> None:
        self.calls.append(call)
        time.sleep(self.slow)
        if self.error:
            raise self.error


class NoWishes:
    """A store of starts for tests that are about something else: nobody waits for any job."""

    def of(self, person: Person) -> tuple[Awaited, ...]:
        return ()

    def wish(self, *_: Any) -> None:
        raise NotImplementedError("give the stage a real store of starts")

    def stop(self, *_: Any) -> bool:
        raise NotImplementedError("give the stage a real store of starts")


class Stage:
    """A fake Slack, and our side of it running in a thread; ends with ``stop``."""

    def __init__(
        self,
        *,
        http: bool = False,
        size: int = 4,
        waiting: int = 16,
        starts: Any = None,
        **slack: Any,
    ) -> None:
        self.store = FakeStore()
        self.starts = starts or NoWishes()
        self.flow = FakeFlow(self.store)
        self.world = FakeWorld(at=datetime.now(UTC))
        self.metrics = Metrics()
        self.workers = Workers(size, waiting)
        self.answer_seconds = 0.0
        self.answer_error: Exception | None = None
        self.http = http
        self._options = slack
        self.loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self.loop.run_forever, daemon=True)

    def start(self) -> "Stage":
        self._thread.start()
        if self.http:
            self.call(self._serve_http())
        self.slack = FakeSlack(**{"rate_scale": float("inf"), **self._options})
        self.serving = Serving(application(self.slack))
        self.serving.start()
        self.slack.at(self.serving.url)
        self.call(self._start())
        return self

    def stop(self) -> None:
        self.call(self._stop())
        self.loop.call_soon_threadsafe(self.loop.stop)
        self._thread.join(5)
        self.workers.close()
        self.serving.stop()

    def person(self, user: str, channel: str = "C0RESEARCH") -> SlackPerson:
        return SlackPerson(self.slack, self.serving, user, channel)

    def call(self, work: Any) -> Any:
        return asyncio.run_coroutine_threadsafe(work, self.loop).result(20)

    def drain(self) -> None:
        self.call(self.bot.outbox.drain())

    def answer(self, text: str, asker: Asker) -> Page:
        time.sleep(self.answer_seconds)
        if self.answer_error:
            raise self.answer_error
        return run(parse(text, asker), self.world)[1]

    def metric(self, name: str, **labels: str) -> float:
        return self.metrics.registry.get_sample_value(name, labels) or 0.0

    async def _serve_http(self) -> None:
        async def later(request: Any) -> Any:
            return await self.bot.webhook(request)  # type: ignore[misc]

        async def no_checks() -> list[Any]:
            return []

        self.server = Server(health(no_checks, self.metrics.registry, later), "127.0.0.1", 0)
        await self.server.start()
        self._options["request_url"] = f"http://127.0.0.1:{self.server.port}/slack/events"

    async def _start(self) -> None:
        access = Access(
            self.slack.api_url,
            "xoxb-play",
            "" if self.http else "xapp-play",
            "play",
            requests_channel="C0REQUESTS",
        )
        ports = Ports(
            answer=self.answer,
            people=self.world.people,
            fleet=self.world.fleet,
            preview=self.flow.preview,
            view=self.flow.view,
            requests=self.flow.open,
            inbox=Inbox(self.store, self.flow, fresh=timedelta(0)),
            outbox=self.store,
            starts=self.starts,
            cluster="prod-eu",
        )
        self.bot = Slack(
            access,
            ports,
            workers=self.workers,
            metrics=self.metrics,
            now=lambda: datetime.now(UTC),
            news=lambda: None,
        )
        self.bot.start()
        for _ in range(500):
            if (await self.bot.standing.words())[0]:
                return
            await asyncio.sleep(0.01)
        raise TimeoutError(str(await self.bot.standing.words()))

    async def _stop(self) -> None:
        await self.bot.stop()
        if self.http:
            await self.server.stop()
        left = asyncio.all_tasks() - {asyncio.current_task()}
        for task in left:
            task.cancel()
        await asyncio.gather(*left, return_exceptions=True)
