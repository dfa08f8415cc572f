"""The inbox: what a person decided is on disk before Slack is told that it arrived.

So a crash loses no click, a click that comes twice is done once, and one that can't be done now
(the forge or Slack doesn't answer) is done later. An intent says what somebody wants; whether they
may is decided when it is done, never from the payload.
"""

import re
import threading
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import datetime, timedelta
from typing import Any, Literal, Protocol, get_args

import structlog

from capacity.errors import UsageError
from gitops.people import Actor
from gitops.ports import Outcome
from gitops.request import Choice, Draft, Request

log = structlog.get_logger(__name__)
Doing = Literal["submit", "decide", "cancel"]
GIVEN_UP = timedelta(hours=1)
BUTTON = re.compile(r"([0-9]{1,9})\.([0-9]{1,9})")


@dataclass(frozen=True, slots=True)
class Intent:
    """What somebody wants done, as Slack delivered it.

    ``key`` is the same for every delivery of the same click or submission. ``homes`` are the
    workspaces that the payload named. ``view`` is the modal to answer in, ``channel`` and
    ``thread`` the place of a button; ``on_home`` that it was the Home tab. ``fields`` belong to
    the kind of doing.
    """

    key: str
    doing: Doing
    user: str
    homes: tuple[str, ...]
    at: datetime
    fields: Mapping[str, Any]
    channel: str = ""
    thread: str = ""
    view: str = ""
    on_home: bool = False

    def payload(self) -> dict[str, Any]:
        """Return it as JSON-ready values; it holds no token and no response address."""
        return asdict(self) | {"at": self.at.isoformat(), "homes": list(self.homes)}


@dataclass(frozen=True, slots=True)
class Done:
    """What came of an intent: the request, and a sentence when nothing was done (again)."""

    request: Request
    sentence: str = ""


class Row(Protocol):
    """A stored intent."""

    @property
    def key(self) -> str: ...
    @property
    def payload(self) -> Mapping[str, Any]: ...


class InboxStore(Protocol):
    """Where intents are kept; ``receive`` is False for a key that was seen before, or if late."""

    def receive(
        self,
        key: str,
        payload: dict[str, Any],
        now: datetime,
        late: threading.Event | None = None,
    ) -> bool: ...
    def undone(self, limit: int) -> tuple[Row, ...]: ...
    def finish(self, key: str) -> None: ...


class Changes(Protocol):
    """The part of ``gitops.flow.Flow`` that people's intents reach."""

    def submit(self, draft: Draft, by: Actor, key: str, now: datetime) -> Request: ...
    def decide(  # noqa: PLR0917  # what a button and its presser say, field by field
        self,
        request_id: int,
        version: int,
        choice: Choice,
        by: Actor,
        reason: str,
        key: str,
        now: datetime,
    ) -> Outcome: ...
    def cancel(
        self, request_id: int, by: Actor, reason: str, key: str, now: datetime
    ) -> Outcome: ...


@dataclass(slots=True)
class Inbox:
    """Takes intents in, and does them.

    ``busy`` are the keys that this process works on, or that broke here: what broke once would
    break again, so it is left to the next start. What is younger than ``fresh`` is somebody's
    who has just taken it in, perhaps another replica's.
    """

    store: InboxStore
    flow: Changes
    busy: set[str] = field(default_factory=set)
    fresh: timedelta = timedelta(seconds=5)

    def accept(self, intent: Intent, now: datetime, late: threading.Event) -> bool:
        """Write the intent down; False when it is known already and nothing is to be done.

        Once ``late`` is set its person was told that nothing was done: then nothing is kept.
        """
        fresh = self.store.receive(intent.key, intent.payload(), now, late)
        if fresh and late.is_set():
            self.store.finish(intent.key)
            return False
        return fresh

    def begin(self, intent: Intent) -> bool:
        """Mark the intent as worked on here; False if it was already."""
        if intent.key in self.busy:
            return False
        self.busy.add(intent.key)
        return True

    def left(self, now: datetime, limit: int = 50) -> tuple[Intent, ...]:
        """Return the intents that were accepted, not done, and that nobody works on."""
        found: list[Intent] = []
        for row in self.store.undone(limit):
            if row.key in self.busy:
                continue
            try:
                intent = from_payload(row.payload)
            except (KeyError, TypeError, ValueError) as error:
                # Of another version of the bot: it must not stand in the way of the others.
                log.error("unreadable intent dropped", key=row.key, why=repr(error))
                self.store.finish(row.key)
                continue
            if now - intent.at >= self.fresh:
                found.append(intent)
        return tuple(found)

    def do(self, intent: Intent, now: datetime) -> Done:
        """Do it; the flow decides whether its person may, and knows the key."""
        by = Actor("slack", intent.user)
        values = intent.fields
        if intent.doing == "submit":
            draft = draft_from(values["draft"])
            return Done(self.flow.submit(draft, by, intent.key, now))
        number, reason = int(values["request"]), str(values.get("reason", ""))
        if intent.doing == "cancel":
            return _done(self.flow.cancel(number, by, reason, intent.key, now))
        choice = _choice(values["choice"])
        version = int(values["version"])
        return _done(self.flow.decide(number, version, choice, by, reason, intent.key, now))

    def too_old(self, intent: Intent, now: datetime) -> bool:
        """Whether it has waited so long that doing it would surprise."""
        return now - intent.at > GIVEN_UP


def from_payload(values: Mapping[str, Any]) -> Intent:
    """Read an intent back from the store."""
    given = dict(values) | {
        "at": datetime.fromisoformat(values["at"]),
        "homes": tuple(values["homes"]),
    }
    return Intent(**given)


def button(value: str) -> tuple[int, int]:
    """Read a button's "REQUEST.VERSION"; raises UsageError for anything else."""
    found = BUTTON.fullmatch(value)
    if found is None:
        raise UsageError("This button is from another time.", "Ask /gpu help for what I know now.")
    return int(found[1]), int(found[2])


def draft_values(draft: Draft) -> dict[str, Any]:
    """Return a draft as JSON-ready values."""
    return asdict(draft) | {"until": draft.until.isoformat() if draft.until else None}


def draft_from(values: Mapping[str, Any]) -> Draft:
    """Read a draft back."""
    until = values.get("until")
    return Draft(**dict(values) | {"until": datetime.fromisoformat(until) if until else None})


def _choice(value: Any) -> Choice:
    choices: dict[str, Choice] = {choice: choice for choice in get_args(Choice)}
    if value not in choices:
        raise UsageError("That is neither an approval nor a rejection; nothing was changed.")
    return choices[value]


def _done(outcome: Outcome) -> Done:
    return Done(outcome.request, "" if outcome.done else outcome.sentence)
