"""Which jobs people wait for, and what is to be told to them: each thing is noted once."""

import threading
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import ColumnElement, func
from sqlmodel import Session, col, select

from bot.starts import LASTS, MOST, SOON, Awaited, News, Turn
from bot.store_convert import from_json, to_json
from bot.store_engine import Database
from bot.store_rows import AwaitedRow
from capacity.errors import Conflict

LEASE = timedelta(minutes=2)


@dataclass(frozen=True, slots=True)
class Person:
    """A Slack account in the workspace (or organisation) that the bot is installed in."""

    workspace: str
    account: str


@dataclass(frozen=True, slots=True)
class Job:
    """The Workload that is waited for, and what people call it."""

    cluster: str
    namespace: str
    job: str
    uid: str


@dataclass(frozen=True, slots=True)
class Claimed:
    """News that nobody else tells now; ``doubtful`` if an earlier try may have arrived."""

    awaited: Awaited
    doubtful: bool


class Starts:
    """Wishes to be told of a start, one a person and Workload."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def wish(
        self, person: Person, job: Job, now: datetime, late: threading.Event | None = None
    ) -> tuple[Awaited, bool] | None:
        """Keep a wish; return it and whether it is new, or None if it got ``late`` in waiting.

        Raises Conflict for one more than ``MOST`` at a time. A job that has started and is only
        looked at a while longer may be wished for anew.
        """
        with self._database.write() as session:
            if late is not None and late.is_set():
                return None
            row = _find(session, person, job.uid)
            if row is not None and row.started_at is None:
                return _awaited(row), False
            _check_room(session, person)
            row = row or _row(person, job, now)
            row.asked_at, row.until = now, now + LASTS
            row.started_at, row.news, row.not_before, row.doubtful = None, None, None, False
            session.add(row)
            session.flush()
            return _awaited(row), True

    def stop(self, person: Person, uid: str, late: threading.Event | None = None) -> bool:
        """Forget a person's own wish for a Workload; False if they have none."""
        with self._database.write() as session:
            row = None if late is not None and late.is_set() else _find(session, person, uid)
            if row is None:
                return False
            session.delete(row)
            return True

    def of(self, person: Person) -> tuple[Awaited, ...]:
        """Return what a person waits for, oldest first; without what has started."""
        wanted = select(AwaitedRow).where(*_waits(person)).order_by(col(AwaitedRow.id))
        with self._database.read() as session:
            return tuple(_awaited(row) for row in session.exec(wanted).all())

    def all(self, workspace: str) -> tuple[Awaited, ...]:
        """Return everybody's wishes, oldest first, also those whose start was told."""
        wanted = select(AwaitedRow).where(AwaitedRow.workspace == workspace)
        with self._database.read() as session:
            rows = session.exec(wanted.order_by(col(AwaitedRow.id))).all()
        return tuple(_awaited(row) for row in rows)

    def note(self, awaited: Awaited, news: News) -> bool:
        """Write down what is to be told; False if it was, or if the wish is another one now."""
        with self._database.write() as session:
            row = session.get(AwaitedRow, awaited.id)
            if row is None or _awaited(row) != awaited:
                return False
            row.news = to_json(news)
            session.add(row)
            return True

    def claim(self, awaited: Awaited, now: datetime) -> Claimed | None:
        """Take news to tell it; None if it was told or stopped, or another tells it now."""
        with self._database.write() as session:
            row = session.get(AwaitedRow, awaited.id)
            if row is None or row.news is None or (row.not_before and now < row.not_before):
                return None
            claimed = Claimed(_awaited(row), row.doubtful)
            row.not_before, row.doubtful = now + LEASE, True
            session.add(row)
            return claimed

    def later(self, awaited: Awaited, at: datetime, *, doubtful: bool) -> None:
        """Give claimed news back until a moment; ``doubtful`` if it may have arrived."""
        with self._database.write() as session:
            row = session.get(AwaitedRow, awaited.id)
            if row is not None:
                row.not_before, row.doubtful = at, doubtful
                session.add(row)

    def told(self, awaited: Awaited, now: datetime) -> None:
        """Note that the news was told; after a start the job is looked at a while longer."""
        with self._database.write() as session:
            row = session.get(AwaitedRow, awaited.id)
            if row is None or awaited.news is None or row.news != to_json(awaited.news):
                return
            if awaited.news.turn is not Turn.STARTED:
                session.delete(row)
                return
            row.started_at, row.until = awaited.news.at or now, now + SOON
            row.news, row.not_before, row.doubtful = None, None, False
            session.add(row)

    def forget(self, awaited: Awaited) -> None:
        """Forget a wish, whatever is left to tell."""
        with self._database.write() as session:
            row = session.get(AwaitedRow, awaited.id)
            if row is not None:
                session.delete(row)


def _check_room(session: Session, person: Person) -> None:
    mine = select(func.count()).select_from(AwaitedRow).where(*_waits(person))
    count = session.exec(mine).one()
    if count >= MOST:
        raise Conflict(
            f"You wait for {count} jobs already, and {MOST} is the most; nothing was changed.",
            "Stop one of them on Gpubot's Home tab first.",
        )


def _row(person: Person, job: Job, now: datetime) -> AwaitedRow:
    return AwaitedRow(
        workspace=person.workspace,
        account=person.account,
        cluster=job.cluster,
        namespace=job.namespace,
        job=job.job,
        uid=job.uid,
        asked_at=now,
        until=now + LASTS,
    )


def _waits(person: Person) -> tuple[ColumnElement[bool], ...]:
    return (*_is(person), col(AwaitedRow.started_at).is_(None))


def _is(person: Person) -> tuple[ColumnElement[bool], ...]:
    mine = col(AwaitedRow.workspace) == person.workspace
    return (mine, col(AwaitedRow.account) == person.account)


def _find(session: Session, person: Person, uid: str) -> AwaitedRow | None:
    wanted = select(AwaitedRow).where(*_is(person), AwaitedRow.uid == uid)
    return session.exec(wanted).first()


def _awaited(row: AwaitedRow) -> Awaited:
    return Awaited(
        row.id or 0,
        row.account,
        row.cluster,
        row.namespace,
        row.job,
        row.uid,
        row.asked_at,
        row.until,
        row.started_at,
        from_json(row.news, News) if row.news else None,
    )
