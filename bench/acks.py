"""P1: how fast Slack gets its acknowledgement while fifty people ask at once.

The whole bot over Socket Mode, in a process of its own; the fake Slack and the cluster are in
another, as Slack is: in one process each acknowledgement would wait for the other's Python. An ack
is timed from the envelope's start to its answer.
"""

import asyncio
import multiprocessing
import tempfile
import time
from pathlib import Path
from typing import Any

from bench.lines import line
from bot.playground.loop import LoopThread
from bot.playground.play import Playground, utc_now
from bot.playground.serving import LOOPBACK
from bot.wiring import for_playground

PEOPLE = 50
ROUNDS = 10
ASKS = (("/gpu-quota", "research"), ("/gpu-queue", "research"), ("/gpu-why", "llm-ft-7"))


def bot(reached_at: dict[str, Any], pipe: Any) -> None:
    """Run a bot on a playground's endpoints; tell when it is connected, end when told so."""
    app, loop = for_playground(**reached_at, now=utc_now), LoopThread("bot")
    loop.start()
    loop.run(app.start())
    while not loop.run(app.connected()):
        time.sleep(0.05)
    pipe.send("connected")
    pipe.recv()
    loop.run(app.stop())
    loop.stop()


async def _timed(playground: Playground, number: int) -> float:
    command, text = ASKS[number % len(ASKS)]
    began = time.perf_counter()
    await playground.slack.gestures.slash("U0ANA", "C0RESEARCH", command, text)
    return time.perf_counter() - began


async def _rounds(playground: Playground) -> list[float]:
    taken: list[float] = []
    for _ in range(ROUNDS):
        taken += await asyncio.gather(*(_timed(playground, n) for n in range(PEOPLE)))
        await asyncio.sleep(1.0)
    return taken


def measured(folder: Path) -> list[float]:
    """Return the seconds to each ack, sorted."""
    playground = Playground(folder, rate_scale=float("inf"), bot=False).start()
    context = multiprocessing.get_context("spawn")
    mine, theirs = context.Pipe()
    process = context.Process(target=bot, args=(playground.reached_at(), theirs))
    process.start()
    try:
        mine.recv()
        playground.serving.run(_timed(playground, 0))
        return sorted(playground.serving.run(_rounds(playground), 120))
    finally:
        mine.send("end")
        process.join(10)
        playground.stop()


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="gpubot-bench-") as folder:
        taken = measured(Path(folder))
    print(f"# {len(taken)} commands, {PEOPLE} at once, on {LOOPBACK}")
    print(line("P1", taken[int(len(taken) * 0.99)] * 1000, "ms-ack-p99", 100))
    print(line("P1", taken[len(taken) // 2] * 1000, "ms-ack-p50", 100))
