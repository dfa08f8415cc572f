"""A manifest asks for what the real Kueue makes of the same one when it is submitted."""

import json
from collections.abc import Iterator

import pytest
import yaml

from capacity.kueue import ClusterConfig, ClusterReader, Pace
from commands.manifest_ask import shape_of
from tests.cluster.kueue import Kueue
from tests.cluster.objects import cluster_queue, flavor, local_queue, namespace, quota
from tests.cluster.process import wait_until

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(200)]
MANIFESTS = {
    "limits stand in for requests": """
parallelism: 3
completions: 3
template: {spec: {restartPolicy: Never, containers: [
  {name: main, image: a, resources: {limits: {nvidia.com/gpu: 2, cpu: 1500m, memory: 1Gi}}}]}}
""",
    "no more pods than completions": """
parallelism: 8
completions: 2
template: {spec: {restartPolicy: Never, containers: [
  {name: main, image: a, resources: {requests: {nvidia.com/gpu: 1}, limits: {nvidia.com/gpu: 1}}}]}}
""",
    "two containers and a large first step": """
template: {spec: {restartPolicy: Never,
  initContainers: [{name: load, image: a, resources: {requests: {cpu: "8", memory: 1Gi}}}],
  containers: [
  {name: main, image: a, resources: {requests: {cpu: "2"}, limits: {nvidia.com/gpu: 4}}},
  {name: log, image: a, resources: {requests: {cpu: 100m, memory: 128Mi}}}]}}
""",
    "a sidecar runs with all of them": """
template: {spec: {restartPolicy: Never,
  initContainers: [
  {name: proxy, image: a, restartPolicy: Always, resources: {requests: {cpu: "1"}}},
  {name: load, image: a, resources: {requests: {cpu: "3"}}}],
  containers: [{name: main, image: a, resources: {requests: {cpu: "2"}, limits: {nvidia.com/gpu: 1}}}]}}
""",
}


@pytest.fixture
def reader(kueue_cluster: Kueue) -> Iterator[ClusterReader]:
    plane = kueue_cluster.control_plane
    everything = {"h100": quota(0)}
    plane.apply(namespace("team"), flavor("h100"), cluster_queue("research", everything))
    plane.apply(local_queue("research", "team", "research"))
    made = ClusterReader(
        ClusterConfig("test", kubeconfig=str(plane.kubeconfig())), pace=Pace(pulse=0.5)
    )
    made.start()
    yield made
    made.stop()


def test_the_pod_sets_of_a_job_are_those_of_its_workload(
    kueue_cluster: Kueue, reader: ClusterReader
) -> None:
    for number, spec in enumerate(MANIFESTS.values()):
        kueue_cluster.control_plane.apply(a_job(f"job-{number}", spec))
    wait_until(lambda: len(reader.fleet().workloads) == len(MANIFESTS), "the Workloads", 30)
    for number, (what, spec) in enumerate(MANIFESTS.items()):
        [theirs] = reader.fleet().workloads.named(f"job-{number}")
        ours = shape_of(json.dumps(a_job(f"job-{number}", spec)))
        assert [(s.name, s.count, dict(s.requests)) for s in ours.pod_sets] == [
            (s.name, s.count, dict(s.requests)) for s in theirs.pod_sets
        ], what


def a_job(name: str, spec: str) -> dict[str, object]:
    labels = {"kueue.x-k8s.io/queue-name": "research"}
    meta = {"name": name, "namespace": "team", "labels": labels}
    body = {"suspend": True, **yaml.safe_load(spec)}
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": meta, "spec": body}
