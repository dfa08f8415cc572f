"""The ledger on real Prometheus servers, 3 and Debian's 2.42, over histories of known totals."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import pytest

from capacity.meter import Meter
from capacity.prometheus import PrometheusReader
from capacity.usage import Ledger, Window
from tests.capacity.metrics_history import VERSIONS, History, every, missing, serving

T0 = datetime(2026, 3, 10, tzinfo=UTC)
NOON = T0 + timedelta(hours=12)
WINDOW = Window(T0, NOON)
H100 = "NVIDIA H100 80GB HBM3"
USED, UTIL, ENGINE = "DCGM_FI_DEV_FB_USED", "DCGM_FI_DEV_GPU_UTIL", "DCGM_FI_PROF_GR_ENGINE_ACTIVE"
REQUESTS, PHASE = "kube_pod_container_resource_requests", "kube_pod_status_phase"
EXPORTED = {"namespace": "exported_namespace", "pod": "exported_pod"}


def card(n: int, namespace: str = "", pod: str = "", **more: str) -> dict[str, str]:
    held = {"namespace": namespace, "pod": pod or f"{namespace}-0"} if namespace else {}
    base = {"UUID": f"GPU-{n}", "modelName": H100, "Hostname": "n1", "instance": "10.0.0.1:9400"}
    return {**base, **more, **held}


def history(rename: dict[str, str] | None) -> History:
    """Write twelve hours of every case that has ever made such an account wrong."""
    h = History(rename)

    def held(labels, start, hours, util=None, engine=None, offset=13.0) -> None:
        for metric, value in ((USED, 100), (UTIL, util), (ENGINE, engine)):
            if value is not None:
                h.add(metric, labels, every(start, hours, value, offset=offset))

    hour = timedelta(hours=1)
    # The worked example: half of the time at 50 %, all of it at 90 %, all of it at 0 %.
    held(card(1, "team-a"), T0, 6, util=50)
    held(card(1), T0 + 6 * hour, 6, util=0)
    held(card(2, "team-b"), T0, 12, util=90)
    held(card(3, "team-b", "team-b-1"), T0, 12, util=0)
    # Two Prometheus replicas behind one address.
    for replica, offset in (("a", 7.0), ("b", 31.0)):
        held(card(4, "ha", prometheus_replica=replica), T0, 10, util=40, offset=offset)
    # MIG: no GPU_UTIL; slices of one card.
    held(card(5, "mig-a", GPU_I_PROFILE="1g.10gb", GPU_I_ID="7"), T0, 10, engine=0.5)
    held(card(5, "mig-b", GPU_I_PROFILE="3g.40gb", GPU_I_ID="1"), T0, 10, engine=1.0)
    # Time-slicing with per-process values: the device's own row has no pod.
    held(card(6), T0, 10, util=80)
    held(card(6, "share-a", vgpu="0"), T0, 10, util=60)
    held(card(6, "share-b", vgpu="1"), T0, 10, util=20)
    # The same without hostPID: every pod reads 0 on a busy card.
    held(card(7), T0, 10, util=70)
    held(card(7, "blind", vgpu="0"), T0, 10, util=0)
    # The exporter of one node is away from 3:00 to 4:30; the request goes on.
    held(card(8, "gap"), T0, 3, util=100)
    held(card(8, "gap"), T0 + 4.5 * hour, 7.5, util=100)
    asked = {
        "namespace": "gap",
        "pod": "gap-0",
        "container": "c",
        "resource": "nvidia_com_gpu",
        "node": "n1",
    }
    h.add(REQUESTS, asked, every(T0, 12, 1))
    h.add(PHASE, {"namespace": "gap", "pod": "gap-0", "phase": "Running"}, every(T0, 12, 1))
    # A pod that is over still has requests, and so has one that waits.
    done = {**asked, "namespace": "done", "pod": "done-0"}
    h.add(REQUESTS, done, every(T0, 12, 8))
    h.add(PHASE, {"namespace": "done", "pod": "done-0", "phase": "Succeeded"}, every(T0, 12, 1))
    h.add(PHASE, {"namespace": "done", "pod": "done-0", "phase": "Running"}, every(T0, 12, 0))
    # The exporter restarts and comes back at another address; both are seen for three minutes.
    held(card(9, "restart"), T0, 6.05, util=25)
    held(card(9, "restart", instance="10.0.0.2:9400"), T0 + 6 * hour, 6, util=25, offset=41)
    # A faulty value for the second of two hours.
    held(card(10, "spike"), T0, 1, util=50)
    held(card(10, "spike"), T0 + hour, 1, util=4294967295)
    # The engine's counter stuck at 0 while the card works.
    held(card(11, "stuck"), T0, 4, util=75, engine=0.0)
    # Nobody's.
    held(card(12), T0, 12, util=0)
    # A name that begins like another tenant's.
    held(card(13, "team-a-evil"), T0, 5, util=10)
    return h


# namespace: held, busy, idle, unknown
TOTALS = {
    "team-a": (6, 3, 3, 0),
    "team-b": (24, 10.8, 13.2, 0),
    "ha": (10, 4, 6, 0),
    "mig-a": (10 / 7, 5 / 7, 5 / 7, 0),
    "mig-b": (5, 5, 0, 0),
    "share-a": (5, 3, 2, 0),
    "share-b": (5, 1, 4, 0),
    "blind": (10, 0, 0, 10),
    "gap": (12, 10.5, 0, 1.5),
    "done": (0, 0, 0, 0),
    "restart": (12, 3, 9, 0),
    "spike": (2, 0.5, 0.5, 1),
    "stuck": (4, 3, 1, 0),
    "team-a-evil": (5, 0.5, 4.5, 0),
}
CARD_HOURS = 6 + 6 + 12 + 12 + 10 + 10 + 10 + 10 + 10.5 + 12 + 2 + 4 + 12 + 5


@dataclass(frozen=True)
class Running:
    meter: Meter
    version: str

    def hours(self, *namespaces: str) -> Ledger:
        return self.meter.hours(namespaces, WINDOW)


@pytest.fixture(
    scope="module", params=[f"{v} {w}" for v in VERSIONS for w in ("plain", "exported")]
)
def running(request, tmp_path_factory, prometheus_program) -> Iterator[Running]:
    version, spelling = request.param.split()
    if reason := missing(version):
        pytest.skip(reason)
    folder = tmp_path_factory.mktemp("prometheus")
    path = history(EXPORTED if spelling == "exported" else None).write(folder / "history.om")
    with serving(version, folder, path) as url:
        yield Running(Meter(PrometheusReader(url), lambda: NOON + timedelta(days=1)), version)


pytestmark = pytest.mark.cluster


@pytest.mark.parametrize("namespace", TOTALS)
def test_the_account_is_exact(running: Running, namespace: str) -> None:
    total = running.hours(namespace).total
    found = (total.held, total.busy, total.idle, total.unknown)
    assert found == pytest.approx(TOTALS[namespace], abs=1e-9)


def test_everybody_is_the_sum_of_all(running: Running) -> None:
    ledger = running.meter.hours(None, WINDOW)
    held = {name: hours.held for name, hours in ledger.by_namespace().items()}
    wanted = {name: total[0] for name, total in TOTALS.items() if total[0]}
    assert held == pytest.approx(wanted, abs=1e-9)
    assert ledger.card_hours == pytest.approx(CARD_HOURS)


def test_days_of_any_zone_add_up_to_the_window(running: Running) -> None:
    cut = running.meter.hours(("team-b",), Window(T0, NOON, "America/New_York"))
    assert len(cut.days) == 2
    assert sum(hours.busy for _, hours in cut.days) == pytest.approx(10.8)


def test_a_part_of_an_hour_counts_its_minutes(running: Running) -> None:
    window = Window(T0 + timedelta(minutes=7), T0 + timedelta(hours=2, minutes=24))
    total = running.meter.hours(("team-b",), window).total
    assert (total.held, total.busy) == pytest.approx((2 * 137 / 60, 0.9 * 137 / 60))


def test_the_witnesses_say_when_they_differ(running: Running) -> None:
    gap = running.hours("gap")
    assert (gap.requested_hours, gap.seen_hours) == pytest.approx((12, 10.5))
    assert gap.witnesses_differ
    assert gap.coverage == pytest.approx(10.5 / 12)
    assert gap.source == "DCGM and kube-state-metrics"


@pytest.mark.parametrize(
    "name",
    [
        'team-a"} or DCGM_FI_DEV_GPU_UTIL{namespace=~".*', "team-.*", ".*", "", "team-a|team-b",
        "team-a\\", "team-a\n", "x'", "tеam-a",
    ],
)  # fmt: skip
def test_no_name_reads_another_tenants_series(running: Running, name: str) -> None:
    assert running.hours(name).total.held == 0


def test_no_namespace_is_nobody(running: Running) -> None:
    assert running.hours().total.held == 0


def test_an_hour_without_any_exporter_is_no_coverage(running: Running) -> None:
    later = Window(NOON - timedelta(hours=6), NOON + timedelta(hours=6))
    ledger = running.meter.hours(("team-b",), later)
    assert ledger.exporter_coverage == pytest.approx(0.5)
    assert ledger.coverage == pytest.approx(0.5)
