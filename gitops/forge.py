"""The forge, where pull requests live: its values, named failures and the protocol.

Every call may be repeated without harm: a pull request is found by its branch before it is made,
a comment by its key, a status is set to a value, a merge names the head that it expects. [pure]
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, Protocol

from capacity.errors import Conflict, GpubotError, SourceDown

PullState = Literal["open", "merged", "closed"]
StatusState = Literal["pending", "success", "failure"]
ReviewState = Literal["approved", "rejected", "dismissed", "commented"]

STATUS_CONTEXT = "gpubot/approvals"


class ForgeDown(SourceDown):
    """The forge doesn't answer, or says to come back later: nothing is known to have changed.

    ``retry_after`` is the forge's own advice in seconds (rate limits), None when it gave none.
    """

    def __init__(
        self,
        forge: str,
        since: datetime | None = None,
        *,
        retry_after: float | None = None,
        detail: str = "",
    ) -> None:
        super().__init__(forge, since, otherwise="now", detail=detail)
        self.retry_after = retry_after


class ForgeDenied(GpubotError):
    """The forge refuses the bot (bad token, missing right, branch protection): fix it there."""


class ForgeConflict(Conflict):
    """The forge's state is not what the call expected; nothing was changed.

    ``reason`` is "head-moved" (somebody pushed), "merge-conflict" (the base branch changed the
    same lines), "not-open" (merged or closed meanwhile) or "branch-taken" (the branch holds
    something that is not ours).
    """

    def __init__(
        self,
        reason: Literal["head-moved", "merge-conflict", "not-open", "branch-taken"],
        sentence: str,
        next_step: str = "",
        *,
        detail: str = "",
    ) -> None:
        super().__init__(sentence, next_step, detail=detail)
        self.reason = reason


class ForgeMissing(GpubotError):
    """The pull request, branch or repository is not there (deleted, renamed or hidden)."""


@dataclass(frozen=True, slots=True)
class Proposal:
    """Everything a new pull request consists of.

    ``files`` holds whole files by path as they shall be on the branch, on top of commit
    ``base_sha``; None deletes one. The branch gets exactly one commit.
    """

    branch: str
    base_sha: str
    files: Mapping[str, bytes | None]
    title: str
    body: str
    message: str
    labels: tuple[str, ...] = ()
    reviewers: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Review:
    """A person's verdict on the forge; ``by`` is the forge login, ``head_sha`` what they saw."""

    id: str
    by: str
    state: ReviewState
    head_sha: str
    at: datetime
    text: str = ""


@dataclass(frozen=True, slots=True)
class PullRequest:
    """A pull request as the forge shows it now.

    ``base_sha`` is the commit that the branch starts from (the merge base), ``mergeable`` is None
    while the forge has not computed it, False when it conflicts with the base branch. ``merge_sha``
    and ``merged_by`` (forge login) are set once merged.
    """

    number: int
    url: str
    branch: str
    head_sha: str
    base_sha: str
    state: PullState
    mergeable: bool | None = None
    merge_sha: str | None = None
    merged_by: str = ""
    reviews: tuple[Review, ...] = field(default=())


class Forge(Protocol):
    """What the flow asks of a forge; each call raises the failures named above."""

    def open_pull_request(self, proposal: Proposal) -> PullRequest:
        """Make branch, commit and pull request; whatever of them exists already is kept.

        A pull request of this branch in any state is returned as it is, never doubled or reopened.
        """
        ...

    def find(self, branch: str) -> PullRequest | None:
        """Find the pull request of this branch in whatever state it is; None if there never was."""
        ...

    def read(self, number: int) -> PullRequest:
        """Read the pull request with its reviews; raises ForgeMissing if there is none."""
        ...

    def set_status(self, sha: str, state: StatusState, description: str) -> None:
        """Set the commit status ``gpubot/approvals``; the description is cut to 140 characters."""
        ...

    def comment(self, number: int, key: str, text: str) -> None:
        """Write a comment unless one with this key is there (a hidden marker carries the key)."""
        ...

    def merge(self, number: int, expected_head: str, message: str) -> PullRequest:
        """Merge if the head is still ``expected_head``; an already merged one is returned as is.

        The merge commit's message is ``message``, unchanged. Raises ForgeConflict.
        """
        ...

    def close(self, number: int) -> None:
        """Close it if it is open, and delete its branch if that is still there."""
        ...
