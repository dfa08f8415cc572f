"""The fake Slack as one aiohttp application: Web API, Socket Mode, response URLs, uploads."""

import json
from dataclasses import dataclass, field

from aiohttp import web

from bot.playground.fake_slack import web_files
from bot.playground.fake_slack.app import SlackApp
from bot.playground.fake_slack.clock import Clock
from bot.playground.fake_slack.error import SlackError
from bot.playground.fake_slack.faults import Faults
from bot.playground.fake_slack.gestures import Gestures
from bot.playground.fake_slack.http_mode import HttpWire
from bot.playground.fake_slack.limits import Limits
from bot.playground.fake_slack.responses import respond
from bot.playground.fake_slack.socket_mode import Sockets
from bot.playground.fake_slack.web import BODY_BYTES, WebApi, read_params
from bot.playground.fake_slack.wire import RETRY_SECONDS, Deliverer
from bot.playground.fake_slack.workspace import Workspace


@dataclass(slots=True)
class FakeSlack:
    """A workspace with one app; ``rate_scale`` multiplies rate limits, ``request_url`` means HTTP.

    Owned by the event loop that serves ``routes()``; ``url`` must be set before the bot connects.
    """

    app: SlackApp = field(default_factory=SlackApp)
    rate_scale: float = 1.0
    request_url: str = ""
    ack_seconds: float = 3.0
    retry_seconds: tuple[float, ...] = RETRY_SECONDS
    clock: Clock = field(default_factory=Clock)
    faults: Faults = field(default_factory=Faults)
    workspace: Workspace = field(init=False)
    sockets: Sockets = field(init=False)
    gestures: Gestures = field(init=False)
    deliverer: Deliverer = field(init=False)

    def __post_init__(self) -> None:
        self.workspace = Workspace(self.clock)
        self.sockets = Sockets(self.faults, self.ack_seconds)
        http = HttpWire(
            self.request_url, self.app.signing_secret, self.clock, self.faults, self.ack_seconds
        )
        wire = http if self.request_url else self.sockets
        self.deliverer = Deliverer(wire, self.faults, self.retry_seconds)
        self.gestures = Gestures(self.workspace, self.app, self.deliverer)

    @property
    def api_url(self) -> str:
        """The base URL for the bot's Slack client."""
        return f"{self.workspace.url}/api/"

    def at(self, url: str) -> None:
        """Learn the address this Slack is served at, without a slash at the end."""
        self.workspace.url = self.sockets.url = url

    def routes(self) -> list[web.RouteDef]:
        """Return what the bot can reach."""
        limits = Limits(self.clock, self.rate_scale)
        api = WebApi(self.workspace, self.app, limits, self.faults, self.sockets.ticket)
        return [
            web.post("/api/{method}", api.handle),
            web.get("/api/{method}", api.handle),
            web.get("/link", self.sockets.handle),
            web.post("/response/{key}", self._respond),
            web.post("/upload/{file}", self._upload),
            web.get("/files/{file}", self._file),
            web.get("/files-pri/{file}/{name:.*}", self._private_file),
        ]

    async def stop(self) -> None:
        """End connections and pending retries."""
        self.deliverer.stop()
        await self.sockets.close()

    async def _respond(self, request: web.Request) -> web.Response:
        fault = self.faults.next_for("response_url")
        if fault and fault.status:
            return web.Response(status=fault.status, text="fault")
        try:
            params = json.loads(await request.text())
            respond(self.workspace, request.match_info["key"], params)
        except (SlackError, json.JSONDecodeError) as refusal:
            status = 404 if str(refusal) in {"expired_url", "used_url"} else 400
            return web.Response(status=status, text=getattr(refusal, "error", "invalid_payload"))
        return web.Response(text="ok")

    async def _upload(self, request: web.Request) -> web.Response:
        if request.content_type.startswith("multipart/"):
            content = (await read_params(request)).get("file")
            raw = content.file.read() if isinstance(content, web.FileField) else b""
        else:
            raw = await request.read()
        try:
            web_files.receive(self.workspace, request.match_info["file"], raw)
        except SlackError as refusal:
            return web.Response(status=400, text=refusal.error)
        return web.Response(text=f"OK - {len(raw)}")

    async def _file(self, request: web.Request) -> web.Response:
        file = self.workspace.files.get(request.match_info["file"])
        if file is None or file.content is None:
            return web.Response(status=404)
        kind = web_files.MIME.get(file.name.rpartition(".")[2].lower(), "application/octet-stream")
        headers = {"X-Content-Type-Options": "nosniff", "Content-Security-Policy": "sandbox"}
        return web.Response(body=file.content, content_type=kind, headers=headers)

    async def _private_file(self, request: web.Request) -> web.Response:
        """Give a file to the bot's token with ``files:read``; all others are led to the sign-in."""
        given = request.headers.get("Authorization", "").removeprefix("Bearer ")
        file = self.workspace.files.get(request.match_info["file"].partition("-")[2])
        may = given == self.app.bot_token and "files:read" in self.app.scopes
        if not may or file is None or not file.seen_by_bot or file.content is None:
            return web.Response(status=302, headers={"Location": f"{self.workspace.url}/signin"})
        kind = web_files.to_json(self.workspace, file)["mimetype"]
        return web.Response(body=file.content, content_type=kind)


def application(slack: FakeSlack, *more: web.RouteDef) -> web.Application:
    """Return an application that serves the fake, and more routes beside it."""
    app = web.Application(client_max_size=BODY_BYTES)
    app.add_routes([*slack.routes(), *more])

    async def stop(_: web.Application) -> None:
        await slack.stop()

    app.on_shutdown.append(stop)
    return app
