"""The real Kueue against a control plane: its definitions, its configuration, its process."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from tests.cluster.build import path_of
from tests.cluster.certificates import provide_kueue_certificates
from tests.cluster.control_plane import ControlPlane
from tests.cluster.kueue_objects import (
    GROUP,
    NAMESPACE,
    VISIBILITY_GROUP,
    visibility_service,
    webhooks,
)
from tests.cluster.process import Process, free_port, wait_until
from tests.cluster.users import ADMIN
from tests.cluster.web import Api, RefusedError, answers, bearer

# Children before parents: a queue in use keeps its finalizer until what uses it is gone.
_KINDS_TO_EMPTY = (
    *("workloads", "localqueues", "clusterqueues", "cohorts", "resourceflavors"),
    *("admissionchecks", "topologies", "workloadpriorityclasses"),
)


@dataclass(frozen=True, slots=True)
class KueueOptions:
    """How Kueue is configured."""

    fair_sharing: bool = False
    """Preemption by weighted share instead of the classical rules."""
    visibility: bool = True
    """Serve pending positions, on Kueue's own port and through the API server as in production."""
    webhooks: bool = False
    """Register Kueue's webhooks, which refuse for example a lending limit above the nominal quota."""
    feature_gates: Mapping[str, bool] = field(default_factory=dict)
    configuration: Mapping[str, Any] = field(default_factory=dict)
    """More top-level fields of Kueue's Configuration, such as waitForPodsReady; they win over the ones set here."""


class Kueue:
    """Kueue as one process beside a control plane, which must run already.

    The attribute `process` can be stopped and started again by itself.
    """

    def __init__(
        self, control_plane: ControlPlane, folder: Path, options: KueueOptions | None = None
    ) -> None:
        self.control_plane = control_plane
        self.options = options or KueueOptions()
        self.folder = folder
        self._health, self._metrics, self._webhook, self._visibility = (
            free_port() for _ in range(4)
        )
        self.metrics_url = f"https://127.0.0.1:{self._metrics}/metrics"
        """Needs the header of a token that may read /metrics."""
        folder.mkdir(parents=True, exist_ok=True)
        self.process = Process(
            "kueue",
            [
                path_of("kueue"),
                "--config",
                folder / "config.yaml",
                "--kubeconfig",
                control_plane.kubeconfig(),
            ],
            folder / "kueue.log",
            ready=lambda: answers(f"http://127.0.0.1:{self._health}/readyz"),
        )

    @property
    def visibility_api(self) -> Api:
        """Kueue's visibility API on its own port, as the administrator; paths begin with /apis/."""
        return Api(f"https://127.0.0.1:{self._visibility}", bearer(ADMIN.token))

    def start(self) -> Self:
        """Installs Kueue's definitions, starts it and, if asked for, registers its webhooks and visibility API."""
        provide_kueue_certificates()
        self._install_definitions()
        (self.folder / "config.yaml").write_text(json.dumps(self._configuration()))
        self.process.start()
        if self.options.webhooks:
            certificate = self.control_plane.certificate
            self.control_plane.apply(*webhooks(self._webhook, certificate.bundle))
        if self.options.visibility:
            self.control_plane.apply(*visibility_service(self._visibility))
            wait_until(self._visibility_is_served, "the visibility API behind the API server")
        return self

    def stop(self) -> None:
        """Stops Kueue and leaves its objects as they are."""
        self.process.stop()

    def metrics(self) -> str:
        """Kueue's metrics as text."""
        return Api(self.metrics_url, bearer(ADMIN.token)).text("")

    def empty(self, seconds: float = 60) -> None:
        """Deletes all jobs and all of Kueue's objects in all namespaces, so that a next test starts from nothing."""
        api = self.control_plane.api
        for namespace in api.get("/api/v1/namespaces")["items"]:
            name = namespace["metadata"]["name"]
            api.delete(f"/apis/batch/v1/namespaces/{name}/jobs?propagationPolicy=Background")
            api.delete(f"/api/v1/namespaces/{name}/pods?gracePeriodSeconds=0")
        for kind in _KINDS_TO_EMPTY:
            wait_until(lambda kind=kind: self._none_left(kind), f"all {kind} deleted", seconds)  # type: ignore[misc]

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

    def _none_left(self, kind: str) -> bool:
        items = self.control_plane.api.get(f"/apis/{GROUP}/v1beta2/{kind}")["items"]
        for item in items:
            metadata = item["metadata"]
            place = f"namespaces/{metadata['namespace']}/" if "namespace" in metadata else ""
            try:
                self.control_plane.api.delete(
                    f"/apis/{GROUP}/v1beta2/{place}{kind}/{metadata['name']}"
                )
            except RefusedError as refused:
                if refused.status != 404:
                    raise
        return not items

    def _install_definitions(self) -> None:
        definitions = path_of("kueue", "crds")
        self.control_plane.kubectl("apply", "--server-side", "-f", str(definitions))
        # Kueue exits when discovery doesn't list its kinds yet.
        wait_until(self._is_discovered, "Workload in the API server's discovery")
        self.control_plane.apply(
            {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}}
        )

    def _is_discovered(self) -> bool:
        kinds = {
            entry["kind"]
            for entry in self.control_plane.api.get(f"/apis/{GROUP}/v1beta2")["resources"]
        }
        return (
            len(list(path_of("kueue", "crds").glob(f"{GROUP}_*.yaml"))) <= len(kinds)
            and "Workload" in kinds
        )

    def _visibility_is_served(self) -> bool:
        return bool(self.control_plane.api.get(f"/apis/{VISIBILITY_GROUP}/v1beta2"))

    def _configuration(self) -> dict[str, Any]:
        chosen = self.options
        gates = {"VisibilityOnDemand": chosen.visibility, **chosen.feature_gates}
        sharing = {"preemptionStrategies": ["LessThanOrEqualToFinalShare", "LessThanInitialShare"]}
        return {
            "apiVersion": "config.kueue.x-k8s.io/v1beta2",
            "kind": "Configuration",
            "namespace": NAMESPACE,
            "health": {"healthProbeBindAddress": f"127.0.0.1:{self._health}"},
            "metrics": {
                "bindAddress": f"127.0.0.1:{self._metrics}",
                "enableClusterQueueResources": True,
            },
            "webhook": {
                "host": "127.0.0.1",
                "port": self._webhook,
                "certDir": str(self.control_plane.certificate.folder),
            },
            "leaderElection": {"leaderElect": False},
            "internalCertManagement": {"enable": False},
            "integrations": {"frameworks": ["batch/job"]},
            "visibilityServer": {"bindAddress": "127.0.0.1", "bindPort": self._visibility},
            "featureGates": gates,
            **({"fairSharing": sharing} if chosen.fair_sharing else {}),
            **chosen.configuration,
        }
