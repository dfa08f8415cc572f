"""The ledger over a live cluster: real Kueue, real kube-state-metrics, a real Prometheus scraping."""

import time
from datetime import UTC, datetime, timedelta

import pytest

from capacity.meter import Meter
from capacity.prometheus import PrometheusReader
from capacity.usage import Window
from tests.cluster.objects import cluster_queue, flavor, job, local_queue, namespace, quota
from tests.cluster.stack import Stack

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(400)]
MINUTE = timedelta(minutes=1)


def now() -> datetime:
    return datetime.now(UTC)


def test_a_minute_of_running_jobs_is_exactly_their_cards(gpu_cluster: Stack) -> None:
    plane, prometheus = gpu_cluster.control_plane, gpu_cluster.prometheus
    for team in ("vision", "nlp"):
        plane.apply(namespace(team))
    plane.apply(flavor("h100"), cluster_queue("all", {"h100": quota(16)}))
    for team in ("vision", "nlp"):
        plane.apply(local_queue("main", team, "all"))
    busy = {"gpubot.test/gpu-util": "37"}
    plane.apply(
        job("train", "vision", "main", gpus=4, workers=2, run="1h", annotations=busy),
        job("idle", "nlp", "main", gpus=1, run="1h", annotations={"gpubot.test/gpu-util": "0"}),
        job("waits", "nlp", "main", gpus=8, run="1h"),
    )
    prometheus.wait_for('count(DCGM_FI_DEV_FB_USED{namespace=~"vision|nlp"}) == 9')
    prometheus.wait_for('sum(kube_pod_status_phase{phase="Running",namespace=~"vision|nlp"}) == 3')
    start = now().replace(second=0, microsecond=0) + MINUTE
    end = start + MINUTE
    time.sleep((end - now()).total_seconds() + 3)

    meter = Meter(PrometheusReader(prometheus.url), now)
    window = Window(start, end)
    vision = meter.hours(("vision",), window)
    held = vision.total.held, vision.total.busy, vision.total.idle, vision.total.unknown
    assert held == pytest.approx((8 / 60, 0.37 * 8 / 60, 0.63 * 8 / 60, 0), abs=1e-9)
    assert vision.requested_hours == pytest.approx(vision.seen_hours) == pytest.approx(8 / 60)
    assert vision.coverage == 1
    assert {pod.model for pod in vision.pods} == {"NVIDIA H100 80GB HBM3"}
    nlp = meter.hours(("nlp",), window).total
    assert (nlp.held, nlp.busy, nlp.idle) == pytest.approx((1 / 60, 0, 1 / 60))
    everybody = meter.hours(None, window)
    assert everybody.card_hours == pytest.approx(24 / 60)
    assert everybody.total.held == pytest.approx(9 / 60)
