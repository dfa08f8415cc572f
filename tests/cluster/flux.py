"""Flux's source and kustomize controllers on a control plane: they apply what a Git repository says."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from tests.cluster.build import path_of
from tests.cluster.control_plane import ControlPlane
from tests.cluster.process import Process, free_port, start_together, wait_until
from tests.cluster.web import answers

NAMESPACE = "flux-system"
_CONTROLLERS = ("source-controller", "kustomize-controller")


class Flux:
    """The two controllers beside a control plane, which must run already.

    The attributes `source_controller` and `kustomize_controller` are their processes.
    """

    def __init__(self, control_plane: ControlPlane, folder: Path) -> None:
        self.control_plane = control_plane
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        storage = f"127.0.0.1:{free_port()}"
        more = [
            f"--storage-path={folder}/storage",
            f"--storage-addr={storage}",
            f"--storage-adv-addr={storage}",
        ]
        (folder / "storage").mkdir(exist_ok=True)
        self.source_controller = self._controller("source-controller", *more)
        self.kustomize_controller = self._controller("kustomize-controller")

    def start(self) -> Self:
        """Installs Flux's definitions and starts both controllers."""
        folders = [
            argument for name in _CONTROLLERS for argument in ("-f", str(path_of(name, "crds")))
        ]
        self.control_plane.kubectl("apply", "--server-side", *folders)
        wait_until(self._is_discovered, "Flux's kinds in the API server's discovery")
        self.control_plane.apply(
            {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}}
        )
        with ExitStack() as undo:
            undo.callback(self.stop)
            start_together(self.source_controller, self.kustomize_controller)
            undo.pop_all()
        return self

    def stop(self) -> None:
        """Stops both controllers."""
        self.kustomize_controller.stop()
        self.source_controller.stop()

    def follow(
        self, name: str, url: str, path: str, *, branch: str = "main", interval: str = "2s"
    ) -> None:
        """Lets Flux apply a folder of a repository, looking for a new commit at each interval; prunes what is gone."""
        metadata = {"name": name, "namespace": NAMESPACE}
        source = {"interval": interval, "url": url, "ref": {"branch": branch}}
        self.control_plane.apply(
            {
                "apiVersion": "source.toolkit.fluxcd.io/v1",
                "kind": "GitRepository",
                "metadata": metadata,
                "spec": source,
            },
            {
                "apiVersion": "kustomize.toolkit.fluxcd.io/v1",
                "kind": "Kustomization",
                "metadata": metadata,
                "spec": {
                    "interval": interval,
                    "retryInterval": interval,
                    "path": path,
                    "prune": True,
                    "sourceRef": {"kind": "GitRepository", "name": name},
                },
            },
        )

    def unfollow(self, name: str) -> None:
        """Ends it; what was applied is pruned first."""
        for kind in (
            "kustomization.kustomize.toolkit.fluxcd.io",
            "gitrepository.source.toolkit.fluxcd.io",
        ):
            self.control_plane.kubectl("delete", "-n", NAMESPACE, kind, name, "--ignore-not-found")

    def status(self, name: str) -> dict[str, Any]:
        """The status of the Kustomization: lastAppliedRevision, conditions and more."""
        path = f"/apis/kustomize.toolkit.fluxcd.io/v1/namespaces/{NAMESPACE}/kustomizations/{name}"
        status: dict[str, Any] = self.control_plane.api.get(path).get("status", {})
        return status

    def wait_applied(self, name: str, commit: str, seconds: float = 60) -> None:
        """Waits until a commit is what Flux applied last."""
        ends = f":{commit}"
        wait_until(
            lambda: str(self.status(name).get("lastAppliedRevision", "")).endswith(ends),
            f"Flux applies {commit}",
            seconds,
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

    def _is_discovered(self) -> bool:
        groups = ("source.toolkit.fluxcd.io", "kustomize.toolkit.fluxcd.io")
        return all(self.control_plane.api.get(f"/apis/{group}/v1")["resources"] for group in groups)

    def _controller(self, name: str, *more: str) -> Process:
        health, metrics = free_port(), free_port()
        flags = [
            "--enable-leader-election=false",
            "--events-addr=",
            f"--health-addr=127.0.0.1:{health}",
        ]
        flags += [f"--metrics-addr=127.0.0.1:{metrics}", "--log-level=info", *more]
        environment = {
            "RUNTIME_NAMESPACE": NAMESPACE,
            "KUBECONFIG": str(self.control_plane.kubeconfig()),
        }
        return Process(
            name,
            [path_of(name), *flags],
            self.folder / f"{name}.log",
            ready=lambda: answers(f"http://127.0.0.1:{health}/readyz"),
            environment=environment,
        )
