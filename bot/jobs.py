"""What happens by itself: requests move on, the outbox drains, digests are sent. One boundary.

A job never runs twice at once. What is due by the clock is asked of the clock each time, so a job
that was missed while the bot was down is caught up once, and not for every time it was missed.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import structlog
from apscheduler.schedulers.asyncio import AsyncIOScheduler
from apscheduler.triggers.cron import CronTrigger
from apscheduler.triggers.interval import IntervalTrigger

from bot.logs import reference
from bot.metrics import Metrics
from capacity.errors import GpubotError, UsageError

log = structlog.get_logger(__name__)
ENDING = 2.0
Work = Callable[[], Awaitable[None]]
# How far back the last due moment is looked for: a yearly digest is the rarest.
LOOK_BACK = (timedelta(days=1), timedelta(days=8), timedelta(days=32), timedelta(days=367))


class Jobs:
    """Named jobs, each at its own interval; ``soon`` runs one now without waiting for its turn."""

    def __init__(self, metrics: Metrics) -> None:
        self._scheduler = AsyncIOScheduler(timezone=UTC)
        self._metrics = metrics
        self._work: dict[str, Work] = {}
        self._running: set[str] = set()
        self._again: set[str] = set()
        self._tasks: set[asyncio.Task[None]] = set()

    def every(self, seconds: float, name: str, work: Work) -> None:
        """Run ``work`` at this interval, first at once."""
        self._work[name] = work
        self._scheduler.add_job(
            self._fire,
            IntervalTrigger(seconds=seconds),
            args=[name],
            id=name,
            coalesce=True,
            misfire_grace_time=None,
            next_run_time=datetime.now(UTC),
        )

    def soon(self, name: str) -> None:
        """Run the job now; once more right after, if it is running already."""
        if name in self._running:
            self._again.add(name)
        else:
            self._begin(name)

    def start(self) -> None:
        self._scheduler.start()

    async def stop(self) -> None:
        """Stop the schedule, and give what runs a moment to end."""
        if self._scheduler.running:
            self._scheduler.shutdown(wait=False)
        self._again.clear()
        if self._tasks:
            _, late = await asyncio.wait(self._tasks, timeout=ENDING)
            for task in late:
                task.cancel()

    async def _fire(self, name: str) -> None:
        if name not in self._running:
            self._begin(name)

    def _begin(self, name: str) -> None:
        self._running.add(name)
        task = asyncio.get_running_loop().create_task(self._turn(name))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _turn(self, name: str) -> None:
        try:
            await self._guarded(name)
            while name in self._again:
                self._again.discard(name)
                await self._guarded(name)
        finally:
            self._running.discard(name)

    async def _guarded(self, name: str) -> None:
        start = time.monotonic()
        outcome = "done"
        try:
            await self._work[name]()
        except GpubotError as error:
            outcome = type(error).__name__
            log.warning("job not done", job=name, why=error.detail or error.sentence)
        except Exception:
            outcome = "broken"
            log.exception("job broke", job=name, ref=reference())
        self._metrics.jobs.labels(name, outcome).inc()
        self._metrics.job_seconds.labels(name).observe(time.monotonic() - start)


def last_due(cron: str, zone: ZoneInfo, now: datetime) -> datetime | None:
    """Return when five cron fields were last due in a zone, in UTC; None if not in a year.

    Days of the week are safest by name: the scheduler counts from Monday, cron from Sunday.
    """
    trigger = _trigger(cron, zone)
    for span in LOOK_BACK:
        due: datetime | None = None
        moment = trigger.get_next_fire_time(None, now - span)
        while moment is not None and moment <= now:
            due = moment.astimezone(UTC)
            moment = trigger.get_next_fire_time(moment, moment)
        if due is not None:
            return due
    return None


def _trigger(cron: str, zone: ZoneInfo) -> CronTrigger:
    try:
        return CronTrigger.from_crontab(cron, timezone=zone)
    except ValueError as error:
        raise UsageError(f"{cron!r} is not a schedule of five cron fields: {error}.") from error
