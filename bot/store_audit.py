"""The audit chain in the database: appended inside the transaction of what it records."""

from collections.abc import Iterable

from sqlmodel import Session, col, select

from bot.store_convert import from_json, to_json
from bot.store_engine import Database
from bot.store_rows import AuditRow
from gitops.audit import GENESIS, Entry, Record, chain


def append(session: Session, entries: Iterable[Entry]) -> str:
    """Append entries to the chain, and return its head hash."""
    last = session.exec(select(AuditRow).order_by(col(AuditRow.seq).desc()).limit(1)).first()
    seq, head = (last.seq, last.hash) if last else (0, GENESIS)
    for entry in entries:
        seq += 1
        record = chain(seq, head, entry)
        head = record.hash
        session.add(
            AuditRow(
                seq=seq,
                request_id=entry.request,
                entry=to_json(entry),
                previous=record.previous,
                hash=record.hash,
            )
        )
    return head


class Audit:
    """The chain, to read and to check (``gitops.audit.verify``)."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def records(self) -> tuple[Record, ...]:
        """Return the whole chain, first record first."""
        with self._database.read() as session:
            rows = session.exec(select(AuditRow).order_by(col(AuditRow.seq))).all()
        return tuple(Record(r.seq, from_json(r.entry, Entry), r.previous, r.hash) for r in rows)

    def head(self) -> str:
        """Return the hash of the last record."""
        with self._database.read() as session:
            last = select(AuditRow.hash).order_by(col(AuditRow.seq).desc()).limit(1)
            return session.exec(last).first() or GENESIS
