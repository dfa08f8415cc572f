"""Questions from Slack: slash commands, re-asking buttons, sharing, and mentions.

A slash answer is seen by the asker only, until they share it: then it is asked anew, so that what
the channel reads is true now and not when the asker looked. Who mentions the bot asks in public
and is answered in public, in the thread.
"""

import re
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from typing import Any

from slack_bolt.async_app import AsyncApp

from bot.recent import Recent
from bot.slack_edge import Edge
from bot.slack_identity import caller_of
from capacity.errors import GpubotError
from commands.command import Asker
from commands.page import Action, Page, Person

ASK = re.compile(r"^ask(\.\d+)?$")
SHARE = re.compile(r"^share(\.\d+)?$")
MENTION = re.compile(r"[ \t]*<@[UW][A-Z0-9]+(\|[^>]*)?>[ \t]*")
IN_CHANNEL = {"response_type": "in_channel", "replace_original": False}


class Asking:
    """Answers questions; ``answer`` is the whole read side: words and asker in, page out.

    ``marked`` makes a page one person's own: with the buttons that are right for that account.
    """

    def __init__(
        self,
        edge: Edge,
        answer: Callable[[str, Asker], Page],
        marked: Callable[[Page, str], Page],
        now: Callable[[], datetime],
    ) -> None:
        self._edge = edge
        self._answer = answer
        self._marked = marked
        self._now = now
        self._events = Recent()

    def register(self, app: AsyncApp) -> None:
        """Attach to the buttons and to mentions; slash commands come through ``command``."""
        app.action(ASK)(self._ask)
        app.action(SHARE)(self._share)
        app.event("app_mention")(self._mention)

    async def command(self, body: dict[str, Any], text: str) -> None:
        """Answer a slash command, for the asker's eyes."""
        tell = self._edge.teller(body)

        async def work() -> None:
            caller = caller_of(body)
            zone = await self._edge.gate.welcome(caller)
            await tell(await self._edge.workers.run(self.own, text, caller.user, zone))

        await self._edge.guarded("ask", work, tell, text)

    def own(self, text: str, user: str, zone: str) -> Page:
        """Return the answer to a question as only this account sees it."""
        return shareable(self._marked(self._page(text, user, zone), user), text)

    async def page(self, body: dict[str, Any], text: str) -> Page:
        """Return the answer to a question of the person behind this payload, for everybody."""
        caller = caller_of(body)
        zone = await self._edge.gate.welcome(caller)
        return await self._edge.workers.run(self._page, text, caller.user, zone)

    def _page(self, text: str, user: str, zone: str) -> Page:
        return self._answer(text, asker(self._edge, user, zone))

    async def _ask(self, ack: Any, body: dict[str, Any]) -> None:
        await ack()
        await self.command(body, str(body["actions"][0].get("value", "")))

    async def _share(self, ack: Any, body: dict[str, Any]) -> None:
        await ack()
        text = str(body["actions"][0].get("value", ""))
        tell = self._edge.teller(body)
        url = str(body.get("response_url") or "")

        async def work() -> None:
            page = shared(await self.page(body, text), caller_of(body).user)
            message = await self._edge.rendered(page)
            await self._edge.client.respond(url, message, **IN_CHANNEL)

        await self._edge.guarded("share", work, tell, text)

    async def _mention(self, body: dict[str, Any], event: dict[str, Any]) -> None:
        if self._events.again(str(body.get("event_id", "")), self._now()):
            self._edge.metrics.duplicates.labels("event_id").inc()
            return
        text = mentioned(str(event.get("text", "")))
        channel, thread = str(event["channel"]), str(event.get("thread_ts") or event["ts"])

        async def tell(page: Page) -> None:
            message = await self._edge.rendered(page)
            await self._edge.client.whisper(channel, str(event["user"]), message, thread)

        async def work() -> None:
            page = await self.page(body, text)
            message = await self._edge.rendered(page)
            await self._edge.client.post(channel, message, thread)

        await self._edge.guarded("mention", work, tell, text)


def asker(edge: Edge, user: str, zone: str) -> Asker:
    """Return who asks, as far as the people map can be read."""
    try:
        people = edge.people()
    except GpubotError:  # a stranger's answer is right too, only less at home
        return Asker(time_zone=zone)
    entry = people.by_slack(user)
    if entry is None:
        return Asker(time_zone=zone)
    return Asker(entry.id, tuple(team.name for team in people.teams_of(entry.id)), zone)


def question(command: str, text: str) -> str:
    """Return the question of a slash command: ``/gpu-quota research`` asks "quota research"."""
    word = command.removeprefix("/gpu").removeprefix("-")
    return f"{word} {text}".strip()


def mentioned(text: str) -> str:
    """Return the question in a message that mentions the bot, without mentions and entities.

    Lines and their indents stay: a manifest may be pasted.
    """
    words = MENTION.sub(" ", text).strip()
    return words.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")


def shareable(page: Page, text: str) -> Page:
    """Add the button that shows the answer to the channel."""
    if any(action.action == "share" for action in page.actions):
        return page
    return replace(page, actions=(*page.actions, Action("Share here", "share", text)))


def shared(page: Page, user: str) -> Page:
    """Return the page for the channel: who shared it, and no button to share it again."""
    kept = tuple(action for action in page.actions if action.action != "share")
    return replace(page, actions=kept, footer=(*page.footer, " · shared by ", Person(user)))
