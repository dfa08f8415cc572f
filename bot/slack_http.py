"""HTTP mode: Slack's requests on our own server, verified, and each signature taken once."""

import time

import structlog
from aiohttp import web
from slack_bolt.adapter.aiohttp import to_aiohttp_response, to_bolt_request
from slack_bolt.app.async_app import AsyncApp
from slack_sdk.signature import SignatureVerifier

from bot.metrics import Metrics
from bot.slack_once import Once

log = structlog.get_logger(__name__)


class Webhook:
    """Answers /slack/events, /slack/commands and /slack/interactivity."""

    def __init__(self, app: AsyncApp, signing_secret: str, metrics: Metrics) -> None:
        self._app = app
        self._verifier = SignatureVerifier(signing_secret)
        self._metrics = metrics
        self._once = Once(metrics, "signature")

    async def __call__(self, request: web.Request) -> web.StreamResponse:
        start = time.monotonic()
        if not self._genuine(await request.text(), request):
            log.warning("a request without Slack's signature was refused", path=request.path)
            return web.Response(status=401, text="The signature doesn't hold.")
        dispatch = self._app.async_dispatch(await to_bolt_request(request))
        response = await self._once.answer(request.headers["X-Slack-Signature"], dispatch)
        kind = request.path.rpartition("/")[2]
        self._metrics.acks.labels(kind).observe(time.monotonic() - start)
        return await to_aiohttp_response(response)

    def _genuine(self, body: str, request: web.Request) -> bool:
        timestamp = request.headers.get("X-Slack-Request-Timestamp", "")
        signature = request.headers.get("X-Slack-Signature", "")
        # The verifier takes int() of the timestamp, which garbage must not turn into a fault.
        if not (timestamp.isascii() and timestamp.isdigit()):
            return False
        return bool(self._verifier.is_valid(body, timestamp, signature))
