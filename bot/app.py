"""The running bot: its parts started and stopped in order, and whether it is ready."""

import asyncio
import math
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime

import structlog
from aiohttp import web

from bot.digests import Digests
from bot.history import Recorder
from bot.inbox import Inbox
from bot.jobs import Jobs
from bot.metrics import Metrics
from bot.server import Check, Handler, Server, application
from bot.slack import Access, Ports, Slack
from bot.sources import Sources
from bot.starts_watch import Lookout
from bot.store import Store
from bot.webhooks import Hook, webhook
from bot.workers import Workers
from capacity.errors import GpubotError
from commands.command import Asker
from commands.page import Page
from gitops.flow import Flow

log = structlog.get_logger(__name__)
MOST_TICKS = 20
RECOVER_SECONDS, OUTBOX_SECONDS, DIGEST_SECONDS, LOOKOUT_SECONDS = 10.0, 1.0, 30.0, 3.0
HISTORY_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class Backend:
    """Everything behind Slack, as plain synchronous code."""

    sources: Sources
    store: Store
    flow: Flow
    history: Recorder
    now: Callable[[], datetime]

    def page(self, text: str, asker: Asker) -> Page:
        """Answer a question for people."""
        return self.sources.answer(text, asker)[1]

    def close(self) -> None:
        self.sources.reader.stop()
        self.store.close()


@dataclass(frozen=True, slots=True)
class Shape:
    """How the running bot is built: its listener, its threads, its rhythm."""

    host: str = "127.0.0.1"
    port: int = 0
    workers: int = 8
    waiting: int = 64
    poll_seconds: float = 5.0
    hook: Hook | None = None


class App:
    """The bot on one event loop; ``start`` doesn't wait for Slack, ``stop`` ends everything."""

    def __init__(self, backend: Backend, access: Access, shape: Shape) -> None:
        self.backend = backend
        self.metrics = Metrics()
        self._workers = Workers(shape.workers, shape.waiting)
        # Jobs wait for forges and databases: not on the threads that answer people.
        self._background = Workers(2, 64, "job")
        self._jobs = Jobs(self.metrics)
        self._access = access
        self._poll = shape.poll_seconds
        self._slack: Slack | None = None
        self.server = Server(
            application(
                self.checks, self.metrics.registry, self._webhook(), self._hints(shape.hook)
            ),
            shape.host,
            shape.port,
        )

    async def start(self) -> None:
        """Start reading, serving, connecting and the jobs; returns when all have begun."""
        self.backend.sources.reader.start()
        slack = self._slack = self._make_slack()
        self._watch(slack)
        await self.server.start()
        slack.start()
        self._schedule(slack)
        self._jobs.start()
        log.info("started", port=self.server.port)

    async def stop(self) -> None:
        """End in the order that loses nothing: no more jobs, no more clicks, then the sources."""
        await self._jobs.stop()
        if self._slack is not None:
            await self._slack.stop()
        await self.server.stop()
        self._workers.close()
        self._background.close()
        await asyncio.to_thread(self.backend.close)
        log.info("stopped")

    async def connected(self) -> bool:
        """Whether Slack can reach the bot now."""
        return self._slack is not None and (await self._slack.standing.words())[0]

    async def checks(self) -> tuple[Check, ...]:
        """Return what the bot needs, and how each of it is."""
        backend = self.backend
        slack = (False, "not started")
        if self._slack is not None:
            slack = await self._slack.standing.words()
        seen = backend.sources.reader.last_seen
        cluster = f"as of {seen:%H:%M:%S} UTC" if seen else "never read yet"
        return (
            Check("slack", *slack),
            Check("cluster", seen is not None, cluster),
            await self._check("store", backend.store.audit.head, "open"),
            await self._check("repository", backend.sources.repository.head, "readable"),
        )

    async def _check(self, name: str, call: Callable[[], object], well: str) -> Check:
        try:
            await self._background.run(call)
        except GpubotError as error:
            return Check(name, False, error.sentence)
        return Check(name, True, well)

    def _make_slack(self) -> Slack:
        backend = self.backend
        ports = Ports(
            answer=backend.page,
            people=backend.sources.world.people,
            fleet=backend.sources.world.fleet,
            preview=backend.flow.preview,
            view=backend.flow.view,
            requests=backend.flow.views,
            inbox=Inbox(backend.store.inbox, backend.flow),
            outbox=backend.store.outbox,
            starts=backend.store.starts,
            cluster=backend.flow.cluster,
        )
        return Slack(
            self._access,
            ports,
            workers=self._workers,
            metrics=self.metrics,
            now=backend.now,
            news=lambda: self._jobs.soon("requests"),
        )

    def _schedule(self, slack: Slack) -> None:
        digests = Digests(
            self.backend.store.digests,
            self.backend.page,
            slack.show,
            self._background,
            self.backend.now,
        )
        self._jobs.every(self._poll, "requests", self._requests)
        self._jobs.every(OUTBOX_SECONDS, "outbox", slack.outbox.drain)
        self._jobs.every(RECOVER_SECONDS, "inbox", slack.deeds.recover)
        self._jobs.every(DIGEST_SECONDS, "digests", digests.send_due)
        lookout = self._lookout(slack)
        self._jobs.every(LOOKOUT_SECONDS, "starts", lookout.look)
        history = self.backend.history
        self._jobs.every(HISTORY_SECONDS, "history", lambda: history.run(self._background))
        watch = self.metrics.watch
        watch("gpubot_awaited_jobs", "Jobs whose start people wait for.", lambda: lookout.waiting)
        watch("gpubot_starts_untold", "News of them not told yet.", lambda: lookout.untold)
        unwritten = "Stretches of jobs that the history doesn't hold yet."
        watch("gpubot_history_unwritten", unwritten, lambda: history.unwritten)

    def _lookout(self, slack: Slack) -> Lookout:
        return Lookout(
            self.backend.store.starts,
            self.backend.sources.world.fleet,
            workspace=slack.workspace,
            post=slack.direct,
            reachable=slack.reachable,
            workers=self._background,
            now=self.backend.now,
        )

    async def _requests(self) -> None:
        """Move every open request on, step by step, and tell what came of it."""
        for _ in range(MOST_TICKS):
            more = await self._background.run(self.backend.flow.tick, self.backend.now())
            self._jobs.soon("outbox")
            if not more:
                return

    def _webhook(self) -> Callable[[web.Request], Awaitable[web.StreamResponse]] | None:
        if self._access.app_token:
            return None

        async def later(request: web.Request) -> web.StreamResponse:
            if self._slack is None or self._slack.webhook is None:
                return web.Response(status=503)
            return await self._slack.webhook(request)

        return later

    def _hints(self, hook: Hook | None) -> Handler | None:
        return webhook(hook, lambda: self._jobs.soon("requests")) if hook else None

    def _watch(self, slack: Slack) -> None:
        watch = self.metrics.watch
        watch("gpubot_waiting_calls", "Calls that run or wait.", lambda: self._workers.taken)
        watch("gpubot_outbox_moves", "Moves not told yet.", lambda: slack.outbox.pending)
        watch("gpubot_outbox_lag_seconds", "Age of the oldest of them.", slack.outbox.lag)
        watch("gpubot_cluster_age_seconds", "Age of what is known of the cluster.", self._age)
        heard = "Time since Prometheus last answered; it is only asked when people ask."
        watch("gpubot_prometheus_age_seconds", heard, self._prometheus_age)

    def _age(self) -> float:
        return self._since(self.backend.sources.reader.last_seen)

    def _prometheus_age(self) -> float:
        try:
            return self._since(self.backend.sources.world.meter().last_seen)
        except GpubotError:  # none is set up
            return math.nan

    def _since(self, seen: datetime | None) -> float:
        return (self.backend.now() - seen).total_seconds() if seen else math.nan
