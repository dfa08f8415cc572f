"""What may not be edited by machine, said with the reason and the place.

[pure]
"""

import re

from capacity.errors import Refused
from gitops.manifest_locate import Spot, anchored
from gitops.manifest_scalar import is_one_token
from gitops.manifest_text import Text
from gitops.manifest_tree import Alias, Mapping, Node, Scalar, walk

_BY_HAND = "Edit it by hand."
_KEYWORD = re.compile(r"(?:\{\{|\{%|%\{)[-~]?\s*(?:end\w*|else|if|with|range|for|/\*|#)")


def single(spot: Spot, key: Scalar, value: Node) -> Scalar:
    """Return a key's value if it is one scalar on one line that means just itself; else refuse."""
    text = spot.view.text
    place = text.place(key.start)
    if not isinstance(value, Scalar):
        raise Refused(f"{place} holds more than one value.", _BY_HAND)
    raw = text.text[value.start : value.end]
    if text.templated(value.start, value.end):
        raise Refused(
            f"{place} takes its value from a template ({raw[:60]}).",
            "Edit the value where the template gets it from.",
        )
    _refuse_loop(text, value.start)
    _refuse_shape(place, value, raw)
    return value


def allow_insertion(spot: Spot, key: str) -> None:
    """Refuse a new key where it could be set already by a template or a merge key."""
    text, mapping = spot.view.text, spot.mapping
    _refuse_loop(text, mapping.start)
    for start, end in text.templates:
        within = mapping.start <= start and end <= mapping.end and _begins_line(text, start)
        if within and not _in_scalar(mapping, start) and not _KEYWORD.match(text.text, start):
            raise Refused(f"{text.place(start)} is a template that may add keys there.", _BY_HAND)
    for name, source in mapping.entries:
        if isinstance(name, Scalar) and name.value == "<<" and not name.style:
            _refuse_merged(spot, name, source, key)


def _refuse_loop(text: Text, offset: int) -> None:
    if text.repeated(offset):
        raise Refused(f"{text.place(offset)} is repeated by a loop of its template.", _BY_HAND)


def _refuse_shape(place: str, value: Scalar, raw: str) -> None:
    if value.style in ("|", ">"):
        raise Refused(f"{place} holds a text block, not one value.", _BY_HAND)
    if not raw:
        raise Refused(f"{place} has the key, but no value.", "Write the value by hand once.")
    if "\n" in raw or "\r" in raw:
        raise Refused(f"{place} has a value that spans lines.", _BY_HAND)
    if not is_one_token(raw, value.value, value.style):
        raise Refused(f"{place} has a value that I can't find byte for byte.", _BY_HAND)


def _refuse_merged(spot: Spot, merge: Scalar, source: Node, key: str) -> None:
    names = [node for node in walk(source) if isinstance(node, Alias)]
    merged = [anchored(spot.document, alias.name) for alias in names] if names else [source]
    for mapping in merged:
        if isinstance(mapping, Mapping) and mapping.get(key) is None:
            continue
        place = spot.view.text.place(mapping.start if mapping else merge.start)
        raise Refused(
            f"{spot.view.text.place(merge.start)} merges other keys in, {key} among them "
            f"({place}).",
            _BY_HAND,
        )


def _begins_line(text: Text, offset: int) -> bool:
    left = max(text.text.rfind("\n", 0, offset), text.text.rfind("\r", 0, offset)) + 1
    return not text.text[left:offset].strip()


def _in_scalar(mapping: Mapping, offset: int) -> bool:
    return any(isinstance(n, Scalar) and n.start <= offset < n.end for n in walk(mapping))
