"""What Prometheus scrapes besides Kueue: kube-state-metrics, and our stand-in for dcgm-exporter."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

from tests.cluster.build import path_of
from tests.cluster.control_plane import ControlPlane
from tests.cluster.process import Process, free_port
from tests.cluster.users import ADMIN
from tests.cluster.web import answers

REPOSITORY = Path(__file__).resolve().parents[2]
_LABELS = (
    "pods=[kueue.x-k8s.io/queue-name,kueue.x-k8s.io/priority-class,team],"
    "nodes=[nvidia.com/gpu.product,nvidia.com/gpu.count,nvidia.com/gpu.replicas,nvidia.com/gpu.sharing-strategy,"
    "nvidia.com/mig.config,nvidia.com/cuda.driver-version.full],"
    "jobs=[kueue.x-k8s.io/queue-name],namespaces=[team]"
)


@dataclass(frozen=True, slots=True)
class Exporter:
    """A process with metrics, and where they are."""

    process: Process
    url: str


def kube_state_metrics(control_plane: ControlPlane, folder: Path) -> Exporter:
    """kube-state-metrics for pods, jobs, nodes, namespaces and resource quotas."""
    folder.mkdir(parents=True, exist_ok=True)
    port, own_port = free_port(), free_port()
    arguments: list[str | Path] = [
        path_of("kube-state-metrics"),
        "--kubeconfig",
        control_plane.kubeconfig(),
    ]
    arguments += [
        "--host=127.0.0.1",
        f"--port={port}",
        "--telemetry-host=127.0.0.1",
        f"--telemetry-port={own_port}",
    ]
    arguments += [
        "--resources",
        "pods,jobs,nodes,namespaces,resourcequotas",
        "--metric-labels-allowlist",
        _LABELS,
    ]
    url = f"http://127.0.0.1:{port}"
    log = folder / "kube-state-metrics.log"
    process = Process("kube-state-metrics", arguments, log, ready=lambda: answers(f"{url}/healthz"))
    return Exporter(process, f"{url}/metrics")


def dcgm_exporter(
    control_plane: ControlPlane, folder: Path, hostname_label: str = "Hostname"
) -> Exporter:
    """Our stand-in for dcgm-exporter, as a process."""
    folder.mkdir(parents=True, exist_ok=True)
    port = free_port()
    url = f"http://127.0.0.1:{port}/metrics"
    arguments = [
        sys.executable,
        "-m",
        "tests.cluster.dcgm",
        "--server",
        control_plane.url,
        "--token",
        ADMIN.token,
    ]
    arguments += ["--port", str(port), "--hostname-label", hostname_label]
    process = Process(
        "dcgm-exporter",
        arguments,
        folder / "dcgm.log",
        ready=lambda: answers(url),
        environment={"PYTHONPATH": str(REPOSITORY)},
    )
    return Exporter(process, url)
