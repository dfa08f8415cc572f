"""Events to a saved request: applied to the newest state, in one transaction with what it tells.

Whoever loses the race for a revision looks at the new state and applies its events to that; the
machine makes events that no longer mean anything harmless.
"""

from collections.abc import Callable, Iterable
from datetime import datetime

from capacity.errors import Conflict
from gitops.audit import Entry
from gitops.events import Event
from gitops.machine import advance
from gitops.moves import Move, MoveKind
from gitops.ports import RequestStore, Told
from gitops.request import Request

_TRIES = 10
_BY_VOTE = (MoveKind.VOTED, MoveKind.REJECTED)


def run(request: Request, events: Iterable[Event], now: datetime) -> tuple[Request, list[Move]]:
    """Apply events one after the other."""
    moves: list[Move] = []
    for event in events:
        request, told = advance(request, event, now)
        moves += told
    return request, moves


def save_events(
    store: RequestStore,
    request: Request,
    events: Callable[[Request], Iterable[Event]],
    now: datetime,
) -> tuple[Request, list[Move]]:
    """Apply what ``events`` says about the newest state, and save it if it changes anything."""
    for _ in range(_TRIES):
        changed, moves = run(request, events(request), now)
        if changed == request:
            return request, []
        if store.save(changed, request.revision, told(changed, moves)):
            return saved(store, changed), moves
        request = saved(store, request)
    raise Conflict("Too many changes of the same request at once.", "Try again.")


def saved(store: RequestStore, request: Request) -> Request:
    """Return the request as it is stored now."""
    found = store.get(request.id)
    return found if found is not None else request


def told(request: Request, moves: Iterable[Move], account: str = "bot") -> Told:
    """Return moves with their audit entries; a vote's account is the voter's own."""
    listed = tuple(moves)
    return Told(listed, tuple(_entry(request, move, account) for move in listed))


def _entry(request: Request, move: Move, account: str) -> Entry:
    if move.kind in _BY_VOTE and request.votes:
        account = request.votes[-1].account
    return Entry(
        at=move.at,
        action=move.kind.value,
        account=account,
        person=move.by,
        request=request.id,
        version=request.version,
        policy=request.content.policy,
        diff_hash=request.content.diff_hash,
        text=" ".join(part for part in (move.role, move.text, move.old, move.new) if part),
    )
