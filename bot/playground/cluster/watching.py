"""A watch as a stream of lines: what changed since a version, and bookmarks in between."""

import time
from collections.abc import Iterator
from typing import TYPE_CHECKING

import msgspec

from bot.playground.cluster.objects import Expired
from bot.playground.cluster.paths import Target
from bot.playground.cluster.resources import BY_PLURAL, status

if TYPE_CHECKING:
    from bot.playground.cluster.apiserver import ApiServer

_DEFAULT_SECONDS = 1800
_LOOK_SECONDS = 1.0


def watch_lines(api: "ApiServer", wanted: Target) -> Iterator[bytes]:
    """Yield event lines until the time asked for is over or the server stops.

    A watch without a version starts with everything there is. One from a version that is
    forgotten gets an ERROR event with code 410, as from the real watch cache.
    """
    store, plural = api.store, wanted.plural
    end = time.monotonic() + wanted.number("timeoutSeconds", _DEFAULT_SECONDS)
    bookmarks = wanted.query.get("allowWatchBookmarks") in ("1", "true")
    version = wanted.number("resourceVersion")
    if not version:
        snapshot = store.snapshot(plural)
        version = snapshot.version
        yield from (_line("ADDED", body) for body in snapshot.bodies)
    marked = time.monotonic()
    try:
        while api.running and time.monotonic() < end:
            wait = min(_LOOK_SECONDS, api.bookmark_seconds, end - time.monotonic())
            if api.faults.mute:
                time.sleep(0.05)
                continue
            events, known = store.events(plural, version, max(0.0, wait))
            for event in events:
                yield _line(event.type, event.body)
                version = event.version
            if bookmarks and time.monotonic() - marked >= api.bookmark_seconds:
                marked = time.monotonic()
                yield _line("BOOKMARK", _bookmark(plural, wanted, known))
                version = max(version, known)
    except Expired as expired:
        yield _line("ERROR", msgspec.json.encode(status(410, "Expired", str(expired))))


def _bookmark(plural: str, wanted: Target, version: int) -> bytes:
    return msgspec.json.encode(
        {
            "kind": BY_PLURAL[plural].kind,
            "apiVersion": f"{wanted.group}/{wanted.version}",
            "metadata": {"resourceVersion": str(version), "creationTimestamp": None},
        }
    )


def _line(type_: str, body: bytes) -> bytes:
    return b'{"type":"%s","object":%s}\n' % (type_.encode(), body)
