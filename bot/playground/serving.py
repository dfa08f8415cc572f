"""Runs an aiohttp application on loopback in a thread of its own, for callers that block."""

from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from aiohttp import web

from bot.playground.loop import PATIENCE, LoopThread

T = TypeVar("T")
LOOPBACK = "127.0.0.1"


class Serving:
    """An application being served; ``down`` and ``up`` refuse and allow connections again."""

    def __init__(self, app: web.Application, port: int = 0) -> None:
        self._app = app
        self.port = port
        self._thread = LoopThread("serving")
        self._runner: web.AppRunner | None = None
        self._site: web.TCPSite | None = None

    @property
    def url(self) -> str:
        """The address, without a slash at the end; known once started."""
        return f"http://{LOOPBACK}:{self.port}"

    def start(self) -> None:
        """Listen; a port of 0 becomes a free one."""
        self._thread.start()
        self.run(self._listen())

    def run(self, work: Coroutine[Any, Any, T], seconds: float = PATIENCE) -> T:
        """Run a coroutine on the server's loop and wait for its result."""
        return self._thread.run(work, seconds)

    def call(self, function: Callable[[], T]) -> T:
        """Call a function on the server's loop, where the state it touches lives."""
        return self._thread.call(function)

    def down(self) -> None:
        """Refuse connections and cut those that are open."""
        self.run(self._close())

    def up(self) -> None:
        """Listen again at the same port."""
        self.run(self._listen())

    def stop(self) -> None:
        """End everything."""
        if self._runner is not None:
            self.run(self._runner.cleanup())
        self._thread.stop()

    async def _listen(self) -> None:
        if self._runner is None:
            self._runner = web.AppRunner(self._app, access_log=None, shutdown_timeout=1)
            await self._runner.setup()
        self._site = web.TCPSite(self._runner, LOOPBACK, self.port, reuse_address=True)
        await self._site.start()
        self.port = self._runner.addresses[0][1]

    async def _close(self) -> None:
        if self._site is not None:
            await self._site.stop()
            self._site = None
        server = self._runner.server if self._runner else None
        for connection in server.connections if server else []:
            if connection.transport is not None:
                connection.transport.abort()
