"""A watch as a stream of lines: what changed since a version, and bookmarks in between."""

import time
from collections.abc import Iterator
from typing import TYPE_CHECKING

import msgspec

from bot.playground.cluster.objects import Event, Expired
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
            events = [] if api.faults.mute else store.events(plural, version, max(0.0, wait))
            if api.faults.mute:
                time.sleep(0.05)
                continue
            for event in events:
                version = event.version
                yield _event(event)
            if bookmarks and time.monotonic() - marked >= api.bookmark_seconds:
                marked = time.monotonic()
                # Nothing of this kind happened up to here: the wait above has just said so.
                yield _line("BOOKMARK", _bookmark(plural, wanted, version))
    except Expired as expired:
        yield _line("ERROR", msgspec.json.encode(status(410, "Expired", str(expired))))


def _event(event: Event) -> bytes:
    return _line(event.type, event.body)


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
