"""The state machine of a request: one table, one entry point.

``TABLE`` says what each state does with each event; what isn't listed changes nothing, so that
repeated, late and reordered events are harmless. Nothing here decides who may vote or whether the
policy is met: the flow asks ``gitops.policy`` and reports it as ``Voted`` and ``Judged``. [pure]
"""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime

from gitops import aftermath
from gitops.aftermath import Handler, Result
from gitops.events import (
    Cancelled,
    ClosedByHand,
    Delivered,
    Event,
    Judged,
    Mergeable,
    Merged,
    MergeStarted,
    NotMerged,
    Observed,
    Opened,
    PolicyChanged,
    Pushed,
    StepDone,
    StepFailed,
    Ticked,
    Voted,
    Withdrawn,
)
from gitops.moves import Move, MoveKind
from gitops.request import Ending, PullRef, Request, State


def advance(request: Request, event: Event, now: datetime) -> Result:
    """Return the request after the event, and what there is to tell."""
    handler = TABLE[request.state].get(type(event))
    return handler(request, event, now) if handler else (request, ())


def _opened(request: Request, event: Opened, now: datetime) -> Result:
    pull = PullRef(event.pull.number, event.pull.url)
    content = replace(request.content, head_sha=event.pull.head_sha)
    opened = replace(request, state=State.OPEN, pull=pull, content=content)
    told = (Move(MoveKind.OPENED, now, text=event.pull.url, new=event.pull.head_sha),)
    if not event.edited:
        return opened, told
    pushed = Pushed(
        event.pull.head_sha, event.pull.base_sha, event.diff_hash, event.diff, edited=True
    )
    changed, more = _pushed(opened, pushed, now)
    return changed, told + more


def _late_pull(request: Request, event: Opened, _now: datetime) -> Result:
    """An ended request turns out to have a pull request: it has to be closed again."""
    pull = PullRef(event.pull.number, event.pull.url)
    content = replace(request.content, head_sha=event.pull.head_sha)
    chores = replace(request.chores, tidy=False)
    return replace(request, pull=pull, content=content, chores=chores), ()


def _voted(request: Request, event: Voted, now: datetime) -> Result:
    vote = event.vote
    again = any((v.person, v.choice) == (vote.person, vote.choice) for v in request.standing_votes)
    about_this = request.content.is_what(vote.content)
    if vote.person == request.draft.requester or again or not about_this:
        return request, ()
    voted = replace(request, votes=(*request.votes, vote))
    if vote.choice == "reject":
        return _ended(voted, State.REJECTED, vote.person, vote.reason, now, role=vote.role)
    return voted, (Move(MoveKind.VOTED, now, vote.person, vote.role, vote.reason),)


def _withdrawn(request: Request, event: Withdrawn, now: datetime) -> Result:
    taken = (event.person, event.account)
    kept = tuple(v for v in request.votes if (v.person, v.account) != taken)
    if kept == request.votes:
        return request, ()
    return replace(request, votes=kept), (Move(MoveKind.WITHDRAWN, now, event.person),)


def _judged_open(request: Request, event: Judged, now: datetime) -> Result:
    if not event.met or event.content != request.content:
        return request, ()
    approved = replace(request, state=State.APPROVED, merge_by=now + event.merge_within)
    return approved, (Move(MoveKind.APPROVED, now),)


def _judged_approved(request: Request, event: Judged, now: datetime) -> Result:
    if event.met or event.content != request.content:
        return request, ()
    reopened = replace(request, state=State.OPEN, merge_by=None)
    return reopened, (Move(MoveKind.UNAPPROVED, now),)


def _pushed(request: Request, event: Pushed, now: datetime) -> Result:
    old = request.content.head_sha or ""
    content = replace(
        request.content,
        version=request.version + 1,
        diff_hash=event.diff_hash,
        base_sha=event.base_sha,
        head_sha=event.head_sha,
    )
    facts = replace(request.facts, edited=event.edited)
    voided = _void(replace(request, content=content, facts=facts, diff=event.diff))
    text = _voided_words(request, "The pull request was changed")
    return voided, (
        Move(MoveKind.VOTES_VOID, now, event.by, text=text, old=old, new=event.head_sha),
    )


def _policy_changed(request: Request, event: PolicyChanged, now: datetime) -> Result:
    if event.policy == request.content.policy:
        return request, ()
    if not request.standing_votes and request.state is not State.APPROVED:
        return replace(request, content=replace(request.content, policy=event.policy)), ()
    content = replace(request.content, version=request.version + 1, policy=event.policy)
    text = _voided_words(request, "The approval policy was changed")
    return _void(replace(request, content=content)), (Move(MoveKind.VOTES_VOID, now, text=text),)


def _void(request: Request) -> Request:
    state = State.OPEN if request.pull else State.SUBMITTED
    return replace(request, state=state, version=request.content.version, merge_by=None)


def _voided_words(request: Request, what: str) -> str:
    count = sum(vote.choice == "approve" for vote in request.standing_votes)
    if not count:
        return f"{what}; there were no approvals yet."
    plural = "approval no longer counts" if count == 1 else "approvals no longer count"
    return f"{what}: {count} {plural}."


def _mergeable(request: Request, event: Mergeable, now: datetime) -> Result:
    if event.yes:
        return request, ()
    conflicted = replace(request, state=State.CONFLICTED, merge_by=None)
    return conflicted, (Move(MoveKind.CONFLICTED, now),)


def _unconflicted(request: Request, event: Mergeable, now: datetime) -> Result:
    if not event.yes:
        return request, ()
    return replace(request, state=State.OPEN), (Move(MoveKind.UNCONFLICTED, now),)


def _merge_started(request: Request, _event: MergeStarted, _now: datetime) -> Result:
    return replace(request, state=State.MERGING), ()


def _not_merged(request: Request, _event: NotMerged, _now: datetime) -> Result:
    return replace(request, state=State.APPROVED), ()


def _closed(request: Request, _event: ClosedByHand, now: datetime) -> Result:
    return _ended(request, State.CLOSED, "", "", now)


def _cancelled(request: Request, event: Cancelled, now: datetime) -> Result:
    return _ended(request, State.CANCELLED, event.by, event.reason, now)


def _unanswered(request: Request, _event: Ticked, now: datetime) -> Result:
    if now < request.approve_by:
        return request, ()
    return _ended(request, State.EXPIRED, "", "It was not approved in time.", now)


def _unmerged(request: Request, _event: Ticked, now: datetime) -> Result:
    if request.merge_by is None or now < request.merge_by:
        return request, ()
    return _ended(request, State.EXPIRED, "", "It was approved, but not merged in time.", now)


def _ended(
    request: Request, state: State, by: str, reason: str, now: datetime, *, role: str = ""
) -> Result:
    ended = replace(
        request, state=state, ending=Ending(by, reason, now), trouble=None, merge_by=None
    )
    return ended, (Move(MoveKind(state.value), now, by, role, reason),)


_STEPS: dict[type, Handler] = {StepFailed: aftermath.step_failed, StepDone: aftermath.step_done}
_PULL: dict[type, Handler] = {
    Merged: aftermath.merged,
    ClosedByHand: _closed,
    Pushed: _pushed,
    PolicyChanged: _policy_changed,
}
_WAITING: dict[type, Handler] = {
    Voted: _voted,
    Withdrawn: _withdrawn,
    Cancelled: _cancelled,
    Ticked: _unanswered,
}
_ROLLOUT: dict[type, Handler] = _STEPS | {
    Observed: aftermath.observed,
    Delivered: aftermath.delivered,
}
_ENDED: dict[type, Handler] = _STEPS | {Opened: _late_pull, Merged: aftermath.merged_late}

TABLE: Mapping[State, Mapping[type, Handler]] = {
    State.SUBMITTED: _STEPS | _WAITING | {Opened: _opened, PolicyChanged: _policy_changed},
    State.OPEN: _STEPS | _PULL | _WAITING | {Judged: _judged_open, Mergeable: _mergeable},
    State.CONFLICTED: _STEPS | _PULL | _WAITING | {Mergeable: _unconflicted},
    State.APPROVED: _STEPS
    | _PULL
    | _WAITING
    | {
        Judged: _judged_approved,
        Mergeable: _mergeable,
        MergeStarted: _merge_started,
        Ticked: _unmerged,
    },
    State.MERGING: _STEPS
    | _PULL
    | {Judged: _judged_approved, Mergeable: _mergeable, NotMerged: _not_merged},
    State.MERGED: _ROLLOUT,
    State.OVERDUE: _ROLLOUT | {Cancelled: aftermath.unwatched},
    State.DIFFERS: _ROLLOUT | {Cancelled: aftermath.unwatched},
    State.LIVE: _STEPS | {Ticked: aftermath.due},
    State.REJECTED: _ENDED,
    State.CANCELLED: _ENDED,
    State.EXPIRED: _ENDED,
    State.CLOSED: _ENDED,
}
