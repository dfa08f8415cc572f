"""The only user of prometheus-api-client: instant and range queries that end in time.

The library has no time-out by default, retries a dead host for six seconds, and drops the
``warnings`` that mark a partial answer (Thanos); all three are set right here.
"""

import re
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar

import requests
from prometheus_api_client import PrometheusConnect
from prometheus_api_client.exceptions import PrometheusApiClientException
from urllib3.util.retry import Retry

from capacity.errors import SourceDown

CONNECT_SECONDS = 1.0
READ_SECONDS = 3.5
REST_SECONDS = 2.0
"""After a failure nothing is asked for this long, so that an answer of many queries waits once."""


# 400: bad query; 422: can't be executed (too many samples); 503: given up by the server's clock.
# The library keeps only the text.
_REFUSED = re.compile(r"HTTP Status Code (400|422)\b|HTTP Status Code 503 .*timed out")

# The last five: an answer of something that isn't Prometheus.
_FAILURES = (
    requests.RequestException,
    PrometheusApiClientException,
    AttributeError,
    KeyError,
    TypeError,
    ValueError,
    IndexError,
)
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Row:
    """One series of an instant query: its labels and value."""

    labels: Mapping[str, str]
    value: float


@dataclass(frozen=True, slots=True)
class Series:
    """One series of a range query: its labels and (moment, value) points in order."""

    labels: Mapping[str, str]
    points: tuple[tuple[datetime, float], ...]


@dataclass(frozen=True, slots=True)
class QueryResult:
    """Rows of an instant query; ``warnings`` non-empty means the rows may be partial."""

    rows: tuple[Row, ...]
    warnings: tuple[str, ...] = ()

    def only(self) -> float | None:
        """Return the value of a query that has one row at most; None if it has none."""
        return self.rows[0].value if self.rows else None


@dataclass(frozen=True, slots=True)
class RangeResult:
    """Series of a range query; ``warnings`` non-empty means they may be partial."""

    series: tuple[Series, ...]
    warnings: tuple[str, ...] = ()


class TooMuch(SourceDown):
    """Prometheus is there, but won't answer this: too many samples, too slow, or not understood."""

    def __init__(self, seen: datetime | None, *, detail: str) -> None:
        super().__init__("Prometheus", seen, detail=detail)
        self.sentence = "Prometheus is there, but didn't answer this question."
        self.next_step = "Try a shorter window; an operator finds the reason in the log."


class PrometheusReader:
    """Queries one Prometheus; any failure is SourceDown with the moment it was last heard from.

    Safe to use from several threads. ``url`` may hold a path prefix; ``token`` is a bearer token.
    """

    def __init__(
        self,
        url: str,
        *,
        token: str = "",
        ca_file: str | None = None,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._now = now
        self._seen = threading.local()
        self._last_answer: datetime | None = None
        self._rest_until = 0.0
        session = requests.Session()
        session.verify = ca_file or True
        session.hooks["response"].append(self._keep_warnings)
        self._client = PrometheusConnect(
            url.rstrip("/"),
            headers={"Authorization": f"Bearer {token}"} if token else None,
            session=session,
            retry=Retry(total=0),
            timeout=(CONNECT_SECONDS, READ_SECONDS),
        )

    @property
    def last_seen(self) -> datetime | None:
        """When Prometheus last answered, or None if it never did."""
        return self._last_answer

    def query(self, promql: str, at: datetime, seconds: float | None = None) -> QueryResult:
        """Evaluate at one moment (aware); a row may hold NaN or infinity.

        ``seconds`` is how long the server may take: whoever gives it knows that the server is
        there, so that a late answer is TooMuch and not a sign that it is down.
        """
        patience = seconds or READ_SECONDS
        params = {"time": f"{at.timestamp():.3f}", "timeout": _duration(patience)}

        def call() -> tuple[Row, ...]:
            raw = self._client.custom_query(
                promql, params=params, timeout=(CONNECT_SECONDS, patience)
            )
            return tuple(Row(item["metric"], float(item["value"][1])) for item in raw)

        return QueryResult(*self._ask(call, heavy=seconds is not None))

    def query_range(
        self, promql: str, start: datetime, end: datetime, step: timedelta
    ) -> RangeResult:
        """Evaluate at every step of [start, end]; at most 11,000 points a series (server limit)."""
        params = {"timeout": _duration(READ_SECONDS)}
        every = _duration(step.total_seconds())

        def call() -> tuple[Series, ...]:
            raw = self._client.custom_query_range(promql, start, end, every, params=params)
            return tuple(_series(item) for item in raw)

        return RangeResult(*self._ask(call))

    def close(self) -> None:
        """Give back the connections."""
        self._client.close()

    def _ask(self, call: Callable[[], T], *, heavy: bool = False) -> tuple[T, tuple[str, ...]]:
        if time.monotonic() < self._rest_until:
            raise SourceDown("Prometheus", self._last_answer, detail="resting after a failure")
        self._seen.warnings = ()
        try:
            found = call()
        except _FAILURES as error:
            if _REFUSED.search(str(error)) or (heavy and "Read timed out" in str(error)):
                raise TooMuch(self._last_answer, detail=str(error)) from error
            self._rest_until = time.monotonic() + REST_SECONDS
            raise SourceDown("Prometheus", self._last_answer, detail=repr(error)) from error
        self._last_answer = self._now()
        return found, self._seen.warnings

    def _keep_warnings(self, response: requests.Response, *_: Any, **__: Any) -> None:
        if response.ok and "warnings" in response.text[-4096:]:
            self._seen.warnings = tuple(response.json().get("warnings", ()))


def _duration(seconds: float) -> str:
    """Return a duration as Prometheus reads it: "3500ms", never "3.5s"."""
    return f"{seconds * 1000:.0f}ms"


def _series(item: Mapping[str, Any]) -> Series:
    points = tuple((datetime.fromtimestamp(at, UTC), float(value)) for at, value in item["values"])
    return Series(item["metric"], points)
