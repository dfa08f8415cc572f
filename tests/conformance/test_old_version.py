"""The reader on a real API server that serves only v1beta1, converted by Kueue's own webhook."""

from collections.abc import Iterator
from typing import Any

import pytest

from capacity.kueue import ClusterConfig, ClusterReader, Pace
from capacity.model import Fleet
from tests.cluster.control_plane import ControlPlane
from tests.cluster.fixtures import _folder, require
from tests.cluster.kueue import Kueue, KueueOptions
from tests.cluster.objects import GPU, cluster_queue, cohort, flavor, local_queue, priority_class
from tests.conformance.live import NAMESPACE, eventually, workload

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(600)]
CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
CONVERTED = ("clusterqueues", "localqueues", "cohorts", "workloads")
FUNGIBILITY = {"whenCanBorrow": "MayStopSearch", "whenCanPreempt": "MayStopSearch"}


@pytest.fixture(scope="module")
def kueue(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kueue]:
    require("etcd", "kubernetes", "kueue")
    with (
        _folder(tmp_path_factory, "old") as folder,
        ControlPlane(folder / "plane", controllers=False, scheduler=False) as plane,
        Kueue(plane, folder / "kueue", KueueOptions(fair_sharing=True)) as running,
    ):
        yield running


def convert(kueue: Kueue) -> None:
    """Let the API server ask the running Kueue to convert, as an installed one does."""
    plane = kueue.control_plane
    client = {
        "url": f"https://127.0.0.1:{kueue._webhook}/convert",
        "caBundle": plane.certificate.bundle,
    }
    hook = {"clientConfig": client, "conversionReviewVersions": ["v1"]}
    for plural in CONVERTED:
        spec = {"conversion": {"strategy": "Webhook", "webhook": hook}}
        plane.api.patch(f"{CRDS}/{plural}.kueue.x-k8s.io", {"spec": spec})


def serve_only_v1beta1(kueue: Kueue) -> None:
    api = kueue.control_plane.api
    for crd in api.get(CRDS)["items"]:
        if crd["spec"]["group"] != "kueue.x-k8s.io":
            continue
        versions: list[dict[str, Any]] = crd["spec"]["versions"]
        for version in versions:
            version["served"] = version["name"] == "v1beta1"
        api.patch(f"{CRDS}/{crd['metadata']['name']}", {"spec": {"versions": versions}})

    def gone() -> bool:
        listed = api.get("/apis/kueue.x-k8s.io")["versions"]
        return [version["version"] for version in listed] == ["v1beta1"]

    eventually(gone, "v1beta2 to be served no more")


def read(kueue: Kueue, known: int) -> Fleet:
    config = ClusterConfig("test", kubeconfig=str(kueue.control_plane.kubeconfig()))
    reader = ClusterReader(config, pace=Pace(pulse=0.5))
    reader.start()
    try:
        eventually(lambda: reader.healthy_since is not None, "every kind")
        eventually(lambda: len(reader.fleet().workloads) == known, "the workloads")
        return reader.fleet()
    finally:
        reader.stop()


def test_both_versions_of_the_same_objects_are_the_same_fleet(kueue: Kueue) -> None:
    plane = kueue.control_plane
    convert(kueue)
    quota = {"nominalQuota": 8, "borrowingLimit": 4, "lendingLimit": 2}
    plane.apply(
        flavor("h100"),
        priority_class("high", 100),
        cohort("org"),
        cohort("ml", "org"),
        cluster_queue("vision", {"h100": quota}, cohort="ml", flavorFungibility=FUNGIBILITY),
        cluster_queue("serving", {"h100": 6}, cohort="ml", fairSharing={"weight": "2"}),
        *(local_queue(name, NAMESPACE, name) for name in ("vision", "serving")),
    )
    ranked = workload("ranked", "vision", [(1, {GPU: "50"})], priority=100)
    group = {"group": "kueue.x-k8s.io", "kind": "WorkloadPriorityClass", "name": "high"}
    ranked["spec"]["priorityClassRef"] = group
    plane.apply(workload("runs", "vision", [(2, {GPU: "5"})]), ranked)
    path = "/apis/kueue.x-k8s.io/v1beta2/clusterqueues/vision"

    def settled() -> bool:
        status = plane.api.get(path).get("status", {})
        return status.get("pendingWorkloads") == 1 and status.get("admittedWorkloads") == 1

    eventually(settled, "the queue's status")
    new = read(kueue, 2)
    serve_only_v1beta1(kueue)
    old = read(kueue, 2)
    assert old.gaps == new.gaps == ()
    assert new.cluster_queues["vision"].cohort == "ml"
    assert new.cluster_queues["vision"].reported_borrowed
    assert dict(old.cluster_queues) == dict(new.cluster_queues)
    assert dict(old.cohorts) == dict(new.cohorts)
    assert dict(old.local_queues) == dict(new.local_queues)
    assert dict(old.flavors) == dict(new.flavors)
    assert by_name(old) == by_name(new)


def by_name(fleet: Fleet) -> dict[str, object]:
    return {each.name: each for each in fleet.workloads}
