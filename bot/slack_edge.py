"""What every listener shares: admission, the pool, replies, and the one error boundary.

A listener acknowledges first, then does its work inside ``Edge.guarded``, which always leaves the
person with a sentence: the answer, our error's sentence, or an apology with a reference.
"""

import asyncio
import contextlib
import re
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import structlog

from bot.apology import apology, broken
from bot.blocks import Message, render
from bot.logs import reference
from bot.metrics import Metrics
from bot.slack_client import SlackClient
from bot.slack_identity import Gate
from bot.workers import BusyError, Workers
from capacity.errors import GpubotError
from commands.page import Page
from gitops.people import People

log = structlog.get_logger(__name__)
Tell = Callable[[Page], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Edge:
    """The things a listener needs to reach Slack, the pool and the people map."""

    client: SlackClient
    gate: Gate
    workers: Workers
    metrics: Metrics
    people: Callable[[], People]
    running: set[asyncio.Task[str]] = field(default_factory=set)

    async def guarded(
        self, what: str, work: Callable[[], Awaitable[None]], tell: Tell, asked: str = ""
    ) -> None:
        """Do the work; whatever goes wrong, the person gets a sentence and the log the detail."""
        start = time.monotonic()
        task = asyncio.ensure_future(self._outcome(what, work, tell, asked))
        self.running.add(task)
        task.add_done_callback(self.running.discard)
        outcome = await task
        self.metrics.outcomes.labels(what, outcome).inc()
        self.metrics.answers.labels(what).observe(time.monotonic() - start)

    async def _outcome(
        self, what: str, work: Callable[[], Awaitable[None]], tell: Tell, asked: str
    ) -> str:
        try:
            try:
                await work()
            except GpubotError as error:
                log.info("told", what=what, error=repr(error), detail=error.detail)
                await tell(apology(error, asked))
                return type(error).__name__
        except Exception:
            ref = reference()
            log.exception("broken", what=what, ref=ref)
            with contextlib.suppress(GpubotError):
                await tell(broken(ref))
            return "broken"
        return "answer"

    async def settle(self) -> None:
        """Give what runs a moment to end, then end it."""
        if self.running:
            _, late = await asyncio.wait(self.running, timeout=SETTLING)
            for task in late:
                task.cancel()

    async def rendered(self, page: Page, images: Mapping[str, str] | None = None) -> Message:
        """Render a page on the pool; when that is full, here and without mentions.

        ``images`` are the charts that were uploaded, by title; the others are said in words.
        """
        try:
            return await self.workers.run(self.message, page, images)
        except BusyError:
            return render(page, images=images)

    def message(self, page: Page, images: Mapping[str, str] | None = None) -> Message:
        """Render a page with people mentioned, if the people map can be read."""
        try:
            people = self.people()
        except GpubotError as error:
            log.warning("people unreadable", detail=error.detail or error.sentence)
            return render(page, images=images)
        return render(page, who=lambda person: slack_of(people, person), images=images)

    def teller(self, body: dict[str, Any]) -> Tell:
        """Return how to tell the person behind this payload something that only they see."""
        channel, thread = place_of(body)
        user = str(_id(body.get("user")) or body.get("user_id") or "")
        url = str(body.get("response_url") or "")

        async def tell(page: Page) -> None:
            message = await self.rendered(page)
            if url:
                await self.client.respond(url, message, **EPHEMERAL)
            elif channel:
                await self.client.whisper(channel, user, message, thread)
            else:
                await self.client.post(user, message)

        return tell


ACCOUNT = re.compile(r"^[UW][A-Z0-9]{4,}$")
SETTLING = 2.0
EPHEMERAL = {"response_type": "ephemeral", "replace_original": False}


def slack_of(people: People, person: str) -> str | None:
    """Return the Slack id of a person of the map (or of an account that the map doesn't know)."""
    entry = people.people.get(person)
    if entry is None:
        return person if ACCOUNT.match(person) else None
    return entry.slack or None


def place_of(body: dict[str, Any]) -> tuple[str, str]:
    """Return the channel and thread that an interaction happened in ("" when in none)."""
    container = body.get("container") or {}
    channel = _id(body.get("channel")) or container.get("channel_id") or ""
    thread = container.get("thread_ts") or (body.get("message") or {}).get("thread_ts") or ""
    return str(channel), str(thread)


def _id(value: Any) -> Any:
    return value.get("id") if isinstance(value, dict) else value
