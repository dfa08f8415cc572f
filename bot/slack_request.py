"""Asking for a change in Slack: the modal, its live preview, and the submission.

The modal opens at once, because the right to open it lasts three seconds, and is filled when the
numbers are there. Nothing it sends is trusted: the draft is made anew from the world at submission,
and once more when it is done.
"""

import asyncio
import re
from collections.abc import Callable
from datetime import datetime
from typing import Any

from slack_bolt.async_app import AsyncApp

from bot import modals
from bot.apology import apology
from bot.inbox import Intent, draft_values
from bot.modals import Form
from bot.request_form import FieldErrors, draft_of, known_card, prefilled, settled
from bot.request_preview import preview_page
from bot.slack_ask import asker
from bot.slack_change import Deeds
from bot.slack_decide import submitted
from bot.slack_edge import Edge, place_of
from bot.slack_identity import Caller, caller_of
from bot.slack_previews import Previews
from capacity.errors import GpubotError
from capacity.model import Fleet
from commands.page import Bold, Page
from commands.scope import find
from gitops.people import Actor
from gitops.ports import Preview
from gitops.request import Draft

REQUEST = re.compile(r"^request(\.\d+)?$")
LIVE = re.compile(rf"^({modals.QUEUE}|{modals.CARD}|{modals.WHAT}|{modals.TO})$")
Previewer = Callable[[Draft, Actor, datetime], Preview]
CHECKING = 1.2  # seconds; with the inbox's, within Slack's three
TITLE = "Request a change"


class TooSlow(GpubotError):
    """A form couldn't be checked before Slack's time was over."""

    def __init__(self) -> None:
        super().__init__("I couldn't check that in time; nothing was sent.", "Send it again.")


class Requesting:
    """The request modal; ``fleet`` and ``preview`` are the world and what a draft would do."""

    def __init__(
        self,
        edge: Edge,
        deeds: Deeds,
        fleet: Callable[[], Fleet],
        preview: Previewer,
        now: Callable[[], datetime],
    ) -> None:
        self._edge = edge
        self._deeds = deeds
        self._fleet = fleet
        self._preview = preview
        self._now = now
        self._previews = Previews(edge)

    def register(self, app: AsyncApp) -> None:
        app.action(REQUEST)(self._button)
        app.action(LIVE)(self._changed)
        app.view("request")(self._submit)

    async def open(self, body: dict[str, Any], text: str) -> None:
        """Open the modal, with what the words after the command already say."""
        tell = self._edge.teller(body)
        channel, _ = place_of(body)
        channel = channel or str(body.get("channel_id") or "")

        async def work() -> None:
            caller = caller_of(body)
            self._edge.gate.admit(caller)
            view = await self._previews.open(body, modals.loading(channel))
            await self._fill(view, prefilled(text, channel), caller)

        await self._edge.guarded("request", work, tell)

    async def _fill(self, view: modals.View, form: Form, caller: Caller) -> None:
        try:
            zone = await self._edge.gate.welcome(caller)
            made = await self._edge.workers.run(self._first, form, caller.user, zone)
        except GpubotError as error:
            made = modals.told(TITLE, apology(error))
        await self._previews.show(view, made, self._previews.turn(view))

    async def _button(self, ack: Any, body: dict[str, Any]) -> None:
        await ack()
        await self.open(body, str(body["actions"][0].get("value", "")))

    async def _changed(self, ack: Any, body: dict[str, Any]) -> None:
        await ack()
        view = body["view"]
        turn = self._previews.turn(view)

        async def work() -> None:
            caller = caller_of(body)
            zone = await self._edge.gate.welcome(caller)
            made = await self._edge.workers.run(self._view, modals.read(view), caller.user, zone)
            await self._previews.show(view, made, turn)

        await self._edge.guarded("preview", work, self._edge.teller(body))

    def _first(self, form: Form, user: str, zone: str) -> modals.View:
        """Return the filled modal; what a person typed may be a team's name, in any case."""
        if form.queue:
            meant = find(form.queue, self._fleet(), self._edge.people(), cohorts=False)
            form = modals.with_queue(form, next(iter(meant.queues), form.queue))
            known_card(form, self._fleet())
        return self._view(form, user, zone)

    def _view(self, form: Form, user: str, zone: str) -> modals.View:
        fleet = self._fleet()
        form, choices = settled(form, fleet, self._own_queues(user))
        page: Page | None = None
        if form.to:
            try:
                draft = self._draft(form, fleet, zone, why=form.why or "-")
                page = preview_page(self._preview(draft, Actor("slack", user), self._now()))
            except FieldErrors as wrong:
                page = Page(tuple(Bold(words) for words in wrong.errors.values()))
            except GpubotError as error:
                page = apology(error)
        return modals.request(form, choices, page)

    def _own_queues(self, user: str) -> tuple[str, ...]:
        teams = asker(self._edge, user, "UTC").teams
        if not teams:
            return ()
        people = self._edge.people()
        return tuple(q for team in teams for q in people.teams[team].cluster_queues)

    def _draft(self, form: Form, fleet: Fleet, zone: str, why: str) -> Draft:
        team = self._edge.people().team_of_queue(form.queue)
        name = team.name if team else ""
        wish = modals.with_reason(form, why)
        return draft_of(wish, fleet, zone=zone, now=self._now(), team=name)

    async def _submit(self, ack: Any, body: dict[str, Any]) -> None:
        view = body["view"]
        form = modals.read(view)
        self._previews.end(view)

        async def work() -> None:
            answer: dict[str, Any] = {}
            try:
                draft = await self._checked(form, body)
                fields = {"draft": draft_values(draft)}
                intent = submitted(body, "submit", fields, self._now())
                fresh = await self._deeds.take(intent)
                answer = _update(Page(("Sending your request…",)))
            except FieldErrors as wrong:
                shown = {modals.block_of(view, f): words for f, words in wrong.errors.items()}
                answer = {"response_action": "errors", "errors": shown}
                return
            except GpubotError as error:
                answer = _update(apology(error))
                return
            finally:
                await ack(**answer)
            if fresh:
                sent.append(intent)
                await self._deeds.do(intent)

        sent: list[Intent] = []
        elsewhere = self._edge.teller(body | {"channel": {"id": form.channel}})

        async def tell(page: Page) -> None:  # their modal says that it is being sent
            await (self._deeds.teller(sent[0]) if sent else elsewhere)(page)

        await self._edge.guarded("submit", work, tell)

    async def _checked(self, form: Form, body: dict[str, Any]) -> Draft:
        caller = caller_of(body)
        try:
            async with asyncio.timeout(CHECKING):
                zone = await self._edge.gate.welcome(caller)
                return await self._edge.workers.run(self._check, form, caller.user, zone)
        except TimeoutError as error:
            raise TooSlow from error

    def _check(self, form: Form, user: str, zone: str) -> Draft:
        draft = self._draft(form, self._fleet(), zone, why=form.why)
        found = self._preview(draft, Actor("slack", user), self._now())
        if found.refused:
            raise FieldErrors({modals.TO: f"{found.refused} {found.next_step}".strip()})
        return draft


def _update(page: Page) -> dict[str, Any]:
    return {"response_action": "update", "view": modals.told(TITLE, page)}
