"""The in-memory cluster of the playground: Kueue's objects behind a Kubernetes API on loopback."""

from bot.playground.cluster.cards import Gpu, GpuNode, PodRun
from bot.playground.cluster.picture import CohortBar, Picture, QueueBar
from bot.playground.cluster.playground import PlaygroundCluster, seed_manifests
from bot.playground.cluster.sync import Manifests, SyncStatus
from bot.playground.cluster.world import Happening

__all__ = [
    "CohortBar",
    "Gpu",
    "GpuNode",
    "Happening",
    "Manifests",
    "Picture",
    "PlaygroundCluster",
    "PodRun",
    "QueueBar",
    "SyncStatus",
    "seed_manifests",
]
