"""``gpubot lint``: what the repository's queues would have to be told, cluster by cluster."""

from collections.abc import Iterator
from pathlib import Path

from gitops.indexer import Indexer
from gitops.lint import Finding, lint
from gitops.repository import Repository


def findings(path: Path, branch: str) -> Iterator[tuple[str, Finding]]:
    """Yield every finding at the tip of a branch, with the cluster's name."""
    repository = Repository(path, base=branch)
    index = Indexer(repository).at(repository.head())
    for cluster in index.clusters:
        for finding in lint(index.manifests(cluster)):
            yield cluster, finding
