"""Which pod holds which card: the part of a kubelet's device manager that dcgm-exporter reads its labels from."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.cluster.web import Api

UTILISATION = "gpubot.test/gpu-util"
"""Pod annotation: how busy its cards are, in percent; a steady number drawn from the pod's uid without it."""
MEMORY_USED = "gpubot.test/fb-used-mib"
"""Pod annotation: MiB of framebuffer used per card; in proportion to the utilisation without it."""
_WHOLE = "nvidia.com/gpu"
_MIG = "nvidia.com/mig-"


@dataclass(frozen=True, slots=True)
class Pod:
    """A pod that holds cards."""

    namespace: str
    name: str
    container: str
    resource: str
    count: int
    utilisation: float
    memory_used: float | None


@dataclass(frozen=True, slots=True)
class Slot:
    """What one unit of a resource stands for: a card, a share of a card, or a MIG instance on a card."""

    resource: str
    card: int
    profile: str = ""
    instance: int = 0


@dataclass(slots=True)
class Node:
    """A node's cards, and which pod (by uid) holds which slots."""

    name: str
    labels: Mapping[str, str]
    slots: list[Slot]
    held: dict[str, list[Slot]] = field(default_factory=dict)
    pods: dict[str, Pod] = field(default_factory=dict)

    def assign(self, pods: Mapping[str, Pod]) -> None:
        """Frees the slots of pods that are gone and gives free ones to new pods; who holds some keeps them."""
        self.pods = dict(pods)
        self.held = {uid: slots for uid, slots in self.held.items() if uid in pods}
        taken = {slot for slots in self.held.values() for slot in slots}
        for uid, pod in pods.items():
            if uid not in self.held:
                free = [
                    slot
                    for slot in self.slots
                    if slot.resource == pod.resource and slot not in taken
                ]
                self.held[uid] = free[: pod.count]
                taken.update(self.held[uid])


class World:
    """The exporter's picture of the cluster, refreshed from the API server."""

    def __init__(self, api: Api) -> None:
        self._api = api
        self.nodes: dict[str, Node] = {}

    def refresh(self) -> None:
        """Reads nodes and pods once."""
        fresh = {node["metadata"]["name"]: node for node in self._api.get("/api/v1/nodes")["items"]}
        pods: dict[str, dict[str, Pod]] = {name: {} for name in fresh}
        for item in sorted(self._api.get("/api/v1/pods")["items"], key=_age):
            pod, node = _gpu_pod(item), item["spec"].get("nodeName")
            if pod and node in pods:
                pods[node][item["metadata"]["uid"]] = pod
        nodes = {name: self._node(name, item) for name, item in fresh.items()}
        for name, node in nodes.items():
            node.assign(pods[name])
        self.nodes = nodes

    def _node(self, name: str, item: Mapping[str, Any]) -> Node:
        labels = item["metadata"].get("labels", {})
        known = self.nodes.get(name)
        node = Node(name, labels, list(_slots(labels, item["status"].get("allocatable", {}))))
        if known and known.slots == node.slots:
            node.held = dict(known.held)
        return node


def _age(item: Mapping[str, Any]) -> tuple[str, str]:
    return item["metadata"]["creationTimestamp"], item["metadata"]["uid"]


def _slots(labels: Mapping[str, str], allocatable: Mapping[str, str]) -> Iterator[Slot]:
    cards = int(labels.get("nvidia.com/gpu.count", "0"))
    replicas = int(labels.get("nvidia.com/gpu.replicas", "1"))
    for resource, amount in sorted(allocatable.items()):
        if resource == _WHOLE:
            # Card by card first, as the device plugin spreads shares.
            yield from (
                Slot(_WHOLE, share % cards, instance=share // cards)
                for share in range(cards * replicas)
            )
        elif resource.startswith(_MIG) and cards:
            profile = resource.removeprefix(_MIG)
            # The driver numbers instances by kind, so that two profiles on a card never share a number.
            first = 1 + int(profile[0]) * 16
            yield from (
                Slot(resource, i % cards, profile, first + i // cards) for i in range(int(amount))
            )


def _gpu_pod(item: Mapping[str, Any]) -> Pod | None:
    """The pod if it holds cards: bound, not ended, and asking for some. One container with cards is looked for."""
    if item["status"].get("phase") in ("Succeeded", "Failed"):
        return None
    metadata = item["metadata"]
    for container in item["spec"]["containers"]:
        for resource, amount in container.get("resources", {}).get("limits", {}).items():
            if resource == _WHOLE or resource.startswith(_MIG):
                notes = metadata.get("annotations", {})
                used = float(notes[MEMORY_USED]) if MEMORY_USED in notes else None
                utilisation = float(notes.get(UTILISATION, _steady_percent(metadata["uid"])))
                return Pod(
                    metadata["namespace"],
                    metadata["name"],
                    container["name"],
                    resource,
                    int(amount),
                    utilisation,
                    used,
                )
    return None


def _steady_percent(uid: str) -> int:
    """A number from 20 to 95 that is always the same for a pod."""
    return 20 + hashlib.sha256(uid.encode()).digest()[0] * 76 // 256
