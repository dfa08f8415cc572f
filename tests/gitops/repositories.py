"""Small Git repositories for tests, made by hand."""

from collections.abc import Mapping
from pathlib import Path

import pygit2

WHO = pygit2.Signature("Test", "test@example.org", 1_796_000_000, 0)


def commit(
    path: Path,
    files: Mapping[str, str | bytes | None],
    *,
    branch: str = "main",
    message: str = "change",
    start: str | None = None,
) -> str:
    """Commit files on a branch of a bare repository, made when it isn't there; None deletes."""
    git = (
        pygit2.Repository(str(path))
        if path.exists()
        else pygit2.init_repository(str(path), bare=True, initial_head="main")
    )
    name = f"refs/heads/{branch}"
    reference = git.references.get(name)
    parent = start or (str(reference.target) if reference else None)
    index = pygit2.Index()
    if parent:
        index.read_tree(git[parent].tree)
    for file, data in files.items():
        if data is None:
            index.remove(file)
            continue
        body = data.encode() if isinstance(data, str) else data
        index.add(pygit2.IndexEntry(file, git.create_blob(body), pygit2.enums.FileMode.BLOB))
    tree = index.write_tree(git)
    made = git.create_commit(None, WHO, WHO, message, tree, [parent] if parent else [])
    git.references.create(name, made, force=True)
    return str(made)
