"""Everything that outlives the process, in one database."""

from dataclasses import dataclass

from bot.store_audit import Audit
from bot.store_digests import Digests
from bot.store_engine import Database, open_database
from bot.store_history import History
from bot.store_requests import Requests
from bot.store_starts import Starts
from bot.store_talk import Inbox, Outbox


@dataclass(frozen=True, slots=True)
class Store:
    """The database by what it is used for; safe to share between threads."""

    database: Database
    requests: Requests
    inbox: Inbox
    outbox: Outbox
    digests: Digests
    starts: Starts
    history: History
    audit: Audit

    def close(self) -> None:
        """Close the connections."""
        self.database.close()


def open_store(url: str) -> Store:
    """Open ``sqlite:///path`` or ``postgresql://...``, and bring its tables up to date."""
    database = open_database(url)
    return Store(
        database,
        Requests(database),
        Inbox(database),
        Outbox(database),
        Digests(database),
        Starts(database),
        History(database),
        Audit(database),
    )
