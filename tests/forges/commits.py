"""Commits, trees and branches in memory: what a played forge keeps."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from gitops.forge_text import blob_sha


@dataclass
class Commits:
    """One repository; the branch main begins with these files."""

    start: Mapping[str, bytes]
    trees: dict[str, dict[str, bytes]] = field(default_factory=dict)
    parents: dict[str, tuple[str, ...]] = field(default_factory=dict)
    messages: dict[str, str] = field(default_factory=dict)
    branches: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.commit("main", self.start, "Begin")

    def commit(
        self,
        branch: str,
        files: Mapping[str, bytes | None],
        message: str,
        *parents: str,
    ) -> str:
        parents = parents or ((self.branches[branch],) if branch in self.branches else ())
        tree = dict(self.trees[parents[0]]) if parents else {}
        for path, data in files.items():
            if data is None:
                del tree[path]
            else:
                tree[path] = data
        named = f"{len(self.trees)} {parents} {sorted(tree)} {message}"
        sha = hashlib.sha1(named.encode()).hexdigest()
        self.trees[sha], self.parents[sha], self.messages[sha] = tree, parents, message
        self.branches[branch] = sha
        return sha

    def ancestors(self, sha: str) -> list[str]:
        found = [sha]
        for known in found:
            found += [p for p in self.parents[known] if p not in found]
        return found

    def base(self, one: str, other: str) -> str:
        theirs = set(self.ancestors(other))
        return next(sha for sha in self.ancestors(one) if sha in theirs)

    def changed(self, base: str, head: str) -> dict[str, bytes | None]:
        before, after = self.trees[base], self.trees[head]
        paths = sorted(before.keys() | after.keys())
        return {path: after.get(path) for path in paths if before.get(path) != after.get(path)}

    def conflicts(self, branch: str) -> bool:
        head, tip = self.branches[branch], self.branches["main"]
        base = self.base(head, tip)
        theirs = self.changed(base, tip)
        return any(p in theirs and theirs[p] != d for p, d in self.changed(base, head).items())

    def files(self, sha: str) -> list[dict[str, Any]]:
        """What one commit changed, with blob ids."""
        before = self.trees[self.parents[sha][0]]
        return [
            {
                "filename": path,
                "status": "removed" if data is None else "modified" if path in before else "added",
                "sha": blob_sha(before[path] if data is None else data),
            }
            for path, data in self.changed(self.parents[sha][0], sha).items()
        ]
