"""Requests, votes and moves to rows and back: nothing is lost or guessed on the way."""

from typing import Any, TypeVar

import msgspec

from bot.store_rows import RequestRow, VoteRow
from gitops.request import (
    IN_GIT,
    TERMINAL,
    Choice,
    Chores,
    Content,
    Draft,
    Ending,
    Facts,
    PullRef,
    Request,
    State,
    Trouble,
    Vote,
)

T = TypeVar("T")
_FREES_TARGET = TERMINAL | (IN_GIT - {State.MERGED})
_SIMPLE = (
    "revision",
    "version",
    "token",
    "title",
    "diff",
    "submitted_at",
    "approve_by",
    "merge_by",
    "merge_sha",
    "merged_at",
    "live_by",
    "observed",
)
_JSON: dict[str, Any] = {
    "draft": Draft,
    "facts": Facts,
    "content": Content,
    "notes": tuple[str, ...],
    "pull": PullRef | None,
    "ending": Ending | None,
    "trouble": Trouble | None,
    "chores": Chores,
}


def to_json(value: object) -> Any:
    """Return a value of ours as plain JSON values (dates as ISO text)."""
    return msgspec.to_builtins(value)


def from_json(raw: Any, type_: type[T]) -> T:
    """Return the value back, checked against its type."""
    return msgspec.convert(raw, type_)


def to_row(request: Request) -> RequestRow:
    """Return a request's columns; its votes have rows of their own."""
    values: dict[str, Any] = {name: getattr(request, name) for name in _SIMPLE}
    values |= {name: to_json(getattr(request, name)) for name in _JSON}
    return RequestRow(
        **values,
        id=request.id or None,
        state=request.state.value,
        settled=request.settled,
        target=None if request.state in _FREES_TARGET else request.draft.target,
        requester=request.draft.requester,
    )


def from_row(row: RequestRow, votes: tuple[Vote, ...]) -> Request:
    """Return the request of a row and its votes."""
    values: dict[str, Any] = {name: getattr(row, name) for name in _SIMPLE}
    values |= {name: from_json(getattr(row, name), type_) for name, type_ in _JSON.items()}
    return Request(id=row.id or 0, state=State(row.state), votes=votes, **values)


def to_vote_row(request_id: int, seq: int, vote: Vote) -> VoteRow:
    """Return a vote's row; ``seq`` is its place among the request's votes."""
    return VoteRow(
        request_id=request_id,
        seq=seq,
        person=vote.person,
        role=vote.role,
        choice=vote.choice,
        reason=vote.reason,
        at=vote.at,
        account=vote.account,
        content=to_json(vote.content),
    )


def from_vote_row(row: VoteRow) -> Vote:
    """Return the vote of a row."""
    choice: Choice = "approve" if row.choice == "approve" else "reject"
    content = from_json(row.content, Content)
    return Vote(row.person, row.role, choice, row.reason, row.at, row.account, content)
