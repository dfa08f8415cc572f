"""The reader: answers in time, keeps warnings, tells away from unwilling, and comes back."""

import json
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

import pytest

from capacity import meter as meter_module
from capacity.errors import SourceDown
from capacity.meter import Meter
from capacity.prometheus import PrometheusReader, Row, TooMuch
from capacity.usage import Window

NOW = datetime(2026, 12, 1, 14, 3, tzinfo=UTC)
EMPTY = {"status": "success", "data": {"resultType": "vector", "result": []}}


@dataclass
class Script:
    """What the server answers next, and what it was asked."""

    status: int = 200
    body: object = field(default_factory=lambda: EMPTY)
    seconds: float = 0.0
    asked: list[dict[str, list[str]]] = field(default_factory=list)
    headers: list[str] = field(default_factory=list)


@pytest.fixture
def script() -> Script:
    return Script()


@pytest.fixture
def url(script: Script) -> Iterator[str]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            script.asked.append(parse_qs(urlsplit(self.path).query))
            script.headers.append(self.headers.get("Authorization", ""))
            time.sleep(script.seconds)
            body = script.body if isinstance(script.body, str) else json.dumps(script.body)
            self.send_response(script.status)
            self.end_headers()
            self.wfile.write(body.encode())

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/prefix/"
    server.shutdown()
    server.server_close()


def reader(url: str, **how) -> PrometheusReader:
    return PrometheusReader(url, now=lambda: NOW, **how)


def test_rows_warnings_and_the_token(url: str, script: Script) -> None:
    result = [{"metric": {"pod": "a"}, "value": [1, "NaN"]}, {"metric": {}, "value": [1, "2.5"]}]
    script.body = {**EMPTY, "data": {"resultType": "vector", "result": result}, "warnings": ["w"]}
    found = reader(url, token="s3cret").query("up", NOW)
    assert found.rows[1] == Row({}, 2.5)
    assert found.warnings == ("w",)
    assert script.headers == ["Bearer s3cret"]
    assert script.asked[0]["timeout"] == ["3500ms"]


def test_a_warning_of_one_answer_is_not_the_next_ones(url: str, script: Script) -> None:
    one = reader(url)
    script.body = {**EMPTY, "warnings": ["partial"]}
    assert one.query("up", NOW).warnings == ("partial",)
    script.body = EMPTY
    assert one.query("up", NOW).warnings == ()


def test_nobody_there_is_told_at_once_with_since(url: str, script: Script) -> None:
    away = PrometheusReader("http://127.0.0.1:9", now=lambda: NOW)
    start = time.monotonic()
    with pytest.raises(SourceDown) as told:
        away.query("up", NOW)
    assert time.monotonic() - start < 2
    assert told.value.since is None


def test_one_that_hangs_costs_an_answer_under_five_seconds(url: str, script: Script) -> None:
    one = reader(url)
    one.query("up", NOW)
    script.seconds = 6
    start = time.monotonic()
    with pytest.raises(SourceDown) as told:
        Meter(one, lambda: NOW).hours(("a",), Window(NOW - timedelta(days=14), NOW))
    assert time.monotonic() - start < 5
    assert told.value.since == NOW
    assert "since 14:03 UTC" in told.value.sentence


@pytest.mark.parametrize("status", [500, 502, 503])
def test_a_server_in_trouble_is_down_and_comes_back(url: str, script: Script, status: int) -> None:
    one = reader(url)
    script.status = status
    with pytest.raises(SourceDown) as told:
        one.query("up", NOW)
    assert not isinstance(told.value, TooMuch)
    script.status = 200
    with pytest.raises(SourceDown):  # it is left in peace for two seconds
        one.query("up", NOW)
    assert len(script.asked) == 1
    one._rest_until = 0.0
    assert one.query("up", NOW).rows == ()


@pytest.mark.parametrize(
    ("status", "words"),
    [(400, "parse error"), (422, "too many samples"), (503, "query timed out in expression")],
)
def test_one_that_wont_answer_this_is_not_away(url: str, script: Script, status, words) -> None:
    one = reader(url)
    script.status, script.body = status, {"status": "error", "error": words}
    with pytest.raises(TooMuch) as told:
        one.query("up", NOW)
    assert words in told.value.detail
    assert "shorter window" in told.value.next_step
    script.status, script.body = 200, EMPTY
    assert one.query("up", NOW).rows == ()


@pytest.mark.parametrize("body", ["<html>login</html>", "", '{"status": "success"}', "[]", "null"])
def test_what_isnt_prometheus_is_down(url: str, script: Script, body: str) -> None:
    script.body = body
    with pytest.raises(SourceDown):
        reader(url).query("up", NOW)


def test_a_window_that_takes_too_long_says_so(url: str, script: Script, monkeypatch) -> None:
    monkeypatch.setattr(meter_module, "PATIENCE", 0.5)
    script.seconds = 0.2
    with pytest.raises(TooMuch):
        Meter(reader(url), lambda: NOW).hours(("a",), Window(NOW - timedelta(days=7), NOW))


def test_days_that_are_over_are_asked_once(url: str, script: Script) -> None:
    meter = Meter(reader(url), lambda: NOW)
    past = Window(NOW - timedelta(days=3), NOW - timedelta(days=1))
    meter.hours(("a", "b"), past)
    asked = len(script.asked)
    meter.hours(("b", "a", "a"), past)
    assert len(script.asked) == asked
    meter.hours(("a",), past)
    assert len(script.asked) == 2 * asked


def test_a_day_that_goes_on_or_was_partial_is_asked_again(url: str, script: Script) -> None:
    meter = Meter(reader(url), lambda: NOW)
    today = Window(NOW - timedelta(hours=2), NOW)
    meter.hours(("a",), today)
    first = len(script.asked)
    meter.hours(("a",), today)
    assert len(script.asked) == 2 * first
    script.body = {**EMPTY, "warnings": ["partial"]}
    past = Window(NOW - timedelta(hours=9), NOW - timedelta(hours=2))
    assert meter.hours(("a",), past).warnings == ("partial",)
    script.body = EMPTY
    assert meter.hours(("a",), past).warnings == ()


def test_nothing_seen_is_no_coverage_and_not_idle(url: str, script: Script) -> None:
    account = Meter(reader(url), lambda: NOW).hours(None, Window(NOW - timedelta(days=1), NOW))
    assert account.coverage == 0
    assert account.total.held == 0
    assert account.requested_hours is None
