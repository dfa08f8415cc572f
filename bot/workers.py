"""A bounded pool of threads: the edge is asynchronous, everything below it is not.

Bolt and asyncio would queue without end on a shared pool, and a click would then run minutes after
the person was told that it failed. Here a full queue is an answer, not a wait.
"""

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from capacity.errors import GpubotError

T = TypeVar("T")


class BusyError(GpubotError):
    """Every thread works and the queue is full."""

    def __init__(self) -> None:
        super().__init__(
            "I'm answering too many people at once; nothing was changed.", "Try again."
        )


class Workers:
    """``size`` threads and at most ``waiting`` calls queued behind them."""

    def __init__(self, size: int, waiting: int, name: str = "worker") -> None:
        self._executor = ThreadPoolExecutor(size, thread_name_prefix=name)
        self._capacity = size + waiting
        self._lock = threading.Lock()
        self._taken = 0

    @property
    def taken(self) -> int:
        """Calls that run or wait now."""
        return self._taken

    async def run(self, call: Callable[..., T], *args: object) -> T:
        """Run ``call`` on a thread and return its result; raises BusyError when none can wait."""
        with self._lock:
            if self._taken >= self._capacity:
                raise BusyError
            self._taken += 1
        future = self._executor.submit(call, *args)
        future.add_done_callback(lambda _: self._release())
        return await asyncio.wrap_future(future)

    def _release(self) -> None:
        with self._lock:
            self._taken -= 1

    def close(self) -> None:
        """Drop what waits and let what runs end by itself."""
        self._executor.shutdown(wait=False, cancel_futures=True)
