"""Requests in the database: the flow's RequestStore, with compare-and-swap on the revision."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from sqlalchemy import delete, func, update
from sqlmodel import Session, col, select

from bot.store_audit import append
from bot.store_convert import from_row, from_vote_row, to_json, to_row, to_vote_row
from bot.store_engine import Database
from bot.store_rows import KeyRow, MoveRow, RequestRow, VoteRow
from capacity.errors import Conflict
from gitops.audit import Entry
from gitops.ports import Told
from gitops.request import Request, Vote


class Requests:
    """See ``gitops.ports.RequestStore``; each write is one transaction."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, request: Request, key: str, cap: int, told: Told) -> Request:
        """Store a new request and give it its id; a key used before returns its request."""
        with self._database.write() as session:
            known = session.get(KeyRow, key)
            if known is not None:
                return _load(session, [_found(session, known.request_id)])[0]
            _check_limits(session, request, cap)
            row = to_row(replace(request, id=0, revision=1))
            session.add(row)
            session.flush()
            stored = replace(request, id=row.id or 0, revision=1)
            entries = tuple(replace(entry, request=stored.id) for entry in told.entries)
            _attach(session, stored, replace(told, entries=entries), key)
            return stored

    def get(self, request_id: int) -> Request | None:
        """Return the request as last saved."""
        with self._database.read() as session:
            row = session.get(RequestRow, request_id)
            return _load(session, [row])[0] if row else None

    def by_key(self, key: str) -> Request | None:
        """Return the request that the call with this key changed; None if it never was done."""
        with self._database.read() as session:
            known = session.get(KeyRow, key)
            return _load(session, [_found(session, known.request_id)])[0] if known else None

    def unsettled(self) -> tuple[Request, ...]:
        """Return the requests that something is left to do for, oldest first."""
        wanted = select(RequestRow).where(col(RequestRow.settled).is_(False))
        with self._database.read() as session:
            return _load(session, session.exec(wanted.order_by(col(RequestRow.id))).all())

    def recent(self, requester: str, limit: int = 20) -> tuple[Request, ...]:
        """Return a person's newest requests, newest first."""
        wanted = select(RequestRow).where(RequestRow.requester == requester)
        newest = wanted.order_by(col(RequestRow.id).desc()).limit(limit)
        with self._database.read() as session:
            return _load(session, session.exec(newest).all())

    def save(self, request: Request, expected: int, told: Told, key: str = "") -> bool:
        """Save if the stored revision is still ``expected``; False changes nothing at all."""
        with self._database.write() as session:
            if key and session.get(KeyRow, key) is not None:
                return False
            stored = replace(request, revision=expected + 1)
            values = to_row(stored).model_dump(exclude={"id"})
            swap = (
                update(RequestRow)
                .where(col(RequestRow.id) == request.id, col(RequestRow.revision) == expected)
                .values(**values)
            )
            if session.connection().execute(swap).rowcount != 1:
                return False
            session.connection().execute(
                delete(VoteRow).where(col(VoteRow.request_id) == request.id)
            )
            _attach(session, stored, told, key)
            return True

    def record(self, entries: Iterable[Entry]) -> str:
        """Append audit entries that belong to no save; return the chain's head hash."""
        with self._database.write() as session:
            return append(session, entries)


def _check_limits(session: Session, request: Request, cap: int) -> None:
    draft = request.draft
    same = session.exec(select(RequestRow).where(RequestRow.target == draft.target)).first()
    if same is not None:
        raise Conflict(
            f"Request {same.id} by {same.requester} is open for the same value already.",
            f"Wait for request {same.id}, or have it withdrawn.",
        )
    mine = select(func.count()).select_from(RequestRow)
    mine = mine.where(RequestRow.requester == draft.requester, col(RequestRow.target).is_not(None))
    count = session.exec(mine).one()
    if count >= cap:
        raise Conflict(
            f"You have {count} open requests, and {cap} is the most.", "Withdraw one first."
        )


def _attach(session: Session, request: Request, told: Told, key: str) -> None:
    for seq, vote in enumerate(request.votes):
        session.add(to_vote_row(request.id, seq, vote))
    for move in told.moves:
        session.add(MoveRow(request_id=request.id, revision=request.revision, move=to_json(move)))
        session.flush()
    if key:
        session.add(KeyRow(key=key, request_id=request.id))
    append(session, told.entries)


def _found(session: Session, request_id: int) -> RequestRow:
    return session.exec(select(RequestRow).where(RequestRow.id == request_id)).one()


def _load(session: Session, rows: Sequence[RequestRow]) -> tuple[Request, ...]:
    wanted = select(VoteRow).where(col(VoteRow.request_id).in_([row.id for row in rows]))
    votes: dict[int, list[Vote]] = {}
    for vote in session.exec(wanted.order_by(col(VoteRow.seq))).all():
        votes.setdefault(vote.request_id, []).append(from_vote_row(vote))
    return tuple(from_row(row, tuple(votes.get(row.id or 0, ()))) for row in rows)
