"""HTTP mode: signed requests to the bot's own URL, for workspaces without Socket Mode."""

import hashlib
import hmac
import json
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

import aiohttp

from bot.playground.fake_slack.clock import Clock
from bot.playground.fake_slack.faults import Faults
from bot.playground.fake_slack.wire import ACK_SECONDS, Delivery, NotAcked

_FORM = "application/x-www-form-urlencoded"


@dataclass(slots=True)
class HttpWire:
    """Posts to one request URL, as a manifest without socket mode has it."""

    request_url: str
    signing_secret: str
    clock: Clock
    faults: Faults
    ack_seconds: float = ACK_SECONDS

    async def send(self, delivery: Delivery) -> Any:
        """Post a delivery; return the JSON or text that came back with HTTP 200."""
        body, content_type = encode(delivery)
        headers = {**self.signature(body), "Content-Type": content_type}
        if delivery.retry:
            headers["X-Slack-Retry-Num"] = str(delivery.retry)
            headers["X-Slack-Retry-Reason"] = delivery.retry_reason
        answer: Any = None
        for _ in range(self.faults.copies()):
            answer = await self._post(body, headers)
        if self.faults.takes_ack():
            raise NotAcked("http_timeout")
        return answer

    async def _post(self, body: bytes, headers: dict[str, str]) -> Any:
        timeout = aiohttp.ClientTimeout(total=self.ack_seconds)
        try:
            async with (
                aiohttp.ClientSession(timeout=timeout) as session,
                session.post(self.request_url, data=body, headers=headers) as response,
            ):
                text = await response.text()
                if response.headers.get("X-Slack-No-Retry") != "1" and response.status != 200:
                    raise NotAcked("http_error")
        except TimeoutError as problem:
            raise NotAcked("http_timeout") from problem
        except aiohttp.ClientError as problem:
            raise NotAcked("connection_failed") from problem
        if response.content_type == "application/json":
            return json.loads(text) if text else None
        return {"text": text} if text else None

    def signature(self, body: bytes) -> dict[str, str]:
        """Return the two headers that prove a request comes from Slack."""
        stamp = str(int(self.clock.now()))
        base = b"v0:" + stamp.encode() + b":" + body
        digest = hmac.new(self.signing_secret.encode(), base, hashlib.sha256).hexdigest()
        return {"X-Slack-Request-Timestamp": stamp, "X-Slack-Signature": f"v0={digest}"}


def encode(delivery: Delivery) -> tuple[bytes, str]:
    """Return body and type: commands as a form, interactions as its one field, events as JSON."""
    if delivery.kind == "events_api":
        return json.dumps(delivery.payload).encode(), "application/json"
    if delivery.kind == "slash_commands":
        return urlencode(delivery.payload).encode(), _FORM
    return urlencode({"payload": json.dumps(delivery.payload)}).encode(), _FORM
