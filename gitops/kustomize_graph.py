"""Which kustomizations take a file in, and which of their patches change an object.

[pure]
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from posixpath import basename, dirname, join, normpath

from gitops.kustomization import FILES, Kustomization, Patch


@dataclass(frozen=True, slots=True)
class Chain:
    """The kustomizations that a file passes through, from the nearest one to the outermost.

    Each is named by its folder. ``steps`` are the folders whose patches apply on the way.
    """

    steps: tuple[str, ...]

    @property
    def top(self) -> str:
        """The folder of the outermost kustomization: what is applied to a cluster."""
        return self.steps[-1]


class Graph:
    """All kustomizations of a repository, by folder, and what takes in what."""

    def __init__(self, kustomizations: Mapping[str, Kustomization]) -> None:
        self.by_folder = {
            dirname(path): found
            for path, found in kustomizations.items()
            if basename(path) in FILES
        }
        self.files = {dirname(path): path for path in kustomizations if basename(path) in FILES}
        self._users: dict[str, list[str]] = {}
        for folder, found in self.by_folder.items():
            for taken in (*found.resources, *found.components):
                self._users.setdefault(_resolve(folder, taken), []).append(folder)
        self._patchers: dict[str, list[str]] = {}
        for folder, found in self.by_folder.items():
            for patch in found.patches:
                if patch.file:
                    self._patchers.setdefault(_resolve(folder, patch.file), []).append(folder)

    def is_patch(self, path: str) -> bool:
        """Tell whether a file is only a patch to something else."""
        return path in self._patchers and path not in self._users

    def tops(self, path: str) -> frozenset[str]:
        """Return the outermost folders that a file counts for: as resource, patch or itself."""
        folders = [*self._users.get(path, ()), *self._patchers.get(path, ())]
        if basename(path) in FILES:
            folders.append(dirname(path))
        return frozenset(steps[-1] for f in folders for steps in self._climb(f, (f,)))

    def taken_by(self, folder: str) -> tuple[str, ...]:
        """Return the files and folders that a kustomization takes in, patches included."""
        found = self.by_folder[folder]
        files = [patch.file for patch in found.patches if patch.file]
        every = (*found.resources, *found.components, *files)
        return tuple(_resolve(folder, taken) for taken in every)

    def chains(self, path: str) -> tuple[Chain, ...]:
        """Return every way from a file to an outermost kustomization; none if none takes it in."""
        return tuple(Chain(steps) for steps in self._climb(path, ()))

    def patches(
        self, chain: Chain, kind: str, names: frozenset[str]
    ) -> Iterator[tuple[str, Patch]]:
        """Yield the patches on a chain that may change an object, inner ones first, with folder.

        Those of components that a folder takes in come before its own, as Kustomize has it.
        """
        for folder in chain.steps:
            yield from self._own(folder, kind, names, frozenset())

    def names(self, chain: Chain, name: str) -> frozenset[str]:
        """Return the names that an object has on the way, the last one being the cluster's."""
        return frozenset(self._renamed(chain, name))

    def final_name(self, chain: Chain, name: str) -> str:
        """Return the object's name in the cluster, prefixes and suffixes added."""
        return self._renamed(chain, name)[-1]

    def _renamed(self, chain: Chain, name: str) -> list[str]:
        names = [name]
        for folder in chain.steps:
            found = self.by_folder[folder]
            names.append(f"{found.prefix}{names[-1]}{found.suffix}")
        return names

    def _climb(self, path: str, below: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
        users = [folder for folder in self._users.get(path, ()) if folder not in below]
        for folder in users:
            yield from self._climb(folder, (*below, folder))
        if not users and below:
            yield below

    def _own(
        self, folder: str, kind: str, names: frozenset[str], seen: frozenset[str]
    ) -> Iterator[tuple[str, Patch]]:
        found = self.by_folder.get(folder)
        if found is None or folder in seen:
            return
        for component in found.components:
            below = _resolve(folder, component)
            yield from self._own(below, kind, names, seen | {folder})
        for patch in found.patches:
            same_kind = _matches(patch.target_kind, frozenset({kind}))
            if same_kind and _matches(patch.target_name, names):
                yield folder, patch


def patch_path(folder: str, patch: Patch) -> str:
    """Return the path of a patch's file."""
    return _resolve(folder, patch.file)


def _resolve(folder: str, relative: str) -> str:
    path = normpath(join(folder, relative))
    return "" if path == "." else path


def _matches(target: str, names: frozenset[str]) -> bool:
    """Compare with a target's field, which Kustomize takes as an anchored regular expression."""
    try:
        return not target or any(re.fullmatch(target, name) for name in names)
    except re.error:
        return target in names
