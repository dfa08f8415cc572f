"""A second opinion on an edit, with nothing of ours: PyYAML's trees, and lines as Git sees them."""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

import yaml

from gitops.manifest import Edit, Inside, Named

FAST = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
MISSING = object()


def complaint(before: bytes, after: bytes, edit: Edit, *, loader: type = FAST) -> str:
    """Say what is wrong with an edit; "" when only the intended bytes changed."""
    return _lines(before, after, edit) or _trees(before, after, edit, loader)


def _lines(before: bytes, after: bytes, edit: Edit) -> str:
    old, new = before.split(b"\n"), after.split(b"\n")
    same = next(
        (i for i, (a, b) in enumerate(zip(old, new, strict=False)) if a != b),
        min(len(old), len(new)),
    )
    tail = 0
    while tail < min(len(old), len(new)) - same and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    gone, come = old[same : len(old) - tail], new[same : len(new) - tail]
    shapes = {(1, 1)}
    if edit.old is None:
        shapes |= {(0, 1)} if before.endswith(b"\n") else {(0, 1), (1, 2)}
    if edit.new is None:
        shapes |= {(1, 0)}
    if (len(gone), len(come)) not in shapes:
        return f"{len(gone)} lines became {len(come)}"
    return _words(b"\n".join(gone).decode(), b"\n".join(come).decode(), edit)


def _words(gone: str, come: str, edit: Edit) -> str:
    key = re.escape(edit.field)
    if edit.old is None:
        pair = rf"""(, |[ ]*)(["']?){key}\2: (["']?)[^"']+\3(\r?\n?|, )"""
        added = _between(gone, come)
        return "" if re.fullmatch(pair, added) or come == f"{added}{gone}" else f"added {added!r}"
    if edit.new is None:
        return (
            ""
            if re.search(key, gone) and not re.search(rf"\b{key}\b", come)
            else f"removed {gone!r}"
        )
    head = len(_common(gone, come))
    tail = len(_common(gone[head:][::-1], come[head:][::-1]))
    kept = gone[:head] + gone[len(gone) - tail :]
    escaped = "\\" in gone  # what is written is longer than what it means
    right = escaped or len(kept) >= len(gone) - len(edit.old) - 2
    return "" if right else f"{gone!r} became {come!r}"


def _between(shorter: str, longer: str) -> str:
    head = len(_common(shorter, longer))
    return longer[head : head + len(longer) - len(shorter)]


def _common(a: str, b: str) -> str:
    length = next(
        (i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b))
    )
    return a[:length]


@lru_cache(maxsize=4)
def load(data: bytes, loader: type = FAST) -> list[Any] | None:
    """Load every document with every scalar as text; None when it is no YAML as it stands."""
    try:
        return list(yaml.load_all(data.decode().removeprefix("\ufeff"), loader))
    except yaml.YAMLError:
        return None


def _trees(before: bytes, after: bytes, edit: Edit, loader: type) -> str:
    old, new = load(before, loader), load(after, loader)
    if old is None:
        return "" if new is None else "a template became YAML"
    if new is None:
        return "no YAML any more"
    found = list(differences(old, new))
    steps = (edit.pointer.document, *edit.pointer.steps, edit.field)
    return "" if _only(old, new, steps, found) else f"differs at {found}"


def _only(old: Any, new: Any, steps: tuple[Any, ...], found: list[tuple[Any, ...]]) -> bool:
    """Tell whether the one difference is where the pointer leads."""
    inner = next((i for i, step in enumerate(steps) if isinstance(step, Inside)), None)
    outer = steps if inner is None else steps[:inner]
    path = _resolved(old, outer)
    if found != [path]:
        return False
    if inner is None:
        return True
    texts = [_at(tree, path) for tree in (old, new)]
    a, b = (list(yaml.load_all(text, FAST)) for text in texts)
    below = (steps[inner].document, *steps[inner + 1 :])
    return _only(a, b, below, list(differences(a, b)))


def _resolved(tree: Any, steps: tuple[Any, ...]) -> tuple[Any, ...]:
    path: list[Any] = []
    for named in steps:
        step = named
        if isinstance(named, Named):
            step = next(
                i
                for i, item in enumerate(tree)
                if isinstance(item, dict) and item.get(named.key) == named.value
            )
        path.append(step)
        tree = tree.get(step, MISSING) if isinstance(tree, dict) else tree[step]
    return tuple(path)


def _at(tree: Any, path: tuple[Any, ...]) -> Any:
    for step in path:
        tree = tree[step]
    return tree


def differences(a: Any, b: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the paths where two trees differ, the deepest ones."""
    if isinstance(a, dict) and isinstance(b, dict):
        for key in (*a, *(key for key in b if key not in a)):
            if a.get(key, MISSING) is MISSING or b.get(key, MISSING) is MISSING:
                yield (*path, key)
            else:
                yield from differences(a[key], b[key], (*path, key))
    elif isinstance(a, list) and isinstance(b, list) and len(a) == len(b):
        for i, (x, y) in enumerate(zip(a, b, strict=True)):
            yield from differences(x, y, (*path, i))
    elif a != b:
        yield path
