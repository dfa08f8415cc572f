"""A person at the fake Slack, for tests that tell a story: they see, click, type and submit.

Every method works on what this person can see; what they can't see can't be clicked.
"""

import time
from collections.abc import Callable
from typing import Any, TypeVar

from bot.playground.fake_slack.error import SlackError
from bot.playground.fake_slack.messages import Message
from bot.playground.fake_slack.people import TEAM
from bot.playground.fake_slack.places import Place
from bot.playground.fake_slack.server import FakeSlack
from bot.playground.fake_slack.state import Value
from bot.playground.fake_slack.validate_blocks import elements_of
from bot.playground.fake_slack.view_book import View
from bot.playground.serving import Serving

T = TypeVar("T")
PATIENCE = 10.0
OPENING = 3.0


class SlackPerson:
    """One person; ``channel`` is where their slash commands go unless said otherwise."""

    def __init__(
        self, slack: FakeSlack, serving: Serving, user: str, channel: str = "C0REQUESTS"
    ) -> None:
        self._slack = slack
        self._serving = serving
        self.user = user
        self.channel = channel

    def slash(self, command: str, text: str = "", channel: str = "") -> None:
        """Send a slash command and wait until the bot acknowledged it or Slack gave up."""
        where = channel or self.channel
        self._serving.run(self._slack.gestures.slash(self.user, where, command, text))

    def say(self, text: str, channel: str = "", thread_ts: str = "") -> Message:
        """Write a message."""
        where = channel or self.channel
        return self._serving.call(
            lambda: self._slack.gestures.say(self.user, where, text, thread_ts)
        )

    def click(self, place: Place, action_id: str, value: Value = None, block_id: str = "") -> None:
        """Press a button, or choose ``value`` in a menu outside of input blocks."""
        use = self._slack.gestures.use
        self._serving.run(use(self.user, place, block_id, action_id, value))

    def fill(self, action_id: str, value: Value, how: str = "", block_id: str = "") -> None:
        """Put a value into a field of the open modal."""
        fill = self._slack.gestures.fill
        view = self.modal()
        self._serving.run(fill(self.user, view, block_id, action_id, value, how=how))

    def submit(self, **values: Value) -> bool:
        """Fill fields by action id, then submit the modal; return whether it was accepted."""
        for action_id, value in values.items():
            self.fill(action_id, value)
        return self._serving.run(self._slack.gestures.submit(self.user, self.modal().id))

    def close(self, *, all_of_them: bool = False) -> None:
        """Close the open modal."""
        self._serving.run(self._slack.gestures.close(self.user, all_of_them=all_of_them))

    def suggestions(self, place: Place, action_id: str, query: str) -> dict[str, Any]:
        """Type into an external select."""
        suggest = self._slack.gestures.suggest
        return self._serving.run(suggest(self.user, place, "", action_id, query))

    def shortcut(self, callback_id: str, message: Message | None = None) -> None:
        """Use a shortcut."""
        self._serving.run(self._slack.gestures.shortcut(self.user, callback_id, message))

    def open_home(self) -> None:
        """Look at the Home tab; the bot hears of it."""
        self._serving.call(lambda: self._slack.gestures.open_home(self.user))

    def messages(self, channel: str = "") -> list[Message]:
        """Return everything this person sees in a channel, oldest first, threads included."""
        where = channel or self.channel
        if where.startswith("@"):
            where = self._slack.workspace.channel(self.user).id
        return self._serving.call(lambda: self._slack.workspace.book.seen_by(self.user, where))

    def see_channel(self, channel: str = "") -> list[Message]:
        """Return the channel without the replies in its threads."""
        return [m for m in self.messages(channel) if not m.thread_ts or m.broadcast]

    def see_ephemerals(self, channel: str = "") -> list[Message]:
        """Return what only this person sees."""
        return [m for m in self.messages(channel) if m.only_for]

    def see_thread(self, root: Message) -> list[Message]:
        """Return the replies to a message."""
        return [m for m in self.messages(root.channel) if m.thread_ts == root.ts]

    def see_errors(self) -> list[str]:
        """Return what Slack itself told this person about failures of the bot."""
        return [e.words for e in self._slack.workspace.errors if e.user == self.user]

    def modal(self) -> View:
        """Return the open modal; one that is about to open is waited for, as a person does."""
        end = time.monotonic() + OPENING
        while True:
            view = self._serving.call(lambda: self._slack.workspace.views.top(self.user))
            if view is not None:
                return view
            if time.monotonic() > end:
                raise SlackError("no_modal", (f"{self.user} in {TEAM} has no modal open",))
            time.sleep(0.02)

    def home(self) -> View | None:
        """Return the Home tab, None if the bot never published one."""
        return self._serving.call(lambda: self._slack.workspace.views.homes.get(self.user))

    def wait_for(self, look: Callable[[], T | None], seconds: float = PATIENCE) -> T:
        """Look again and again until there is something to see; raises TimeoutError."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            found = look()
            if found:
                return found
            time.sleep(0.02)
        raise TimeoutError(f"{self.user} waited {seconds:g} s in vain; sees {self.digest()}")

    def wait_for_text(self, words: str, channel: str = "", seconds: float = PATIENCE) -> Message:
        """Wait for a message that says these words, in its text or its blocks."""

        def look() -> Message | None:
            found = [m for m in self.messages(channel) if words in everything_said(m)]
            return found[-1] if found else None

        return self.wait_for(look, seconds)

    def digest(self) -> str:
        """Return the last lines this person sees, for a failing test to show."""
        lines = [f"  {m.user}: {m.text[:200]}" for m in self.messages()[-5:]]
        return "\n".join(["", *lines, *(f"  error: {e}" for e in self.see_errors()[-3:])])


def buttons(place: Place) -> dict[str, str]:
    """Return the label of each button by its action id."""
    elements = [e for b in place.blocks for e in elements_of(b) if e["type"] == "button"]
    return {e["action_id"]: e["text"]["text"] for e in elements}


def everything_said(place: Place) -> str:
    """Return all words of a message or view, wherever they stand."""
    own = place.text if isinstance(place, Message) else ""
    return "\n".join([own, *_texts(place.blocks)])


def _texts(value: Any) -> list[str]:
    if isinstance(value, list):
        return [t for item in value for t in _texts(item)]
    if not isinstance(value, dict):
        return []
    if value.get("type", "").startswith("rich_text_"):
        return ["".join(_texts(value["elements"]))]
    own = [value[k] for k in ("text", "fallback") if isinstance(value.get(k), str)]
    return own + [t for item in value.values() if not isinstance(item, str) for t in _texts(item)]
