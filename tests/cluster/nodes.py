"""Simulated GPU nodes: Node objects as the GPU Operator labels them, and kwok, which runs pods on them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.cluster.build import path_of
from tests.cluster.control_plane import ControlPlane
from tests.cluster.process import Process, free_port
from tests.cluster.web import answers

RUN = "gpubot.test/run"
"""Pod annotation: how long the pod of a Job runs, as a Go duration ("90s", "2h"); DEFAULT_RUN without it."""
OUTCOME = "gpubot.test/outcome"
"""Pod annotation: "failed" ends the pod with exit code 1 and "never-ready" keeps it pending; it succeeds without it."""
DEFAULT_RUN = "1s"


_ENDED = """\
{{ $now := Now }}
{{ $root := . }}
containerStatuses:
{{ range $index, $item := .spec.containers }}
{{ $origin := index $root.status.containerStatuses $index }}
- image: {{ $item.image | Quote }}
  name: {{ $item.name | Quote }}
  ready: false
  restartCount: 0
  started: false
  state:
    terminated:
      exitCode: CODE
      finishedAt: {{ $now | Quote }}
      reason: REASON
      startedAt: {{ $origin.state.running.startedAt | Quote }}
{{ end }}
phase: PHASE
"""
_COMPLETED = (
    _ENDED.replace("CODE", "0").replace("REASON", "Completed").replace("PHASE", "Succeeded")
)
_FAILED = _ENDED.replace("CODE", "1").replace("REASON", "Error").replace("PHASE", "Failed")


@dataclass(frozen=True, slots=True)
class GpuNode:
    """A node with GPUs, described as its hardware is; the labels of the GPU Operator and of NFD follow from it."""

    name: str
    gpus: int = 8
    product: str = "NVIDIA-H100-80GB-HBM3"
    memory_mib: int = 81559
    driver: str = "580.95.05"
    pool: str = "h100"
    """Value of the label `gpubot.test/pool`, for resource flavors."""
    mig: Mapping[str, int] = field(default_factory=dict)
    """MIG instances of the whole node by profile, {"1g.10gb": 14}: mixed strategy. Its GPUs are no whole GPUs then."""
    replicas: int = 1
    """Time-slicing: pods per GPU."""
    cpu: int = 128
    memory: str = "1Ti"
    labels: Mapping[str, str] = field(default_factory=dict)
    taints: tuple[Mapping[str, str], ...] = ()

    @property
    def allocatable(self) -> dict[str, str]:
        """What the device plugin and the kubelet would report."""
        gpus = {f"nvidia.com/mig-{profile}": str(count) for profile, count in self.mig.items()}
        if not self.mig and self.gpus:
            gpus = {"nvidia.com/gpu": str(self.gpus * self.replicas)}
        return {
            "cpu": str(self.cpu),
            "memory": self.memory,
            "pods": "250",
            "ephemeral-storage": "4Ti",
            **gpus,
        }

    @property
    def manifest(self) -> dict[str, Any]:
        """The Node object."""
        resources = self.allocatable
        return {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {
                "name": self.name,
                "labels": self._labels(),
                "annotations": {"kwok.x-k8s.io/node": "fake"},
            },
            "spec": {"taints": list(self.taints)},
            "status": {"capacity": resources, "allocatable": resources},
        }

    def _labels(self) -> dict[str, str]:
        always = {
            "kubernetes.io/hostname": self.name,
            "kubernetes.io/os": "linux",
            "kubernetes.io/arch": "amd64",
            "gpubot.test/pool": self.pool,
        }
        return {**always, **(self._gpu_labels() if self.gpus else {}), **self.labels}

    def _gpu_labels(self) -> dict[str, str]:
        major, minor, revision = (*self.driver.split("."), "0", "0")[:3]
        shared = "-SHARED" if self.replicas > 1 else ""
        labels = {
            "feature.node.kubernetes.io/pci-10de.present": "true",
            "nvidia.com/gpu.present": "true",
            "nvidia.com/gpu.product": self.product + shared,
            "nvidia.com/gpu.count": str(self.gpus),
            "nvidia.com/gpu.replicas": str(self.replicas),
            "nvidia.com/gpu.memory": str(self.memory_mib),
            "nvidia.com/gpu.sharing-strategy": "time-slicing" if self.replicas > 1 else "none",
            "nvidia.com/mig.capable": str(
                any(card in self.product for card in ("A100", "H100", "H200"))
            ).lower(),
            "nvidia.com/mig.strategy": "mixed",
            "nvidia.com/mig.config": "custom" if self.mig else "all-disabled",
            "nvidia.com/mig.config.state": "success",
            "nvidia.com/cuda.driver-version.full": self.driver,
            "nvidia.com/cuda.driver-version.major": major,
            "nvidia.com/cuda.driver-version.minor": minor,
            "nvidia.com/cuda.driver-version.revision": revision,
            "nvidia.com/gpu-driver-upgrade-state": "upgrade-done",
        }
        for operand in (
            "driver",
            "device-plugin",
            "dcgm-exporter",
            "gpu-feature-discovery",
            "mig-manager",
        ):
            labels[f"nvidia.com/gpu.deploy.{operand}"] = "true"
        for profile, count in self.mig.items():
            labels[f"nvidia.com/mig-{profile}.count"] = str(count)
            labels[f"nvidia.com/mig-{profile}.product"] = f"{self.product}-MIG-{profile}"
        return labels


def kwok(control_plane: ControlPlane, folder: Path, default_run: str = DEFAULT_RUN) -> Process:
    """The process that plays kubelet for every node: it keeps them ready, and starts and ends their pods."""
    folder.mkdir(parents=True, exist_ok=True)
    stages = folder / "stages.yaml"
    stages.write_text(_stages(default_run))
    port = free_port()
    arguments: list[str | Path] = [path_of("kwok"), "--config", stages, "--manage-all-nodes"]
    arguments += ["--kubeconfig", control_plane.kubeconfig()]
    # 40 s is the kubelet's own; without a lease the nodes would soon count as lost.
    arguments += ["--node-lease-duration-seconds", "40", "--server-address", f"127.0.0.1:{port}"]
    url = f"http://127.0.0.1:{port}/healthz"
    return Process("kwok", arguments, folder / "kwok.log", ready=lambda: answers(url))


def _stages(default_run: str) -> str:
    """kwok's own stages for nodes, readiness and deletion, and ours for the end of a pod."""
    theirs = path_of("kwok", "stages")
    ready = (theirs / "pod/pod-ready.yaml").read_text()
    marker = "    matchExpressions:\n"
    if marker not in ready:
        raise ValueError("kwok's pod-ready stage no longer looks as expected")
    never = (
        f"    - key: '{_annotation(OUTCOME)}'\n      operator: NotIn\n      values: [never-ready]\n"
    )
    texts = [
        (theirs / "node/node-initialize.yaml").read_text(),
        ready.replace(marker, marker + never, 1),
        (theirs / "pod/pod-delete.yaml").read_text(),
        json.dumps(_end_of_pod("pod-complete", default_run, failed=False)),
        json.dumps(_end_of_pod("pod-fail", default_run, failed=True)),
    ]
    return "\n---\n".join(texts)


def _annotation(name: str) -> str:
    return f'.metadata.annotations["{name}"]'


def _end_of_pod(name: str, default_run: str, *, failed: bool) -> dict[str, Any]:
    """A stage that ends the running pods of Jobs after the time that they ask for."""
    delay = {"expressionFrom": f'{_annotation(RUN)} // "{default_run}"'}
    return {
        "apiVersion": "kwok.x-k8s.io/v1alpha1",
        "kind": "Stage",
        "metadata": {"name": name},
        "spec": {
            "resourceRef": {"apiGroup": "v1", "kind": "Pod"},
            "selector": {
                "matchExpressions": [
                    {"key": ".metadata.deletionTimestamp", "operator": "DoesNotExist"},
                    {"key": ".status.phase", "operator": "In", "values": ["Running"]},
                    {
                        "key": ".metadata.ownerReferences.[].kind",
                        "operator": "In",
                        "values": ["Job"],
                    },
                    {
                        "key": _annotation(OUTCOME),
                        "operator": "In" if failed else "NotIn",
                        "values": ["failed"],
                    },
                ]
            },
            # kwok needs a default beside the expression, which it uses when that yields nothing.
            "delay": {"durationMilliseconds": 1000, "durationFrom": delay},
            "next": {"statusTemplate": (_FAILED if failed else _COMPLETED)},
        },
    }
