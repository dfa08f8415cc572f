"""P1: how fast Slack gets its acknowledgement while fifty people ask at once.

The whole bot over Socket Mode against the fake Slack, in one process: the fake's own work counts
against us. An ack is timed from the envelope's start to its answer.
"""

import asyncio
import tempfile
import time
from pathlib import Path

from bench.lines import line
from bot.playground.play import Playground
from bot.playground.serving import LOOPBACK

PEOPLE = 50
ROUNDS = 10
ASKS = (("/gpu-quota", "research"), ("/gpu-queue", "research"), ("/gpu-why", "llm-ft-7"))


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


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="gpubot-bench-") as folder:
        playground = Playground(Path(folder), rate_scale=float("inf")).start()
        try:
            while not playground.connected():
                time.sleep(0.05)
            playground.serving.run(_timed(playground, 0))
            taken = sorted(playground.serving.run(_rounds(playground), 120))
        finally:
            playground.stop()
    print(f"# {len(taken)} commands, {PEOPLE} at once, on {LOOPBACK}")
    print(line("P1", taken[int(len(taken) * 0.99)] * 1000, "ms-ack-p99", 100))
    print(line("P1", taken[len(taken) // 2] * 1000, "ms-ack-p50", 100))
