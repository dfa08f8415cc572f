"""What happened to a request, as values that notices and the audit are made from.

[pure]
"""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum


class MoveKind(StrEnum):
    """What can happen to a request, for notices and the audit."""

    SUBMITTED = "submitted"
    OPENED = "opened"
    VOTED = "voted"
    WITHDRAWN = "withdrawn"  # an approval was taken back
    APPROVED = "approved"
    UNAPPROVED = "unapproved"  # the policy is no longer met: a voter lost the role
    VOTES_VOID = "votes-void"
    CONFLICTED = "conflicted"
    UNCONFLICTED = "unconflicted"
    MERGED = "merged"
    MERGED_BY_HAND = "merged-by-hand"  # not by the bot; ``text`` says if the policy was not met
    APPLIED = "applied"  # the GitOps controller says so; ``text`` is its name, ``new`` the commit
    STUCK = "stuck"  # ``text`` in the controller's own words, ``old`` who says so, ``new`` its name
    LIVE = "live"
    DUE = "due"  # the wished end has come: nothing is taken back by itself
    OVERDUE = "overdue"
    DIFFERS = "differs"
    REJECTED = "rejected"
    CANCELLED = "cancelled"
    EXPIRED = "expired"
    CLOSED = "closed"
    TROUBLE = "trouble"
    RECOVERED = "recovered"


@dataclass(frozen=True, slots=True)
class Move:
    """One thing that happened, told once: to the thread, and as an updated card.

    ``by`` is a person's id ("" when it was time, the bot or somebody unknown), ``text`` the
    person's reason or the sentence that belongs to the kind, ``old``/``new`` the commits of a push
    or the values of a rollout.
    """

    kind: MoveKind
    at: datetime
    by: str = ""
    role: str = ""
    text: str = ""
    old: str = ""
    new: str = ""
