"""The part of Argo CD: what is merged to the main branch is applied a moment later."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime

from bot.playground.cluster.manifests import Rejected, objects
from bot.playground.cluster.objects import Object, ObjectStore
from bot.playground.cluster.publish import apply
from capacity.errors import GpubotError

Manifests = Callable[[], tuple[str, Mapping[str, str]]]
LOOK_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class SyncStatus:
    """Which commit is applied since when; ``error`` is why a newer one isn't."""

    commit: str = ""
    synced_at: datetime | None = None
    error: str = ""


class GitSync:
    """Looks at the main branch about once a second of real time, and applies what is new.

    A commit is applied whole or, when something in it would be refused, not at all. What is
    removed from Git stays in the cluster (pruning is off, as is Argo CD's default).
    """

    def __init__(
        self,
        store: ObjectStore,
        manifests: Manifests,
        delay: float,
        ticks: Callable[[], float] = time.monotonic,
    ) -> None:
        self._store, self._manifests, self._delay = store, manifests, delay
        self._ticks = ticks
        self._next_look = 0.0
        self._seen = ""
        self._waiting: tuple[float, str, Mapping[str, str]] | None = None
        self.status = SyncStatus()

    def first(self, at: datetime) -> None:
        """Apply what is there now; raises Rejected if that is no use."""
        commit, files = self._manifests()
        self._apply(list(objects(files)), at)
        self._seen = commit
        self.status = SyncStatus(commit, at)

    def look(self) -> None:
        """Look what the main branch holds, if it is time to; a repository that fails is told."""
        now = self._ticks()
        if now < self._next_look:
            return
        self._next_look = now + LOOK_SECONDS
        try:
            commit, files = self._manifests()
        except (GpubotError, OSError) as error:
            self.status = replace(self.status, error=str(error))
            return
        if commit != self._seen:
            self._seen = commit
            self._waiting = (now + self._delay, commit, files)

    def take(self, at: datetime) -> bool:
        """Apply what was seen a moment ago; True when something in the cluster changed."""
        if self._waiting is None or self._ticks() < self._waiting[0]:
            return False
        _, commit, files = self._waiting
        self._waiting = None
        try:
            wanted = list(objects(files))
        except Rejected as rejected:
            self.status = replace(self.status, error=str(rejected))
            return False
        self.status = SyncStatus(commit, at)
        return self._apply(wanted, at)

    def _apply(self, wanted: list[tuple[str, Object]], at: datetime) -> bool:
        changed = [apply(self._store, plural, body, at) for plural, body in wanted]
        return any(changed)
