"""How Kustomize changes an object: merge patches and JSON6902 operations, on pieces.

Kustomize knows no schema of Kueue's kinds, so it merges their mappings and replaces their lists
whole, like a JSON merge patch (RFC 7386).

[pure]
"""

from collections.abc import Iterable

from capacity.errors import Refused
from gitops.piece import Piece

_DIRECTIVE = "$patch"


def merge(base: Piece, patch: Piece) -> Piece:
    """Return the base with a strategic merge patch over it; null removes a key."""
    if not (isinstance(base.value, dict) and isinstance(patch.value, dict)):
        return patch
    if patch.text(_DIRECTIVE) == "replace":
        return patch.with_value({k: v for k, v in patch.value.items() if k != _DIRECTIVE})
    merged = dict(base.value)
    for key, piece in patch.value.items():
        if piece.value is None or piece.text(_DIRECTIVE) == "delete":
            merged.pop(key, None)
        else:
            merged[key] = merge(merged[key], piece) if key in merged else piece
    return base.with_value(merged)


def operate(base: Piece, operations: Iterable[Piece], place: str) -> Piece:
    """Return the base after JSON6902 operations (add, replace, remove; test has no effect).

    ``place`` is where they stand, for people. Raises Refused for ``move`` and ``copy``, and for a
    path that isn't there: Kustomize would fail too.
    """
    for operation in operations:
        word, path = operation.text("op"), operation.text("path")
        if word == "test":
            continue
        if word not in {"add", "replace", "remove"}:
            raise Refused(f"{place} has an operation {word!r} that I don't follow.")
        keys = [part.replace("~1", "/").replace("~0", "~") for part in path.split("/")[1:]]
        value = None if word == "remove" else operation.get("value")
        changed = _set(base, keys, value, insert=word == "add")
        if changed is None:
            raise Refused(f"{place} changes {path}, which isn't there.")
        base = changed
    return base


def _set(base: Piece, keys: list[str], value: Piece | None, *, insert: bool) -> Piece | None:
    """Return the base with the value at a path (None removes it); None if there is no such path."""
    if not keys:
        return value
    if isinstance(base.value, dict):
        return _set_key(base, keys, value, insert=insert)
    if isinstance(base.value, list):
        return _set_item(base, keys, value, insert=insert)
    return None


def _set_key(base: Piece, keys: list[str], value: Piece | None, *, insert: bool) -> Piece | None:
    key, *rest = keys
    entries = dict(base.value)
    if rest:
        below = _set(entries[key], rest, value, insert=insert) if key in entries else None
        if below is None:
            return None
        entries[key] = below
    elif value is None:
        if entries.pop(key, None) is None:
            return None
    else:
        entries[key] = value
    return base.with_value(entries)


def _set_item(base: Piece, keys: list[str], value: Piece | None, *, insert: bool) -> Piece | None:
    key, *rest = keys
    items = list(base.value)
    at = len(items) if key == "-" else int(key) if key.isdigit() else len(items) + 1
    if rest:
        below = _set(items[at], rest, value, insert=insert) if at < len(items) else None
        if below is None:
            return None
        items[at] = below
    elif value is not None and insert and at <= len(items):
        items.insert(at, value)
    elif at < len(items):
        items[at : at + 1] = [] if value is None else [value]
    else:
        return None
    return base.with_value(items)
