"""Looks for jobs that people wait for, and tells each person directly what became of theirs.

What is to be told is written down before it is told, so a crash or an outage loses none of it.
Slack has no way to post exactly once: a crash between a post and its record, or an answer that got
lost, repeats that message. That is chosen over losing it, since a person who waits would wait for
ever; a message that may be a repetition says so. A claim in the database keeps two replicas from
telling the same thing.
"""

import time
from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime, timedelta
from typing import Protocol

import structlog

from bot.slack_client import SlackDown, SlackRefused
from bot.starts import Awaited, News, judge, over
from bot.starts_say import news_page
from bot.store_starts import Claimed
from bot.workers import Workers
from capacity.errors import GpubotError
from capacity.model import Fleet
from commands.page import Page

log = structlog.get_logger(__name__)
# The click itself says what was so when it came; that takes a moment.
YOUNG = timedelta(seconds=5)
REFUSED_WAIT = timedelta(minutes=10)
FIRST_WAIT, LONGEST_WAIT = 1.0, 60.0
# Nobody can be reached there any more.
NOBODY = {"user_not_found", "user_disabled", "channel_not_found", "cannot_dm_bot", "is_bot"}


class StartsStore(Protocol):
    """What the lookout needs of the store; see ``bot.store_starts.Starts``."""

    def all(self, workspace: str) -> Sequence[Awaited]: ...
    def note(self, awaited: Awaited, news: News) -> bool: ...
    def claim(self, awaited: Awaited, now: datetime) -> Claimed | None: ...
    def later(self, awaited: Awaited, at: datetime, *, doubtful: bool) -> None: ...
    def told(self, awaited: Awaited, now: datetime) -> None: ...
    def forget(self, awaited: Awaited) -> None: ...


class Lookout:
    """Looks and tells once when called; the jobs call it again and again.

    ``workspace`` is "" until Slack was reached. ``post`` writes to a person directly and
    ``reachable`` tells whether the account is still one of this workspace.
    """

    def __init__(
        self,
        store: StartsStore,
        fleet: Callable[[], Fleet],
        *,
        workspace: Callable[[], str],
        post: Callable[[str, Page], Awaitable[None]],
        reachable: Callable[[str], Awaitable[bool]],
        workers: Workers,
        now: Callable[[], datetime],
    ) -> None:
        self._store = store
        self._fleet = fleet
        self._workspace = workspace
        self._post = post
        self._reachable = reachable
        self._workers = workers
        self._now = now
        self._quiet_until, self._wait = 0.0, FIRST_WAIT
        self.waiting = 0
        self.untold = 0

    async def look(self) -> None:
        """Note what became of the jobs, then tell it as far as Slack lets us."""
        workspace = self._workspace()
        if not workspace:
            return
        untold = await self._workers.run(self._note, workspace)
        self.untold = len(untold)
        for awaited in untold:
            if time.monotonic() < self._quiet_until:
                return
            await self._tell(awaited)

    def _note(self, workspace: str) -> Sequence[Awaited]:
        """Write down what is to be told, and return whom there is something to tell to."""
        found = self._store.all(workspace)
        self.waiting = len(found)
        quiet = [awaited for awaited in found if awaited.news is None]
        noted = self._judged(quiet) if quiet else False
        return [a for a in (self._store.all(workspace) if noted else found) if a.news is not None]

    def _judged(self, quiet: Sequence[Awaited]) -> bool:
        try:
            fleet = self._fleet()
        except GpubotError as error:  # nothing can be said of any job; what is noted is told
            log.info("can't look for starts", why=error.detail or error.sentence)
            return False
        noted, now = False, self._now()
        for awaited in quiet:
            if over(awaited, now):
                self._store.forget(awaited)
            elif now - awaited.asked_at >= YOUNG and (news := judge(awaited, fleet, now)):
                noted = self._store.note(awaited, news) or noted
        return noted

    async def _tell(self, awaited: Awaited) -> None:
        try:
            if not await self._reachable(awaited.account):
                log.info("nobody to tell", account=awaited.account, job=awaited.name)
                await self._workers.run(self._store.forget, awaited)
                return
        except GpubotError as error:
            self._be_quiet(error)
            return
        claimed = await self._workers.run(self._store.claim, awaited, self._now())
        if claimed is not None:
            await self._send(claimed)

    async def _send(self, claimed: Claimed) -> None:
        awaited = claimed.awaited
        if awaited.news is None:
            return
        page = news_page(awaited, awaited.news, doubtful=claimed.doubtful)
        try:
            await self._post(awaited.account, page)
        except SlackDown as down:
            self._be_quiet(down)
            doubtful = claimed.doubtful or not down.unsent
            await self._back(awaited, timedelta(0), doubtful=doubtful)
        except SlackRefused as refused:
            await self._refused(claimed, refused)
        else:
            self._wait = FIRST_WAIT
            await self._workers.run(self._store.told, awaited, self._now())
            log.info("told", account=awaited.account, job=awaited.name, turn=awaited.news.turn)

    async def _refused(self, claimed: Claimed, refused: SlackRefused) -> None:
        awaited = claimed.awaited
        if refused.code in NOBODY:
            log.info("nobody to tell", account=awaited.account, code=refused.code)
            await self._workers.run(self._store.forget, awaited)
            return
        log.error("Slack refuses a direct message", account=awaited.account, code=refused.code)
        await self._back(awaited, REFUSED_WAIT, doubtful=claimed.doubtful)

    async def _back(self, awaited: Awaited, wait: timedelta, *, doubtful: bool) -> None:
        def later() -> None:
            self._store.later(awaited, self._now() + wait, doubtful=doubtful)

        await self._workers.run(later)

    def _be_quiet(self, error: GpubotError) -> None:
        """Leave Slack alone for a while; its own advice goes before ours."""
        advice = error.retry_after if isinstance(error, SlackDown) else None
        wait = self._wait if advice is None else advice
        if advice is None:
            self._wait = min(LONGEST_WAIT, self._wait * 2)
        self._quiet_until = time.monotonic() + wait
        log.warning("not told yet", next_try_in=wait, detail=error.detail or error.sentence)
