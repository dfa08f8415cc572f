"""Which channels want which digest, and which periods were sent: each period once, whoever asks."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlmodel import Session, col, select

from bot.store_engine import Database
from bot.store_rows import DigestRunRow, SubscriptionRow
from capacity.errors import UnknownName

LEASE = timedelta(minutes=10)


@dataclass(frozen=True, slots=True)
class Subscription:
    """A channel's wish: ``ask`` is the command text, ``cron`` five fields in ``time_zone``."""

    id: int
    channel: str
    ask: str
    cron: str
    time_zone: str
    created_by: str
    created_at: datetime


class Digests:
    """Subscriptions and their runs."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def subscriptions(self) -> tuple[Subscription, ...]:
        """Return all subscriptions, oldest first."""
        wanted = select(SubscriptionRow).order_by(col(SubscriptionRow.id))
        with self._database.read() as session:
            return tuple(_subscription(row) for row in session.exec(wanted).all())

    def subscribe(
        self, channel: str, ask: str, *, cron: str, time_zone: str, by: str, now: datetime
    ) -> Subscription:
        """Subscribe a channel; the same question again only changes when it comes."""
        with self._database.write() as session:
            row = _find(session, channel, ask) or SubscriptionRow(
                channel=channel, ask=ask, cron="", time_zone="", created_by=by, created_at=now
            )
            row.cron, row.time_zone = cron, time_zone
            session.add(row)
            session.flush()
            return _subscription(row)

    def unsubscribe(self, subscription_id: int) -> None:
        """End a subscription; raises UnknownName if there is none."""
        with self._database.write() as session:
            row = session.get(SubscriptionRow, subscription_id)
            if row is None:
                raise UnknownName("subscription", str(subscription_id))
            for run in session.exec(
                select(DigestRunRow).where(DigestRunRow.subscription_id == subscription_id)
            ).all():
                session.delete(run)
            session.flush()
            session.delete(row)

    def claim(
        self, subscription_id: int, period: str, now: datetime, lease: timedelta = LEASE
    ) -> bool:
        """Take a period to send it; False if it was sent, or another took it within the lease."""
        with self._database.write() as session:
            row = session.get(DigestRunRow, (subscription_id, period))
            if row is not None and (row.sent or now - row.claimed_at < lease):
                return False
            run = DigestRunRow(subscription_id=subscription_id, period=period, claimed_at=now)
            session.merge(run)
            return True

    def sent(self, subscription_id: int, period: str) -> None:
        """Note that the period's digest was sent: it never is again."""
        with self._database.write() as session:
            row = session.get(DigestRunRow, (subscription_id, period))
            if row is None:
                raise UnknownName("digest period", period)
            row.sent = True
            session.add(row)


def _find(session: Session, channel: str, ask: str) -> SubscriptionRow | None:
    wanted = select(SubscriptionRow).where(SubscriptionRow.channel == channel)
    return session.exec(wanted.where(SubscriptionRow.ask == ask)).first()


def _subscription(row: SubscriptionRow) -> Subscription:
    return Subscription(
        row.id or 0,
        row.channel,
        row.ask,
        row.cron,
        row.time_zone,
        row.created_by,
        row.created_at,
    )
