"""One tick for one request: the clocks, the policy, the cluster, and one step on the forge."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from capacity.errors import SourceDown
from capacity.model import Fleet
from gitops.book import Book
from gitops.delivering import Delivering
from gitops.events import Delivered, Event, Observed, PolicyChanged, StepDone, Ticked
from gitops.flow_decide import judged
from gitops.flow_save import run, save_events
from gitops.flow_step import Events, Step, Stepper, failed, next_step
from gitops.request import IN_GIT, TERMINAL, Request
from gitops.rollout import Live, check


@dataclass(frozen=True, slots=True)
class Ticker:
    """What a tick needs beside the steps: the fleet, to see what is live."""

    stepper: Stepper
    fleet: Callable[[], Fleet]
    poll_every: timedelta
    delivering: Callable[[Request], Delivering | None] = lambda _: None

    def tick(self, request: Request, book: Book | SourceDown, now: datetime) -> bool:
        """Bring the request one step further; tell if another step is due right away."""
        if isinstance(book, SourceDown):
            self._trouble("repository", request, book, now, [Ticked()])
            return False
        request = self._save(request, lambda r: _inside(r, book, now), now)
        if request.state in IN_GIT - TERMINAL:
            request = self._watch(request, now)
        step = self._next(request, book, now)
        if step is None:
            return False
        request = self.stepper.do(step, request, book, now)
        return self._next(request, book, now) is not None

    def _next(self, request: Request, book: Book, now: datetime) -> Step | None:
        return next_step(request, book.verdict(request), book, self.poll_every, now)

    def _watch(self, request: Request, now: datetime) -> Request:
        if request.trouble and request.trouble.step == "watch" and now < request.trouble.retry_at:
            return request
        try:
            fleet = self.fleet()
        except SourceDown as down:
            return self._trouble("watch", request, down, now)
        found = check(request.draft, fleet, request.live_by or now, now)
        news = self.delivering(request)
        events: list[Event] = [Delivered(news)] if news else []
        if not (news and isinstance(found, Live) and news.at_work(now)):
            events.append(Observed(found))
        return self._save(request, lambda _: (*events, StepDone("watch")), now)

    def _trouble(
        self,
        step: Step,
        request: Request,
        down: SourceDown,
        now: datetime,
        first: list[Event] | None = None,
    ) -> Request:
        waits = request.trouble and now < request.trouble.retry_at
        events = failed(step, request, down, now)(request) if not waits else ()
        return self._save(request, lambda _: (*(first or ()), *events), now)

    def _save(self, request: Request, events: Events, now: datetime) -> Request:
        return save_events(self.stepper.store, request, events, now)[0]


def _inside(request: Request, book: Book, now: datetime) -> Iterator[Event]:
    """Return what time and the policy in force say about a request, each on top of the last."""
    for event in (StepDone("repository"), Ticked(), PolicyChanged(book.policy.hash)):
        yield event
        request, _ = run(request, [event], now)
    yield judged(request, book, book.verdict(request))
