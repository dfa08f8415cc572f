"""What the local forge does to its bare repository: notes on references, branches, merges.

Every reference is moved by compare-and-set: libgit2 refuses when it changed since it was read.
"""

from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path, PurePosixPath
from typing import Any, cast

import pygit2
from pygit2.enums import FileMode

from gitops.forge import ForgeConflict, ForgeDenied, ForgeDown, ForgeMissing

_NAME, _EMAIL = "Gpubot", "gpubot@localhost"


def create(path: Path, files: Mapping[str, bytes], message: str, now: datetime) -> str:
    """Make a bare repository whose main branch is one commit with these files; return it."""
    git = pygit2.init_repository(str(path), bare=True, initial_head="main")
    index = pygit2.Index()
    for name, data in files.items():
        index.add(pygit2.IndexEntry(_safe(name), git.create_blob(data), FileMode.BLOB))
    who = pygit2.Signature("Platform", "platform@localhost", int(now.timestamp()), 0)
    tree = index.write_tree(git)
    return str(git.create_commit("refs/heads/main", who, who, message, tree, []))


class GitStore:
    """A bare repository with small notes kept under references of our own."""

    def __init__(self, path: Path) -> None:
        try:
            self._git = pygit2.Repository(str(path))
        except pygit2.GitError as error:
            raise ForgeDown("the repository", detail=str(error)) from error

    def tip(self, reference: str) -> str | None:
        """Return the commit that a reference points to; None if there is no such reference."""
        held = self._git.references.get(reference)
        return str(held.peel(pygit2.Commit).id) if held is not None else None

    def names(self, prefix: str) -> Iterator[str]:
        """Yield the references under a prefix."""
        return (name for name in self._git.references if name.startswith(prefix))

    def note(self, reference: str) -> tuple[bytes, str] | None:
        """Return the note on a reference and its version, to be given back to ``put_note``."""
        tip = self.tip(reference)
        blob = self._known(tip).tree["note.json"] if tip else None
        return (blob.data, tip) if tip and isinstance(blob, pygit2.Blob) else None

    def put_note(self, reference: str, data: bytes, version: str | None, now: datetime) -> bool:
        """Write a note if the reference still has this version (None: doesn't exist)."""
        index = pygit2.Index()
        blob = self._git.create_blob(data)
        index.add(pygit2.IndexEntry("note.json", blob, FileMode.BLOB))
        tree = index.write_tree(self._git)
        return self.move(reference, version, self._commit(tree, [version], reference, now))

    def commit(
        self, base: str, files: Mapping[str, bytes | None], message: str, now: datetime
    ) -> str:
        """Write a commit on top of another with these files; raises ForgeMissing without it."""
        parent = self._known(base)
        index = pygit2.Index()
        index.read_tree(parent.tree)
        for path, data in files.items():
            self._put(index, _safe(path), data)
        return self._commit(index.write_tree(self._git), [base], message, now)

    def move(self, reference: str, expected: str | None, target: str) -> bool:
        """Point a reference to a commit if it still points to ``expected``; False if not."""
        try:
            if expected is None:
                self._git.references.create(reference, target, force=False)
                return True
            held = self._git.references.get(reference)
            if held is None or str(held.target) != expected:
                return False
            held.set_target(target)
        except (pygit2.AlreadyExistsError, pygit2.GitError):
            if self.tip(reference) == expected:
                raise
            return False
        return True

    def delete(self, reference: str) -> None:
        """Delete a reference if it is there."""
        held = self._git.references.get(reference)
        if held is not None:
            held.delete()

    def common(self, one: str, other: str) -> str:
        """Return the commit that two histories have in common; "" if none."""
        found = cast("Any", self._git.merge_base(one, other))  # None when there is none
        return str(found) if found else ""

    def conflicts(self, ours: str, theirs: str) -> bool:
        """Tell whether merging needs a person."""
        return bool(_conflicts(self._git.merge_commits(ours, theirs)))

    def merge(self, ours: str, theirs: str, message: str, now: datetime) -> str:
        """Write a merge commit; raises ForgeConflict when both changed the same lines."""
        index = self._git.merge_commits(ours, theirs)
        if disputed := _conflicts(index):
            paths = ", ".join(disputed[:5])
            raise ForgeConflict(
                "merge-conflict",
                f"The base branch changed the same lines ({paths}).",
                "Make the request again on the present values.",
            )
        return self._commit(index.write_tree(self._git), [ours, theirs], message, now)

    def merge_of(self, base: str, head: str) -> str | None:
        """Return the commit on a branch's first-parent line that merged ``head``, if any."""
        commit = self._known(base)
        while commit.parents:
            if str(commit.parent_ids[-1]) == head and len(commit.parents) > 1:
                return str(commit.id)
            commit = commit.parents[0]
        return None

    def same_tree(self, one: str, other: str) -> bool:
        """Tell whether two commits hold the same files."""
        return bool(self._known(one).tree.id == self._known(other).tree.id)

    def _known(self, commit: str) -> pygit2.Commit:
        try:
            found = self._git.get(commit)
        except ValueError:
            found = None
        if found is None:
            raise ForgeMissing(f"The repository has no commit {commit[:10]}.")
        return found.peel(pygit2.Commit)

    def _put(self, index: pygit2.Index, path: str, data: bytes | None) -> None:
        if data is not None:
            mode = index[path].mode if path in index else FileMode.BLOB
            index.add(pygit2.IndexEntry(path, self._git.create_blob(data), mode))
        elif path in index:
            index.remove(path)

    def _commit(
        self, tree: pygit2.Oid, parents: list[str | None], message: str, now: datetime
    ) -> str:
        who = pygit2.Signature(_NAME, _EMAIL, int(now.timestamp()), 0)
        kept = [parent for parent in parents if parent]
        return str(self._git.create_commit(None, who, who, message, tree, kept))


def _safe(path: str) -> str:
    parts = PurePosixPath(path).parts
    strange = path.startswith("/") or "\\" in path or "\0" in path
    if strange or not parts or any(p == ".." or p.lower() == ".git" for p in parts):
        raise ForgeDenied(f"{path!r} is no path that I write to.")
    return path


def _conflicts(index: pygit2.Index) -> list[str]:
    conflicts = cast("Any", index.conflicts)  # None when there are none, whatever its type says
    return sorted({side.path for sides in conflicts or () for side in sides if side is not None})
