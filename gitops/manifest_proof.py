"""The proof after an edit: the bytes around it are the old ones, and the tree differs nowhere else.

It doesn't trust the splice: it reads the new bytes again, from the start.

[pure]
"""

import re
from typing import NamedTuple

from capacity.errors import Refused
from gitops.manifest_locate import Spot
from gitops.manifest_splice import Splice
from gitops.manifest_text import BOM, read
from gitops.manifest_tree import Alias, Document, Mapping, Node, Scalar, Sequence
from gitops.manifest_view import View, inside

_LINE = re.compile(r"[^\n]*\n|[^\n]+")


class Lines(NamedTuple):
    """The changed lines as Git counts them, from line ``number`` of the old file on."""

    number: int
    removed: tuple[str, ...]
    added: tuple[str, ...]


class Bytes(NamedTuple):
    """The file before and after."""

    before: bytes
    after: bytes


class _NotProved(Exception):  # a finding inside this module, not an error of its own
    pass


def prove(spot: Spot, key: str, splice: Splice, new: str | None, data: Bytes) -> Lines:
    """Prove that ``data.after`` is ``data.before`` with one key set to ``new`` (None: removed).

    Returns the changed lines. Raises Refused, with what else would have changed as its detail.
    """
    try:
        _same_bytes(spot, splice, data)
        changed = View(read(spot.source.path, data.after))
        held = _only_there(spot, changed, key)
        if (held.value if held else None) != new:
            raise _NotProved(f"the value reads as {held and held.value!r}")
        return _lines(spot, splice)
    except (_NotProved, Refused) as reason:
        raise Refused(
            f"{spot.source.place(splice.start)} can't be edited without changing more than "
            f"{key}, so I left it alone.",
            "Edit it by hand.",
            detail=str(reason),
        ) from None


def _same_bytes(spot: Spot, splice: Splice, data: Bytes) -> None:
    text, mark = spot.source.text, len(BOM) if spot.source.bom else 0
    start = mark + len(text[: splice.start].encode())
    tail = len(text[splice.end :].encode())
    middle = splice.text.encode()
    before, after = data
    same = before[:start] == after[:start] and after.endswith(before[len(before) - tail :])
    if not same or len(after) != start + len(middle) + tail:
        raise _NotProved("bytes outside the edit differ")


def _only_there(spot: Spot, changed: View, key: str) -> Scalar | None:
    """Walk down both files to the edited mapping, comparing everything that is passed by."""
    view = changed
    for depth, (old_view, number, trail) in enumerate(spot.levels):
        _same_documents(old_view.documents, view.documents, number)
        before = old_view.documents[number].root
        after = view.documents[number].root
        for child in trail:
            before, after = _descend(before, after, child)
        if depth < len(spot.levels) - 1:
            if not (isinstance(after, Scalar) and after.style == "|"):
                raise _NotProved("the block around it is gone")
            view = inside(view, after)
    return _same_but(spot.mapping, after, key)


def _same_documents(before: tuple[Document, ...], after: tuple[Document, ...], number: int) -> None:
    if len(before) != len(after):
        raise _NotProved("there are more or fewer documents")
    for position, (a, b) in enumerate(zip(before, after, strict=True)):
        if position != number and not _alike(a.root, b.root):
            raise _NotProved(f"document {position + 1} differs")


def _descend(before: Node | None, after: Node | None, child: int) -> tuple[Node, Node]:
    match before, after:
        case Sequence(), Sequence() if len(before.items) == len(after.items):
            olds, news = before.items, after.items
        case Mapping(), Mapping() if len(before.entries) == len(after.entries):
            olds, news = tuple(v for _, v in before.entries), tuple(v for _, v in after.entries)
            if not all(
                _alike(a, b) for (a, _), (b, _) in zip(before.entries, after.entries, strict=True)
            ):
                raise _NotProved("other keys differ")
        case _:
            raise _NotProved("the way to it differs")
    for position, (a, b) in enumerate(zip(olds, news, strict=True)):
        if position != child and not _alike(a, b):
            raise _NotProved("something beside it differs")
    return olds[child], news[child]


def _same_but(before: Mapping, after: Node | None, key: str) -> Scalar | None:
    if not isinstance(after, Mapping):
        raise _NotProved("the mapping around it is gone")
    olds, news = _without(before, key), _without(after, key)
    if len(olds) != len(news) or not all(
        _alike(a, c) and _alike(b, d) for (a, b), (c, d) in zip(olds, news, strict=True)
    ):
        raise _NotProved("other keys differ")
    held = after.get(key)
    if held is not None and not isinstance(held, Scalar):
        raise _NotProved("the value is no single value")
    return held


def _without(mapping: Mapping, key: str) -> list[tuple[Node, Node]]:
    return [(k, v) for k, v in mapping.entries if not (isinstance(k, Scalar) and k.value == key)]


def _alike(first: Node | None, second: Node | None) -> bool:
    """Compare two trees in everything but their position."""
    stack: list[tuple[Node | None, Node | None]] = [(first, second)]
    while stack:
        a, b = stack.pop()
        if _own(a) != _own(b):
            return False
        if isinstance(a, Sequence) and isinstance(b, Sequence):
            stack += zip(a.items, b.items, strict=True)
        elif isinstance(a, Mapping) and isinstance(b, Mapping):
            for (key, value), (other_key, other_value) in zip(a.entries, b.entries, strict=True):
                stack += ((key, other_key), (value, other_value))
    return True


def _own(node: Node | None) -> tuple[object, ...]:
    """Return what a node says itself, without its children and its position."""
    match node:
        case Scalar(value, _, _, style, anchor, tag):
            return value, style, anchor, tag
        case Mapping(entries, _, _, flow, anchor):
            return "mapping", len(entries), flow, anchor
        case Sequence(items, _, _, flow, anchor):
            return "sequence", len(items), flow, anchor
        case Alias(name):
            return "alias", name
    return ()


def _lines(spot: Spot, splice: Splice) -> Lines:
    """Count lines as ``git diff --numstat`` does: one replaced, one added or one removed."""
    text = spot.source.text
    left = text.rfind("\n", 0, splice.start) + 1
    stop = text.find("\n", splice.end)
    right = len(text) if stop < 0 else stop + 1
    old = _LINE.findall(text[left:right])
    new = _LINE.findall(text[left : splice.start] + splice.text + text[splice.end : right])
    while old and new and old[-1] == new[-1]:
        old, new = old[:-1], new[:-1]
    number = text.count("\n", 0, left) + 1
    while old and new and old[0] == new[0]:
        old, new, number = old[1:], new[1:], number + 1
    allowed = {(1, 1), (0, 1), (1, 0)}
    if not text.endswith("\n"):
        allowed.add((1, 2))  # Git counts a last line that gets its newline
    if (len(old), len(new)) not in allowed:
        raise _NotProved(f"{len(old)} lines would become {len(new)}")
    return Lines(number, tuple(old), tuple(new))
