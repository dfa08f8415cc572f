"""The page and its own API, beside the fake Slack's on the same loopback address."""

import asyncio
import base64
import contextlib
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from aiohttp import web

from bot.playground.fake_slack import web_files
from bot.playground.fake_slack.error import SlackError
from bot.playground.fake_slack.server import FakeSlack, application
from bot.playground.page_events import PageEvents
from bot.playground.page_gestures import PageGestures
from bot.playground.page_guard import HEADERS, only_this_machine
from bot.playground.page_view import seen_by, stage

FILES = Path(__file__).parent / "page"
_TYPES = {
    ".html": "text/html",
    ".css": "text/css",
    ".js": "text/javascript",
    ".svg": "image/svg+xml",
}
WORLD_SECONDS = 1.0
FASTEST = 3600.0


class World(Protocol):
    """The cluster and repository behind the chat, as the page shows them beside it."""

    def look(self) -> dict[str, Any]:
        """Return ``picture``, ``git`` and, where time is simulated, ``speed`` and ``now``."""
        ...

    def set_speed(self, speed: float) -> None:
        """Let simulated time run this much faster than real time; 0 stops it."""
        ...


@dataclass(slots=True)
class PageServer:
    """Serves the page. ``world`` may block, so it is asked in a thread."""

    slack: FakeSlack
    world: World | None = None
    events: PageEvents = field(default_factory=PageEvents)
    _seen: str = "{}"
    _watch: asyncio.Task[None] | None = None

    def application(self) -> web.Application:
        """Return the whole application: fake Slack, page and the page's API."""
        app = application(self.slack, *self._routes())
        app.middlewares.append(only_this_machine)
        app.on_startup.append(self._start)
        app.on_shutdown.append(self._stop)
        return app

    def _routes(self) -> list[web.RouteDef]:
        return [
            web.get("/", self._index),
            web.get("/page/{file}", self._file),
            web.get("/archives/{channel}/{ts}", self._back_to_page),
            web.get("/pulls/{number}", self._back_to_page),
            web.get("/play/stage", self._stage),
            web.get("/play/state", self._state),
            web.get("/play/world", self._world),
            web.get("/play/events", self.events.handle),
            web.post("/play/do", self._do),
            web.post("/play/upload", self._upload),
            web.post("/play/speed", self._speed),
        ]

    def show(self, world: World) -> None:
        """Begin to show a world beside the chat; called on the serving loop."""
        self.world = world
        self._watch = asyncio.create_task(self._watch_world(world.look))

    async def _start(self, _: web.Application) -> None:
        self.slack.workspace.watchers.append(self.events.changed)

    async def _stop(self, _: web.Application) -> None:
        if self._watch is not None:
            self._watch.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._watch

    async def _watch_world(self, look: Callable[[], dict[str, Any]]) -> None:
        while True:
            if self.events.watched or self._seen == "{}":
                seen = json.dumps(await asyncio.to_thread(look))
                if seen != self._seen:
                    self._seen = seen
                    self.events.changed("world")
            await asyncio.sleep(WORLD_SECONDS)

    async def _index(self, _: web.Request) -> web.Response:
        return _page_file("index.html")

    async def _file(self, request: web.Request) -> web.Response:
        return _page_file(request.match_info["file"])

    async def _back_to_page(self, request: web.Request) -> web.Response:
        return web.Response(status=302, headers={"Location": f"/#{request.rel_url.raw_path}"})

    async def _stage(self, _: web.Request) -> web.Response:
        return _json(stage(self.slack.workspace, self.slack.app))

    async def _state(self, request: web.Request) -> web.Response:
        try:
            user = self.slack.workspace.user(request.query.get("user", ""))
        except SlackError as refusal:
            return _json(refusal.to_json(), 400)
        return _json(seen_by(self.slack.workspace, user.id))

    async def _world(self, _: web.Request) -> web.Response:
        return web.Response(text=self._seen, content_type="application/json", headers=HEADERS)

    async def _do(self, request: web.Request) -> web.Response:
        try:
            gesture = json.loads(await request.text())
            return _json(await PageGestures(self.slack).do(gesture))
        except SlackError as refusal:
            return _json(refusal.to_json(), 409)
        except (json.JSONDecodeError, KeyError, AttributeError):
            return _json({"error": "not a gesture"}, 400)

    async def _upload(self, request: web.Request) -> web.Response:
        """Take a person's file for a field of a modal, its bytes in base64."""
        workspace = self.slack.workspace
        try:
            given = json.loads(await request.text())
            user = workspace.user(str(given["user"])).id
            content = base64.b64decode(given["content"], validate=True)
            file = web_files.give(workspace, user, str(given["name"]), content)
        except SlackError as refusal:
            return _json(refusal.to_json(), 409)
        except (ValueError, KeyError, TypeError):
            return _json({"error": "not a file"}, 400)
        return _json({"id": file.id})

    async def _speed(self, request: web.Request) -> web.Response:
        try:
            speed = float(json.loads(await request.text())["speed"])
        except (ValueError, KeyError, TypeError):
            speed = -1
        if not 0 <= speed <= FASTEST:
            return _json({"error": "not a speed"}, 400)
        if self.world is not None:
            await asyncio.to_thread(self.world.set_speed, speed)
            self.events.changed("world")
        return _json({})


def _page_file(name: str) -> web.Response:
    path = FILES / name
    if path.suffix not in _TYPES or name != path.name or not path.is_file():
        return web.Response(status=404, headers=HEADERS)
    text = path.read_text(encoding="utf-8")
    return web.Response(text=text, content_type=_TYPES[path.suffix], headers=HEADERS)


def _json(body: dict[str, Any], status: int = 200) -> web.Response:
    return web.json_response(body, status=status, headers=HEADERS)
