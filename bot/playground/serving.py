"""Runs an aiohttp application on loopback in a thread of its own, for callers that block."""

import asyncio
import threading
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, TypeVar

from aiohttp import web

T = TypeVar("T")
LOOPBACK = "127.0.0.1"
START_SECONDS = 30.0


class Serving:
    """An application being served; ``down`` and ``up`` refuse and allow connections again."""

    def __init__(self, app: web.Application, port: int = 0) -> None:
        self._app = app
        self.port = port
        self.loop = asyncio.new_event_loop()
        self._runner: web.AppRunner | None = None
        self._site: web.TCPSite | None = None
        self._thread = threading.Thread(target=self._run, name="serving", daemon=True)

    @property
    def url(self) -> str:
        """The address, without a slash at the end; known once started."""
        return f"http://{LOOPBACK}:{self.port}"

    def start(self) -> None:
        """Listen; a port of 0 becomes a free one."""
        self._thread.start()
        self.run(self._listen())

    def run(self, work: Coroutine[Any, Any, T], seconds: float = START_SECONDS) -> T:
        """Run a coroutine on the server's loop and wait for its result."""
        return asyncio.run_coroutine_threadsafe(work, self.loop).result(seconds)

    def call(self, function: Callable[[], T]) -> T:
        """Call a function on the server's loop, where the state it touches lives."""

        async def work() -> T:
            return function()

        return self.run(work())

    def down(self) -> None:
        """Refuse connections and cut those that are open."""
        self.run(self._close(abort=True))

    def up(self) -> None:
        """Listen again at the same port."""
        self.run(self._listen())

    def stop(self) -> None:
        """End everything."""
        if self._thread.is_alive():
            self.run(self._end())
            self.loop.call_soon_threadsafe(self.loop.stop)
            self._thread.join(10)
        self.loop.close()

    def _run(self) -> None:
        asyncio.set_event_loop(self.loop)
        self.loop.run_forever()

    async def _listen(self) -> None:
        if self._runner is None:
            self._runner = web.AppRunner(self._app, access_log=None, shutdown_timeout=1)
            await self._runner.setup()
        self._site = web.TCPSite(self._runner, LOOPBACK, self.port, reuse_address=True)
        await self._site.start()
        self.port = self._runner.addresses[0][1]

    async def _close(self, *, abort: bool) -> None:
        if self._site is not None:
            await self._site.stop()
            self._site = None
        server = self._runner.server if self._runner else None
        for connection in server.connections if server and abort else []:
            if connection.transport is not None:
                connection.transport.abort()

    async def _end(self) -> None:
        if self._runner is not None:
            await self._runner.cleanup()
        await cancel_others()


async def cancel_others() -> None:
    """Cancel what still runs on this loop and wait until it has ended."""
    tasks: list[Awaitable[Any]] = []
    for task in asyncio.all_tasks():
        if task is not asyncio.current_task():
            task.cancel()
            tasks.append(task)
    await asyncio.gather(*tasks, return_exceptions=True)
