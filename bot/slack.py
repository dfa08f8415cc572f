"""The Slack side as one thing: everything that listens and speaks, put together and run."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import structlog

from bot import slack_charts, slack_commands
from bot.blocks import Message
from bot.inbox import Inbox, Intent
from bot.metrics import Metrics
from bot.outbox import UNSHOWABLE, Outbox, OutboxStore
from bot.slack_app import Standing, make_app, make_socket
from bot.slack_ask import Asking
from bot.slack_change import Deeds
from bot.slack_client import SlackClient, SlackRefused
from bot.slack_decide import Deciding
from bot.slack_edge import Edge
from bot.slack_fit import Fitting
from bot.slack_home import HomeTab
from bot.slack_http import Webhook
from bot.slack_identity import Caller, Gate
from bot.slack_request import Previewer, Requesting
from bot.slack_starts import Telling
from bot.starts_desk import Desk, WishStore
from bot.starts_watch import NOBODY
from bot.workers import Workers
from capacity.errors import GpubotError
from capacity.model import Fleet
from commands.command import Asker
from commands.page import Page
from gitops.people import People
from gitops.ports import View

log = structlog.get_logger(__name__)
Now = Callable[[], datetime]


@dataclass(frozen=True, slots=True)
class Access:
    """How to reach Slack. No app token means http mode, which needs the signing secret."""

    base_url: str
    bot_token: str
    app_token: str = ""
    signing_secret: str = ""
    team_ids: tuple[str, ...] = ()
    requests_channel: str = ""


@dataclass(frozen=True, slots=True)
class Ports:
    """What the Slack side asks of the rest of the bot; all of it synchronous, run on the pool."""

    answer: Callable[[str, Asker], Page]
    people: Callable[[], People]
    fleet: Callable[[], Fleet]
    preview: Previewer
    view: Callable[[int, datetime], View]
    requests: Callable[[datetime], tuple[View, ...]]
    inbox: Inbox
    outbox: OutboxStore
    starts: WishStore
    cluster: str


class Slack:
    """Made and run on one event loop; ``news`` is called when a request changed.

    ``webhook`` answers Slack's requests in http mode; it is None in socket mode.
    """

    def __init__(
        self,
        access: Access,
        ports: Ports,
        *,
        workers: Workers,
        metrics: Metrics,
        now: Now,
        news: Callable[[], None],
    ) -> None:
        self._access = access
        self._metrics = metrics
        self._news = news
        self.client = SlackClient(access.bot_token, access.base_url)
        self.standing = Standing(self.client)
        gate = Gate(self._homes, self.client.user, now)
        self._edge = edge = Edge(self.client, gate, workers, metrics, ports.people)
        self.deeds = Deeds(edge, ports.inbox, self._done, now)
        desk = Desk(ports.starts, ports.fleet, ports.cluster, self.workspace, now)
        self.home = HomeTab(edge, ports.requests, ports.answer, desk.of, now)
        secret = "" if access.app_token else access.signing_secret
        self._app = make_app(access.base_url, secret, self.standing.me)
        self.webhook = Webhook(self._app, secret, metrics) if secret else None
        asking = Asking(edge, ports.answer, desk.marked, now)
        self._telling = Telling(edge, desk, asking.own, self.home.publish)
        requesting = Requesting(edge, self.deeds, ports.fleet, ports.preview, now)
        deciding = Deciding(edge, self.deeds, ports.view, now)
        fitting = Fitting(edge, ports.answer, ports.fleet)
        for part in (asking, requesting, deciding, fitting, self._telling, self.home):
            part.register(self._app)
        slack_commands.register(self._app, asking, requesting, fitting)

        async def changed(event: dict[str, Any]) -> None:
            gate.forget(str((event.get("user") or {}).get("id", "")))

        self._app.event("user_change")(changed)
        slack_commands.register_rest(self._app, edge)
        self.outbox = Outbox(
            ports.outbox,
            ports.view,
            self.client,
            edge.message,
            channel=access.requests_channel,
            workers=workers,
            metrics=metrics,
            now=now,
        )

    def start(self) -> None:
        """Begin to connect; Slack may be down."""
        token = self._access.app_token
        self.standing.start(make_socket(self._app, token, self._metrics) if token else None)

    async def stop(self) -> None:
        """Leave Slack cleanly."""
        await self.standing.stop()
        await self._edge.settle()
        self.deeds.close()
        self._telling.close()
        await self.client.close()

    async def show(self, channel: str, page: Page) -> None:
        """Post a page in a channel, for everybody, its charts as pictures where they may be."""
        await slack_charts.show(self._edge, channel, page)

    async def direct(self, account: str, page: Page) -> None:
        """Write to one person directly; raises SlackDown or SlackRefused."""
        message = await self._edge.rendered(page)
        try:
            await self.client.post(account, message)
        except SlackRefused as refused:
            if refused.code not in UNSHOWABLE:
                raise
            log.error("Slack refuses a message's blocks", code=refused.code)
            await self.client.post(account, Message(message.text, []))

    async def reachable(self, account: str) -> bool:
        """Tell whether an account is still one of this workspace; raises SlackDown."""
        try:
            return not (await self._edge.gate.profile(account)).outside
        except SlackRefused as refused:
            if refused.code not in NOBODY:
                raise
            return False

    def workspace(self) -> str:
        """Return where the bot is installed: the organisation, else the workspace; "" at first."""
        bot = self.standing.bot
        return (bot.enterprise or bot.team) if bot else ""

    async def _done(self, intent: Intent) -> None:
        self._news()
        if intent.on_home:
            try:
                await self.home.publish(Caller(intent.user, intent.homes))
            except GpubotError as error:  # what was wanted is done; only the picture is old
                log.warning("home not shown", why=error.detail or error.sentence)

    def _homes(self) -> frozenset[str]:
        bot = self.standing.bot
        own = {bot.team, bot.enterprise} - {""} if bot else set()
        return frozenset(self._access.team_ids or own)
