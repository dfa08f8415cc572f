"""The bot's HTTP side: health, readiness, metrics and, in http mode, Slack's requests.

``/healthz`` says that the process answers; ``/readyz`` says whether it can do its work, and names
what it lacks, so that an orchestrator and a person at night see the same.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from aiohttp import web
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that the bot needs; ``words`` says how it is, also when it is well."""

    name: str
    ready: bool
    words: str


Checks = Callable[[], Awaitable[Sequence[Check]]]


def application(
    checks: Checks,
    registry: CollectorRegistry,
    slack: Handler | None = None,
    forge: Handler | None = None,
) -> web.Application:
    """Return the application; ``slack`` answers http mode's addresses, ``forge`` its webhooks."""
    app = web.Application(client_max_size=1024 * 1024)

    async def healthz(_: web.Request) -> web.Response:
        return web.json_response({"status": "alive"})

    async def readyz(_: web.Request) -> web.Response:
        found = await checks()
        ready = all(check.ready for check in found)
        body = {
            "status": "ready" if ready else "not ready",
            "lacks": [check.name for check in found if not check.ready],
            "checks": {check.name: check.words for check in found},
        }
        return web.json_response(body, status=200 if ready else 503)

    async def metrics(_: web.Request) -> web.Response:
        return web.Response(
            body=generate_latest(registry), headers={"Content-Type": CONTENT_TYPE_LATEST}
        )

    app.router.add_get("/healthz", healthz)
    app.router.add_get("/readyz", readyz)
    app.router.add_get("/metrics", metrics)
    if slack is not None:
        for path in ("/slack/events", "/slack/commands", "/slack/interactivity"):
            app.router.add_post(path, slack)
    if forge is not None:
        app.router.add_post("/forge/webhook", forge)
    return app


class Server:
    """A running application; ``port`` is the one it really got."""

    def __init__(self, app: web.Application, host: str, port: int) -> None:
        self._runner = web.AppRunner(app, access_log=None)
        self._host = host
        self.port = port

    async def start(self) -> None:
        await self._runner.setup()
        site = web.TCPSite(self._runner, self._host, self.port)
        await site.start()
        addresses = self._runner.addresses
        self.port = int(addresses[0][1]) if addresses else self.port

    async def stop(self) -> None:
        await self._runner.cleanup()
