"""The pool is bounded: what can't wait is told so at once."""

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from bot.workers import BusyError, Workers


def test_a_full_queue_is_an_answer_not_a_wait() -> None:
    async def story() -> None:
        free = threading.Event()
        workers = Workers(1, 1)
        running = [asyncio.ensure_future(workers.run(free.wait, 5)) for _ in range(2)]
        await asyncio.sleep(0.05)
        with pytest.raises(BusyError):
            await workers.run(print)
        free.set()
        assert await asyncio.gather(*running) == [True, True]
        assert await workers.run(lambda: 4) == 4
        assert workers.taken == 0
        workers.close()

    asyncio.run(story())


def test_an_error_comes_back_and_frees_its_place() -> None:
    def fails() -> None:
        raise ValueError("no")

    async def story() -> None:
        workers = Workers(1, 0)
        for _ in range(3):
            with pytest.raises(ValueError, match="no"):
                await workers.run(fails)
        assert workers.taken == 0

    asyncio.run(story())


def test_a_call_that_nobody_waits_for_any_more_frees_its_place() -> None:
    async def story() -> None:
        workers = Workers(1, 4)
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.05):
                await workers.run(threading.Event().wait, 0.2)
        await asyncio.sleep(0.3)
        assert workers.taken == 0

    asyncio.run(story())


def test_places_are_counted_right_from_many_threads() -> None:
    workers = Workers(4, 1_000)

    def ask(_: int) -> int:
        return asyncio.run(workers.run(lambda: 1))

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(ask, range(200))) == 200
    assert workers.taken == 0
