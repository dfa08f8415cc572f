"""The GPU nodes of the simulated cluster, and which pod sits on which cards."""

import uuid
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from bot.playground.cluster.job import PRODUCTS

_UUIDS = uuid.UUID("0c8a6e6e-2f0b-4a55-9d6c-7b6f4f0a9c21")
_MODELS = {"h100": "NVIDIA H100 80GB HBM3", "a100": "NVIDIA A100-SXM4-80GB"}
PER_NODE = 8
_NODES = {"h100": 12, "a100": 3}


@dataclass(frozen=True, slots=True)
class Gpu:
    """A card: its index on the node, its UUID and its model as DCGM spells it."""

    index: int
    uuid: str
    model: str


@dataclass(frozen=True, slots=True)
class GpuNode:
    """A node with its cards, of one flavor."""

    name: str
    flavor: str
    product: str
    gpus: tuple[Gpu, ...]


@dataclass(frozen=True, slots=True)
class PodRun:
    """A pod on its cards from ``start`` until ``end`` (None: still there).

    ``behaviour`` is how it uses them: training, serving, eval, notebook or stuck; ``seed`` makes
    each one's figures its own.
    """

    namespace: str
    pod: str
    job: str
    queue: str
    node: str
    gpus: tuple[Gpu, ...]
    start: datetime
    end: datetime | None
    behaviour: str
    seed: int


Place = tuple[GpuNode, tuple[Gpu, ...]]


def all_nodes() -> tuple[GpuNode, ...]:
    """Return the nodes, the same in every run."""
    return tuple(_node(flavor, n + 1) for flavor, count in _NODES.items() for n in range(count))


class Cards:
    """Which cards are free."""

    def __init__(self, nodes: Iterable[GpuNode]) -> None:
        self._free = {node: list(node.gpus) for node in nodes}

    def place(self, flavor: str, pods: int, gpus: int) -> list[Place] | None:
        """Take cards for all pods, each on one node, the fullest first; None if not all fit."""
        if not gpus:
            return []
        taken: list[Place] = []
        for _ in range(pods):
            node = min(
                (n for n, free in self._free.items() if n.flavor == flavor and len(free) >= gpus),
                key=lambda n: len(self._free[n]),
                default=None,
            )
            if node is None:
                self.release(taken)
                return None
            free = self._free[node]
            taken.append((node, tuple(free[:gpus])))
            self._free[node] = free[gpus:]
        return taken

    def release(self, places: Iterable[Place]) -> None:
        """Give cards back."""
        for node, gpus in places:
            self._free[node] = sorted((*self._free[node], *gpus), key=lambda gpu: gpu.index)


def _node(flavor: str, number: int) -> GpuNode:
    name = f"gpu-{flavor}-{number:02}"
    gpus = tuple(
        Gpu(index, f"GPU-{uuid.uuid5(_UUIDS, f'{name}/{index}')}", _MODELS[flavor])
        for index in range(PER_NODE)
    )
    return GpuNode(name, flavor, PRODUCTS[flavor], gpus)
