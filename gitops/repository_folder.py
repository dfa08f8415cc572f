"""A folder of manifests as it lies on the disk, and as it was at a revision of its repository.

This is what ``gpubot lint`` reads in the GitOps repository's own CI, where the branch may have no
name and the change may not be committed yet.
"""

import hashlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TypeVar

import pygit2

from capacity.errors import UsageError
from gitops.repository import Repository

NOW = "now"
T = TypeVar("T")


class Folder:
    """The files below a folder; its one commit is ``NOW``. Implements ``gitops.indexer.Files``."""

    def __init__(self, path: Path) -> None:
        if not path.is_dir():
            raise UsageError(f"{path} is not a folder.", "Name the folder of the manifests.")
        self._path = path
        self._bytes: dict[str, bytes] = {}

    def files(self, commit: str) -> Mapping[str, str]:
        return dict(self._read(commit))

    def moved(self, before: str, after: str) -> Mapping[str, str | None]:
        """Return nothing: there is one state."""
        return {}

    def blob(self, blob: str) -> bytes:
        return self._bytes[blob]

    def _read(self, commit: str) -> Iterator[tuple[str, str]]:
        if commit != NOW:
            raise UsageError(f"A folder has no revision {commit}.")
        for found in sorted(self._path.rglob("*")):
            path = found.relative_to(self._path)
            if found.is_file() and not found.is_symlink() and ".git" not in path.parts:
                data = found.read_bytes()
                blob = hashlib.sha256(data).hexdigest()
                self._bytes[blob] = data
                yield path.as_posix(), blob


class Below:
    """A folder of a repository at a commit. Implements ``gitops.indexer.Files``."""

    def __init__(self, repository: Repository, folder: str) -> None:
        self._repository = repository
        self._above = f"{folder}/" if folder else ""

    def files(self, commit: str) -> Mapping[str, str]:
        return dict(self._below(self._repository.files(commit)))

    def moved(self, before: str, after: str) -> Mapping[str, str | None]:
        return dict(self._below(self._repository.moved(before, after)))

    def blob(self, blob: str) -> bytes:
        return self._repository.blob(blob)

    def _below(self, files: Mapping[str, T]) -> Iterator[tuple[str, T]]:
        start = len(self._above)
        return ((p[start:], blob) for p, blob in files.items() if p.startswith(self._above))


def at_revision(path: Path, revision: str) -> tuple[Below, str]:
    """Return the folder as it was at a revision of the repository around it, and the commit's id.

    Raises UsageError when there is no repository, or none such revision in it.
    """
    found = pygit2.discover_repository(str(path.resolve()))
    if found is None:
        raise UsageError(f"{path} is in no Git repository, so it has no {revision}.")
    git = pygit2.Repository(found)
    try:
        commit = git.revparse_single(revision).peel(pygit2.Commit)
    except (KeyError, ValueError, pygit2.GitError) as error:
        raise UsageError(
            f"This repository has no revision {revision}.", "Fetch it first, or name another."
        ) from error
    top = Path(git.workdir) if git.workdir else path.resolve()
    folder = path.resolve().relative_to(top.resolve()).as_posix()
    return Below(Repository(Path(found)), "" if folder == "." else folder), str(commit.id)
