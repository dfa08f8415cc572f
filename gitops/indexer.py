"""Keeps indexes of a repository, reading again only what changed between commits.

[pure]
"""

import gc
import threading
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from posixpath import basename
from typing import Protocol

from gitops.fragments import NOTHING, Facts, scan
from gitops.index import Index
from gitops.kustomization import FILES
from gitops.layout import PATH, Layout, parse

_ENDINGS = (".yaml", ".yml", ".json", ".tpl", ".tftpl", ".j2")
_LARGEST = 4 * 1024 * 1024
_KEPT = 8


class Files(Protocol):
    """Files of a repository at commits, by the hash of their bytes."""

    def files(self, commit: str) -> Mapping[str, str]:
        """Return the blob of every file at a commit, by path."""
        ...

    def moved(self, before: str, after: str) -> Mapping[str, str | None]:
        """Return the files that differ between two commits: their blob after, None if gone."""
        ...

    def blob(self, blob: str) -> bytes:
        """Return the bytes of a blob."""
        ...


class _State:
    """The blobs of one commit, and what was found in those that matter."""

    def __init__(self, blobs: dict[str, str], facts: dict[str, Facts]) -> None:
        self.blobs = blobs
        self.facts = facts


class Indexer:
    """Indexes at commits; the last few are kept. Safe to use from several threads."""

    def __init__(self, repository: Files) -> None:
        self._repository = repository
        self._lock = threading.Lock()
        self._states: OrderedDict[str, _State] = OrderedDict()
        self._indexes: dict[str, Index] = {}
        self._scanned: dict[str, Facts] = {}

    def at(self, commit: str) -> Index:
        """Return the index at a commit.

        Raises UsageError when ``gpubot/layout.yaml`` is there and can't be used, and what the
        repository raises.
        """
        with self._lock:
            if commit not in self._indexes:
                self._states[commit] = self._state(commit)
                self._indexes[commit] = self._index(commit)
                self._forget()
            self._states.move_to_end(commit)
            return self._indexes[commit]

    def _state(self, commit: str) -> _State:
        if not self._states:
            blobs = {p: blob for p, blob in self._repository.files(commit).items() if _named(p)}
            with _without_collection():
                every = [(path, self._facts(blob)) for path, blob in blobs.items()]
            return _State(blobs, {path: found for path, found in every if found is not NOTHING})
        known, last = next(reversed(self._states.items()))
        blobs, kept = dict(last.blobs), dict(last.facts)
        for path, blob in self._repository.moved(known, commit).items():
            if not _named(path):
                continue
            blobs.pop(path, None)
            kept.pop(path, None)
            if blob is not None:
                blobs[path] = blob
                if (found := self._facts(blob)) is not NOTHING:
                    kept[path] = found
        return _State(blobs, kept)

    def _facts(self, blob: str) -> Facts:
        if blob not in self._scanned:
            data = self._repository.blob(blob)
            self._scanned[blob] = scan(data) if len(data) <= _LARGEST else NOTHING
        return self._scanned[blob]

    def _index(self, commit: str) -> Index:
        state = self._states[commit]
        blob = state.blobs.get(PATH)
        layout = parse(self._repository.blob(blob)) if blob else Layout()
        return Index(commit, layout, state.facts, lambda p: self._repository.blob(state.blobs[p]))

    def _forget(self) -> None:
        while len(self._states) > _KEPT:
            gone, _ = self._states.popitem(last=False)
            del self._indexes[gone]
        if len(self._scanned) > 2 * max(len(state.blobs) for state in self._states.values()):
            kept = {blob for state in self._states.values() for blob in state.blobs.values()}
            self._scanned = {b: f for b, f in self._scanned.items() if b in kept}


@contextmanager
def _without_collection() -> Iterator[None]:
    """Spare the collector: nearly everything that is made stays, and it would look through it all.

    A quarter of the time of a first index of 10,000 files.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def _named(path: str) -> bool:
    return path.endswith(_ENDINGS) or basename(path) in FILES
