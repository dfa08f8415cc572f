"""Which bytes to put where: replace a value, insert a key, remove a key.

All offsets are the file's. Nothing here looks at meaning; ``manifest_proof`` checks what came out.

[pure]
"""

import re
from typing import NamedTuple

from capacity.errors import Refused
from gitops.manifest_locate import Spot
from gitops.manifest_scalar import quoted
from gitops.manifest_text import BREAK, RARE_BREAKS, Text
from gitops.manifest_tree import Scalar

_REST = re.compile(r"[ \t]*(?:[ \t]#.*)?")


class Splice(NamedTuple):
    """``text`` instead of the file's characters from ``start`` to ``end``."""

    start: int
    end: int
    text: str


def replacement(spot: Spot, value: Scalar, new: str, *, number: bool) -> Splice:
    """Put a new value where the old one stands, in its quotes."""
    start, end = _span(spot, value)
    return Splice(start, end, quoted(new, value.style, number=number))


def insertion(spot: Spot, key: str, new: str, beside: str, *, number: bool) -> Splice:
    """Add a key after its neighbour: on a line of its own, or after a comma in a flow mapping.

    Key and value are quoted as the neighbour's. In a last line without a newline the new line
    goes before it, so that the file keeps its end and the diff its one line.
    """
    neighbour, value = _neighbour(spot, beside)
    mark = neighbour.style
    pair = f"{mark}{key}{mark}: {quoted(new, value.style, number=number)}"
    start, end = _span(spot, value)
    if spot.mapping.flow:
        return Splice(end, end, f", {pair}")
    source = spot.source
    left, right, eol = _line(source, _span(spot, neighbour)[0], end)
    indent = source.text[left : _span(spot, neighbour)[0]]
    if indent.strip(" -"):
        raise Refused(f"{source.place(start)} is indented in an unusual way.", "Edit it by hand.")
    line = " " * len(indent) + pair
    if eol:
        return Splice(right, right, line + eol)
    eol = _eol(source)
    if not indent.strip(" "):
        return Splice(left, left, line + eol)
    return Splice(right, right, eol + line)


def removal(spot: Spot, key: Scalar, value: Scalar) -> Splice:
    """Take a key away with its line and the comment on it."""
    place = spot.source.place(_span(spot, key)[0])
    if len(spot.mapping.entries) == 1:
        raise Refused(f"{place} is the only key there.", "Remove it by hand.")
    if spot.mapping.flow:
        return _flow_removal(spot, key, value, place)
    left, right, _ = _line(spot.source, _span(spot, key)[0], _span(spot, value)[1])
    if spot.source.text[left : _span(spot, key)[0]].strip(" "):
        raise Refused(f"{place} is the first key of its list item.", "Remove it by hand.")
    return Splice(left, right, "")


def _flow_removal(spot: Spot, key: Scalar, value: Scalar, place: str) -> Splice:
    entries = spot.mapping.entries
    position = next(i for i, (name, _) in enumerate(entries) if name is key)
    if position:
        start, end = spot.view.to_file(entries[position - 1][1].end), _span(spot, value)[1]
    else:
        start, end = _span(spot, key)[0], spot.view.to_file(entries[1][0].start)
    if BREAK.search(spot.source.text, start, end) or "#" in spot.source.text[start:end]:
        raise Refused(f"{place} is part of a flow mapping over several lines.", "Edit it by hand.")
    return Splice(start, end, "")


def _neighbour(spot: Spot, beside: str) -> tuple[Scalar, Scalar]:
    entries = [
        (key, value)
        for key, value in spot.mapping.entries
        if isinstance(key, Scalar) and isinstance(value, Scalar) and _one_line(spot, key, value)
    ]
    for key, value in entries:
        if key.value == beside:
            return key, value
    if not entries:
        at = spot.view.text.place(spot.mapping.start)
        raise Refused(f"{at} has no key that a new one could follow.", "Add it by hand.")
    return entries[-1]


def _one_line(spot: Spot, key: Scalar, value: Scalar) -> bool:
    text = spot.view.text.text
    written = value.end > value.start and value.style not in ("|", ">")
    return written and not BREAK.search(text, key.start, value.end)


def _span(spot: Spot, scalar: Scalar) -> tuple[int, int]:
    return spot.view.to_file(scalar.start), spot.view.to_file(scalar.end)


def _line(source: Text, start: int, end: int) -> tuple[int, int, str]:
    """Return where the line of a span starts, where the next one starts, and the break between."""
    found = BREAK.search(source.text, end)
    stop = found.start() if found else len(source.text)
    left = max(source.text.rfind("\n", 0, start), source.text.rfind("\r", 0, start)) + 1
    whole = source.text[left:stop]
    if any(mark in whole for mark in RARE_BREAKS) or not _REST.fullmatch(source.text, end, stop):
        raise Refused(f"{source.place(start)} shares its line with more.", "Edit it by hand.")
    return left, (found.end() if found else stop), found[0] if found else ""


def _eol(source: Text) -> str:
    found = BREAK.search(source.text)
    return found[0] if found else "\n"
