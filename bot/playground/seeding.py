"""The playground's GitOps repository: made from the seed, and read as the cluster's sync does."""

from collections.abc import Callable, Mapping
from datetime import datetime
from pathlib import Path

from gitops.localgit_store import create
from gitops.repository import Repository

SEED = Path(__file__).parent / "seed"
CLUSTER_FOLDER = "clusters/prod/"


def seed_files(folder: Path = SEED) -> dict[str, bytes]:
    """Return the files that the repository starts with, by their path in it."""
    found = (p for p in sorted(folder.rglob("*")) if p.is_file() and p.suffix in {".yaml", ".md"})
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in found}


def make_repository(path: Path, now: datetime) -> None:
    """Make a bare repository whose first commit is the seed."""
    create(path, seed_files(), "Cohort ml: its queues, and who may change them", now)


def manifests(repository: Repository) -> Callable[[], tuple[str, Mapping[str, str]]]:
    """Return what tells the cluster's sync which manifests the main branch holds."""

    def read() -> tuple[str, Mapping[str, str]]:
        commit = repository.head()
        blobs = repository.files(commit)
        wanted = {p: b for p, b in blobs.items() if p.startswith(CLUSTER_FOLDER)}
        return commit, {p: repository.blob(b).decode("utf-8") for p, b in wanted.items()}

    return read
