"""What arrives from people and what is to be told to them: inbox, outbox, and where cards are."""

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import update
from sqlmodel import col, select

from bot.store_convert import from_json, to_json
from bot.store_engine import Database
from bot.store_rows import CardRow, InboxRow, MoveRow
from gitops.moves import Move


@dataclass(frozen=True, slots=True)
class Received:
    """An intent in the inbox."""

    key: str
    payload: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Untold:
    """A move in the outbox, with the request's revision after it."""

    id: int
    request_id: int
    revision: int
    move: Move


@dataclass(frozen=True, slots=True)
class Card:
    """Where a request's card is, and the newest revision that it shows."""

    channel: str
    ts: str
    revision: int


class Inbox:
    """Intents by their idempotency key, kept until they are done."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def receive(
        self,
        key: str,
        payload: dict[str, Any],
        now: datetime,
        late: threading.Event | None = None,
    ) -> bool:
        """Keep an intent; False when its key was received before, or it got ``late`` in waiting."""
        with self._database.write() as session:
            if late is not None and late.is_set():
                return False
            if session.exec(select(InboxRow.id).where(InboxRow.key == key)).first() is not None:
                return False
            session.add(InboxRow(key=key, payload=to_json(payload), received_at=now))
            return True

    def undone(self, limit: int = 100) -> tuple[Received, ...]:
        """Return what was received and not done, oldest first."""
        wanted = select(InboxRow).where(col(InboxRow.done).is_(False)).order_by(col(InboxRow.id))
        with self._database.read() as session:
            rows = session.exec(wanted.limit(limit)).all()
        return tuple(Received(row.key, row.payload) for row in rows)

    def finish(self, key: str) -> None:
        """Mark an intent as done; its key stays, so that a late repeat is still known."""
        with self._database.write() as session:
            done = update(InboxRow).where(col(InboxRow.key) == key).values(done=True)
            session.connection().execute(done)


class Outbox:
    """Moves that were not told yet, and each request's card."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def pending_moves(self, limit: int = 100) -> tuple[Untold, ...]:
        """Return what was not told yet, oldest first."""
        wanted = select(MoveRow).where(col(MoveRow.told).is_(False)).order_by(col(MoveRow.id))
        with self._database.read() as session:
            rows = session.exec(wanted.limit(limit)).all()
        return tuple(
            Untold(row.id or 0, row.request_id, row.revision, from_json(row.move, Move))
            for row in rows
        )

    def moves_done(self, ids: Sequence[int]) -> None:
        """Mark moves as told."""
        with self._database.write() as session:
            done = update(MoveRow).where(col(MoveRow.id).in_(ids)).values(told=True)
            session.connection().execute(done)

    def card(self, request_id: int) -> Card | None:
        """Return where the request's card is; None before it was posted."""
        with self._database.read() as session:
            row = session.get(CardRow, request_id)
            return Card(row.channel, row.ts, row.revision) if row else None

    def thread(self, request_id: int) -> str:
        """Return the request's thread as "channel/ts", "" before its card was posted."""
        card = self.card(request_id)
        return f"{card.channel}/{card.ts}" if card else ""

    def card_sent(self, request_id: int, channel: str, ts: str, revision: int) -> bool:
        """Note what the card shows; False if it shows a newer revision in that place already."""
        with self._database.write() as session:
            row = session.get(CardRow, request_id)
            if row and (row.channel, row.ts) == (channel, ts) and row.revision > revision:
                return False
            session.merge(CardRow(request_id=request_id, channel=channel, ts=ts, revision=revision))
            return True
