"""What the exporters recorded of the pods on cards: one sample a minute, and none in a gap.

The same for the same pods, so that an answer doesn't change between two looks.
"""

import math
import zlib
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from functools import lru_cache

from bot.playground.cluster.cards import PodRun

_MINUTE = timedelta(minutes=1)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_HALF_WAY = _EPOCH + timedelta(seconds=30)
_BLOCK = 10
_WEEK = 7 * 24 * 60
_FIRST_MONDAY = 4 * 24 * 60
_AWAY_FROM, _AWAY_UNTIL = 26 * 60, 32 * 60
_H100_NODES = 12


def sampled_at(minute: int) -> datetime:
    """Return when a minute's sample was taken: half-way through it."""
    return _HALF_WAY + minute * _MINUTE


def minutes(start: datetime, end: datetime) -> range:
    """Return the minutes whose samples lie in [start, end), numbered from 1970."""
    return range(-((_HALF_WAY - start) // _MINUTE), -((_HALF_WAY - end) // _MINUTE))


def minutes_of(run: PodRun, start: datetime, end: datetime) -> range:
    """Return the minutes of [start, end) in which the pod was sampled on its cards."""
    last = end if run.end is None else min(run.end, end)
    return minutes(max(run.start, start), last)


def seen(node: str, of: range) -> Iterator[range]:
    """Yield the parts of these minutes in which the node's exporter was there.

    Each week one node's is away on Tuesday night; kube-state-metrics never is.
    """
    at = of.start
    while at < of.stop:
        week = (at - _FIRST_MONDAY) // _WEEK
        monday = _FIRST_MONDAY + week * _WEEK
        end = min(of.stop, monday + _WEEK)
        if node == f"gpu-h100-{week % _H100_NODES + 1:02}":
            yield range(at, min(end, monday + _AWAY_FROM))
            at = max(at, monday + _AWAY_UNTIL)
        yield range(at, end)
        at = end


def utilisation(run: PodRun, minute: int) -> int:
    """Return how busy the pod's cards were, in percent, as DCGM_FI_DEV_GPU_UTIL says it."""
    return _level(run.behaviour, run.seed, minute // _BLOCK)


def busy_minutes(run: PodRun, of: range) -> float:
    """Return the sum of the utilisation, 0..1, over these minutes."""
    total, at = 0, of.start
    while at < of.stop:
        after = min(of.stop, (at // _BLOCK + 1) * _BLOCK)
        total += utilisation(run, at) * (after - at)
        at = after
    return total / 100


@lru_cache(maxsize=200_000)
def _level(behaviour: str, seed: int, block: int) -> int:
    dice = zlib.crc32(f"{seed}/{block}".encode()) / 2**32
    hour = block * _BLOCK / 60 % 24
    daytime = 0.5 - 0.5 * math.cos((hour - 3) / 24 * 2 * math.pi)
    match behaviour:
        case "training":
            return round(20 if dice < 0.05 else 84 + 14 * dice)
        case "serving":
            return round(20 + 45 * daytime + 12 * dice)
        case "eval":
            return round(50 + 35 * dice)
        case "notebook":
            return round(300 * dice) if dice < 0.12 * daytime * 2 else 0
        case _:
            return 0
