"""The audit log: a chain of records, each holding the hash of the one before it.

A changed, removed or reordered record breaks the chain from there on; the head hash, printed in
threads and pull requests, is the anchor outside the bot that even a rewritten chain can't match.
[pure]
"""

import hashlib
import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from datetime import UTC, datetime

GENESIS = "0" * 64


@dataclass(frozen=True, slots=True)
class Entry:
    """One thing that somebody did or was refused.

    ``account`` is as the edge saw it ("slack:U0LI"), ``person`` the id it resolved to ("" if
    none), ``request`` 0 when there is none, ``outcome`` "done" or the sentence of the refusal.
    """

    at: datetime
    action: str
    account: str
    person: str
    request: int
    outcome: str = "done"
    version: int = 0
    policy: str = ""
    diff_hash: str = ""
    text: str = ""


@dataclass(frozen=True, slots=True)
class Record:
    """An entry in its place in the chain; ``seq`` counts from 1."""

    seq: int
    entry: Entry
    previous: str
    hash: str


def chain(seq: int, previous: str, entry: Entry) -> Record:
    """Return the record that follows the one with hash ``previous`` (GENESIS for the first)."""
    return Record(seq, entry, previous, _hash(seq, previous, entry))


def verify(records: Iterable[Record]) -> str | None:
    """Return None if the chain holds from its first record, else a sentence naming the break."""
    expected, previous = 1, GENESIS
    for record in records:
        if record.seq != expected:
            return f"Record {expected} is missing."
        if record.previous != previous:
            return f"Record {record.seq} doesn't follow the one before it."
        if record.hash != _hash(record.seq, record.previous, record.entry):
            return f"Record {record.seq} was changed after it was written."
        expected, previous = expected + 1, record.hash
    return None


def _hash(seq: int, previous: str, entry: Entry) -> str:
    values = asdict(entry) | {
        "at": entry.at.astimezone(UTC).isoformat(),
        "seq": seq,
        "previous": previous,
    }
    canonical = json.dumps(values, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(canonical.encode()).hexdigest()
