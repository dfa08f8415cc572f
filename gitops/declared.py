"""The queues as Git declares them, as model values: what the arithmetic and the lint look at.

[pure]
"""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from capacity.decode import UNREADABLE, cluster_queue, cohort
from capacity.model import ClusterQueue, Cohort
from capacity.quota import Tree
from gitops.index_entry import Manifest
from gitops.piece import Unquoted


@dataclass(frozen=True, slots=True)
class Declared:
    """ClusterQueues and Cohorts of one cluster; ``unreadable`` are the places of the others."""

    cluster_queues: tuple[ClusterQueue, ...]
    cohorts: tuple[Cohort, ...]
    unreadable: tuple[str, ...] = ()

    def tree(self) -> Tree:
        """Return the tree of quota without any usage."""
        return Tree.build(self.cluster_queues, self.cohorts)


def declared(manifests: Iterable[Manifest]) -> Declared:
    """Read manifests as model values; templates and mistakes are left out and named."""
    queues: list[ClusterQueue] = []
    cohorts: list[Cohort] = []
    unreadable: list[str] = []
    for manifest in manifests:
        raw = json.dumps(plain(manifest.data)).encode()
        try:
            if manifest.kind == "ClusterQueue":
                queues.append(cluster_queue(raw))
            elif manifest.kind == "Cohort":
                cohorts.append(cohort(raw))
        except UNREADABLE:
            unreadable.append(manifest.place)
    return Declared(tuple(queues), tuple(cohorts), tuple(unreadable))


def plain(data: Any) -> Any:
    """Return plain data with odd numbers as YAML reads them."""
    if isinstance(data, dict):
        return {key: plain(value) for key, value in data.items()}
    if isinstance(data, list):
        return [plain(value) for value in data]
    return data.number if isinstance(data, Unquoted) else data
