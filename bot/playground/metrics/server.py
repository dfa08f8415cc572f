"""The HTTP API of Prometheus, as far as the bot's meter uses it, on loopback.

``query``, ``query_range`` and ``-/ready`` with Prometheus' own JSON and status codes. What isn't a
question of the ledger is refused with 422, as a real one refuses what it can't execute.
"""

import asyncio
import math
import re
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

from aiohttp import web

from bot.playground.metrics.answers import Cards, Recorded, Row
from bot.playground.metrics.questions import recognise
from bot.playground.serving import Serving

Json = dict[str, Any]
MOST_POINTS = 11_000
_DURATION = re.compile(r"(\d+(ms|[smhdwy]))+|\d+(\.\d+)?")


class _Refusal(Exception):  # it is an answer, told with Prometheus' own words
    def __init__(self, status: int, kind: str, words: str) -> None:
        super().__init__(words)
        self.status = status
        self.body = {"status": "error", "errorType": kind, "error": words}


class MetricsServer:
    """Started and stopped; ``down`` and ``up`` take it away and bring it back at its address."""

    def __init__(self, cards: Cards, port: int = 0) -> None:
        self._recorded = Recorded(cards)
        self._now = cards.now
        app = web.Application()
        app.router.add_get("/-/ready", self._ready)
        for method in ("GET", "POST"):
            app.router.add_route(method, "/api/v1/query", self._answering(self._instant))
            app.router.add_route(method, "/api/v1/query_range", self._answering(self._range))
        self._serving = Serving(app, port)

    @property
    def url(self) -> str:
        """Its address, known once started."""
        return self._serving.url

    def start(self) -> None:
        """Listen."""
        self._serving.start()

    def stop(self) -> None:
        """End."""
        self._serving.stop()

    def down(self) -> None:
        """Refuse connections until ``up``."""
        self._serving.down()

    def up(self) -> None:
        """Listen again."""
        self._serving.up()

    async def _ready(self, _request: web.Request) -> web.Response:
        return web.Response(text="Prometheus Server is Ready.\n")

    def _answering(self, work: Callable[[Json], Json]) -> Callable[[web.Request], Any]:
        async def answer(request: web.Request) -> web.Response:
            params = {**request.query, **dict(await request.post())}
            try:
                data = await asyncio.to_thread(work, params)
            except _Refusal as refusal:
                return web.json_response(refusal.body, status=refusal.status)
            return web.json_response({"status": "success", "data": data})

        return answer

    def _instant(self, params: Json) -> Json:
        at = _moment(params, "time", self._now())
        rows = self._rows(params, at)
        result = [{"metric": labels, "value": _point(at, value)} for labels, value in rows]
        return {"resultType": "vector", "result": result}

    def _range(self, params: Json) -> Json:
        series: dict[tuple[tuple[str, str], ...], list[list[Any]]] = {}
        for at in _steps(params):
            for labels, value in self._rows(params, at):
                series.setdefault(tuple(sorted(labels.items())), []).append(_point(at, value))
        result = [{"metric": dict(labels), "values": values} for labels, values in series.items()]
        return {"resultType": "matrix", "result": result}

    def _rows(self, params: Json, at: datetime) -> list[Row]:
        if not _DURATION.fullmatch(str(params.get("timeout", "1s"))):
            words = f'invalid parameter "timeout": cannot parse "{params["timeout"]}"'
            raise _Refusal(400, "bad_data", f"{words} to a valid duration")
        asked = recognise(str(params.get("query", "")), at)
        if asked is None:
            words = "the playground's Prometheus knows the questions of the GPU ledger only"
            raise _Refusal(422, "execution", words)
        return self._recorded.answer(asked)


_STEP = re.compile(r"(\d{1,9})(?:(ms)|s)?")


def _point(at: datetime, value: float) -> list[Any]:
    return [at.timestamp(), repr(value) if value % 1 else str(int(value))]


def _moment(params: Json, name: str, default: datetime | None = None) -> datetime:
    """Read a Unix time (or RFC 3339, which the client library sends for ranges)."""
    said = str(params.get(name, ""))
    if not said and default is not None:
        return default
    try:
        seconds = float(said)
        if math.isfinite(seconds):
            return datetime.fromtimestamp(seconds, UTC)
    except (ValueError, OverflowError, OSError):
        pass
    words = f'invalid parameter "{name}": cannot parse "{said}" to a valid timestamp'
    raise _Refusal(400, "bad_data", words)


def _steps(params: Json) -> Iterator[datetime]:
    start, end = _moment(params, "start"), _moment(params, "end")
    found = _STEP.fullmatch(str(params.get("step", "")))
    step = timedelta(milliseconds=int(found[1]) * (1 if found[2] else 1000)) if found else None
    if not step:
        raise _Refusal(400, "bad_data", 'invalid parameter "step": it must be positive')
    points = (end - start) // step + 1
    if points > MOST_POINTS:
        words = f"exceeded maximum resolution of {MOST_POINTS:,} points per timeseries."
        raise _Refusal(400, "bad_data", words)
    return (start + n * step for n in range(points))
