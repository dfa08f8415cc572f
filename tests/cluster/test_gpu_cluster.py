"""A Job goes the whole way on the simulated cluster, and its traces are in Prometheus.

Not tested: real cards, real containers. kwok plays kubelet, and `dcgm.py` plays dcgm-exporter.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.cluster.kueue import KueueOptions
from tests.cluster.nodes import GpuNode
from tests.cluster.objects import (
    GPU,
    cluster_queue,
    conditions,
    flavor,
    job,
    local_queue,
    namespace,
)
from tests.cluster.process import running_pids, wait_until
from tests.cluster.stack import Stack, StackOptions

pytestmark = pytest.mark.cluster


@pytest.fixture
def team(gpu_cluster: Stack) -> str:
    """A namespace with a queue `main` for 16 H100."""
    gpu_cluster.control_plane.apply(
        namespace("vision"), flavor("h100"), cluster_queue("vision", {"h100": 16})
    )
    gpu_cluster.control_plane.apply(local_queue("main", "vision", "vision"))
    return "vision"


def items(stack: Stack, path: str) -> list[dict[str, Any]]:
    """The objects of a list."""
    found: list[dict[str, Any]] = stack.control_plane.api.get(path)["items"]
    return found


def workloads(stack: Stack) -> list[dict[str, Any]]:
    """All workloads of the team."""
    return items(stack, "/apis/kueue.x-k8s.io/v1beta2/namespaces/vision/workloads")


def has(stack: Stack, condition: str) -> bool:
    """Whether the team's only workload has a condition."""
    found = workloads(stack)
    return len(found) == 1 and conditions(found[0]).get(condition) == "True"


def pods(stack: Stack, phase: str) -> list[dict[str, Any]]:
    """The team's pods in a phase."""
    return [
        pod
        for pod in items(stack, "/api/v1/namespaces/vision/pods")
        if pod["status"]["phase"] == phase
    ]


def test_a_job_is_admitted_bound_run_and_finished(gpu_cluster: Stack, team: str) -> None:
    gpu_cluster.control_plane.apply(job("train", team, "main", gpus=8, workers=2, run="2s"))
    wait_until(lambda: has(gpu_cluster, "Admitted"), "the workload is admitted")
    wait_until(lambda: len(pods(gpu_cluster, "Running")) == 2, "both pods run")
    nodes = {pod["spec"]["nodeName"] for pod in pods(gpu_cluster, "Running")}
    assert nodes == {"gpu-h100-1", "gpu-h100-2"}
    wait_until(lambda: has(gpu_cluster, "Finished"), "the workload is finished")
    status = items(gpu_cluster, "/apis/batch/v1/namespaces/vision/jobs")[0]["status"]
    assert (status["succeeded"], conditions({"status": status})["Complete"]) == (2, "True")


def test_a_job_can_be_made_to_fail_and_another_never_to_be_ready(
    gpu_cluster: Stack, team: str
) -> None:
    failing = job("fails", team, "main", outcome="failed")
    stuck = job("stuck", team, "main", outcome="never-ready")
    gpu_cluster.control_plane.apply(failing, stuck)
    wait_until(lambda: len(pods(gpu_cluster, "Failed")) == 1, "one pod fails")
    waiting = pods(gpu_cluster, "Pending")
    assert [pod["metadata"]["labels"]["job-name"] for pod in waiting] == ["stuck"]
    assert waiting[0]["spec"]["nodeName"]


def test_dcgm_series_carry_the_pod_and_its_utilisation(gpu_cluster: Stack, team: str) -> None:
    busy = job("busy", team, "main", gpus=3, run="1h", annotations={"gpubot.test/gpu-util": "37"})
    gpu_cluster.control_plane.apply(busy)
    series = 'DCGM_FI_DEV_GPU_UTIL{namespace="vision",pod=~"busy-.*"}'
    prometheus = gpu_cluster.prometheus
    wait_until(
        lambda: prometheus.value(f"count({series})") == 3, "three cards of the pod in Prometheus"
    )
    labels = prometheus.query(series)[0]["metric"]
    assert set(labels) == {
        *(
            "__name__",
            "job",
            "instance",
            "gpu",
            "UUID",
            "pci_bus_id",
            "device",
            "modelName",
            "Hostname",
        ),
        *("DCGM_FI_DRIVER_VERSION", "container", "namespace", "pod"),
    }
    assert labels["modelName"] == "NVIDIA H100 80GB HBM3"
    assert prometheus.value(f"avg({series})") == 37
    assert prometheus.value('avg(DCGM_FI_PROF_GR_ENGINE_ACTIVE{pod=~"busy-.*"})') == pytest.approx(
        0.37
    )
    card = "DCGM_FI_DEV_FB_USED + DCGM_FI_DEV_FB_FREE + DCGM_FI_DEV_FB_RESERVED"
    assert prometheus.value(f"max({card}) by (modelName) and on(modelName) {series}") == 81559
    free = 'DCGM_FI_DEV_GPU_UTIL{pod=""}'
    assert prometheus.value(f"count({free})") == 24 - 3


def test_kube_state_and_kueue_metrics_are_scraped(gpu_cluster: Stack, team: str) -> None:
    gpu_cluster.control_plane.apply(job("held", team, "main", gpus=4, run="1h"))
    prometheus = gpu_cluster.prometheus
    prometheus.wait_for(
        'kueue_cluster_queue_nominal_quota{cluster_queue="vision",resource="nvidia.com/gpu"} == 16'
    )
    prometheus.wait_for('kueue_cluster_queue_resource_reservation{cluster_queue="vision"} == 4')
    prometheus.wait_for(
        'kube_pod_container_resource_requests{namespace="vision",resource="nvidia_com_gpu"} == 4'
    )
    prometheus.wait_for(
        'kube_pod_labels{namespace="vision",label_kueue_x_k8s_io_queue_name="main"}'
    )
    prometheus.wait_for('kube_node_labels{label_nvidia_com_gpu_product="NVIDIA-A100-SXM4-80GB"}')


def test_the_cluster_goes_on_after_the_api_server_and_prometheus_were_away(
    gpu_cluster: Stack, team: str
) -> None:
    gpu_cluster.control_plane.api_server.stop()
    gpu_cluster.prometheus.stop()
    gpu_cluster.control_plane.api_server.start()
    gpu_cluster.prometheus.start()
    gpu_cluster.control_plane.apply(job("after", team, "main"))
    wait_until(lambda: has(gpu_cluster, "Finished"), "a job finishes as before", 60)
    gpu_cluster.prometheus.wait_for(
        'kube_job_status_succeeded{namespace="vision",job_name="after"} == 1'
    )


def test_stacks_run_side_by_side_and_leave_nothing_running(
    gpu_cluster: Stack, tmp_path: Path
) -> None:
    before = set(running_pids())
    nodes = [
        GpuNode("mig-1", gpus=2, mig={"1g.10gb": 4, "3g.40gb": 2}),
        GpuNode("t4-1", gpus=2, product="Tesla-T4", memory_mib=15360, pool="t4", replicas=4),
    ]
    options = StackOptions(
        nodes=nodes,
        kueue=KueueOptions(fair_sharing=True),
        dcgm_labels={"namespace": "gpu-operator"},
        hostname_label="hostname",
    )
    with Stack(tmp_path, options) as second:
        control_plane = second.control_plane
        control_plane.apply(namespace("vision"), flavor("all", {}))
        slice_queue = cluster_queue("slices", {"all": 4}, resource="nvidia.com/mig-1g.10gb")
        shared_queue = cluster_queue("shared", {"all": 8})
        control_plane.apply(slice_queue, shared_queue)
        control_plane.apply(
            local_queue("slices", "vision", "slices"), local_queue("shared", "vision", "shared")
        )
        slice_job = job("note", "vision", "slices", resource="nvidia.com/mig-1g.10gb", run="1h")
        control_plane.apply(slice_job, job("serve", "vision", "shared", workers=3, run="1h"))
        found = second.prometheus.wait_for('DCGM_FI_PROF_GR_ENGINE_ACTIVE{pod=~"note-.*"}')
        assert found[0]["metric"]["GPU_I_PROFILE"] == "1g.10gb"
        assert found[0]["metric"]["exported_namespace"] == "vision"
        second.prometheus.wait_for('kueue_cluster_queue_weighted_share{cluster_queue="slices"}')
        assert second.prometheus.value("count(DCGM_FI_PROF_GR_ENGINE_ACTIVE{GPU_I_ID!=''})") == 6
        assert second.prometheus.query("DCGM_FI_DEV_GPU_UTIL{GPU_I_ID!=''}") == []
        second.prometheus.wait_for('count(DCGM_FI_DEV_GPU_UTIL{hostname="t4-1"}) == 2')
        second.prometheus.wait_for('count(DCGM_FI_DEV_GPU_UTIL{pod=~"serve-.*"}) == 2')
        node = control_plane.api.get("/api/v1/nodes/t4-1")
        assert node["status"]["allocatable"][GPU] == "8"
        assert len(set(running_pids()) - before) == 9
    assert set(running_pids()) == before
