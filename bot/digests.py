"""Digests: a question asked for a channel by the clock, and its answer posted there.

Each due moment of a subscription is one period, claimed in the database before it is posted: two
replicas or a restart send it once, and a claim that was never fulfilled can be taken again.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol
from zoneinfo import ZoneInfo

import structlog

from bot.jobs import last_due
from bot.workers import Workers
from capacity.errors import GpubotError
from commands.command import Asker
from commands.page import Page

log = structlog.get_logger(__name__)


class Subscription(Protocol):
    """A channel's wish: which question, when, in which zone."""

    @property
    def id(self) -> int: ...
    @property
    def channel(self) -> str: ...
    @property
    def ask(self) -> str: ...
    @property
    def cron(self) -> str: ...
    @property
    def time_zone(self) -> str: ...
    @property
    def created_at(self) -> datetime: ...


class DigestStore(Protocol):
    """What digests need of the store; a period is claimed before, and sent after, the post."""

    def subscriptions(self) -> Sequence[Subscription]: ...
    def claim(self, subscription_id: int, period: str, now: datetime) -> bool: ...
    def sent(self, subscription_id: int, period: str) -> None: ...


@dataclass(frozen=True, slots=True)
class Digests:
    """Sends what is due; ``post`` shows a page in a channel."""

    store: DigestStore
    answer: Callable[[str, Asker], Page]
    post: Callable[[str, Page], Awaitable[None]]
    workers: Workers
    now: Callable[[], datetime]

    async def send_due(self) -> None:
        """Send every subscription's newest due period that wasn't sent; older ones are skipped."""
        for subscription in await self.workers.run(self.store.subscriptions):
            try:
                await self._send(subscription)
            except GpubotError as error:  # one channel's trouble is not the others'
                why = error.detail or error.sentence
                log.warning("digest not sent", subscription=subscription.id, why=why)

    async def _send(self, wanted: Subscription) -> None:
        now = self.now()
        zone = ZoneInfo(wanted.time_zone)
        due = last_due(wanted.cron, zone, now)
        if due is None or due < wanted.created_at:
            return
        # By the wall clock: an hour that comes twice in autumn is one period, not two.
        period = due.astimezone(zone).strftime("%Y-%m-%dT%H:%M")
        if not await self.workers.run(self.store.claim, wanted.id, period, now):
            return
        page = await self.workers.run(self.answer, wanted.ask, Asker(time_zone=wanted.time_zone))
        await self.post(wanted.channel, page)
        await self.workers.run(self.store.sent, wanted.id, period)
        log.info("digest sent", subscription=wanted.id, channel=wanted.channel, period=period)
