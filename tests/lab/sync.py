"""What a GitOps controller does, with kubectl: apply the main branch whenever it has moved."""

import threading
from typing import Protocol

from bot.playground.seeding import manifests
from gitops.repository import Repository
from tests.cluster.control_plane import ControlPlane

NAMESPACES = ("research", "vision", "serving")


class Sync(Protocol):
    """What brings the repository into the cluster."""

    def apply(self) -> str:
        """Apply main as it is now; returns its commit when that is in the cluster."""
        ...

    def start(self) -> None:
        """Keep applying."""
        ...

    def stop(self) -> None: ...


class KubectlSync:
    """Applies the repository's manifests, server-side; ``applied`` is the commit last applied."""

    def __init__(self, control_plane: ControlPlane, repository: Repository) -> None:
        self._control_plane = control_plane
        self._manifests = manifests(repository)
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name="sync", daemon=True)
        self.applied = ""

    def apply(self) -> str:
        """Apply main as it is now, if it isn't applied yet; returns its commit."""
        commit, files = self._manifests()
        if commit != self.applied:
            text = "\n---\n".join(files[path] for path in sorted(files))
            # Kueue became an owner of the whole spec when it added its finalizer; Flux forces, too.
            self._control_plane.kubectl(
                "apply", "--server-side", "--force-conflicts", "-f", "-", stdin=text
            )
            self.applied = commit
        return commit

    def start(self) -> None:
        """Keep applying, about once a second."""
        self._thread.start()

    def stop(self) -> None:
        self._ended.set()
        if self._thread.is_alive():
            self._thread.join(5)

    def _run(self) -> None:
        while not self._ended.wait(1.0):
            self.apply()
