"""What an API server keeps: objects by kind, one version counter, and a window of past events."""

import threading
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import msgspec

Object = dict[str, Any]
Key = tuple[str, str]


class Expired(Exception):  # named as the API server names it
    """The version is older than the window of events that is kept (HTTP 410)."""


class Event(NamedTuple):
    """A change: ADDED, MODIFIED or DELETED, at a version, with the object as JSON."""

    version: int
    type: str
    body: bytes


class Snapshot(NamedTuple):
    """All objects of a kind at one version, by key in order."""

    version: int
    bodies: tuple[bytes, ...]


@dataclass(slots=True)
class _Collection:
    objects: dict[Key, Object] = field(default_factory=dict)
    bodies: dict[Key, bytes] = field(default_factory=dict)
    events: deque[Event] = field(default_factory=deque)
    forgotten: int = 0


class ObjectStore:
    """Objects by plural. Safe to use from many threads; readers get bytes that never change."""

    def __init__(self, window: int = 5_000) -> None:
        self._window = window
        self._version = 100
        self._collections: dict[str, _Collection] = {}
        self._changed = threading.Condition()

    def put(self, plural: str, body: Object) -> bool:
        """Store an object; returns False, with no event, when nothing in it changed."""
        key = key_of(body)
        with self._changed:
            held = self._collection(plural)
            old = held.objects.get(key)
            if old == body:
                return False
            held.objects[key] = body
            self._record(held, key, body, "MODIFIED" if old else "ADDED")
        return True

    def load(self, plural: str, bodies: Mapping[Key, bytes]) -> None:
        """Take many ready-made JSON objects at once, without events: a cluster with a past."""
        with self._changed:
            self._collection(plural).bodies.update(bodies)

    def delete(self, plural: str, namespace: str, name: str) -> None:
        """Remove an object if it is there."""
        with self._changed:
            held = self._collection(plural)
            body = held.objects.pop((namespace, name), None)
            if body is not None:
                self._record(held, (namespace, name), body, "DELETED")
                del held.bodies[namespace, name]

    def get(self, plural: str, namespace: str, name: str) -> bytes | None:
        """Return one object as JSON, or None."""
        with self._changed:
            return self._collection(plural).bodies.get((namespace, name))

    def object(self, plural: str, namespace: str, name: str) -> Object | None:
        """Return one object as it was put, or None; not to be changed."""
        with self._changed:
            return self._collection(plural).objects.get((namespace, name))

    def objects(self, plural: str) -> list[Object]:
        """Return all objects of a kind as they were put; not to be changed."""
        with self._changed:
            return list(self._collection(plural).objects.values())

    def snapshot(self, plural: str) -> Snapshot:
        """Return all objects of a kind at the present version."""
        with self._changed:
            bodies = self._collection(plural).bodies
            return Snapshot(self._version, tuple(bodies[key] for key in sorted(bodies)))

    def events(self, plural: str, since: int, seconds: float) -> tuple[list[Event], int]:
        """Return what happened after a version, and the version up to which that is all.

        Waits for something to happen, at most so long. Raises Expired when events since then are
        forgotten.
        """
        with self._changed:
            held = self._collection(plural)
            self._changed.wait_for(lambda: self._after(held, since), seconds)
            return self._after(held, since), self._version

    @property
    def version(self) -> int:
        """The version of the latest change."""
        with self._changed:
            return self._version

    def forget(self) -> None:
        """Forget all past events, as compaction does: older watches get 410."""
        with self._changed:
            self._version += 1
            for held in self._collections.values():
                held.events.clear()
                held.forgotten = self._version
            self._changed.notify_all()

    def wake(self) -> None:
        """Let waiting readers look again, whether or not something changed."""
        with self._changed:
            self._changed.notify_all()

    def _collection(self, plural: str) -> _Collection:
        return self._collections.setdefault(plural, _Collection())

    def _record(self, held: _Collection, key: Key, body: Object, type_: str) -> None:
        self._version += 1
        meta = {**body["metadata"], "resourceVersion": str(self._version)}
        held.bodies[key] = encoded = msgspec.json.encode({**body, "metadata": meta})
        held.events.append(Event(self._version, type_, encoded))
        if len(held.events) > self._window:
            held.forgotten = held.events.popleft().version
        self._changed.notify_all()

    @staticmethod
    def _after(held: _Collection, since: int) -> list[Event]:
        if since < held.forgotten:
            raise Expired(f"too old resource version: {since} ({held.forgotten})")
        found = []
        for event in reversed(held.events):
            if event.version <= since:
                break
            found.append(event)
        return found[::-1]


def key_of(body: Object) -> Key:
    """Return (namespace, name); the namespace is "" for cluster-wide kinds."""
    meta = body["metadata"]
    return meta.get("namespace", ""), meta["name"]
