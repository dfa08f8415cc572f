"""What /gpu-why says of topology and of pods that don't get ready, by the real Kueue's own words."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from capacity.causes import Kind
from capacity.kueue import ClusterConfig, ClusterReader, Pace
from commands.page import plain
from commands.parse import parse
from commands.table import run
from commands.why_data import WhyAnswer
from tests.builders import ANA, FakeWorld
from tests.cluster.control_plane import ControlPlane
from tests.cluster.fixtures import require
from tests.cluster.kueue import Kueue, KueueOptions
from tests.cluster.kueue_objects import GROUP
from tests.cluster.objects import (
    GPU,
    Manifest,
    cluster_queue,
    flavor,
    job,
    local_queue,
    namespace,
    quota,
)
from tests.cluster.process import wait_until

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(300)]
RACK, HOST = "cloud.provider.com/topology-rack", "kubernetes.io/hostname"
ONE_RACK = {"kueue.x-k8s.io/podset-required-topology": RACK}
READY_SECONDS = 4


@contextmanager
def read(plane: ControlPlane) -> Iterator[ClusterReader]:
    config = ClusterConfig("test", kubeconfig=str(plane.kubeconfig()))
    made = ClusterReader(config, pace=Pace(pulse=0.5, longest_retry=1.0))
    plane.apply(namespace("team"), local_queue("research", "team", "research"))
    made.start()
    yield made
    made.stop()


def why(reader: ClusterReader, name: str) -> tuple[WhyAnswer, str, str]:
    """Return the answer, its first sentences, and the whole page in words."""
    fleet = reader.fleet()
    if not fleet.workloads.named(name):
        raise LookupError(name)
    answer, page = run(parse(f"why {name}", ANA), FakeWorld(fleet, at=datetime.now(UTC)))
    lines = [plain(part.line) for part in page.parts if hasattr(part, "line")]
    return answer, plain(page.headline), "\n".join(lines)


def until(reader: ClusterReader, name: str, done: Callable[[WhyAnswer], bool]) -> tuple[Any, ...]:
    def look() -> bool:
        return bool(reader.fleet().workloads.named(name)) and done(why(reader, name)[0])

    wait_until(look, f"{name} to come so far", 40)
    return why(reader, name)


def a_node(name: str, rack: str) -> tuple[Manifest, Manifest]:
    """Return a node of eight cards, and the status that makes it ready."""
    labels = {RACK: rack, HOST: name, "gpu": "h100"}
    node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": labels}}
    room = {GPU: "8", "cpu": "64", "memory": "512Gi", "pods": "110"}
    now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    ready = {"type": "Ready", "status": "True", "reason": "KubeletReady", "message": "ready"}
    times = {"lastHeartbeatTime": now, "lastTransitionTime": now}
    status = {"capacity": room, "allocatable": room, "conditions": [ready | times]}
    return node, {"status": status}


def test_a_job_that_lacks_a_place_is_not_told_of_quota(kueue_cluster: Kueue) -> None:
    plane = kueue_cluster.control_plane
    for name, rack in (("n1", "r1"), ("n2", "r1"), ("n3", "r2")):
        node, status = a_node(name, rack)
        plane.apply(node)
        plane.api.patch(f"/api/v1/nodes/{name}/status", status)
    levels = [{"nodeLabel": RACK}, {"nodeLabel": HOST}]
    topology = {"apiVersion": f"{GROUP}/v1beta2", "kind": "Topology", "spec": {"levels": levels}}
    cards = flavor("h100", {"gpu": "h100"})
    cards["spec"]["topologyName"] = "halls"
    plane.apply(topology | {"metadata": {"name": "halls"}}, cards)
    plane.apply(cluster_queue("research", {"h100": quota(64)}))
    try:
        with read(plane) as reader:
            plane.apply(job("three", "team", "research", gpus=8, workers=3, annotations=ONE_RACK))
            answer, headline, _ = until(
                reader, "three", lambda a: a.cause.kind is Kind.TOPOLOGY_PLACEMENT_FAILED
            )
            assert "its 3 pods must stand in one rack" in headline
            assert "the best place takes 2 of 3 pods now" in headline
            assert "Quota isn't what it lacks: research can get 64 H100" in headline
            assert answer.room.topology == "halls"

            plane.apply(job("two", "team", "research", gpus=8, workers=2, annotations=ONE_RACK))
            _, _, said = until(reader, "two", lambda a: bool(a.places))
            assert "Its pods stand on n1 (1), n2 (1)." in said
    finally:
        for name in ("n1", "n2", "n3"):
            plane.api.delete(f"/api/v1/nodes/{name}")


def test_pods_that_do_not_get_ready_are_told_of_before_and_after_kueue_stops_them(
    tmp_path: Path,
) -> None:
    require("etcd", "kubernetes", "kueue")
    waits = {"timeout": f"{READY_SECONDS}s", "requeuingStrategy": {"backoffBaseSeconds": 60}}
    options = KueueOptions(configuration={"waitForPodsReady": waits}, visibility=False)
    with (
        ControlPlane(tmp_path / "plane", scheduler=False) as plane,
        Kueue(plane, tmp_path / "kueue", options),
        read(plane) as reader,
    ):
        plane.apply(flavor("h100"), cluster_queue("research", {"h100": quota(64)}))
        plane.apply(job("slow", "team", "research", gpus=8, workers=2))
        _, headline, said = until(reader, "slow", lambda a: a.cause.kind is Kind.STARTING)
        assert "slow holds 16 H100 but isn't running in full yet" in headline
        assert "Kueue stops and requeues a job whose pods aren't all ready in 30 min" in said

        answer, headline, said = until(
            reader, "slow", lambda a: a.cause.requeue is not None and a.cause.requeue.waiting
        )
        assert "slow is held back until" in headline
        assert "because not all its pods became ready in time" in headline
        assert "Stopped so far: 1 time." in said
        assert answer.cause.requeue.count == 1
