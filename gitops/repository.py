"""The GitOps repository, read at commits: a local bare repository, or a mirror of a remote one."""

import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pygit2
from pygit2.enums import CredentialType, FileMode

from capacity.errors import Conflict, SourceDown

# libgit2 waits for ever unless it is told otherwise: a silent host would hold up everything.
CONNECT_MILLISECONDS, ANSWER_MILLISECONDS = 5_000, 30_000
pygit2.settings.server_connect_timeout = CONNECT_MILLISECONDS
pygit2.settings.server_timeout = ANSWER_MILLISECONDS


@dataclass(frozen=True, slots=True)
class Remote:
    """Where a mirror comes from: an https, ssh or file address, and a token for https.

    ``token`` is called for each fetch, because some live for an hour only; it is never written to
    the disk nor put into the address. Raises what ``token`` raises.
    """

    url: str
    token: Callable[[], str] | None = field(default=None, repr=False)
    user: str = "x-access-token"

    def callbacks(self) -> pygit2.RemoteCallbacks:
        """Return what libgit2 asks for credentials."""
        if self.token is None:
            return pygit2.RemoteCallbacks()
        return _Credentials(self.url, self.user, self.token())


class _Credentials(pygit2.RemoteCallbacks):
    """The token for the one host that it is meant for, and only once in a fetch."""

    def __init__(self, url: str, user: str, token: str) -> None:
        super().__init__()
        self._host = urlsplit(url)[:2]
        self._pair = (user, token)
        self._asked = False

    def credentials(
        self, url: str, username_from_url: str | None, allowed_types: CredentialType
    ) -> pygit2.UserPass:
        if self._asked or urlsplit(url)[:2] != self._host:
            raise pygit2.GitError("it doesn't accept my token")
        self._asked = True
        return pygit2.UserPass(*self._pair)


class Repository:
    """Files at commits; safe to use from several threads.

    With a ``remote``, ``head`` fetches first, at most once in ``every`` seconds. Raises SourceDown
    when the repository or its remote can't be read.
    """

    def __init__(
        self,
        path: Path,
        *,
        base: str = "main",
        remote: Remote | None = None,
        every: float = 5.0,
    ) -> None:
        self.path = path
        self.base = base
        self._remote = remote
        self._every = every
        self._local = threading.local()
        self._fetching = threading.Lock()
        self._fetched: float | None = None
        self._heard_at: datetime | None = None
        if remote is not None and not path.exists():
            pygit2.init_repository(str(path), bare=True)

    def head(self) -> str:
        """Return the commit at the tip of the base branch, as fresh as can be had."""
        self.fetch()
        tip = self.tip(self.base)
        if tip is None:
            raise self._down(pygit2.GitError(f"its branch {self.base} isn't there"))
        if self._remote is None:
            self._heard_at = datetime.now(UTC)
        return tip

    def tip(self, branch: str) -> str | None:
        """Return the commit at the tip of a branch, as last fetched; None if there is none."""
        reference = self._git.references.get(f"refs/heads/{branch}")
        return str(reference.peel(pygit2.Commit).id) if reference is not None else None

    def fetch(self, every: float | None = None) -> None:
        """Bring a mirror up to date, branches that are gone upstream removed.

        Does nothing if that was done less than ``every`` seconds ago (None: as set up).
        """
        if self._remote is None:
            return
        every = self._every if every is None else every
        with self._fetching:
            if self._fetched is not None and time.monotonic() - self._fetched < every:
                return
            try:
                remote = self._git.remotes.create_anonymous(self._remote.url)
                remote.fetch(
                    ["+refs/heads/*:refs/heads/*"],
                    callbacks=self._remote.callbacks(),
                    prune=pygit2.enums.FetchPrune.PRUNE,
                )
            except pygit2.GitError as error:
                raise self._down(error) from error
            self._fetched = time.monotonic()
            self._heard_at = datetime.now(UTC)

    def read(self, path: str, commit: str) -> bytes | None:
        """Return a file's bytes at a commit; None if it isn't there."""
        try:
            found = self._commit(commit).tree / path
        except KeyError:
            return None
        return found.data if isinstance(found, pygit2.Blob) else None

    def blob(self, blob: str) -> bytes:
        """Return the bytes of a blob."""
        found = self._git[blob]
        assert isinstance(found, pygit2.Blob)
        return found.data

    def files(self, commit: str) -> dict[str, str]:
        """Return the blob of every regular file at a commit, by path."""
        return dict(_walk(self._commit(commit).tree, ""))

    def moved(self, before: str, after: str) -> dict[str, str | None]:
        """Return the files that differ between two commits: their blob after, None if gone."""
        diff = _diff(self._git, self._commit(before), self._commit(after))
        return dict(_deltas(diff))

    def changed(self, base: str, head: str) -> Mapping[str, bytes | None]:
        """Return what ``head`` changed since it left ``base``: files at head, None if deleted."""
        found = _deltas(self._diff(base, head))
        return {path: self.blob(blob) if blob else None for path, blob in found}

    def diff(self, base: str, head: str) -> str:
        """Return the same as a unified diff."""
        return self._diff(base, head).patch or ""

    def includes(self, commit: str, ancestor: str) -> bool:
        """Tell if a commit is, or comes after, another; False if one of them isn't known here."""
        found, older = (self._known(sha) if sha else None for sha in (commit, ancestor))
        if found is None or older is None:
            return False
        return found.id == older.id or self._git.descendant_of(found.id, older.id)

    def log(self, count: int, branch: str = "") -> tuple[Mapping[str, Any], ...]:
        """Return the newest commits of a branch: sha, subject, author and time (aware, UTC)."""
        tip = self.tip(branch or self.base)
        if tip is None:
            return ()
        walker = self._git.walk(tip, pygit2.enums.SortMode.TOPOLOGICAL)
        return tuple(_entry(commit) for commit, _ in zip(walker, range(count), strict=False))

    def _diff(self, base: str, head: str) -> pygit2.Diff:
        common = self._git.merge_base(self._commit(base).id, self._commit(head).id)
        if common is None:
            raise Conflict(f"{head[:10]} shares no history with {base[:10]}.")
        return _diff(self._git, self._commit(str(common)), self._commit(head))

    @property
    def _git(self) -> pygit2.Repository:
        """A libgit2 handle of this thread's own: handles must not be shared."""
        held: pygit2.Repository | None = getattr(self._local, "git", None)
        if held is None:
            try:
                held = pygit2.Repository(str(self.path))
            except pygit2.GitError as error:
                raise self._down(error) from error
            self._local.git = held
        return held

    def _commit(self, commit: str) -> pygit2.Commit:
        found = self._known(commit)
        if found is None and self._remote is not None:
            self.fetch(every=0.2)  # made on the forge since the last fetch
            found = self._known(commit)
        if found is None:
            raise self._down(pygit2.GitError(f"the commit {commit[:10]} isn't there"))
        return found.peel(pygit2.Commit)

    def _known(self, commit: str) -> pygit2.Object | None:
        try:
            return self._git.get(commit)
        except ValueError:
            return None

    def _down(self, error: Exception) -> SourceDown:
        return SourceDown("the GitOps repository", self._heard_at, detail=str(error))


def _walk(tree: pygit2.Tree, above: str) -> Iterator[tuple[str, str]]:
    for entry in tree:
        path = f"{above}{entry.name}"
        if isinstance(entry, pygit2.Tree):
            yield from _walk(entry, f"{path}/")
        elif entry.filemode in (FileMode.BLOB, FileMode.BLOB_EXECUTABLE):
            yield path, str(entry.id)


def _diff(git: pygit2.Repository, before: pygit2.Commit, after: pygit2.Commit) -> pygit2.Diff:
    found = git.diff(before, after)
    assert isinstance(found, pygit2.Diff)
    return found


def _deltas(diff: pygit2.Diff) -> Iterator[tuple[str, str | None]]:
    for delta in diff.deltas:
        gone = delta.status == pygit2.enums.DeltaStatus.DELETED
        if delta.old_file.path != delta.new_file.path:
            yield delta.old_file.path, None
        yield delta.new_file.path, None if gone else str(delta.new_file.id)


def _entry(commit: pygit2.Commit) -> Mapping[str, Any]:
    return {
        "sha": str(commit.id),
        "subject": commit.message.split("\n", 1)[0],
        "author": commit.author.name,
        "at": datetime.fromtimestamp(commit.commit_time, UTC),
        "parents": tuple(str(parent) for parent in commit.parent_ids),
    }
