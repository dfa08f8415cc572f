"""/gpu-fit without words, or its shortcut: a modal for a size or a manifest, answered in place.

Nothing is changed, so nothing is kept: a second submission is answered a second time. The file is
read and the question answered before the acknowledgement, so that what is wrong stands at its
field; what takes longer than Slack's patience is told so.
"""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from slack_bolt.async_app import AsyncApp

from bot import fit_form, modals, slack_files
from bot.apology import apology
from bot.fit_form import Wish
from bot.slack_ask import asker
from bot.slack_edge import Edge, place_of
from bot.slack_identity import Caller, caller_of
from bot.slack_previews import Previews
from capacity.errors import GpubotError
from capacity.model import Fleet
from commands.command import Asker
from commands.page import Page

LOOKING = 2.0  # seconds, of Slack's three


class TooSlow(GpubotError):
    """The file or the answer didn't come before Slack's time was over."""

    def __init__(self) -> None:
        super().__init__("I couldn't look at that in time.", "Send it again.")


class Fitting:
    """The modal; ``answer`` is the whole read side: words and asker in, page out."""

    def __init__(
        self, edge: Edge, answer: Callable[[str, Asker], Page], fleet: Callable[[], Fleet]
    ) -> None:
        self._edge = edge
        self._answer = answer
        self._fleet = fleet
        self._previews = Previews(edge)

    def register(self, app: AsyncApp) -> None:
        app.shortcut("fit")(self._shortcut)
        app.view(fit_form.CALLBACK)(self._submit)

    async def open(self, body: dict[str, Any]) -> None:
        """Open the modal at once, and fill in the queues when they are there."""
        channel = str(body.get("channel_id") or place_of(body)[0])

        async def work() -> None:
            caller = caller_of(body)
            self._edge.gate.admit(caller)
            view = await self._previews.open(body, fit_form.loading(channel))
            await self._previews.show(
                view, await self._first(caller, channel), self._previews.turn(view)
            )

        await self._edge.guarded("fit", work, self._edge.teller(body))

    async def _shortcut(self, ack: Any, body: dict[str, Any]) -> None:
        await ack()
        await self.open(body)

    async def _first(self, caller: Caller, channel: str) -> modals.View:
        try:
            await self._edge.gate.welcome(caller)
            queues = await self._edge.workers.run(self._queues, caller.user)
        except GpubotError as error:
            return modals.told(fit_form.TITLE, apology(error))
        return fit_form.form(queues, channel)

    def _queues(self, user: str) -> list[str]:
        """Return all queues, those of the person's own teams first."""
        known = sorted(self._fleet().cluster_queues)
        teams = asker(self._edge, user, "UTC").teams
        own = self._edge.people().teams if teams else {}
        first = [q for team in teams for q in own[team].cluster_queues if q in known]
        return list(dict.fromkeys((*first, *known)))

    async def _submit(self, ack: Any, body: dict[str, Any]) -> None:
        wish = fit_form.read(body["view"])
        answer: dict[str, Any] = {}

        async def work() -> None:
            try:
                answer.update(
                    _errors(fit_form.wrong(wish)) or _update(await self._in_time(wish, body))
                )
            except GpubotError as error:
                answer.update(_errors({wish.block: f"{error.sentence} {error.next_step}".strip()}))
                raise
            finally:
                await ack(**answer)

        place = {"id": fit_form.channel_of(body["view"])}
        elsewhere = self._edge.teller(body | {"channel": place})

        async def tell(page: Page) -> None:
            if not answer:  # else it stands at the field; without one the modal has closed
                await elsewhere(page)

        await self._edge.guarded("fit", work, tell)

    async def _in_time(self, wish: Wish, body: dict[str, Any]) -> Page:
        try:
            async with asyncio.timeout(LOOKING):
                return await self._look(wish, caller_of(body))
        except TimeoutError as error:
            raise TooSlow from error

    async def _look(self, wish: Wish, caller: Caller) -> Page:
        zone = await self._edge.gate.welcome(caller)
        text = ""
        if wish.file:
            text = await slack_files.manifest(self._edge.client, wish.file, caller.user)
        who = await self._edge.workers.run(asker, self._edge, caller.user, zone)
        page = await self._edge.workers.run(self._answer, fit_form.question(wish, text), who)
        # What re-asks would be answered elsewhere, behind the modal.
        kept = tuple(a for a in page.actions if a.action == "request")
        return replace(page, actions=kept)


def _errors(words: dict[str, str]) -> dict[str, Any]:
    return {"response_action": "errors", "errors": words} if words else {}


def _update(page: Page) -> dict[str, Any]:
    return {"response_action": "update", "view": modals.told(fit_form.TITLE, page)}
