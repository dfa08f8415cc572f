"""Socket Mode: the connection that Slack sends payloads through."""

import asyncio
import json
import time
from typing import Any

import structlog
from aiohttp import WSMessage
from slack_bolt.adapter.socket_mode.aiohttp import AsyncSocketModeHandler
from slack_bolt.adapter.socket_mode.async_internals import run_async_bolt_app, send_async_response
from slack_bolt.app.async_app import AsyncApp
from slack_sdk.socket_mode.async_client import AsyncBaseSocketModeClient
from slack_sdk.socket_mode.request import SocketModeRequest
from slack_sdk.socket_mode.response import SocketModeResponse

from bot.metrics import Metrics
from bot.slack_once import Once

log = structlog.get_logger(__name__)
# Seconds without another question that an answer waits for, so that the acks of a burst go out
# before the first answer takes the processor; and the most that it waits.
BURST, PATIENCE = 0.02, 0.2
# Reconnecting doesn't help here, though the client keeps trying: somebody must act.
FINAL = {"link_disabled": "Socket Mode was switched off for this app"}


class Socket(AsyncSocketModeHandler):
    """The connection, with duplicates recognised and the time to the ack measured."""

    def __init__(self, app: AsyncApp, app_token: str, metrics: Metrics) -> None:
        super().__init__(app, app_token, ping_interval=5)
        self._metrics = metrics
        self._once = Once(metrics, "envelope_id")
        self._asked_at = 0.0
        self.trouble = ""
        self.client.on_message_listeners.append(self._notice)

    async def handle(self, client: AsyncBaseSocketModeClient, req: SocketModeRequest) -> None:
        start = time.time()
        asked = req.type == "slash_commands"
        if asked:
            # A question changes nothing, so nothing need be written down before its ack.
            await client.send_socket_mode_response(SocketModeResponse(req.envelope_id))
            self._metrics.acks.labels(req.type).observe(time.time() - start)
            await self._after_the_burst()
        response = await self._once.answer(req.envelope_id, run_async_bolt_app(self.app, req))
        if not asked:
            await send_async_response(client, req, response, start)
            self._metrics.acks.labels(req.type).observe(time.time() - start)

    async def _after_the_burst(self) -> None:
        began = self._asked_at = time.monotonic()
        left = BURST
        while left > 0:
            await asyncio.sleep(left)
            left = min(self._asked_at + BURST, began + PATIENCE) - time.monotonic()

    async def join(self) -> None:
        """Connect, and stay connected; keeps trying when Slack is away."""
        await self.connect_async()  # type: ignore[no-untyped-call]  # the SDK's own lack

    async def leave(self) -> None:
        """Close the connection, so that Slack sends nothing more into it."""
        await self.close_async()  # type: ignore[no-untyped-call]  # the SDK's own lack

    async def connected(self) -> bool:
        """Whether payloads can arrive now."""
        return not self.trouble and bool(await self.client.is_connected())

    async def _notice(self, message: WSMessage) -> None:
        frame: dict[str, Any] = json.loads(message.data) if message.data[:1] == "{" else {}
        if frame.get("type") == "hello":
            self.trouble = ""
            log.info("connected to Slack", connections=frame.get("num_connections"))
        elif frame.get("type") == "disconnect":
            reason = str(frame.get("reason", ""))
            self.trouble = FINAL.get(reason, "")
            log.warning("Slack ends the connection", reason=reason)
