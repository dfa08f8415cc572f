"""What a change does to rendered objects: it must reach one field of one object, and no other.

[pure]
"""

from collections.abc import Iterator, Mapping
from typing import Any

from capacity.errors import Refused, UsageError
from capacity.quantity import same
from gitops.index_entry import Place
from gitops.manifest_text import read
from gitops.manifest_view import View
from gitops.piece_build import all_pieces

Objects = Mapping[tuple[str, str, str], Any]
Path = tuple[str | int, ...]
_SHOWN = 4


def objects(rendered: bytes) -> Objects:
    """Read a program's output as objects by kind, namespace and name."""
    found: dict[tuple[str, str, str], Any] = {}
    for root in all_pieces(View(read("the rendered objects", rendered))):
        namespace, name = root.text("metadata", "namespace"), root.text("metadata", "name")
        found[root.text("kind"), namespace, name] = root.plain()
    return found


def verdict(before: Objects, after: Objects, place: Place, new: str | None, where: str) -> str:
    """Return a sentence that the change arrives just where it is meant to; raises Refused else."""
    changed = [key for key in {**before, **after} if before.get(key) != after.get(key)]
    if not changed:
        raise Refused(
            f"The change at {place} doesn't reach the cluster: {where} gives the same objects "
            "as before, so something there overrides it.",
            "Look for the overriding value there, and edit it by hand.",
        )
    kind, name = place.object
    if len(changed) > 1 or (changed[0][0], changed[0][2]) != (kind, name):
        others = ", ".join(f"{key[0]} {key[2]}" for key in sorted(changed)[:_SHOWN])
        raise Refused(
            f"The change at {place} would change {others} in {where}, not just {kind} {name}.",
            "Edit it by hand.",
        )
    key = changed[0]
    paths = list(differences(before.get(key), after.get(key)))
    if len(paths) != 1 or not _meant(after[key], paths[0], place, new):
        words = ", ".join(".".join(map(str, path)) for path in paths[:_SHOWN])
        raise Refused(f"The change at {place} would change {words} of {kind} {name} in {where}.")
    return f"Rendered {where}: exactly {place.wanted.field} of {kind} {name} changes."


def differences(before: Any, after: Any, path: Path = ()) -> Iterator[Path]:
    """Yield the paths where two objects differ, the deepest ones."""
    if isinstance(before, dict) and isinstance(after, dict):
        for key in {**before, **after}:
            if key not in before or key not in after:
                yield (*path, key)
            else:
                yield from differences(before[key], after[key], (*path, key))
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for position, (old, new) in enumerate(zip(before, after, strict=True)):
            yield from differences(old, new, (*path, position))
    elif before != after:
        yield path


def _meant(data: Any, path: Path, place: Place, new: str | None) -> bool:
    """Tell whether the changed path is the wanted field, under the names that were meant."""
    names = []
    for key in path[:-1]:
        data = data[key]
        names.append(data.get("name") if isinstance(data, dict) else None)
    wanted = place.wanted
    right = path[-1:] == (wanted.field.rpartition(".")[2],) or place.field == path[-1]
    named = not wanted.flavor or (wanted.flavor in names and wanted.resource in names)
    held = data.get(path[-1]) if isinstance(data, dict) else None
    return right and named and (held is None if new is None else _equal(held, new))


def _equal(held: Any, new: str) -> bool:
    try:
        return same(str(held), new)
    except UsageError:
        return str(held) == new
