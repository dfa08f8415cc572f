"""What the flow needs of the world: protocols, and the values it answers with.

[pure]
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

from capacity.errors import GpubotError
from capacity.model import Fleet
from gitops.audit import Entry
from gitops.moves import Move
from gitops.policy import Verdict
from gitops.request import Draft, Facts, Request


class Source(Protocol):
    """The GitOps repository, read at commits; raises SourceDown when it can't be."""

    def head(self) -> str:
        """Return the commit at the tip of the base branch, as fresh as can be had."""
        ...

    def read(self, path: str, commit: str) -> bytes | None:
        """Return a file's bytes at a commit; None if it isn't there."""
        ...

    def changed(self, base: str, head: str) -> Mapping[str, bytes | None]:
        """Return what ``head`` changed since it left ``base``: files at head, None if deleted."""
        ...

    def diff(self, base: str, head: str) -> str:
        """Return the same as a unified diff."""
        ...


class Change(Protocol):
    """The edits of one draft on top of a commit, and the words about them (``gitops.change``)."""

    @property
    def files(self) -> Mapping[str, bytes | None]:
        """The changed files, whole."""
        ...

    @property
    def diff(self) -> str:
        """The unified diff of the files."""
        ...

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reviewer should know: a comment that repeats the old number, "not rendered" ..."""
        ...

    @property
    def title(self) -> str:
        """The pull request's title, and the first line of the merge commit."""
        ...

    @property
    def body(self) -> str:
        """The pull request's body; the person's words in it are inert."""
        ...

    @property
    def message(self) -> str:
        """The commit message on the branch."""
        ...


class Finding(Protocol):
    """One lint finding (``gitops.lint``); errors block, warnings show."""

    @property
    def blocks(self) -> bool: ...
    @property
    def sentence(self) -> str: ...


BuildChange = Callable[[Draft, str], Change]
"""Build the edits for a draft at a commit; raises Refused, Conflict (old value) or UnknownName."""
Lint = Callable[[Draft, Fleet], tuple[Finding, ...]]
WhatIf = Callable[[Draft, Fleet], Any]


class RequestStore(Protocol):
    """Where requests live. ``add`` and ``save`` are one transaction each, moves included."""

    def add(self, request: Request, key: str, cap: int, told: "Told") -> Request:
        """Store a new request and give it its id (the given one is ignored).

        A key that was used before returns the request that it made. Raises Conflict, naming the
        open request with the same target, or when the requester has ``cap`` open ones.
        """
        ...

    def get(self, request_id: int) -> Request | None:
        """Return the request as last saved."""
        ...

    def by_key(self, key: str) -> Request | None:
        """Return the request that the call with this key changed; None if it never was done."""
        ...

    def unsettled(self) -> tuple[Request, ...]:
        """Return the requests that something is left to do for, oldest first."""
        ...

    def save(self, request: Request, expected: int, told: "Told", key: str = "") -> bool:
        """Save if the stored revision is still ``expected``; False changes nothing at all.

        The stored revision becomes ``expected + 1``; every move gets an outbox row with it. A key
        that was used before is also False.
        """
        ...

    def record(self, entries: Iterable[Entry]) -> str:
        """Append audit entries that belong to no save (refusals); return the chain's head hash."""
        ...


@dataclass(frozen=True, slots=True)
class Told:
    """What goes along with a save: moves for people, entries for the audit."""

    moves: tuple[Move, ...] = ()
    entries: tuple[Entry, ...] = ()


@dataclass(frozen=True, slots=True)
class Preview:
    """What a draft would do, before anybody commits to it.

    ``refusal`` is why it can't be submitted (policy, edit, lint error), None if it can.
    ``what_if`` is the simulation's outcome (``capacity.simulate``). What was not reached because of
    an earlier refusal is None.
    """

    draft: Draft
    refusal: GpubotError | None = None
    facts: Facts | None = None
    verdict: Verdict | None = None
    change: Change | None = None
    findings: tuple[Finding, ...] = ()
    what_if: Any = None

    @property
    def refused(self) -> str:
        """The sentence why it can't be submitted, "" if it can."""
        return self.refusal.sentence if self.refusal else ""

    @property
    def next_step(self) -> str:
        """What to do about the refusal."""
        return self.refusal.next_step if self.refusal else ""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a decision or a cancellation.

    ``done`` is False when it changed nothing because it had been done before (a double click, a
    redelivery): ``sentence`` says so. Refusals are exceptions (Denied, Conflict, UsageError).
    """

    request: Request
    done: bool
    sentence: str
    verdict: Verdict | None = None
    moves: tuple[Move, ...] = ()


@dataclass(frozen=True, slots=True)
class View:
    """A request with the policy's present verdict: what a card shows."""

    request: Request
    verdict: Verdict
    as_of: datetime
