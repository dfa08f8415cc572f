"""Manifests as plain data where every value knows the file and the place it comes from.

Kustomize builds an object from a base and patches. A Piece keeps its own origin through that, so
that the effective object tells where each of its values stands. Values are typed as Kubernetes
would read them.

[pure]
"""

import re
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from gitops.manifest_pointer import Named, Pointer, Step
from gitops.manifest_tree import Scalar

_INTEGER = re.compile(r"0|-?[1-9][0-9]{0,17}")
_NUMBER = re.compile(
    r"[-+]?(0[bB][01_]+|0[oO]?[0-7_]+|0[xX][0-9a-fA-F_]+|"
    r"([0-9][0-9_]*\.?[0-9_]*|\.[0-9_]+)([eE][-+]?[0-9]+)?)"
)
_WORDS = {
    "true": True, "yes": True, "on": True, "false": False, "no": False, "off": False,
    "null": None, "~": None, "": None,
}  # fmt: skip


class Unquoted(str):
    """A number that stands in the file without quotes, in a spelling that isn't plain digits."""

    __slots__ = ()

    @property
    def number(self) -> str:
        """What YAML readers take it for, in plain digits."""
        bare = self.replace("_", "")
        try:
            octal = re.fullmatch(r"[-+]?0[0-7]+", bare) is not None
            return str(int(bare, 8 if octal else 0))
        except ValueError:
            return f"{Decimal(bare):f}"


class Piece:
    """A value of a manifest: text, number, word or None, or a dict or list of pieces.

    ``parent`` and ``step`` lead back to the file; the ``step`` of a root is the number of its
    document. ``block`` is the scalar's node when it is a text block, which may
    hold YAML.
    """

    __slots__ = ("block", "offset", "parent", "step", "value")

    def __init__(
        self,
        value: Any,
        parent: "Piece | None",
        step: Step,
        offset: int,
        *,
        block: Scalar | None = None,
    ) -> None:
        self.value = value
        self.parent = parent
        self.step = step
        self.offset = offset
        self.block = block

    def get(self, *keys: str | int) -> "Piece | None":
        """Return the piece down these keys and positions; None if there is none."""
        here: Piece | None = self
        for key in keys:
            held = here.value if here is not None else None
            if isinstance(held, dict) and isinstance(key, str):
                here = held.get(key)
            elif isinstance(held, list) and isinstance(key, int) and key < len(held):
                here = held[key]
            else:
                return None
        return here

    def text(self, *keys: str) -> str:
        """Return the text down these keys; "" if it isn't there or no text."""
        found = self.get(*keys)
        return found.value if found is not None and isinstance(found.value, str) else ""

    def items(self, *keys: str) -> "list[Piece]":
        """Return the list down these keys; empty if it isn't there or no list."""
        found = self.get(*keys)
        return found.value if found is not None and isinstance(found.value, list) else []

    def entries(self, *keys: str) -> "Mapping[str, Piece]":
        """Return the mapping down these keys; empty if it isn't there or no mapping."""
        found = self.get(*keys)
        return found.value if found is not None and isinstance(found.value, dict) else {}

    @property
    def root(self) -> "Piece":
        """The root of the file's document that the piece comes from."""
        here = self
        while here.parent is not None:
            here = here.parent
        return here

    @property
    def pointer(self) -> Pointer:
        """Where in its file the piece stands."""
        steps: list[Step] = []
        here = self
        while here.parent is not None:
            steps.append(_named(here))
            here = here.parent
        assert isinstance(here.step, int)
        return Pointer(here.step, tuple(reversed(steps)))

    def with_value(self, value: Any) -> "Piece":
        """Return a piece from the same place with another value."""
        return Piece(value, self.parent, self.step, self.offset, block=self.block)

    def plain(self) -> Any:
        """Return the value as plain data, without origins."""
        if isinstance(self.value, dict):
            return {key: piece.plain() for key, piece in self.value.items()}
        if isinstance(self.value, list):
            return [piece.plain() for piece in self.value]
        return self.value


def typed(text: str) -> Any:
    """Return what a plain scalar means to Kubernetes: integer, bool, None, or text.

    Numbers in any other spelling than plain digits stay as they are, as Unquoted.
    """
    if text[:1].isalpha() or text[:1] in ("~", ""):
        return _WORDS.get(text.lower(), text)
    if _INTEGER.fullmatch(text):
        return int(text)
    return Unquoted(text) if _NUMBER.fullmatch(text) else text


def _named(piece: Piece) -> Step:
    """Return the step to a list item by its name where that is the only one of the name."""
    step, parent = piece.step, piece.parent
    name = piece.text("name") if isinstance(step, int) and isinstance(piece.value, dict) else ""
    if not name or parent is None or not isinstance(parent.value, list):
        return step
    same = [item for item in parent.value if item.text("name") == name]
    return Named("name", name) if len(same) == 1 else step
