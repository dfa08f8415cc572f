"""Buttons "Tell me when it starts" and "Stop telling me", pressed by the person they concern.

The wish is on disk before the ack, and pressing twice keeps one. Only then is the cluster looked
at, for what can be said at once. An answer that only the presser sees is shown anew with the other
button in it; elsewhere they get a sentence of their own.
"""

import asyncio
import re
import threading
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import structlog
from slack_bolt.async_app import AsyncApp

from bot.slack_change import WRITING, NotKept
from bot.slack_edge import Edge
from bot.slack_identity import Caller, caller_of
from bot.starts_desk import Desk
from bot.starts_say import stopped, with_line
from bot.workers import Workers
from capacity.errors import GpubotError, SourceDown
from commands.page import Action, Line, Page
from commands.starts import STOP, TELL, Wished, dont_tell_me, tell_me, wished

log = structlog.get_logger(__name__)
T = TypeVar("T")
TELLS, STOPS = (re.compile(rf"^{action}(\.\d+)?$") for action in (TELL, STOP))
IN_PLACE = {"response_type": "ephemeral", "replace_original": True}
Body = dict[str, Any]


class Telling:
    """The two buttons; ``ask`` answers a question as one person sees it (text, account, zone)."""

    def __init__(
        self,
        edge: Edge,
        desk: Desk,
        ask: Callable[[str, str, str], Page],
        home: Callable[[Caller], Awaitable[None]],
    ) -> None:
        self._edge = edge
        self._desk = desk
        self._ask = ask
        self._home = home
        # Its own thread, as the inbox has one: a click is never queued behind questions.
        self._writer = Workers(1, 256, "starts")

    def register(self, app: AsyncApp) -> None:
        app.action(TELLS)(self._tell)
        app.action(STOPS)(self._stop)

    def close(self) -> None:
        self._writer.close()

    async def _tell(self, ack: Any, body: Body) -> None:
        async def work() -> None:
            try:
                asked, caller, zone = await self._pressed(body)
                got = await self._write(lambda late: self._desk.keep(caller.user, asked, late))
            finally:
                await ack()
            if got is None:
                raise NotKept("too late")
            said, waits = await self._edge.workers.run(self._desk.outcome, caller.user, *got)
            await self._reply(body, asked, zone, said, waits=waits)

        await self._edge.guarded("tell", work, self._edge.teller(body))

    async def _stop(self, ack: Any, body: Body) -> None:
        async def work() -> None:
            try:
                asked, caller, zone = await self._pressed(body)
                was = await self._write(lambda late: self._desk.drop(caller.user, asked, late))
            finally:
                await ack()
            await self._reply(body, asked, zone, stopped(asked.job, was=was), waits=False)

        await self._edge.guarded("untell", work, self._edge.teller(body))

    async def _pressed(self, body: Body) -> tuple[Wished, Caller, str]:
        """Return what the button names, who pressed it, and their time zone."""
        caller = caller_of(body)
        zone = await self._edge.gate.welcome(caller)
        return wished(str(body["actions"][0].get("value", ""))), caller, zone

    async def _write(self, call: Callable[[threading.Event], T]) -> T:
        """Write within Slack's time, or not at all; raises NotKept when it couldn't be."""
        late = threading.Event()
        try:
            async with asyncio.timeout(WRITING):
                return await self._writer.run(call, late)
        except TimeoutError as error:
            late.set()
            raise NotKept("the database took too long") from error
        except SourceDown as error:
            raise NotKept(f"{error.sentence} {error.detail}") from error

    async def _reply(
        self, body: Body, asked: Wished, zone: str, said: Line, *, waits: bool
    ) -> None:
        caller = caller_of(body)
        if (body.get("view") or {}).get("type") == "home":
            await self._home(caller)
            return
        url = str(body.get("response_url") or "")
        if (body.get("container") or {}).get("is_ephemeral") and url:
            page = await self._edge.workers.run(self._anew, asked, caller.user, zone)
            if page is not None and (not waits or _names(page, asked)):
                message = await self._edge.rendered(with_line(page, said))
                await self._edge.client.respond(url, message, **IN_PLACE)
                return
        await self._edge.teller(body)(_alone(said, asked, waits=waits))

    def _anew(self, asked: Wished, user: str, zone: str) -> Page | None:
        try:
            return self._ask(asked.question, user, zone)
        except GpubotError as error:
            log.info("not shown anew", question=asked.question, why=error.sentence)
            return None


def _names(page: Page, asked: Wished) -> bool:
    """Whether the page has the button of this very Workload; its job's name may be ambiguous."""
    return any(a.action == STOP and a.value.startswith(f"{asked.uid} ") for a in page.actions)


def _alone(said: Line, asked: Wished, *, waits: bool) -> Page:
    name = f"{asked.namespace}/{asked.job}"
    value = tell_me(asked.uid, asked.question).value
    stop = (dont_tell_me(value),) if waits else ()
    return Page(said, (), (*stop, Action("Why", "ask", f"why {name}")))
