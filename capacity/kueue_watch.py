"""One thread per kind: list in pages, watch from there, and go on after whatever happens.

A broken connection goes on from the last version seen; a version that the server no longer knows
(410) means a new list, which shows what went away meanwhile.
"""

import random
import threading
from dataclasses import dataclass

import msgspec

from capacity.decode import list_meta
from capacity.kueue_api import Api, ApiError, Stream
from capacity.kueue_cache import Cache
from capacity.kueue_discovery import Served, clock
from capacity.kueue_kinds import Kind

GONE = 410
REFUSED = (401, 403)
LONG_ENOUGH = 1.0


@dataclass(frozen=True, slots=True)
class Pace:
    """Seconds between and within requests, and how much a page holds.

    ``silence`` is how long a watch may say nothing, not even a bookmark (the API server sends
    one a minute), before it counts as dead. ``patience`` is how long a caller waits at most.
    """

    page: int = 500
    pulse: float = 5.0
    pulse_timeout: float = 3.0
    first_retry: float = 0.5
    longest_retry: float = 5.0
    list_timeout: float = 30.0
    silence: float = 90.0
    watch: float = 300.0
    patience: float = 4.5
    visibility: float = 2.0


class Backoff:
    """Growing pauses with jitter, so that many readers don't come back at the same moment."""

    def __init__(self, first: float, longest: float) -> None:
        self._first, self._longest = first, longest
        self._failures = 0

    def reset(self) -> None:
        """Start from the shortest pause again."""
        self._failures = 0

    def next(self) -> float:
        """Return the next pause in seconds."""
        pause = min(self._longest, self._first * 2.0 ** min(self._failures, 16))
        self._failures += 1
        return pause * random.uniform(0.5, 1.0)  # noqa: S311  # spreads load, keeps no secret


class _Fetch(threading.Thread):
    """A page on its way while the one before is decoded; a daemon, so that it holds up no exit."""

    def __init__(self, api: Api, path: str, query: dict[str, object], seconds: float) -> None:
        super().__init__(name=f"page {path}", daemon=True)
        self._api, self._path, self._query, self._seconds = api, path, query, seconds
        self._got: bytes | ApiError = ApiError(0, "not fetched")

    def run(self) -> None:
        try:
            self._got = self._api.get(self._path, self._query, seconds=self._seconds)
        except ApiError as error:
            self._got = error

    def result(self) -> bytes:
        """Return the page once it is there; raises what its request raised."""
        self.join()
        if isinstance(self._got, ApiError):
            raise self._got
        return self._got


class KindWatch(threading.Thread):
    """Keeps one kind in the cache up to date until it is stopped."""

    def __init__(self, kind: Kind, api: Api, cache: Cache, served: Served, pace: Pace) -> None:
        super().__init__(name=f"watch-{kind.plural}", daemon=True)
        self._kind, self._api, self._cache = kind, api, cache
        self._served, self._pace = served, pace
        self._backoff = Backoff(pace.first_retry, pace.longest_retry)
        self._stopped = threading.Event()
        self._stream: Stream | None = None
        self._version = ""

    def stop(self) -> None:
        """Ask the thread to end; it does so at once, also in the middle of a quiet watch."""
        self._stopped.set()
        stream = self._stream
        if stream:
            stream.interrupt()

    def run(self) -> None:
        """Follow the kind until stopped."""
        while not self._stopped.is_set():
            try:
                self._follow()
            except (ApiError, msgspec.DecodeError) as error:
                self._failed(error)

    def _follow(self) -> None:
        path = self._served.path(self._kind, self._pace.patience)
        if path is None:
            self._cache.missing(self._kind)
            self._version = ""
            self._stopped.wait(self._pace.pulse)
            return
        if not self._version:
            self._version = self._list(path)
        self._watch(path)

    def _failed(self, error: ApiError | msgspec.DecodeError) -> None:
        if self._stopped.is_set():
            return
        if isinstance(error, msgspec.DecodeError):
            self._version = ""
        elif error.status == GONE and self._version:
            self._version = ""
            self._cache.closed(self._kind)
            return
        refused = isinstance(error, ApiError) and error.status in REFUSED
        self._cache.closed(self._kind, str(error), refused=refused)
        self._stopped.wait(self._backoff.next())

    def _list(self, path: str) -> str:
        sweep = self._cache.sweep()
        coming = self._fetch(path, "")
        while True:
            raw = coming.result()
            token, version = list_meta(raw)
            if token:
                coming = self._fetch(path, token)
            self._cache.page(self._kind, sweep, self._kind.decoder.page(raw))
            if self._stopped.is_set():
                raise ApiError(0, "stopped")
            if not token:
                self._cache.swept(self._kind, sweep)
                return version

    def _fetch(self, path: str, token: str) -> "_Fetch":
        query: dict[str, object] = {"limit": self._pace.page}
        if token:
            query["continue"] = token
        fetch = _Fetch(self._api, path, query, self._pace.list_timeout)
        fetch.start()
        return fetch

    def _watch(self, path: str) -> None:
        seconds = self._pace.watch * random.uniform(1.0, 2.0)  # noqa: S311  # spreads reconnects
        query = {
            "watch": "1",
            "allowWatchBookmarks": "true",
            "resourceVersion": self._version,
            "timeoutSeconds": int(seconds) or 1,
        }
        began = clock()
        with self._api.stream(path, query, silence=self._pace.silence) as stream:
            self._stream = stream
            self._cache.opened(self._kind)
            # Looked at after the stream is there to interrupt: stop() does it the other way round.
            if not self._stopped.is_set():
                for line in stream.lines():
                    self._take(line)
        self._cache.closed(self._kind)
        if clock() - began < LONG_ENOUGH:
            self._stopped.wait(self._backoff.next())
        else:
            self._backoff.reset()

    def _take(self, line: bytes) -> None:
        event = self._kind.decoder.event(line)
        if event.type == "ERROR":
            raise ApiError(event.code, event.message)
        if _older(event.resource_version, self._version):
            raise ApiError(GONE, "the cluster was restored to an earlier state")
        self._cache.event(self._kind, event)
        self._version = event.resource_version or self._version
        self._backoff.reset()


def _older(version: str, than: str) -> bool:
    """Tell whether a version is earlier; versions can be compared as numbers (KEP-5504)."""
    return version.isdecimal() and than.isdecimal() and int(version) < int(than)
