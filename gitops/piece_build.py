"""Documents of a file, or of a text block in one, as pieces.

[pure]
"""

import re
from collections.abc import Iterator
from typing import Any

from capacity.errors import Refused
from gitops.manifest_pointer import Inside, Step
from gitops.manifest_text import Text
from gitops.manifest_tree import Alias, Document, Mapping, Node, Scalar
from gitops.manifest_view import View
from gitops.piece import Piece, typed

_MOST = 200_000


def pieces(view: View, about: re.Pattern[str]) -> Iterator[Piece]:
    """Yield the roots of the documents whose text is ``about`` something.

    The ``step`` of a root is its document's number.
    """
    starts = [document.start for document in view.documents[1:]]
    ends = (*starts, len(view.text.text))
    for number, (document, end) in enumerate(zip(view.documents, ends, strict=False)):
        text = view.text.text
        if document.root is not None and about.search(text, document.start, end):
            yield _Builder(view.text).build(document, None, number)


def all_pieces(view: View) -> Iterator[Piece]:
    """Yield the root of every document that has one."""
    return pieces(view, re.compile(""))


def nested(view: View, outer: Piece) -> Iterator[Piece]:
    """Yield the roots of the YAML inside a block scalar, as pieces below it."""
    for number, document in enumerate(view.documents):
        if document.root is not None:
            yield _Builder(view.text).build(document, outer, Inside(number))


class _Builder:
    """Turns the nodes of one document into pieces; aliases share the value of their anchor."""

    def __init__(self, text: Text) -> None:
        self._text = text
        self._anchors: dict[str, Piece] = {}
        self._sizes: dict[str, int] = {}
        self._count = 0

    def build(self, document: Document, parent: Piece | None, step: Step) -> Piece:
        assert document.root is not None
        return self._piece(document.root, parent, step)

    def _piece(self, node: Node, parent: Piece | None, step: Step) -> Piece:
        before = self._count
        self._count += 1
        if isinstance(node, Scalar):
            made = self._leaf(node, parent, step)
        elif isinstance(node, Alias):
            return self._shared(node, parent, step)
        else:
            made = Piece(None, parent, step, node.start)
            made.value = (
                self._entries(node, made)
                if isinstance(node, Mapping)
                else [self._piece(item, made, i) for i, item in enumerate(node.items)]
            )
        if node.anchor:
            self._anchors[node.anchor] = made
            self._sizes[node.anchor] = self._count - before
        return made

    def _shared(self, node: Alias, parent: Piece | None, step: Step) -> Piece:
        self._count += self._sizes.get(node.name, 0)
        if self._count > _MOST:
            raise Refused(f"{self._text.place(node.start)} grows without bounds by its aliases.")
        shared = self._anchors.get(node.name)
        return Piece(shared.value if shared else None, parent, step, node.start)

    def _leaf(self, node: Scalar, parent: Piece | None, step: Step) -> Piece:
        value: Any = node.value
        if self._text.templates and self._text.templated(node.start, node.end):
            value = self._text.text[node.start : node.end]
        elif not node.style and node.tag != "tag:yaml.org,2002:str":
            value = typed(node.value)
        block = node if node.style and "\n" in node.value else None
        return Piece(value, parent, step, node.start, block=block)

    def _entries(self, node: Mapping, made: Piece) -> dict[str, Piece]:
        entries: dict[str, Piece] = {}
        merged: list[Piece] = []
        for key, value in node.entries:
            name = key.value if isinstance(key, Scalar) else ""
            piece = self._piece(value, made, name)
            if name == "<<":
                merged += piece.value if isinstance(piece.value, list) else [piece]
            else:
                entries[name] = piece
        for source in merged:
            if isinstance(source.value, dict):
                entries = {**source.value, **entries}
        return entries
