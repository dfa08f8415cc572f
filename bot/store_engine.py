"""The database: SQLite in WAL mode by default, PostgreSQL by URL; reads, and writes one at a time.

Writers take one lock (SQLite's own, or an advisory lock), so that a check and what follows from it
are one step everywhere: the audit's chain, the caps, the unique targets. The bot writes little.
"""

import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from alembic import command
from alembic.config import Config
from sqlalchemy import Connection, Engine, event, make_url, text
from sqlalchemy.exc import DBAPIError
from sqlmodel import Session, create_engine

from capacity.errors import SourceDown

_WRITERS = 0x6770_7562_6F74  # "gpubot": the advisory lock of this bot's writers
_PATIENCE = 10
_AGAIN = 0.02
_MIGRATIONS = Path(__file__).parent / "migrations"


class Database:
    """Sessions on one engine; safe to use from several threads and processes."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self._heard_at: datetime | None = None

    @contextmanager
    def read(self) -> Iterator[Session]:
        """A consistent read. Raises SourceDown when the database doesn't answer."""
        with self._named(), Session(self.engine, expire_on_commit=False) as session:
            yield session

    @contextmanager
    def write(self) -> Iterator[Session]:
        """A transaction that no other writer is inside of; an exception leaves nothing behind."""
        with self._named(), self.engine.connect() as plain:
            connection = plain.execution_options(gpubot_writes=True)
            with connection.begin():
                if self.engine.dialect.name == "postgresql":
                    connection.execute(text("SELECT pg_advisory_xact_lock(:n)"), {"n": _WRITERS})
                with Session(connection, expire_on_commit=False) as session:
                    yield session
                    session.flush()

    def close(self) -> None:
        """Close the pooled connections."""
        self.engine.dispose()

    @contextmanager
    def _named(self) -> Iterator[None]:
        """Turn a database that can't be reached or used into our error; constraints stay theirs."""
        try:
            yield
        except DBAPIError as error:
            down = error.connection_invalidated or type(error).__name__ in (
                "OperationalError",
                "InterfaceError",
            )
            if not down:
                raise
            raise SourceDown("my database", self._heard_at, detail=str(error)) from error
        self._heard_at = datetime.now(UTC)


def open_database(url: str) -> Database:
    """Open the database and bring its tables up to date; replicas may start at the same time."""
    engine = create_engine(_with_driver(url), pool_pre_ping=True)
    if engine.dialect.name == "sqlite":
        event.listen(engine, "connect", _prepare_sqlite)
        event.listen(engine, "begin", _begin_sqlite)
    database = Database(engine)
    migrate(database)
    return database


def migrate(database: Database) -> None:
    """Run the migrations that the database lacks, inside the writers' lock."""
    with database.write() as session:
        config = Config()
        config.set_main_option("script_location", str(_MIGRATIONS))
        config.attributes["connection"] = session.connection()
        command.upgrade(config, "head")


def _with_driver(url: str) -> str:
    """Return the URL with our PostgreSQL driver, however PostgreSQL was spelt."""
    parsed = make_url(url)
    if parsed.drivername in ("postgres", "postgresql"):
        parsed = parsed.set(drivername="postgresql+psycopg")
    return parsed.render_as_string(hide_password=False)


def _prepare_sqlite(connection: Any, _record: Any) -> None:
    # The driver must not begin transactions by itself: we choose the kind (below).
    connection.isolation_level = None
    connection.execute(f"PRAGMA busy_timeout={_PATIENCE * 1000}")
    _begin_wal(connection)
    for pragma in ("synchronous=FULL", "foreign_keys=ON"):
        connection.execute(f"PRAGMA {pragma}")


def _begin_wal(connection: Any) -> None:
    """Turn WAL on; of several that do so on a new file SQLite refuses some without waiting."""
    until = time.monotonic() + _PATIENCE
    while True:
        try:
            connection.execute("PRAGMA journal_mode=WAL")
        except sqlite3.OperationalError as error:
            if error.sqlite_errorname != "SQLITE_BUSY" or time.monotonic() > until:
                raise
            time.sleep(_AGAIN)
        else:
            return


def _begin_sqlite(connection: Connection) -> None:
    writes = connection.get_execution_options().get("gpubot_writes")
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")
