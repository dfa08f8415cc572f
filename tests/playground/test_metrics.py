"""The playground's Prometheus: its own words, and the same account as a real one's."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import requests

from bot.playground.cluster import PlaygroundCluster
from bot.playground.metrics import MetricsServer
from bot.playground.metrics.recorded import minutes_of, sampled_at, seen, utilisation
from capacity import usage_queries as q
from capacity.errors import SourceDown
from capacity.meter import Meter
from capacity.prometheus import PrometheusReader, TooMuch
from capacity.usage import Window
from tests.capacity.metrics_history import VERSIONS, History, missing, serving

START = datetime(2026, 3, 11, 12, tzinfo=UTC)  # a Wednesday: one exporter was away on Tuesday
WINDOW = Window(START - timedelta(hours=38), START - timedelta(hours=31), "Europe/Berlin")
TEAMS = ("research", "vision", "serving")


@pytest.fixture(scope="module")
def cluster() -> PlaygroundCluster:
    return PlaygroundCluster(start=START)


@pytest.fixture
def metrics(cluster):
    server = MetricsServer(cluster)
    server.start()
    yield server
    server.stop()


def export(cluster: PlaygroundCluster, path: Path) -> Path:
    """Write what the exporters would have shown, series by series."""
    history = History()
    for run in cluster.pods(WINDOW.start, WINDOW.end):
        whole = minutes_of(run, WINDOW.start, WINDOW.end)
        dcgm = [minute for part in seen(run.node, whole) for minute in part]
        for gpu in run.gpus:
            labels = {
                "UUID": gpu.uuid,
                "modelName": gpu.model,
                "Hostname": run.node,
                "namespace": run.namespace,
                "pod": run.pod,
            }
            busy = [(sampled_at(m), utilisation(run, m)) for m in dcgm]
            history.add(q.UTIL, labels, busy)
            history.add(q.PRESENCE, labels, [(at, 1000 + percent) for at, percent in busy])
        pod = {"namespace": run.namespace, "pod": run.pod}
        asked = {**pod, "container": "main", "resource": "nvidia_com_gpu", "node": run.node}
        history.add(q.REQUESTS, asked, [(sampled_at(m), len(run.gpus)) for m in whole])
        phase = {**pod, "phase": "Running"}
        history.add(q.PHASE, phase, [(sampled_at(m), 1) for m in whole])
    return history.write(path)


@pytest.mark.cluster
@pytest.mark.parametrize("version", VERSIONS)
def test_its_account_is_that_of_a_real_prometheus(
    version, cluster, metrics, tmp_path, prometheus_program
) -> None:
    if reason := missing(version):
        pytest.skip(reason)
    ours = Meter(PrometheusReader(metrics.url), cluster.now)
    with serving(version, tmp_path, export(cluster, tmp_path / "history.om")) as url:
        theirs = Meter(PrometheusReader(url), cluster.now)
        for namespaces in (("research",), ("vision", "serving"), None, ()):
            mine, real = (meter.hours(namespaces, WINDOW) for meter in (ours, theirs))
            assert {(p.namespace, p.pod, p.model) for p in mine.pods} == {
                (p.namespace, p.pod, p.model) for p in real.pods
            }
            for field in ("held", "busy", "idle", "unknown"):
                assert [getattr(h, field) for _, h in mine.days] == pytest.approx(
                    [getattr(h, field) for _, h in real.days], rel=1e-9, abs=1e-9
                )
            assert mine.requested_hours == pytest.approx(real.requested_hours)
            assert mine.exporter_coverage == real.exporter_coverage == 1


def test_its_gap_shows_as_unknown_and_never_as_idle(cluster, metrics) -> None:
    meter = Meter(PrometheusReader(metrics.url), cluster.now)
    week = Window(START - timedelta(days=14), START)
    total = meter.hours(None, week).total
    assert total.unknown > 1
    assert total.held == pytest.approx(total.busy + total.idle + total.unknown)
    assert 0.3 < total.busy / total.held < 0.95
    by_team = meter.hours(None, week).by_namespace()
    assert set(by_team) == set(TEAMS)


def test_what_the_ledger_doesnt_ask_is_refused_as_prometheus_refuses(metrics) -> None:
    answer = requests.get(f"{metrics.url}/api/v1/query", {"query": "up", "time": "0"}, timeout=5)
    assert answer.status_code == 422
    assert answer.json()["errorType"] == "execution"
    with pytest.raises(TooMuch) as told:
        PrometheusReader(metrics.url).query('count(x{namespace="a"})', START)
    assert "knows the questions" in told.value.detail


@pytest.mark.parametrize(
    ("params", "words"),
    [
        ({"query": "up", "time": "soon"}, 'invalid parameter "time"'),
        ({"query": "up", "time": "1", "timeout": "3.5s"}, 'invalid parameter "timeout"'),
    ],
)
def test_bad_parameters_are_bad_data(metrics, params, words) -> None:
    answer = requests.get(f"{metrics.url}/api/v1/query", params, timeout=5)
    assert (answer.status_code, answer.json()["errorType"]) == (400, "bad_data")
    assert words in answer.json()["error"]


def test_ready_and_ranges(cluster, metrics) -> None:
    assert "Ready" in requests.get(f"{metrics.url}/-/ready", timeout=5).text
    (span,) = Window(START - timedelta(hours=1), START).spans()
    reader = PrometheusReader(metrics.url)
    found = reader.query_range(
        q.card_minutes(span), START - timedelta(hours=1), START, timedelta(minutes=30)
    )
    assert [len(series.points) for series in found.series] == [3]
    assert {value for _, value in found.series[0].points} == {60 * 120}


def test_it_comes_back_by_itself(cluster, metrics) -> None:
    reader = PrometheusReader(metrics.url, now=cluster.now)
    meter = Meter(reader, cluster.now)
    hour = Window(START - timedelta(hours=1), START)
    before = meter.hours(None, hour).total
    metrics.down()
    with pytest.raises(SourceDown) as told:
        meter.hours(("research",), hour)
    assert told.value.since is not None
    metrics.up()
    reader._rest_until = 0.0  # not to wait for it
    assert meter.hours(None, hour).total == before
