"""Edits to manifests: only the bytes of one key change, and that is proved each time.

No YAML is ever written back by a dumper. Replace puts new digits where the old ones stand,
insert adds one line (or ``, key: value`` in a flow mapping), remove takes one away. Whatever
can't be done so is refused with the reason and the place.

[pure]
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

from capacity.errors import Conflict
from gitops.manifest_comments import Mention, elsewhere, stale
from gitops.manifest_guard import allow_insertion, single
from gitops.manifest_locate import Spot, locate
from gitops.manifest_pointer import Inside, Named, Pointer, Step
from gitops.manifest_proof import Bytes, Lines, prove
from gitops.manifest_scalar import equal, is_null, spelt
from gitops.manifest_splice import Splice, insertion, removal, replacement
from gitops.manifest_text import BOM, read
from gitops.manifest_view import View

__all__ = ["Edit", "Edited", "Inside", "Mention", "Named", "Pointer", "Step", "apply", "look"]

ValueKind = Literal["quantity", "integer", "text"]


@dataclass(frozen=True, slots=True)
class Edit:
    """One key of one mapping in one file: what it holds, and what it shall hold.

    ``pointer`` leads to the mapping. ``old`` None means that the key is absent and gets inserted
    after the key ``beside`` (or the last one), ``new`` None removes it. ``kind`` says how values
    compare and are spelt.
    """

    path: str
    pointer: Pointer
    field: str
    old: str | None
    new: str | None
    kind: ValueKind = "quantity"
    beside: str = "nominalQuota"


class Edited(NamedTuple):
    """A file after an edit, with what a reviewer should know.

    ``lines`` are the changed lines with their number; ``stale`` are comments beside them that
    still say the old value, ``elsewhere`` are other lines of the file that hold it (versions).
    """

    data: bytes
    lines: tuple[Lines, ...]
    stale: tuple[Mention, ...] = ()
    elsewhere: tuple[Mention, ...] = ()


def apply(path: str, data: bytes, edits: Iterable[Edit]) -> Edited:
    """Apply edits to one file, all or none.

    Raises Conflict when a value isn't the expected old one, Refused when an edit is not safe,
    UsageError when a new value is none.
    """
    result = Edited(data, ())
    for edit in edits:
        done = _apply_one(path, result.data, edit)
        result = Edited(
            done.data,
            result.lines + done.lines,
            result.stale + done.stale,
            result.elsewhere + done.elsewhere,
        )
    return result


def _apply_one(path: str, data: bytes, edit: Edit) -> Edited:
    """Apply one edit and prove it; see ``apply``."""
    source = read(path, data)
    view = View(source)
    spot = locate(view, edit.pointer)
    wanted = replace(edit, new=None if edit.new is None else spelt(edit.new, edit.kind))
    splice = _splice(spot, wanted)
    changed = source.text[: splice.start] + splice.text + source.text[splice.end :]
    after = (BOM if source.bom else b"") + changed.encode()
    lines = prove(spot, wanted.field, splice, wanted.new, Bytes(data, after))
    mentions = stale(spot, splice, edit.old) if edit.old is not None else ()
    others = elsewhere(source, splice, edit.old) if edit.kind == "text" and edit.old else ()
    return Edited(after, (lines,), mentions, others)


def look(path: str, data: bytes, pointer: Pointer, field: str) -> tuple[str | None, int]:
    """Return what a field holds, as spelt, and its line, if it could be edited.

    None is an absent key, or null.
    Raises what ``apply`` would raise for an edit there.
    """
    spot = locate(View(read(path, data)), pointer)
    found = spot.entry(field)
    if found is None:
        allow_insertion(spot, field)
        return None, spot.view.text.line(spot.mapping.start)
    held = single(spot, *found)
    value = None if is_null(held.value, held.style) else held.value
    return value, spot.view.text.line(found[0].start)


def _splice(spot: Spot, edit: Edit) -> Splice:
    found = spot.entry(edit.field)
    if found is None:
        if edit.old is not None:
            raise Conflict(_moved(spot, edit, "isn't set"))
        if edit.new is None:
            raise Conflict(f"{_name(spot, edit)} isn't set already; nothing was changed.")
        allow_insertion(spot, edit.field)
        return insertion(spot, edit.field, edit.new, edit.beside, number=edit.kind != "text")
    key, value = found
    held = single(spot, key, value)
    now = None if is_null(held.value, held.style) else held.value
    if (now is None) != (edit.old is None) or not _expected(now, edit):
        raise Conflict(_moved(spot, edit, f"is {held.value}"))
    if edit.new is None:
        if now is None:
            raise Conflict(f"{_name(spot, edit)} isn't set already; nothing was changed.")
        return removal(spot, key, held)
    if now is not None and equal(now, edit.new, edit.kind):
        raise Conflict(f"{_name(spot, edit)} is {held.value} already; nothing was changed.")
    return replacement(spot, held, edit.new, number=edit.kind != "text")


def _expected(now: str | None, edit: Edit) -> bool:
    return now is None or edit.old is None or equal(now, edit.old, edit.kind)


def _name(spot: Spot, edit: Edit) -> str:
    found = spot.entry(edit.field)
    place = spot.view.text.place(found[0].start if found else spot.mapping.start)
    return f"{edit.field} ({place})"


def _moved(spot: Spot, edit: Edit, now: str) -> str:
    expected = "was expected to be unset" if edit.old is None else f"not {edit.old} as expected"
    return f"{_name(spot, edit)} {now}, {expected}; nothing was changed."
