"""The lab's parts, put together: used by `make lab` and by the story on the real cluster."""

from __future__ import annotations

import time
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Self

from bot.playground.play import External, Playground, utc_now
from bot.playground.seeding import make_repository
from capacity.kueue import ClusterConfig
from gitops.repository import Repository
from tests.cluster.kueue import KueueOptions
from tests.cluster.objects import namespace
from tests.cluster.process import wait_until
from tests.cluster.stack import Stack, StackOptions
from tests.cluster.users import GPUBOT
from tests.lab.hosting import Hosting
from tests.lab.nodes import NODES
from tests.lab.past import remember
from tests.lab.stream import START, WAITING, Stream
from tests.lab.sync import NAMESPACES, KubectlSync, Sync
from tests.lab.warmup import Warmup

ROOT = Path(__file__).resolve().parents[2]
RBAC = ROOT / "deploy/rbac.yaml"
CLUSTER = "prod-eu"
WORKLOADS = "/apis/kueue.x-k8s.io/v1beta2/workloads"
WAIT_LONG = {"waitForPodsReady": {"enable": False}}


class Lab:
    """A real cluster with the seed repository applied to it, jobs running, and the bot beside it.

    The bot's account has exactly the rights of deploy/rbac.yaml. With ``gitea`` the repository is on
    a real Gitea and Flux applies it; else it is a bare one on the disk, and kubectl does.
    """

    def __init__(
        self, folder: Path, *, port: int = 0, rate_scale: float = 20.0, gitea: bool = False
    ) -> None:
        self.stack = Stack(folder / "stack", StackOptions(nodes=NODES, kueue=KueueOptions()))
        plane = self.stack.control_plane
        path = folder / "fleet.git"
        self.repository = Repository(path)
        self.hosting = Hosting(plane, folder) if gitea else None
        if self.hosting is None:
            make_repository(path, utc_now())
        self.sync: Sync = self.hosting or KubectlSync(plane, self.repository)
        self.warmup = Warmup(self.stack.control_plane)
        self.stream = Stream(self.stack.control_plane)
        self.folder = folder
        self._port = port
        self._rate_scale = rate_scale
        self._ends = ExitStack()
        self.playground: Playground

    def start(self) -> Self:
        """Start everything; returns when the example's jobs hold their quota and the bot runs."""
        with ExitStack() as undo:
            undo.callback(self.stop_cluster)
            self.stack.start()
            plane = self.stack.control_plane
            plane.apply(*(namespace(name) for name in (*NAMESPACES, "gpubot")))
            plane.kubectl("apply", "--server-side", "-f", str(RBAC))
            self.warmup.start()
            remember(plane, utc_now())
            self.sync.apply()
            self.stream.begin()
            wait_until(lambda: self.admitted() == len(START), "the example's jobs admitted", 90)
            for one in WAITING:
                self.stream.submit(one)
                time.sleep(1.1)  # creation times have whole seconds, and they make the order
            self.sync.start()
            self.playground = self._make_playground()
            self.playground.start()
            undo.callback(self.playground.stop)
            wait_until(self.playground.connected, "the bot's connection to Slack", 30)
            self._ends = undo.pop_all()
        return self

    def stop(self) -> None:
        self._ends.close()

    def stop_cluster(self) -> None:
        """End what acts on the cluster, then the cluster."""
        for part in (self.stream, self.sync, self.warmup):
            part.stop()
        self.stack.stop()

    def admitted(self) -> int:
        """How many Workloads the controller has admitted and not seen finish."""
        items = self.stack.control_plane.api.get(WORKLOADS)["items"]
        return sum(_is_true(i, "Admitted") and not _is_true(i, "Finished") for i in items)

    def _make_playground(self) -> Playground:
        plane = self.stack.control_plane
        config = ClusterConfig(
            cluster=CLUSTER,
            server=plane.url,
            token=GPUBOT.token,
            ca_file=str(plane.certificate.cert),
        )
        hosted = self.hosting.hosted() if self.hosting else None
        external = External(config, self.repository.path, self.stack.prometheus.url, hosted)
        return Playground(
            self.folder / "play", port=self._port, external=external, rate_scale=self._rate_scale
        )

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()


def _is_true(item: dict[str, object], type_: str) -> bool:
    status = item.get("status")
    conditions = status.get("conditions", []) if isinstance(status, dict) else []
    return any(c["type"] == type_ and c["status"] == "True" for c in conditions)
