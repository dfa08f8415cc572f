"""The whole cluster in one object, for fixtures and for the lab: `with Stack(folder, StackOptions(...)) as stack`."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Self

from tests.cluster.control_plane import ControlPlane
from tests.cluster.kueue import Kueue, KueueOptions
from tests.cluster.monitoring import dcgm_exporter, kube_state_metrics
from tests.cluster.nodes import DEFAULT_RUN, GpuNode, kwok
from tests.cluster.process import Process, start_together, wait_until
from tests.cluster.prometheus import Prometheus, Scrape
from tests.cluster.users import ADMIN, User

NEEDS = ("etcd", "kubernetes", "kueue", "kwok", "kube-state-metrics", "prometheus")
"""The programs that a Stack with all its parts is made of."""
DEFAULT_NODES = (
    GpuNode("gpu-h100-1"),
    GpuNode("gpu-h100-2"),
    GpuNode("gpu-a100-1", product="NVIDIA-A100-SXM4-80GB", memory_mib=81920, pool="a100"),
)


@dataclass(frozen=True, slots=True)
class StackOptions:
    """Which parts a stack has."""

    nodes: Sequence[GpuNode] = DEFAULT_NODES
    users: Sequence[User] = ()
    kueue: KueueOptions = field(default_factory=KueueOptions)
    default_run: str = DEFAULT_RUN
    """How long a Job's pod runs when it has no annotation for it."""
    monitoring: bool = True
    history: Path | None = None
    """Prometheus' past, in OpenMetrics text."""
    rules: Sequence[Path] = ()
    dcgm_labels: dict[str, str] = field(default_factory=dict)
    """Labels of the DCGM target, such as the exporter's own namespace and pod."""
    hostname_label: str = "Hostname"


class Stack:
    """Control plane, Kueue, simulated GPU nodes and, unless switched off, their metrics.

    Attributes: `control_plane`, `kueue`, `kwok`, and with monitoring `state_metrics`, `dcgm` and `prometheus`.
    Several stacks run side by side: each has its folder and its ports.
    """

    def __init__(self, folder: Path, options: StackOptions | None = None) -> None:
        self.options = options or StackOptions()
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        self.control_plane = ControlPlane(folder / "control-plane", users=self.options.users)
        self.kueue = Kueue(self.control_plane, folder / "kueue", self.options.kueue)
        self.kwok: Process = kwok(self.control_plane, folder / "kwok", self.options.default_run)
        self.state_metrics = kube_state_metrics(self.control_plane, folder / "monitoring")
        self.dcgm = dcgm_exporter(
            self.control_plane, folder / "monitoring", self.options.hostname_label
        )
        self.prometheus = Prometheus(
            folder / "prometheus",
            self._scrapes(),
            history=self.options.history,
            rules=self.options.rules,
        )

    def start(self) -> Self:
        """Starts all parts and returns when the nodes are ready.

        Raises:
            ProcessError: naming the part that did not start. The others are stopped then.
        """
        with ExitStack() as undo:
            undo.callback(self.stop)
            self.control_plane.start()
            self.kueue.start()
            self.add_nodes(*self.options.nodes)
            self.kwok.start()
            if self.options.monitoring:
                start_together(self.state_metrics.process, self.dcgm.process)
                self.prometheus.start()
            wait_until(self._nodes_ready, "all nodes ready")
            undo.pop_all()
        return self

    def stop(self) -> None:
        """Stops all parts, the newest first."""
        self.prometheus.stop()
        for process in (self.dcgm.process, self.state_metrics.process, self.kwok):
            process.stop()
        self.kueue.stop()
        self.control_plane.stop()

    def resume(self) -> None:
        """Starts again whatever part a test has stopped."""
        self.control_plane.start()
        parts = [self.kueue.process, self.kwok]
        if self.options.monitoring:
            parts += [self.state_metrics.process, self.dcgm.process, self.prometheus.process]
        start_together(*parts)

    def empty(self) -> None:
        """Deletes all jobs, queues and added nodes, and puts its own nodes back as they were."""
        self.kueue.empty()
        own = {node.name for node in self.options.nodes}
        for node in self.control_plane.api.get("/api/v1/nodes")["items"]:
            if node["metadata"]["name"] not in own:
                self.control_plane.api.delete(f"/api/v1/nodes/{node['metadata']['name']}")
        self.add_nodes(*self.options.nodes)

    def add_nodes(self, *nodes: GpuNode) -> None:
        """Adds nodes, or changes them to what is given."""
        for node in nodes:
            self.control_plane.apply(node.manifest)
            status = {"status": node.manifest["status"]}
            self.control_plane.api.patch(f"/api/v1/nodes/{node.name}/status", status)

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

    def _nodes_ready(self) -> bool:
        nodes = self.control_plane.api.get("/api/v1/nodes")["items"]
        return all(
            any(
                c["type"] == "Ready" and c["status"] == "True"
                for c in node["status"].get("conditions", ())
            )
            for node in nodes
        )

    def _scrapes(self) -> list[Scrape]:
        return [
            Scrape("kube-state-metrics", self.state_metrics.url),
            Scrape("kueue", self.kueue.metrics_url, ADMIN.token),
            Scrape("nvidia-dcgm-exporter", self.dcgm.url, labels=self.options.dcgm_labels),
        ]
