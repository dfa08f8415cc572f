"""What the state machine does from the merge on, and with the outcome of forge steps.

[pure]
"""

import re
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from typing import Any

from gitops.events import Cancelled, Delivered, Merged, Observed, StepDone, StepFailed, Ticked
from gitops.moves import Move, MoveKind
from gitops.request import Ending, Request, State, Trouble
from gitops.rollout import Differs, Live, Overdue

Result = tuple[Request, tuple[Move, ...]]
Handler = Callable[[Request, Any, datetime], Result]


def unwatched(request: Request, event: Cancelled, now: datetime) -> Result:
    """Somebody says that it needs no watching any more: merged it stays."""
    ended = replace(request, state=State.CLOSED, ending=Ending(event.by, event.reason, now))
    return ended, (Move(MoveKind.CLOSED, now, event.by, text=event.reason),)


def due(request: Request, _event: Ticked, now: datetime) -> Result:
    """The wished end has come: say so once; giving back is a request of its own."""
    until = request.draft.until
    if until is None or now < until or request.chores.reminded:
        return request, ()
    reminded = replace(request, chores=replace(request.chores, reminded=True))
    old, new = request.draft.old or "", request.draft.new or ""
    return reminded, (Move(MoveKind.DUE, now, old=old, new=new),)


def merged(request: Request, event: Merged, now: datetime) -> Result:
    """It is in Git now, by the bot's call or by hand."""
    changed = replace(
        request,
        state=State.MERGED,
        merge_sha=event.sha,
        merged_at=now,
        live_by=now + event.live_within,
        ending=Ending(event.by, "", now),
        trouble=None,
    )
    if event.by_bot:
        return changed, (Move(MoveKind.MERGED, now, event.by, new=event.sha),)
    met = request.state in (State.APPROVED, State.MERGING)
    text = "" if met else "The approval policy was not met."
    return changed, (Move(MoveKind.MERGED_BY_HAND, now, event.by, text=text, new=event.sha),)


def merged_late(request: Request, event: Merged, now: datetime) -> Result:
    """Merged by hand after it had ended: the end stands, but everybody must know."""
    if request.merge_sha:
        return request, ()
    text = f"The request had ended before ({request.state}); the approval policy was not met."
    known = replace(request, merge_sha=event.sha, merged_at=now)
    return known, (Move(MoveKind.MERGED_BY_HAND, now, event.by, text=text, new=event.sha),)


def observed(request: Request, event: Observed, now: datetime) -> Result:
    """Tell each news of the rollout once."""
    match event.rollout:
        case Live(at=at) if request.state is not State.LIVE:
            live = replace(request, state=State.LIVE, observed=request.draft.new)
            # A read's time may be older than what it shows, but nothing is live before its merge.
            seen = max(at, request.merged_at or at)
            return live, (Move(MoveKind.LIVE, seen, new=request.draft.new or ""),)
        case Overdue() if request.state is State.MERGED:
            return replace(request, state=State.OVERDUE), (Move(MoveKind.OVERDUE, now),)
        case Differs(value=value) if request.observed != value:
            differs = replace(request, state=State.DIFFERS, observed=value)
            return differs, (Move(MoveKind.DIFFERS, now, old=request.draft.new or "", new=value),)
        case _:
            return request, ()


def delivered(request: Request, event: Delivered, now: datetime) -> Result:
    """Tell that the controller applied it, or why it doesn't, in its own words: each once."""
    news, chores = event.news, request.chores
    if news.applied:
        if chores.applied:
            return request, ()
        applied = replace(request, chores=replace(chores, applied=news.applied, stuck=""))
        move = Move(MoveKind.APPLIED, now, text=news.tool, old=news.speaker, new=news.applied)
        return applied, (move,)
    told = news.message if news.certain or request.state is State.OVERDUE else ""
    if not told or _alike(told) == _alike(chores.stuck):
        return request, ()
    stuck = replace(request, chores=replace(chores, stuck=told))
    return stuck, (Move(MoveKind.STUCK, now, text=told, old=news.speaker, new=news.tool),)


def _alike(message: str) -> str:
    """Return what stays of a message when the same failure is told again: no times, no counts."""
    return re.sub(r"[0-9a-f]{7,}|\d+(\.\d+)?", "0", message)


def step_failed(request: Request, event: StepFailed, now: datetime) -> Result:
    """Keep the trouble, and tell it once however often it repeats."""
    old = request.trouble
    known = old is not None and (old.step == event.step or old.sentence == event.sentence)
    attempts = old.attempts + 1 if old and known else 1
    since = old.since if old and known else now
    trouble = Trouble(event.step, event.sentence, event.next_step, attempts, since, event.retry_at)
    told = () if known else (Move(MoveKind.TROUBLE, now, text=event.sentence, new=event.step),)
    return replace(request, trouble=trouble), told


def step_done(request: Request, event: StepDone, now: datetime) -> Result:
    """Keep what was done; the end of this step's trouble is news."""
    chores = request.chores
    if event.status is not None:
        chores = replace(chores, status=event.status)
    if event.comment is not None and event.comment not in chores.comments:
        chores = replace(chores, comments=(*chores.comments, event.comment))
    if event.polled_at is not None:
        chores = replace(chores, polled_at=event.polled_at)
    if event.tidy:
        chores = replace(chores, tidy=True)
    done = replace(request, chores=chores)
    if request.trouble is None or request.trouble.step != event.step:
        return done, ()
    return replace(done, trouble=None), (Move(MoveKind.RECOVERED, now, new=event.step),)
