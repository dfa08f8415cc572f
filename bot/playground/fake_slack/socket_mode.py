"""Socket Mode: single-use URLs, hello, envelopes, acknowledgements, refresh, at most ten."""

import asyncio
import json
import secrets
from dataclasses import dataclass, field
from typing import Any

from aiohttp import WSMsgType, web

from bot.playground.fake_slack.faults import Faults
from bot.playground.fake_slack.people import APP
from bot.playground.fake_slack.wire import ACK_SECONDS, Delivery, NotAcked

SOCKETS = 10
LIFETIME_SECONDS = 18_060


@dataclass(slots=True, eq=False)
class Socket:
    """A connection of the bot. A ``ghost`` is registered but nobody reads it any more."""

    link: web.WebSocketResponse
    ghost: bool = False
    leaving: bool = False


@dataclass(slots=True)
class Sockets:
    """The bot's connections; each envelope goes to any one of them."""

    faults: Faults
    ack_seconds: float = ACK_SECONDS
    url: str = ""
    sockets: list[Socket] = field(default_factory=list)
    opened: int = 0
    acked: list[str] = field(default_factory=list)
    _tickets: set[str] = field(default_factory=set)
    _waiting: dict[str, asyncio.Future[Any]] = field(default_factory=dict)
    _turn: int = 0

    def ticket(self) -> str:
        """Return a single-use WebSocket URL."""
        secret = secrets.token_urlsafe(16)
        self._tickets.add(secret)
        return f"{self.url.replace('http', 'ws', 1)}/link?ticket={secret}&app_id={APP}"

    async def handle(self, request: web.Request) -> web.StreamResponse:
        """Serve one connection until it ends."""
        if request.query.get("ticket") not in self._tickets:
            return web.Response(status=401, text="invalid ticket")
        self._tickets.remove(request.query["ticket"])
        link = web.WebSocketResponse(heartbeat=10)
        await link.prepare(request)
        if len(self.sockets) >= SOCKETS:
            await link.send_json(_disconnect("too_many_websockets"))
            await link.close()
            return link
        socket = Socket(link)
        self.sockets.append(socket)
        self.opened += 1
        try:
            await link.send_json(self._hello())
            await self._listen(socket)
        finally:
            self.sockets.remove(socket)
        return link

    def _hello(self) -> dict[str, Any]:
        debug = {"host": "playground", "approximate_connection_time": LIFETIME_SECONDS}
        info = {"app_id": APP}
        count = len(self.sockets)
        return {
            "type": "hello",
            "num_connections": count,
            "debug_info": debug,
            "connection_info": info,
        }

    async def _listen(self, socket: Socket) -> None:
        async for frame in socket.link:
            if frame.type == WSMsgType.TEXT:
                self._acknowledge(json.loads(frame.data))

    def _acknowledge(self, ack: dict[str, Any]) -> None:
        envelope = str(ack.get("envelope_id"))
        self.acked.append(envelope)
        if self.faults.takes_ack():
            return
        waiting = self._waiting.get(envelope)
        if waiting is not None and not waiting.done():
            waiting.set_result(ack.get("payload"))

    async def send(self, delivery: Delivery) -> Any:
        """Send an envelope to one connection and wait for its acknowledgement."""
        usable = [s for s in self.sockets if not s.leaving and not s.link.closed]
        if not usable:
            raise NotAcked("connection_failed")
        self._turn += 1
        socket = usable[self._turn % len(usable)]
        envelope = _envelope(delivery)
        waiting = asyncio.get_running_loop().create_future()
        self._waiting[envelope["envelope_id"]] = waiting
        try:
            if not socket.ghost:
                for _ in range(self.faults.copies()):
                    await socket.link.send_json(envelope)
            return await asyncio.wait_for(waiting, self.ack_seconds)
        except (TimeoutError, ConnectionError) as problem:
            raise NotAcked("http_timeout") from problem
        finally:
            del self._waiting[envelope["envelope_id"]]

    async def refresh(self, *, overlap_seconds: float = 0.5, reason: str = "") -> None:
        """Ask every connection to reconnect, then close it: what Slack does every few hours."""
        old = list(self.sockets)
        for socket in old:
            await socket.link.send_json(_disconnect(reason or "warning"))
            if not reason:
                await socket.link.send_json(_disconnect("refresh_requested"))
            socket.leaving = True
        await asyncio.sleep(overlap_seconds)
        for socket in old:
            await socket.link.close()

    async def close(self) -> None:
        """End every connection."""
        for socket in list(self.sockets):
            await socket.link.close()


def _envelope(delivery: Delivery) -> dict[str, Any]:
    body: dict[str, Any] = {
        "envelope_id": secrets.token_hex(16),
        "type": delivery.kind,
        "payload": delivery.payload,
        "accepts_response_payload": delivery.kind != "events_api",
    }
    if delivery.kind == "events_api":
        body |= {"retry_attempt": delivery.retry, "retry_reason": delivery.retry_reason}
    return body


def _disconnect(reason: str) -> dict[str, Any]:
    return {"type": "disconnect", "reason": reason, "debug_info": {"host": "playground"}}
