"""The outbox: what is to be said about requests is on disk before it is said to Slack.

Each request has one card, edited to the newest state, and a thread with one line per move. Within a
request everything goes in order, one thing at a time; an outage only delays. Slack has no way to
post exactly once: a crash between a post and its record repeats that one line.
"""

import asyncio
import time
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Protocol

import structlog

from bot.blocks import Message
from bot.cards import card as card_page
from bot.metrics import Metrics
from bot.notices import notice
from bot.slack_client import SlackDown, SlackRefused
from bot.workers import Workers
from capacity.errors import GpubotError
from commands.page import Page
from gitops.moves import Move
from gitops.ports import View

log = structlog.get_logger(__name__)
BATCH = 200
AT_ONCE = 4
FIRST_WAIT, LONGEST_WAIT = 1.0, 60.0
# The message is not there any more, or Slack lets nobody change it: the card is posted anew.
GONE = {
    "message_not_found",
    "thread_not_found",
    "cannot_reply_to_message",
    "cant_update_message",
    "edit_window_closed",
}
# Our own blocks are at fault: the words alone still tell everything.
UNSHOWABLE = {"invalid_blocks", "msg_blocks_too_long", "invalid_attachments", "block_mismatch"}


class Row(Protocol):
    """One move that was not told yet."""

    @property
    def id(self) -> int: ...
    @property
    def request_id(self) -> int: ...
    @property
    def move(self) -> Move: ...


class Card(Protocol):
    """Where a request's card is, and which revision of the request it shows."""

    @property
    def channel(self) -> str: ...
    @property
    def ts(self) -> str: ...
    @property
    def revision(self) -> int: ...


class OutboxStore(Protocol):
    """What the outbox needs of the store; ``card_sent`` never goes back to an older revision."""

    def pending_moves(self, limit: int) -> Sequence[Row]: ...
    def moves_done(self, ids: Sequence[int]) -> None: ...
    def card(self, request_id: int) -> Card | None: ...
    def card_sent(self, request_id: int, channel: str, ts: str, revision: int) -> bool: ...


class Poster(Protocol):
    """What the outbox needs of Slack."""

    async def post(self, channel: str, message: Message, thread: str = "") -> str: ...
    async def edit(self, channel: str, ts: str, message: Message) -> None: ...


class Outbox:
    """Tells Slack what is pending; ``drain`` is called again and again by the jobs."""

    def __init__(
        self,
        store: OutboxStore,
        view: Callable[[int, datetime], View],
        poster: Poster,
        message: Callable[[Page], Message],
        *,
        channel: str,
        workers: Workers,
        metrics: Metrics,
        now: Callable[[], datetime],
    ) -> None:
        self._store = store
        self._view = view
        self._poster = poster
        self._message = message
        self._channel = channel
        self._workers = workers
        self._metrics = metrics
        self._now = now
        self._lock = asyncio.Lock()
        self._waits: dict[int, tuple[float, float]] = {}
        self._quiet_until = 0.0
        self.pending = 0
        self.oldest: datetime | None = None

    async def drain(self) -> None:
        """Tell everything that is due; returns when it is told or has to wait."""
        async with self._lock:
            rows = await self._workers.run(self._store.pending_moves, BATCH)
            self.pending = len(rows)
            self.oldest = min((row.move.at for row in rows), default=None)
            requests: dict[int, list[Row]] = {}
            for row in rows:
                requests.setdefault(row.request_id, []).append(row)
            gate = asyncio.Semaphore(AT_ONCE)
            await asyncio.gather(*(self._request(r, of, gate) for r, of in requests.items()))

    def lag(self) -> float:
        """Return how long the oldest untold move waits, in seconds."""
        return (self._now() - self.oldest).total_seconds() if self.oldest else 0.0

    async def _request(self, request: int, rows: list[Row], gate: asyncio.Semaphore) -> None:
        async with gate:
            until, wait = self._waits.get(request, (0.0, FIRST_WAIT))
            if time.monotonic() < max(until, self._quiet_until):
                return
            try:
                await self._tell(request, rows)
                self._waits.pop(request, None)
            except GpubotError as error:
                self._postpone(request, wait, error)

    def _postpone(self, request: int, wait: float, error: GpubotError) -> None:
        self._metrics.deliveries.labels(type(error).__name__).inc()
        advice = error.retry_after if isinstance(error, SlackDown) else None
        if advice is not None:  # the limit is the channel's, so it is everybody's
            self._quiet_until = time.monotonic() + advice
            return
        self._waits[request] = (time.monotonic() + wait, min(LONGEST_WAIT, wait * 2))
        detail = error.detail or error.sentence
        log.warning("not told yet", request=request, next_try_in=wait, detail=detail)

    async def _tell(self, request: int, rows: list[Row]) -> None:
        view = await self._workers.run(self._view, request, self._now())
        card = await self._workers.run(self._store.card, request)
        # The card before the lines: what is still pending then makes sure that both get done.
        where = await self._show(view, card)
        for row in rows:
            page = notice(view, row.move)
            if page is not None:
                where = await self._say(view, where, page)
            await self._workers.run(self._store.moves_done, [row.id])

    async def _show(self, view: View, card: Card | None) -> tuple[str, str]:
        """Bring the card up to date; return where it is."""
        if card is None:
            return await self._post_card(view)
        where = (card.channel, card.ts)
        if card.revision >= view.request.revision:
            return where
        return await self._edit_card(view, where)

    async def _post_card(self, view: View) -> tuple[str, str]:
        ts = await self._post(card_page(view), self._channel)
        await self._remember(view, self._channel, ts)
        return self._channel, ts

    async def _edit_card(self, view: View, where: tuple[str, str]) -> tuple[str, str]:
        message = await self._workers.run(self._message, card_page(view))
        try:
            try:
                await self._poster.edit(*where, message)
            except SlackRefused as refused:
                if refused.code not in UNSHOWABLE:
                    raise
                log.error("Slack refuses the card's blocks", code=refused.code)
                await self._poster.edit(*where, Message(message.text, []))
        except SlackRefused as refused:
            if refused.code not in GONE:
                raise
            log.warning("the card is gone; posting it anew", request=view.request.id)
            return await self._post_card(view)
        self._metrics.deliveries.labels("edited").inc()
        await self._remember(view, *where)
        return where

    async def _say(self, view: View, where: tuple[str, str], page: Page) -> tuple[str, str]:
        """Write a line into the thread; return where the card is now."""
        channel, thread = where
        try:
            await self._post(page, channel, thread)
        except SlackRefused as refused:
            if refused.code not in GONE:
                raise
            where = await self._post_card(view)
            await self._post(page, *where)
        return where

    async def _post(self, page: Page, channel: str, thread: str = "") -> str:
        message = await self._workers.run(self._message, page)
        try:
            ts = await self._poster.post(channel, message, thread)
        except SlackRefused as refused:
            if refused.code not in UNSHOWABLE:
                raise
            log.error("Slack refuses a message's blocks", code=refused.code)
            ts = await self._poster.post(channel, Message(message.text, []), thread)
        self._metrics.deliveries.labels("posted").inc()
        return ts

    async def _remember(self, view: View, channel: str, ts: str) -> None:
        sent = (view.request.id, channel, ts, view.request.revision)
        await self._workers.run(self._store.card_sent, *sent)
