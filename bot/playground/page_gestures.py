"""What the page's buttons do: each gesture is one of a person's in the fake Slack."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from bot.playground.fake_slack.error import SlackError
from bot.playground.fake_slack.messages import Message
from bot.playground.fake_slack.places import find_element, keep
from bot.playground.fake_slack.server import FakeSlack
from bot.playground.fake_slack.state import Value
from bot.playground.page_view import place_of

Json = dict[str, Any]


@dataclass(slots=True)
class PageGestures:
    """Dispatches a gesture by its name."""

    slack: FakeSlack

    async def do(self, gesture: Json) -> Json:
        """Do it and return what the page needs at once; raises SlackError if it can't be done."""
        known: dict[str, Callable[[str, Json], Awaitable[Json]]] = {
            "slash": self._slash,
            "say": self._say,
            "use": self._use,
            "fill": self._fill,
            "submit": self._submit,
            "close": self._close,
            "home": self._home,
            "dismiss": self._dismiss,
            "suggest": self._suggest,
            "shortcut": self._shortcut,
        }
        act = known.get(str(gesture.get("gesture")))
        if act is None:
            raise SlackError("unknown_gesture")
        return await act(self.slack.workspace.user(str(gesture.get("user"))).id, gesture)

    async def _slash(self, user: str, g: Json) -> Json:
        command, _, text = str(g["text"]).strip().partition(" ")
        await self.slack.gestures.slash(user, str(g["channel"]), command, text.strip())
        return {}

    async def _say(self, user: str, g: Json) -> Json:
        text, thread = str(g["text"]), str(g.get("thread_ts") or "")
        message = self.slack.gestures.say(user, str(g["channel"]), text, thread)
        return {"ts": message.ts}

    async def _use(self, user: str, g: Json) -> Json:
        place = place_of(self.slack.workspace, user, g)
        block, action, value = _what(g)
        await self.slack.gestures.use(user, place, block, action, value)
        return {}

    async def _fill(self, user: str, g: Json) -> Json:
        place = place_of(self.slack.workspace, user, g)
        block, action, value = _what(g)
        how = str(g.get("how") or "")
        await self.slack.gestures.fill(user, place, block, action, value, how=how)
        return {}

    async def _submit(self, user: str, g: Json) -> Json:
        place = place_of(self.slack.workspace, user, g)
        for entry in g.get("values", []):
            block_id, action_id, value = _what(entry)
            block, element = find_element(place, block_id, action_id)
            keep(place, block, element, value)
        return {"sent": await self.slack.gestures.submit(user, str(g["view"]))}

    async def _close(self, user: str, g: Json) -> Json:
        await self.slack.gestures.close(user, all_of_them=bool(g.get("all")))
        return {}

    async def _home(self, user: str, g: Json) -> Json:
        self.slack.gestures.open_home(user)
        return {}

    async def _dismiss(self, user: str, g: Json) -> Json:
        place = place_of(self.slack.workspace, user, g)
        if isinstance(place, Message) and place.only_for == user:
            self.slack.workspace.delete(place)
        return {}

    async def _suggest(self, user: str, g: Json) -> Json:
        place = place_of(self.slack.workspace, user, g)
        block, action, _ = _what(g)
        query = str(g.get("query") or "")
        return await self.slack.gestures.suggest(user, place, block, action, query)

    async def _shortcut(self, user: str, g: Json) -> Json:
        place = place_of(self.slack.workspace, user, g) if g.get("ts") else None
        message = place if isinstance(place, Message) else None
        await self.slack.gestures.shortcut(user, str(g["callback_id"]), message)
        return {}


def _what(g: Json) -> tuple[str, str, Value]:
    value = g.get("value")
    if isinstance(value, list):
        value = [str(v) for v in value]
    elif value is not None:
        value = str(value)
    return str(g.get("block_id") or ""), str(g.get("action_id") or ""), value
