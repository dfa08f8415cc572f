"""The controller of the seed's AdmissionCheck ``node-warmup``: a node is warm after some seconds.

Kueue keeps a queue inactive while its check is missing, and a Workload that has quota waits for the
check: so the lab shows "2 starting", as a platform with such a check does.
"""

import threading
import time
from datetime import UTC, datetime
from typing import Any

from tests.cluster.control_plane import ControlPlane
from tests.cluster.objects import KUEUE_API
from tests.cluster.web import RefusedError

NAME = "node-warmup"
CHECKS = f"/apis/{KUEUE_API}/admissionchecks"
WORKLOADS = f"/apis/{KUEUE_API}/workloads"


class Warmup:
    """Answers the check ``seconds`` after a Workload got its quota."""

    def __init__(self, control_plane: ControlPlane, seconds: float = 3.0) -> None:
        self._control_plane = control_plane
        self._seconds = seconds
        self._seen: dict[str, float] = {}
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name="warmup", daemon=True)

    def start(self) -> None:
        self._control_plane.apply(
            {
                "apiVersion": KUEUE_API,
                "kind": "AdmissionCheck",
                "metadata": {"name": NAME},
                "spec": {"controllerName": "gpubot.test/warmup"},
            }
        )
        active = condition("Active", "Ready", "Nodes can be warmed up")
        self._patch(f"{CHECKS}/{NAME}", {"conditions": [active]})
        self._thread.start()

    def stop(self) -> None:
        self._ended.set()
        if self._thread.is_alive():
            self._thread.join(5)

    def _run(self) -> None:
        while not self._ended.wait(0.5):
            for item in self._control_plane.api.get(WORKLOADS)["items"]:
                self._answer(item)

    def _answer(self, item: dict[str, Any]) -> None:
        checks = item.get("status", {}).get("admissionChecks", [])
        mine = next((c for c in checks if c["name"] == NAME and c["state"] == "Pending"), None)
        if mine is None:
            return
        uid = item["metadata"]["uid"]
        if time.monotonic() - self._seen.setdefault(uid, time.monotonic()) < self._seconds:
            return
        ready = {
            **mine,
            "state": "Ready",
            "message": "Driver and image are on the node",
            "lastTransitionTime": now(),
        }
        others = [c for c in checks if c["name"] != NAME]
        path = f"/apis/{KUEUE_API}/namespaces/{item['metadata']['namespace']}/workloads"
        self._patch(f"{path}/{item['metadata']['name']}", {"admissionChecks": [*others, ready]})

    def _patch(self, path: str, status: dict[str, Any]) -> None:
        try:
            self._control_plane.api.patch(f"{path}/status", {"status": status})
        except RefusedError as refused:
            if refused.status not in {404, 409}:  # gone or changed meanwhile: the next look decides
                raise


def condition(kind: str, reason: str, message: str) -> dict[str, str]:
    return {
        "type": kind,
        "status": "True",
        "reason": reason,
        "message": message,
        "lastTransitionTime": now(),
    }


def now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
