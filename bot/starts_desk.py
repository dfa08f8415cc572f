"""Takes people's wishes to be told of a start, and shows each person their own.

Nobody names a person here but the account that Slack says has pressed: so nobody sees, adds or
stops another's.
"""

import threading
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

import structlog

from bot.starts import Awaited, Turn, judge
from bot.starts_say import already, kept, unseen
from bot.store_starts import Job, Person
from capacity.errors import GpubotError, SourceDown
from capacity.model import Fleet
from commands.page import Line, Page
from commands.starts import TELL, Wished, as_wished

log = structlog.get_logger(__name__)
Late = threading.Event


class WishStore(Protocol):
    """What the desk needs of the store; see ``bot.store_starts.Starts``."""

    def wish(
        self, person: Person, job: Job, now: datetime, late: Late | None = None
    ) -> tuple[Awaited, bool] | None: ...
    def stop(self, person: Person, uid: str, late: Late | None = None) -> bool: ...
    def of(self, person: Person) -> tuple[Awaited, ...]: ...


@dataclass(frozen=True, slots=True)
class Desk:
    """``workspace`` is where the bot is installed; all of it is synchronous, run on the pool."""

    store: WishStore
    fleet: Callable[[], Fleet]
    cluster: str
    workspace: Callable[[], str]
    now: Callable[[], datetime]

    def of(self, account: str) -> tuple[Awaited, ...]:
        """Return what this account waits for; raises SourceDown."""
        return self.store.of(self._person(account))

    def marked(self, page: Page, account: str) -> Page:
        """Return the page with the button to stop where this account is told already."""
        if not any(action.action == TELL for action in page.actions):
            return page
        try:
            return as_wished(page, frozenset(awaited.uid for awaited in self.of(account)))
        except SourceDown as down:  # the answer is right all the same
            log.warning("wishes unreadable", why=down.detail or down.sentence)
            return page

    def keep(self, account: str, asked: Wished, late: Late) -> tuple[Awaited, bool] | None:
        """Write the wish down; returns and raises as the store does."""
        job = Job(self.cluster, asked.namespace, asked.job, asked.uid)
        return self.store.wish(self._person(account), job, self.now(), late)

    def drop(self, account: str, asked: Wished, late: Late) -> bool:
        """Take the account's own wish back; False if it had none."""
        return self.store.stop(self._person(account), asked.uid, late)

    def outcome(self, account: str, awaited: Awaited, new: bool) -> tuple[Line, bool]:
        """Say what a wish that was just kept comes to, and whether there is still one to stop.

        A job that has started, or can't any more, is said now and not told later.
        """
        line = kept(awaited, new=new)
        try:
            fleet = self.fleet()
        except GpubotError:
            return (*line, *unseen(awaited)), True
        news = judge(awaited, fleet, self.now())
        if news is None or news.turn is Turn.EXPIRED:
            seen = any(w.uid == awaited.uid for w in fleet.workloads.named(awaited.job))
            return (line if seen else (*line, *unseen(awaited))), True
        self.store.stop(self._person(account), awaited.uid)
        return already(awaited, news), False

    def _person(self, account: str) -> Person:
        return Person(self.workspace(), account)
