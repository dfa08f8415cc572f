"""Dicts whose snapshots cost next to nothing: what is shared with one is copied when it changes.

[pure]
"""

from collections.abc import Collection, Hashable, Mapping
from typing import Any, Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class Table:
    """Objects of one small kind by key; a snapshot is the dict itself until the next change."""

    def __init__(self) -> None:
        self._values: dict[Any, Any] = {}
        self._shared = False

    def put(self, key: Hashable, value: Any) -> None:
        """Take a new or changed object."""
        self._own()[key] = value

    def drop(self, key: Hashable) -> None:
        """Forget an object if it is there."""
        if key in self._values:
            del self._own()[key]

    def keep_only(self, keys: set[Hashable]) -> None:
        """Forget every object but these."""
        self._values = {key: value for key, value in self._values.items() if key in keys}
        self._shared = False

    def snapshot(self) -> dict[Any, Any]:
        """Return the objects as they are now; not to be changed."""
        self._shared = True
        return self._values

    def _own(self) -> dict[Any, Any]:
        if self._shared:
            self._values = dict(self._values)
            self._shared = False
        return self._values


class Shelves(Generic[K, V]):
    """A dict of dicts whose snapshot is a copy of the outer one only."""

    def __init__(self) -> None:
        self._shelves: dict[K, dict[str, V]] = {}
        self._owned: set[K] = set()

    def snapshot(self) -> Mapping[K, dict[str, V]]:
        """Return the shelves as they are now; later changes don't show in them."""
        self._owned.clear()
        return dict(self._shelves)

    def put(self, shelf: K, key: str, value: V) -> None:
        """Put a value on a shelf, which is made if it is new."""
        self._writable(shelf)[key] = value

    def drop(self, shelf: K, key: str) -> None:
        """Take a value off its shelf if it is there; an empty shelf goes too."""
        if key not in self._shelves.get(shelf, ()):
            return
        values = self._writable(shelf)
        del values[key]
        if not values:
            del self._shelves[shelf]
            self._owned.discard(shelf)

    def get(self, shelf: K, key: str) -> V | None:
        """Return a value, or None."""
        values = self._shelves.get(shelf)
        return values.get(key) if values else None

    def shelves(self) -> Collection[dict[str, V]]:
        """Return the shelves as they are, only to look at."""
        return self._shelves.values()

    def _writable(self, shelf: K) -> dict[str, V]:
        values = self._shelves.get(shelf)
        if values is None or shelf not in self._owned:
            values = self._shelves[shelf] = dict(values or ())
            self._owned.add(shelf)
        return values
