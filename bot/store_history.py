"""What jobs went through, kept 30 days: each stretch once, however often and by whom it is seen."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import delete, func, or_
from sqlalchemy.dialects import postgresql, sqlite
from sqlmodel import Session, col, select

from bot.store_engine import Database
from bot.store_rows import SeenRow, StretchRow
from commands.history import Stretch

KEPT = timedelta(days=30)
MOST = 200_000
_FIELDS = [field.name for field in fields(Stretch)]
_KEY = ["cluster", "uid", "began"]
_LATER = ("admitted_at", "ended_at", "end", "reason")


@dataclass(frozen=True, slots=True)
class Kept:
    """What is written of a cluster: the latest stretches, those that go on, and until when.

    ``until`` is when the cluster was last looked at; None if it never was.
    """

    latest: tuple[Stretch, ...]
    going: tuple[Stretch, ...]
    until: datetime | None


class History:
    """Stretches of the jobs of clusters."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def read(self, cluster: str, since: datetime, most: int) -> Kept:
        """Return the latest that reach beyond a moment, at most so many; and all that go on."""
        mine = select(*_columns()).where(col(StretchRow.cluster) == cluster)
        recent = or_(col(StretchRow.ended_at).is_(None), col(StretchRow.ended_at) >= since)
        latest = mine.where(recent).order_by(col(StretchRow.began).desc()).limit(most)
        with self._database.read() as session:
            seen = session.get(SeenRow, cluster)
            return Kept(
                tuple(Stretch(*row) for row in session.execute(latest)),
                tuple(Stretch(*r) for r in session.execute(mine.where(col(StretchRow.end) == ""))),
                seen.until if seen else None,
            )

    def record(self, cluster: str, stretches: Sequence[Stretch], until: datetime | None) -> None:
        """Write stretches down, and that all is written until a moment, if that is so.

        An end that was seen is never written over; one that nobody saw is, by what is known better.
        """
        with self._database.write() as session:
            if stretches:
                _upsert(session, [_values(cluster, stretch) for stretch in stretches])
            seen = session.get(SeenRow, cluster)
            if until is not None and (seen is None or seen.until < until):
                session.merge(SeenRow(cluster=cluster, until=until))

    def prune(self, now: datetime, most: int = MOST) -> int:
        """Delete what is older than 30 days, and the oldest beyond so many; returns how many."""
        before = now - KEPT
        watched = select(SeenRow.cluster).where(col(SeenRow.until) >= before)
        old = or_(
            col(StretchRow.ended_at) < before,
            col(StretchRow.ended_at).is_(None) & col(StretchRow.cluster).not_in(watched),
        )
        with self._database.write() as session:
            gone = session.connection().execute(delete(StretchRow).where(old)).rowcount
            more = session.exec(select(func.count()).select_from(StretchRow)).one() - most
            return gone + (_drop_oldest(session, more) if more > 0 else 0)


def _columns() -> list[Any]:
    return [getattr(StretchRow, name) for name in _FIELDS]


def _values(cluster: str, stretch: Stretch) -> dict[str, Any]:
    values = {name: getattr(stretch, name) for name in _FIELDS}
    return values | {"cluster": cluster, "began": stretch.began}


def _upsert(session: Session, rows: list[dict[str, Any]]) -> None:
    dialect = sqlite if session.get_bind().dialect.name == "sqlite" else postgresql
    new = dialect.insert(StretchRow)
    better = new.on_conflict_do_update(
        index_elements=_KEY,
        set_={name: new.excluded[name] for name in _LATER},
        where=or_(col(StretchRow.end) == "", col(StretchRow.end) == "lost"),
    )
    session.connection().execute(better, rows)


def _drop_oldest(session: Session, count: int) -> int:
    """Delete so many of those that ended first; what goes on stays."""
    ended = select(StretchRow.ended_at).where(col(StretchRow.ended_at).is_not(None))
    edge = session.exec(ended.order_by(col(StretchRow.ended_at)).offset(count - 1).limit(1)).first()
    if edge is None:
        return 0
    oldest = delete(StretchRow).where(col(StretchRow.ended_at) <= edge)
    return session.connection().execute(oldest).rowcount
