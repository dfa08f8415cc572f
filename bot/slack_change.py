"""What people change: written down before the ack, done after it, and done later if it must be."""

import asyncio
import threading
from collections.abc import Awaitable, Callable
from datetime import datetime

import structlog

from bot.inbox import Done, Inbox, Intent
from bot.modals import told
from bot.slack_client import SlackRefused
from bot.slack_edge import Edge, Tell
from bot.slack_identity import Caller
from bot.workers import BusyError, Workers
from capacity.errors import GpubotError, SourceDown
from commands.page import Bold, Page, Paragraph, Time

log = structlog.get_logger(__name__)
ACK_LEAVES = 0.4
WRITING = 1.3  # seconds of Slack's three


class NotYet(GpubotError):
    """It is written down and will be done; not now, because something doesn't answer."""


class NotKept(GpubotError):
    """It isn't written down, so it is never done: the person has to do it again."""

    def __init__(self, detail: str) -> None:
        super().__init__(
            "I couldn't write that down, so nothing was changed.",
            "Do it again in a moment.",
            detail=detail,
        )


class Deeds:
    """Takes intents and does them. ``done`` is called after one was: there is news to tell."""

    def __init__(
        self,
        edge: Edge,
        inbox: Inbox,
        done: Callable[[Intent], Awaitable[None]],
        now: Callable[[], datetime],
    ) -> None:
        self._edge = edge
        self._inbox = inbox
        self._done = done
        self._now = now
        # Its own thread: an intent is never queued behind people's questions.
        self._writer = Workers(1, 256, "inbox")

    async def take(self, intent: Intent) -> bool:
        """Write the intent down, within Slack's time; False when it was here before.

        Raises NotKept when the store doesn't take it in time.
        """
        mine = self._inbox.begin(intent)
        fresh, late = False, threading.Event()
        try:
            async with asyncio.timeout(WRITING):
                fresh = await self._writer.run(self._inbox.accept, intent, self._now(), late)
        except TimeoutError as error:
            late.set()  # the thread may still wait for the store
            raise NotKept("the inbox took too long") from error
        except SourceDown as error:
            raise NotKept(f"{error.sentence} {error.detail}") from error
        finally:
            if mine and not fresh:
                self._inbox.busy.discard(intent.key)
        if not fresh:
            self._edge.metrics.duplicates.labels("inbox").inc()
            log.info("came again", doing=intent.doing, key=intent.key)
        return fresh

    async def do(self, intent: Intent) -> None:
        """Do a written intent and tell its person; raises what the person is to be told."""
        self._inbox.busy.add(intent.key)
        try:
            await self._edge.gate.changer(Caller(intent.user, intent.homes))
            done = await self._edge.workers.run(self._inbox.do, intent, self._now())
        except (SourceDown, BusyError) as error:
            self._inbox.busy.discard(intent.key)
            raise NotYet(
                f"{error.sentence} What you want is kept; I try again.", detail=error.detail
            ) from error
        except GpubotError:
            await self._finish(intent)
            raise
        await self._finish(intent)
        await self._done(intent)
        await self._report(intent, done)

    async def recover(self) -> None:
        """Do what was written down and not done: before a crash, or while something was down."""
        for intent in await self._writer.run(self._inbox.left, self._now()):
            tell = self.teller(intent)

            async def work(intent: Intent = intent, tell: Tell = tell) -> None:
                if self._inbox.too_old(intent, self._now()):
                    await self._finish(intent)
                    await tell(_too_late(intent))
                    return
                try:
                    await self.do(intent)
                except NotYet as still:  # they were told the first time
                    log.info("still not done", key=intent.key, why=still.sentence)

            await self._edge.guarded("recover", work, tell)

    def teller(self, intent: Intent) -> Tell:
        """Return how to tell the intent's person: in their modal, in the channel, or directly."""

        async def tell(page: Page) -> None:
            message = await self._edge.rendered(page)
            if intent.view and await self._in_modal(intent.view, page):
                return
            if intent.channel:
                await self._edge.client.whisper(intent.channel, intent.user, message, intent.thread)
            else:
                await self._edge.client.post(intent.user, message)

        return tell

    def close(self) -> None:
        self._writer.close()

    async def _in_modal(self, view: str, page: Page) -> bool:
        # Bolt doesn't say when the ack has left; an update that overtakes it would be covered.
        await asyncio.sleep(ACK_LEAVES)
        try:
            await self._edge.client.call(
                "views.update", view_id=view, view=told("Your request", page)
            )
        except SlackRefused as refused:  # they closed it
            log.debug("modal gone", code=refused.code)
            return False
        return True

    async def _finish(self, intent: Intent) -> None:
        await self._writer.run(self._inbox.store.finish, intent.key)
        self._inbox.busy.discard(intent.key)

    async def _report(self, intent: Intent, done: Done) -> None:
        if done.sentence:
            await self.teller(intent)(Page((done.sentence,)))
        elif intent.view and intent.doing == "submit":
            page = Page(
                (Bold(f"Request {done.request.id} is sent."),),
                (Paragraph(("Its card, with everything that happens, is in the channel.",)),),
            )
            await self._in_modal(intent.view, page)


def _too_late(intent: Intent) -> Page:
    return Page(
        ("What you wanted at ", Time(intent.at), " couldn't be done in time; nothing was changed."),
        (Paragraph(("Look at the request again, and decide anew.",)),),
    )
