"""What can happen to a request, as the state machine is told it.

An event says what was seen or done, never what the request should become. [pure]
"""

from dataclasses import dataclass
from datetime import datetime, timedelta

from gitops.delivering import Delivering
from gitops.forge import PullRequest
from gitops.request import Content, Vote
from gitops.rollout import Differs, Live, Overdue, Waiting


@dataclass(frozen=True, slots=True)
class Opened:
    """The pull request exists; ``diff_hash`` and ``diff`` are what its branch holds.

    ``edited`` tells that this is not the request's own change (somebody pushed in between).
    """

    pull: PullRequest
    diff_hash: str
    diff: str
    edited: bool


@dataclass(frozen=True, slots=True)
class Voted:
    """An eligible person decided."""

    vote: Vote


@dataclass(frozen=True, slots=True)
class Withdrawn:
    """A person took an approval back (a review dismissed on the forge)."""

    person: str
    account: str


@dataclass(frozen=True, slots=True)
class Judged:
    """The policy was asked about this very content; ``merge_within`` is its second clock."""

    content: Content
    met: bool
    merge_within: timedelta


@dataclass(frozen=True, slots=True)
class Pushed:
    """The branch has another head than the one recorded."""

    head_sha: str
    base_sha: str
    diff_hash: str
    diff: str
    edited: bool
    by: str = ""


@dataclass(frozen=True, slots=True)
class PolicyChanged:
    """Another policy file is in force on the base branch."""

    policy: str


@dataclass(frozen=True, slots=True)
class MergeStarted:
    """The merge is about to be asked for: recorded first, so that a crash knows it was ours."""


@dataclass(frozen=True, slots=True)
class NotMerged:
    """The forge was read after a merge was asked for, and shows it open as before."""


@dataclass(frozen=True, slots=True)
class Merged:
    """The forge shows it merged; ``by`` a person's id, ``by_bot`` by our own call."""

    sha: str
    by: str
    by_bot: bool
    live_within: timedelta


@dataclass(frozen=True, slots=True)
class ClosedByHand:
    """The forge shows it closed, and not by us."""


@dataclass(frozen=True, slots=True)
class Mergeable:
    """The forge says whether it can be merged with the base branch."""

    yes: bool


@dataclass(frozen=True, slots=True)
class Cancelled:
    """The requester took it back (or a person who may)."""

    by: str
    reason: str


@dataclass(frozen=True, slots=True)
class Ticked:
    """Time has passed."""


@dataclass(frozen=True, slots=True)
class Observed:
    """The cluster was looked at after the merge."""

    rollout: Waiting | Live | Overdue | Differs


@dataclass(frozen=True, slots=True)
class Delivered:
    """The GitOps controller was asked how far it is with the merge."""

    news: Delivering


@dataclass(frozen=True, slots=True)
class StepFailed:
    """A forge step failed and is tried again at ``retry_at``."""

    step: str
    sentence: str
    next_step: str
    retry_at: datetime


@dataclass(frozen=True, slots=True)
class StepDone:
    """A forge step was done: which, and what it leaves in the chores."""

    step: str
    status: str | None = None
    comment: str | None = None
    polled_at: datetime | None = None
    tidy: bool = False


Event = (
    Opened
    | Voted
    | Withdrawn
    | Judged
    | Pushed
    | PolicyChanged
    | MergeStarted
    | NotMerged
    | Merged
    | ClosedByHand
    | Mergeable
    | Cancelled
    | Ticked
    | Observed
    | Delivered
    | StepFailed
    | StepDone
)
