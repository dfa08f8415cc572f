"""Deciding in Slack: approve, reject with a reason, withdraw, and look at the details.

A button carries which request and which version of it, and nothing else: whether this person may,
and whether that version still stands, is asked of the flow when the click is done.
"""

import re
from collections.abc import Callable
from datetime import datetime
from typing import Any

from slack_bolt.async_app import AsyncApp

from bot import modals
from bot.details import details
from bot.inbox import Doing, Intent, button
from bot.slack_change import Deeds
from bot.slack_edge import Edge, place_of
from bot.slack_identity import caller_of
from capacity.errors import GpubotError
from commands.page import Page
from gitops.ports import View

APPROVE, REJECT, CANCEL, DETAILS, OPEN = (
    re.compile(rf"^{action}(\.\d+)?$")
    for action in ("approve", "reject", "cancel", "details", "open")
)


class Deciding:
    """The buttons of a card; ``view`` reads a request with the policy's verdict."""

    def __init__(
        self,
        edge: Edge,
        deeds: Deeds,
        view: Callable[[int, datetime], View],
        now: Callable[[], datetime],
    ) -> None:
        self._edge = edge
        self._deeds = deeds
        self._view = view
        self._now = now

    def register(self, app: AsyncApp) -> None:
        app.action(APPROVE)(self._approve)
        app.action(CANCEL)(self._cancel)
        app.action(REJECT)(self._ask_why)
        app.view("reject")(self._reject)
        app.action(DETAILS)(self._details)
        app.action(OPEN)(_only_ack)

    async def _approve(self, ack: Any, body: dict[str, Any]) -> None:
        await self._click(ack, body, "decide", {"choice": "approve"})

    async def _cancel(self, ack: Any, body: dict[str, Any]) -> None:
        await self._click(ack, body, "cancel", {})

    async def _click(
        self, ack: Any, body: dict[str, Any], doing: Doing, fields: dict[str, Any]
    ) -> None:
        async def work() -> None:
            try:
                intent = _clicked(body, doing, fields, self._now())
                fresh = await self._deeds.take(intent)
            finally:
                await ack()
            if fresh:
                await self._deeds.do(intent)

        await self._edge.guarded(doing, work, self._edge.teller(body))

    async def _ask_why(self, ack: Any, body: dict[str, Any]) -> None:
        await ack()

        async def work() -> None:
            value = str(body["actions"][0].get("value", ""))
            number, _ = button(value)
            self._edge.gate.admit(caller_of(body))
            view = modals.reject(value, f"Why do you reject request {number}?", *place_of(body))
            await self._edge.client.call(
                "views.open", repeat="once", trigger_id=body["trigger_id"], view=view
            )

        await self._edge.guarded("reject", work, self._edge.teller(body))

    async def _reject(self, ack: Any, body: dict[str, Any]) -> None:
        view = body["view"]
        note = modals.metadata(view)
        reason = modals.read(view).why

        async def work() -> None:
            if not reason:
                errors = {modals.block_of(view, modals.WHY): "A rejection needs its reason."}
                await ack(response_action="errors", errors=errors)
                return
            try:
                number, version = button(str(note.get("value", "")))
                fields = {"request": number, "version": version, "choice": "reject"}
                intent = submitted(body, "decide", fields | {"reason": reason}, self._now())
                fresh = await self._deeds.take(intent)
            finally:
                await ack()
            if fresh:
                await self._deeds.do(intent)

        tell = self._edge.teller(body | {"channel": {"id": note.get("channel", "")}})
        await self._edge.guarded("reject", work, tell)

    async def _details(self, ack: Any, body: dict[str, Any]) -> None:
        await ack()
        tell = self._edge.teller(body)

        async def work() -> None:
            caller = caller_of(body)
            await self._edge.gate.welcome(caller)
            number, _ = button(str(body["actions"][0].get("value", "")))
            await tell(await self._edge.workers.run(self._page, number, caller.user))

        await self._edge.guarded("details", work, tell)

    def _page(self, number: int, user: str) -> Page:
        view = self._view(number, self._now())
        try:
            entry = self._edge.people().by_slack(user)
        except GpubotError:
            entry = None
        return details(view, entry.id if entry else "")


async def _only_ack(ack: Any) -> None:
    """Answer a button that only opens an address: Slack wants its ack all the same."""
    await ack()


def _clicked(body: dict[str, Any], doing: Doing, fields: dict[str, Any], now: datetime) -> Intent:
    action = body["actions"][0]
    number, version = button(str(action.get("value", "")))
    caller = caller_of(body)
    channel, thread = place_of(body)
    key = (*caller.homes, caller.user, action["action_ts"], action["action_id"], action["value"])
    return Intent(
        key="click:" + ":".join(key),
        doing=doing,
        user=caller.user,
        homes=caller.homes,
        at=now,
        fields={"request": number, "version": version} | fields,
        channel=channel,
        thread=thread,
        on_home=(body.get("view") or {}).get("type") == "home",
    )


def submitted(body: dict[str, Any], doing: Doing, fields: dict[str, Any], now: datetime) -> Intent:
    """Return the intent of a modal's submission; a view can be submitted once only."""
    view = body["view"]
    note = modals.metadata(view)
    caller = caller_of(body)
    return Intent(
        key=f"view:{view['id']}",
        doing=doing,
        user=caller.user,
        homes=caller.homes,
        at=now,
        fields=fields,
        channel=str(note.get("channel", "")),
        thread=str(note.get("thread", "")),
        view=str(view["id"]) if doing == "submit" else "",
    )
