"""The tables. Columns are what is looked for or counted; small values inside are JSON.

A change here needs a migration in ``bot/migrations/versions``; a test compares the two.
"""

from datetime import UTC, datetime
from typing import Any

from sqlalchemy import (
    JSON,
    BigInteger,
    Column,
    DateTime,
    Dialect,
    ForeignKey,
    Index,
    Integer,
    Text,
)
from sqlalchemy.types import TypeDecorator
from sqlmodel import Field, SQLModel, UniqueConstraint


class Utc(TypeDecorator[datetime]):
    """A moment, aware and in UTC on the way in and out, whatever the database keeps."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        if value is None:
            return None
        if value.tzinfo is None:
            raise ValueError("a moment without a time zone")
        moment = value.astimezone(UTC)
        return moment.replace(tzinfo=None) if dialect.name == "sqlite" else moment

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        del dialect
        if value is None:
            return None
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


class RequestRow(SQLModel, table=True):
    """A request. ``target`` is set while no other open request may have it (unique, NULLs free)."""

    __tablename__ = "request"

    id: int | None = Field(default=None, primary_key=True)
    revision: int
    version: int
    state: str
    settled: bool = Field(index=True)
    target: str | None = Field(default=None, unique=True)
    requester: str = Field(index=True)
    token: str
    draft: Any = Field(sa_column=Column(JSON, nullable=False))
    facts: Any = Field(sa_column=Column(JSON, nullable=False))
    content: Any = Field(sa_column=Column(JSON, nullable=False))
    title: str = Field(sa_column=Column(Text, nullable=False))
    diff: str = Field(sa_column=Column(Text, nullable=False))
    notes: Any = Field(sa_column=Column(JSON, nullable=False))
    submitted_at: datetime = Field(sa_column=Column(Utc, nullable=False))
    approve_by: datetime = Field(sa_column=Column(Utc, nullable=False))
    merge_by: datetime | None = Field(default=None, sa_column=Column(Utc))
    pull: Any = Field(default=None, sa_column=Column(JSON(none_as_null=True)))
    merge_sha: str | None = None
    merged_at: datetime | None = Field(default=None, sa_column=Column(Utc))
    live_by: datetime | None = Field(default=None, sa_column=Column(Utc))
    observed: str | None = None
    ending: Any = Field(default=None, sa_column=Column(JSON(none_as_null=True)))
    trouble: Any = Field(default=None, sa_column=Column(JSON(none_as_null=True)))
    chores: Any = Field(sa_column=Column(JSON, nullable=False))


class VoteRow(SQLModel, table=True):
    """One vote, in the order of a request's votes."""

    __tablename__ = "vote"

    request_id: int = Field(sa_column=Column(Integer, ForeignKey("request.id"), primary_key=True))
    seq: int = Field(primary_key=True)
    person: str = Field(index=True)
    role: str
    choice: str
    reason: str = Field(sa_column=Column(Text, nullable=False))
    at: datetime = Field(sa_column=Column(Utc, nullable=False))
    account: str
    content: Any = Field(sa_column=Column(JSON, nullable=False))


class KeyRow(SQLModel, table=True):
    """A call that changed a request: the same key never changes anything again."""

    __tablename__ = "done_key"

    key: str = Field(primary_key=True)
    request_id: int = Field(foreign_key="request.id")


class MoveRow(SQLModel, table=True):
    """The outbox: what happened, written with the change itself, until it was told."""

    __tablename__ = "move"

    id: int | None = Field(default=None, primary_key=True)
    request_id: int = Field(foreign_key="request.id", index=True)
    revision: int
    move: Any = Field(sa_column=Column(JSON, nullable=False))
    told: bool = Field(default=False, index=True)


class InboxRow(SQLModel, table=True):
    """What arrived, by its idempotency key, until it was done."""

    __tablename__ = "inbox"

    id: int | None = Field(default=None, primary_key=True)
    key: str = Field(unique=True)
    payload: Any = Field(sa_column=Column(JSON, nullable=False))
    received_at: datetime = Field(sa_column=Column(Utc, nullable=False))
    done: bool = Field(default=False, index=True)


class CardRow(SQLModel, table=True):
    """Where a request's card and thread are, and the newest revision that was shown there."""

    __tablename__ = "card"

    request_id: int = Field(sa_column=Column(Integer, ForeignKey("request.id"), primary_key=True))
    channel: str
    ts: str
    revision: int


class SubscriptionRow(SQLModel, table=True):
    """A digest that a channel wants: which question, when (cron), in which IANA time zone."""

    __tablename__ = "subscription"
    __table_args__ = (UniqueConstraint("channel", "ask"),)

    id: int | None = Field(default=None, primary_key=True)
    channel: str
    ask: str
    cron: str
    time_zone: str
    created_by: str
    created_at: datetime = Field(sa_column=Column(Utc, nullable=False))


class DigestRunRow(SQLModel, table=True):
    """One period of a subscription; its key lets only one claim it."""

    __tablename__ = "digest_run"

    subscription_id: int = Field(
        sa_column=Column(
            Integer, ForeignKey("subscription.id", ondelete="CASCADE"), primary_key=True
        )
    )
    period: str = Field(primary_key=True)
    claimed_at: datetime = Field(sa_column=Column(Utc, nullable=False))
    sent: bool = False


class AwaitedRow(SQLModel, table=True):
    """A job of which somebody wants to be told when it starts, until they were told all of it.

    ``news`` is what is to be told, written down before it is told; ``not_before`` until when a
    sender has it to themselves, or waits; ``doubtful`` that it may have been told already.
    """

    __tablename__ = "awaited"
    __table_args__ = (UniqueConstraint("workspace", "account", "uid"),)

    id: int | None = Field(default=None, primary_key=True)
    workspace: str
    account: str
    cluster: str
    namespace: str
    job: str
    uid: str
    asked_at: datetime = Field(sa_column=Column(Utc, nullable=False))
    until: datetime = Field(sa_column=Column(Utc, nullable=False))
    started_at: datetime | None = Field(default=None, sa_column=Column(Utc))
    news: Any = Field(default=None, sa_column=Column(JSON(none_as_null=True)))
    not_before: datetime | None = Field(default=None, sa_column=Column(Utc))
    doubtful: bool = False


class StretchRow(SQLModel, table=True):
    """One stretch of a job (``commands.history.Stretch``); ``began`` makes it the same for all."""

    __tablename__ = "stretch"
    __table_args__ = (Index("ix_stretch_cluster_ended_at", "cluster", "ended_at"),)

    cluster: str = Field(primary_key=True)
    uid: str = Field(primary_key=True)
    began: datetime = Field(sa_column=Column(Utc, primary_key=True))
    queue: str
    flavor: str
    gpus: int = Field(sa_column=Column(BigInteger, nullable=False))
    pods: int
    priority: int
    queued_since: datetime = Field(sa_column=Column(Utc, nullable=False))
    reserved_at: datetime | None = Field(default=None, sa_column=Column(Utc))
    admitted_at: datetime | None = Field(default=None, sa_column=Column(Utc))
    ended_at: datetime | None = Field(default=None, sa_column=Column(Utc))
    end: str
    reason: str


class SeenRow(SQLModel, table=True):
    """Until when a cluster's jobs were looked at: what went on then may have ended unseen since."""

    __tablename__ = "history_seen"

    cluster: str = Field(primary_key=True)
    until: datetime = Field(sa_column=Column(Utc, nullable=False))


class AuditRow(SQLModel, table=True):
    """One record of the audit chain; ``seq`` as primary key lets no chain fork."""

    __tablename__ = "audit"

    seq: int = Field(sa_column=Column(Integer, primary_key=True, autoincrement=False))
    request_id: int = Field(index=True)
    entry: Any = Field(sa_column=Column(JSON, nullable=False))
    previous: str
    hash: str
