"""An event loop in a thread of its own, for callers that block."""

import asyncio
import threading
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, TypeVar

T = TypeVar("T")
PATIENCE = 30.0


class LoopThread:
    """A running loop; what is called on it may touch state that belongs to it."""

    def __init__(self, name: str) -> None:
        self.loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)

    def start(self) -> None:
        """Begin to run."""
        self._thread.start()

    def run(self, work: Coroutine[Any, Any, T], seconds: float = PATIENCE) -> T:
        """Run a coroutine on the loop and wait for its result."""
        return asyncio.run_coroutine_threadsafe(work, self.loop).result(seconds)

    def call(self, function: Callable[[], T]) -> T:
        """Call a function on the loop and wait for its result."""

        async def work() -> T:
            return function()

        return self.run(work())

    def stop(self) -> None:
        """Cancel what still runs, then end the loop and its thread."""
        if self._thread.is_alive():
            self.run(_cancel_others())
            self.loop.call_soon_threadsafe(self.loop.stop)
            self._thread.join(10)
        self.loop.close()

    def _run(self) -> None:
        asyncio.set_event_loop(self.loop)
        self.loop.run_forever()


async def _cancel_others() -> None:
    tasks: list[Awaitable[Any]] = []
    for task in asyncio.all_tasks():
        if task is not asyncio.current_task():
            task.cancel()
            tasks.append(task)
    await asyncio.gather(*tasks, return_exceptions=True)
