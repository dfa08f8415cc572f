"""A request and its parts: what is asked, what was decided, where it stands.

``gitops.machine`` holds the transitions. Two counters with two purposes: ``version`` is the
content's (a push, a new policy: votes for an older version no longer count; buttons carry it),
``revision`` is the record's (every save: compare-and-swap, and the order of cards). [pure]
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Literal

Kind = Literal["nominal", "borrowing", "lending"]
Choice = Literal["approve", "reject"]

FIELDS: Mapping[Kind, str] = {
    "nominal": "nominalQuota",
    "borrowing": "borrowingLimit",
    "lending": "lendingLimit",
}


class State(StrEnum):
    """Where a request stands."""

    SUBMITTED = "submitted"  # recorded, no pull request yet
    OPEN = "open"  # pull request open, awaiting approvals
    CONFLICTED = "conflicted"  # the base branch changed the same lines
    APPROVED = "approved"  # the policy is met, the merge is due
    MERGING = "merging"  # the merge was asked for and its outcome is not known yet
    MERGED = "merged"  # in Git, not yet seen in the cluster
    OVERDUE = "overdue"  # merged, and not seen in the cluster in time
    DIFFERS = "differs"  # merged, and the cluster shows a third value
    LIVE = "live"
    REJECTED = "rejected"
    CANCELLED = "cancelled"
    EXPIRED = "expired"
    CLOSED = "closed"  # the pull request was closed by hand


TERMINAL = frozenset(
    {State.LIVE, State.REJECTED, State.CANCELLED, State.EXPIRED, State.CLOSED},
)
IN_GIT = frozenset({State.MERGED, State.OVERDUE, State.DIFFERS, State.LIVE})
VOTABLE = frozenset({State.SUBMITTED, State.OPEN, State.CONFLICTED, State.APPROVED})


@dataclass(frozen=True, slots=True)
class Draft:
    """One change that a person asks for.

    ``old`` and ``new`` are quantities as text in canonical form; None means the field is not
    set (no limit). ``until`` is the wished end, if any. ``requester`` is a person's id; the flow
    sets it from the account that submits, whatever the draft says.
    """

    kind: Kind
    cluster_queue: str
    flavor: str
    resource: str
    old: str | None
    new: str | None
    reason: str = ""
    until: datetime | None = None
    requester: str = ""
    team: str = ""
    cluster: str = ""

    @property
    def field(self) -> str:
        """Kueue's name of the field: nominalQuota, borrowingLimit or lendingLimit."""
        return FIELDS[self.kind]

    @property
    def target(self) -> str:
        """What is changed, as one key: at most one open request may have it."""
        place = f"{self.cluster}/{self.cluster_queue}/{self.flavor}/{self.resource}"
        return f"{place}/{self.field}"


@dataclass(frozen=True, slots=True)
class Facts:
    """What the policy looks at, taken from draft and fleet when the request was submitted.

    ``delta`` is signed, in the resource's own unit; None means to or from "no limit", whose
    direction ``raises`` still tells. ``percent`` is of the old value (None: from nothing or
    unlimited). ``lenders`` are the cohort's other queues that may lend this flavor, ``borrowers``
    those that may borrow it. ``edited`` means that the pull request holds something else than the
    request's own change, ``lasts`` how long it is asked for (None: without end).
    """

    raises: bool
    delta: int | None
    percent: int | None = None
    lenders: tuple[str, ...] = ()
    borrowers: tuple[str, ...] = ()
    edited: bool = False
    lasts: timedelta | None = None


@dataclass(frozen=True, slots=True)
class Content:
    """Exactly what a vote is about.

    ``diff_hash`` covers the changed files byte by byte, ``head_sha`` is None until the pull
    request is open, ``policy`` is the hash of the policy file in force.
    """

    version: int
    diff_hash: str
    base_sha: str
    head_sha: str | None
    policy: str

    def is_what(self, seen: "Content") -> bool:
        """Tell whether a vote cast on ``seen`` is still about this content.

        A vote from before the pull request was open (no head yet) stays good: opening pins the
        head only when the branch holds precisely the diff that was voted on.
        """
        same_head = seen.head_sha in (None, self.head_sha)
        return same_head and (
            (self.version, self.diff_hash, self.base_sha, self.policy)
            == (seen.version, seen.diff_hash, seen.base_sha, seen.policy)
        )


@dataclass(frozen=True, slots=True)
class Vote:
    """One person's decision on one content; ``account`` is where it came from ("slack:U0LI")."""

    person: str
    role: str
    choice: Choice
    reason: str
    at: datetime
    account: str
    content: Content


@dataclass(frozen=True, slots=True)
class PullRef:
    """Where the pull request is."""

    number: int
    url: str


@dataclass(frozen=True, slots=True)
class Trouble:
    """A forge step that fails: everything is kept, the step is tried again at ``retry_at``."""

    step: str
    sentence: str
    next_step: str
    attempts: int
    since: datetime
    retry_at: datetime


@dataclass(frozen=True, slots=True)
class Ending:
    """How it ended, or who merged it: by whom ("" when by time), why, when."""

    by: str
    reason: str
    at: datetime


@dataclass(frozen=True, slots=True)
class Chores:
    """What was already done on the forge, so that a repeat does nothing new.

    ``status`` is the last commit status set ("sha state description"), ``comments`` the keys of
    the comments written, ``tidy`` tells that pull request and branch are closed and removed,
    ``reminded`` that its wished end was told; ``applied`` the commit that the GitOps controller
    was told to have applied, ``stuck`` its last failure that was told.
    """

    status: str = ""
    comments: tuple[str, ...] = ()
    polled_at: datetime | None = None
    tidy: bool = False
    reminded: bool = False
    applied: str = ""
    stuck: str = ""


@dataclass(frozen=True, slots=True)
class Request:
    """A request with its whole history; immutable, every transition makes a new one.

    ``approve_by`` and ``merge_by`` are the two clocks: unanswered until then, or approved but not
    merged until then, it expires. ``live_by`` is when a merged one counts as overdue.
    """

    id: int
    token: str
    draft: Draft
    facts: Facts
    content: Content
    submitted_at: datetime
    approve_by: datetime
    state: State = State.SUBMITTED
    version: int = 1
    revision: int = 0
    title: str = ""
    diff: str = ""
    notes: tuple[str, ...] = ()
    votes: tuple[Vote, ...] = ()
    pull: PullRef | None = None
    merge_by: datetime | None = None
    merge_sha: str | None = None
    merged_at: datetime | None = None
    live_by: datetime | None = None
    observed: str | None = None
    ending: Ending | None = None
    trouble: Trouble | None = None
    chores: Chores = field(default=Chores())

    @property
    def branch(self) -> str:
        """The branch's name, from the request alone; the token keeps it off an old database's."""
        return f"gpubot/request-{self.id}-{self.token}"

    @property
    def button_value(self) -> str:
        """What a button carries: which request, which content. Never authority."""
        return f"{self.id}.{self.version}"

    @property
    def standing_votes(self) -> tuple[Vote, ...]:
        """The votes that are about the present content, oldest first."""
        return tuple(v for v in self.votes if self.content.is_what(v.content))

    @property
    def settled(self) -> bool:
        """Whether nothing is left to do: ended, the forge tidy, and its wished end told."""
        told = self.draft.until is None or self.state is not State.LIVE or self.chores.reminded
        return self.state in TERMINAL and self.chores.tidy and told


def hash_of(files: Mapping[str, bytes | None]) -> str:
    """Return the hash of changed files (path and bytes at the head; None is a deletion)."""
    digest = hashlib.sha256()
    for path in sorted(files):
        content = files[path]
        body = b"deleted" if content is None else b"%d:%s" % (len(content), content)
        digest.update(b"%d:%s=%s\n" % (len(path.encode()), path.encode(), body))
    return digest.hexdigest()
