"""The Bolt app, and the bot's standing with Slack: who it is and whether it is connected."""

import asyncio
import contextlib
import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import structlog
from slack_bolt.async_app import AsyncApp
from slack_bolt.authorization import AuthorizeResult
from slack_sdk.http_retry.builtin_async_handlers import AsyncConnectionErrorRetryHandler
from slack_sdk.web.async_client import AsyncWebClient

from bot.metrics import Metrics
from bot.slack_client import SlackClient, SlackDown, SlackRefused
from bot.slack_socket import Socket

log = structlog.get_logger(__name__)
LONGEST_WAIT = 60.0


@dataclass(frozen=True, slots=True)
class Bot:
    """The bot's own account, as ``auth.test`` tells it."""

    team: str
    enterprise: str
    user: str
    bot: str


class Standing:
    """Connects to Slack and keeps knowing how that stands, also when Slack is down at start."""

    def __init__(self, client: SlackClient) -> None:
        self._client = client
        self._task: asyncio.Task[None] | None = None
        self.socket: Socket | None = None
        self.bot: Bot | None = None
        self.trouble = "not connected yet"

    def start(self, socket: Socket | None) -> None:
        """Begin to connect, in the background; ``socket`` is None in http mode."""
        self.socket = socket
        self._task = asyncio.create_task(self._connect())

    async def stop(self) -> None:
        """Leave cleanly, so that Slack doesn't keep sending to a connection that is gone."""
        if self._task is not None:
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._task
        if self.socket is not None:
            await self.socket.leave()

    async def words(self) -> tuple[bool, str]:
        """Whether Slack can reach the bot now, and how that stands."""
        if self.bot is None or self.socket is None:
            return self.bot is not None, self.trouble or "ready for requests"
        if await self.socket.connected():
            return True, "connected"
        return False, self.socket.trouble or "the connection is down; reconnecting"

    def me(self) -> AuthorizeResult:
        """Tell Bolt who the bot is, without a call to Slack on the way to the ack."""
        if self.bot is None:
            raise SlackDown(detail="a payload came before auth.test was answered")
        return AuthorizeResult(
            enterprise_id=self.bot.enterprise or None,
            team_id=self.bot.team,
            bot_user_id=self.bot.user,
            bot_id=self.bot.bot,
        )

    async def _connect(self) -> None:
        wait = 1.0
        while self.bot is None:
            try:
                self.bot = _bot(await self._client.call("auth.test"))
            except SlackRefused as refused:
                self.trouble = f"Slack refuses the bot's token: {refused.code}"
                log.error("Slack refuses the bot's token", code=refused.code)
                return
            except SlackDown as down:
                self.trouble = "Slack doesn't answer"
                log.warning("Slack doesn't answer", detail=down.detail, next_try_in=wait)
                await asyncio.sleep(wait)
                wait = min(LONGEST_WAIT, wait * 2)
        self.trouble = ""
        if self.socket is not None:
            await self.socket.join()


def make_app(base_url: str, signing_secret: str, me: Callable[[], AuthorizeResult]) -> AsyncApp:
    """Return an app without listeners; an empty secret means socket mode.

    Its client has no token: listeners speak through ``SlackClient`` only.
    """

    async def authorize() -> AuthorizeResult:
        return me()

    return AsyncApp(
        name="gpubot",
        logger=logging.getLogger("slack_bolt"),
        client=AsyncWebClient(
            base_url=base_url,
            timeout=10,
            retry_handlers=[AsyncConnectionErrorRetryHandler(max_retry_count=2)],
        ),
        authorize=authorize,
        signing_secret=signing_secret,
        request_verification_enabled=bool(signing_secret),
    )


def make_socket(app: AsyncApp, app_token: str, metrics: Metrics) -> Socket:
    """Return the connection of socket mode; made on the event loop."""
    return Socket(app, app_token, metrics)


def _bot(said: dict[str, Any]) -> Bot:
    return Bot(
        team=str(said.get("team_id") or ""),
        enterprise=str(said.get("enterprise_id") or ""),
        user=str(said.get("user_id") or ""),
        bot=str(said.get("bot_id") or ""),
    )
