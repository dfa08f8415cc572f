"""The way from a pointer to the bytes it means, refusing every doubtful turn.

[pure]
"""

from dataclasses import dataclass
from typing import NamedTuple

from capacity.errors import Conflict, Refused
from gitops.manifest_pointer import Inside, Named, Pointer, Step
from gitops.manifest_text import Text
from gitops.manifest_tree import Alias, Document, Mapping, Node, Scalar, Sequence, walk
from gitops.manifest_view import View, inside


class Level(NamedTuple):
    """One text on the way: the file itself, or the YAML inside one of its block scalars.

    ``trail`` counts the children taken from the document's root, to be found again in the text
    after the edit.
    """

    view: View
    document: int
    trail: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Spot:
    """The mapping that a pointer leads to, and every level on the way there."""

    view: View
    mapping: Mapping
    levels: tuple[Level, ...]

    @property
    def source(self) -> Text:
        """The whole file."""
        return self.levels[0].view.text

    @property
    def document(self) -> Document:
        """The document that the mapping is in."""
        return self.view.documents[self.levels[-1].document]

    def entry(self, key: str) -> tuple[Scalar, Node] | None:
        """Return the key as written and its value, or None when the mapping lacks it.

        Raises Refused for a value that stands elsewhere, or stands for others too.
        """
        for name, value in self.mapping.entries:
            if isinstance(name, Scalar) and name.value == key:
                _safe(self.view, self.document, value)
                return name, value
        return None


def locate(view: View, pointer: Pointer) -> Spot:
    """Follow a pointer to a mapping.

    Raises Conflict when the file no longer has it, Refused when something on the way makes an
    edit mean more than it says (alias, anchor in use, duplicate key).
    """
    levels: tuple[Level, ...] = ()
    trail: tuple[int, ...] = ()
    number = pointer.document
    document = _document(view, number)
    node = _safe(view, document, document.root)
    for step in pointer.steps:
        if isinstance(step, Inside):
            levels, trail = (*levels, Level(view, number, trail)), ()
            view, number = inside(view, _scalar(view, node)), step.document
            document = _document(view, number)
            node = _safe(view, document, document.root)
        else:
            child, node = _child(view, node, step, pointer)
            node = _safe(view, document, node)
            trail = (*trail, child)
    if not isinstance(node, Mapping):
        raise Conflict(f"{view.text.path} has no {pointer} any more; nothing was changed.")
    return Spot(view, node, (*levels, Level(view, number, trail)))


def users(document: Document, anchor: str) -> tuple[Alias, ...]:
    """Return the aliases of an anchor, first one first."""
    found = [n for n in walk(document.root) if isinstance(n, Alias) and n.name == anchor]
    return tuple(sorted(found, key=lambda alias: alias.start))


def anchored(document: Document, name: str) -> Node | None:
    """Return the node with this anchor."""
    nodes = (n for n in walk(document.root) if not isinstance(n, Alias) and n.anchor == name)
    return next(nodes, None)


def _document(view: View, number: int) -> Document:
    documents = view.documents
    if number >= len(documents):
        raise Conflict(
            f"{view.text.path} no longer has a document {number + 1}; nothing was changed."
        )
    _refuse_duplicates(view, documents[number])
    return documents[number]


def _refuse_duplicates(view: View, document: Document) -> None:
    for node in walk(document.root):
        if not isinstance(node, Mapping):
            continue
        seen: set[str] = set()
        for key, _ in node.entries:
            if not isinstance(key, Scalar) or view.text.templated(key.start, key.end):
                continue
            if key.value in seen:
                raise Refused(
                    f"{view.text.place(key.start)} has the key {key.value!r} a second time, so "
                    "which one counts depends on the reader.",
                    "Remove one of the two by hand.",
                )
            seen.add(key.value)


def _scalar(view: View, node: Node | None) -> Scalar:
    if isinstance(node, Scalar):
        return node
    raise Conflict(f"{view.text.path} holds no text there any more; nothing was changed.")


def _safe(view: View, document: Document, node: Node | None) -> Node | None:
    if isinstance(node, Alias):
        source = anchored(document, node.name)
        at = view.text.place(source.start) if source else "its anchor"
        raise Refused(
            f"{view.text.place(node.start)} takes its value from the alias *{node.name}.",
            f"Edit it at {at} by hand: every user of the anchor changes with it.",
        )
    if node is not None and node.anchor and (aliases := users(document, node.anchor)):
        places = ", ".join(view.text.place(alias.start) for alias in aliases[:5])
        raise Refused(
            f"{view.text.place(node.start)} is the anchor &{node.anchor}, also used at {places}.",
            "Edit it by hand: every user of the anchor changes with it.",
        )
    return node


def _child(view: View, node: Node | None, step: Step, pointer: Pointer) -> tuple[int, Node]:
    found: list[tuple[int, Node]] = []
    match node, step:
        case Mapping(), str():
            found = [
                (i, value)
                for i, (key, value) in enumerate(node.entries)
                if isinstance(key, Scalar) and key.value == step
            ]
        case Sequence(), int() if step < len(node.items):
            found = [(step, node.items[step])]
        case Sequence(), Named(key, value):
            found = [(i, n) for i, n in enumerate(node.items) if _is_named(n, key, value)]
    if not found:
        raise Conflict(f"{view.text.path} has no {pointer} any more; nothing was changed.")
    if len(found) > 1:
        places = " and ".join(view.text.place(n.start) for _, n in found)
        raise Refused(f"{places} are both {pointer}.", "Pick one by hand.")
    return found[0]


def _is_named(node: Node, key: str, value: str) -> bool:
    held = node.get(key) if isinstance(node, Mapping) else None
    return isinstance(held, Scalar) and held.value == value
