"""Open modals, stacked three deep per person, and one Home tab each."""

import secrets
from dataclasses import dataclass, field
from typing import Any

from bot.playground.fake_slack.error import SlackError
from bot.playground.fake_slack.messages import with_block_ids
from bot.playground.fake_slack.people import APP, BOT, TEAM
from bot.playground.fake_slack.state import Values, kept, to_state

STACK = 3


@dataclass(slots=True)
class View:
    """A modal or Home tab as one person sees it, with what they have put into its fields."""

    id: str
    user: str
    body: dict[str, Any]
    hash: str
    root: str
    previous: str | None = None
    values: Values = field(default_factory=dict)
    errors: dict[str, str] = field(default_factory=dict)

    @property
    def blocks(self) -> list[dict[str, Any]]:
        blocks: list[dict[str, Any]] = self.body["blocks"]
        return blocks

    def to_json(self) -> dict[str, Any]:
        """Return the view object of responses and payloads."""
        defaults: dict[str, Any] = {"callback_id": "", "external_id": "", "private_metadata": ""}
        defaults |= {"clear_on_close": False, "notify_on_close": False, "close": None}
        return {
            **defaults,
            "submit": None,
            **self.body,
            "id": self.id,
            "team_id": TEAM,
            "app_id": APP,
            "bot_id": BOT,
            "hash": self.hash,
            "root_view_id": self.root,
            "previous_view_id": self.previous,
            "state": {"values": to_state(self.blocks, self.values)},
        }


@dataclass(slots=True)
class ViewBook:
    """The views of the workspace."""

    stacks: dict[str, list[View]] = field(default_factory=dict)
    homes: dict[str, View] = field(default_factory=dict)
    external_ids: set[str] = field(default_factory=set)

    def top(self, user: str) -> View | None:
        """Return the modal this person is looking at, if any."""
        stack = self.stacks.get(user)
        return stack[-1] if stack else None

    def open(self, user: str, body: dict[str, Any]) -> View:
        """Show a modal in place of any that is open."""
        view = self._new(user, body, previous=None)
        self.stacks[user] = [view]
        return view

    def push(self, user: str, body: dict[str, Any]) -> View:
        """Stack a modal on the open one."""
        stack = self.stacks.get(user) or []
        if not stack:
            raise SlackError("invalid_arguments", ("no modal is open to push on",))
        if len(stack) >= STACK:
            raise SlackError("push_limit_reached")
        view = self._new(user, body, previous=stack[-1])
        stack.append(view)
        return view

    def update(self, view: View, body: dict[str, Any]) -> View:
        """Replace a view's contents; what was typed stays where block and action ids stay."""
        self._claim(body, view.body.get("external_id", ""))
        view.body = {**body, "blocks": with_block_ids(body["blocks"])}
        view.hash = _hash()
        view.values = kept(view.values, view.blocks)
        view.errors = {}
        return view

    def publish(self, user: str, body: dict[str, Any], expected: str) -> View:
        """Replace a person's Home tab."""
        home = self.homes.get(user)
        if home is None:
            home = self.homes[user] = self._new(user, body, previous=None)
            return home
        check_hash(home, expected)
        return self.update(home, body)

    def close(self, user: str, *, all_of_them: bool = False) -> list[View]:
        """Close the top modal, or the whole stack; return what was closed."""
        stack = self.stacks.get(user) or []
        closed = stack[:] if all_of_them else stack[-1:]
        del stack[len(stack) - len(closed) :]
        return closed

    def by_id(self, view_id: str = "", external_id: str = "") -> View:
        """Return an open view."""
        everything = [v for s in self.stacks.values() for v in s] + list(self.homes.values())
        for view in everything:
            if view_id and view.id == view_id:
                return view
            if external_id and view.body.get("external_id") == external_id:
                return view
        raise SlackError("not_found")

    def _new(self, user: str, body: dict[str, Any], previous: View | None) -> View:
        self._claim(body, "")
        view_id = f"V{secrets.token_hex(5).upper()}"
        root = previous.root if previous else view_id
        full = {**body, "blocks": with_block_ids(body["blocks"])}
        before = previous.id if previous else None
        return View(view_id, user, full, _hash(), root, before, kept({}, full["blocks"]))

    def _claim(self, body: dict[str, Any], own: str) -> None:
        external = body.get("external_id") or ""
        if external and external != own and external in self.external_ids:
            raise SlackError("duplicate_external_id")
        if external:
            self.external_ids.add(external)


def check_hash(view: View, expected: str) -> None:
    """Refuse an update that was made from an older state of the view."""
    if expected and expected != view.hash:
        raise SlackError("hash_conflict")


def _hash() -> str:
    return f"{secrets.randbelow(10**10)}.{secrets.token_hex(4)}"
