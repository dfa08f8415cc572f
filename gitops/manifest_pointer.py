"""Where in a file a value stands: the document, and the way down to it.

[pure]
"""

from dataclasses import dataclass
from typing import NamedTuple


class Named(NamedTuple):
    """The one list item whose ``key`` holds ``value`` (``[name=h100]``)."""

    key: str
    value: str


class Inside(NamedTuple):
    """Into the YAML text that a literal block scalar holds, to one of its documents."""

    document: int = 0


Step = str | int | Named | Inside


@dataclass(frozen=True, slots=True)
class Pointer:
    """A document of a file (counted from 0) and the steps from its root.

    A step is a key, the position of a list item, a list item by one of its values, or the way into
    a block scalar.
    """

    document: int = 0
    steps: tuple[Step, ...] = ()

    def __truediv__(self, step: Step) -> "Pointer":
        return Pointer(self.document, (*self.steps, step))

    def __str__(self) -> str:
        words = "".join(_word(step) for step in self.steps).removeprefix(".")
        return f"document {self.document + 1}: {words}" if self.document else words


def _word(step: Step) -> str:
    match step:
        case str():
            return f"[{step!r}]" if "." in step or "/" in step else f".{step}"
        case int():
            return f"[{step}]"
        case Named(key, value):
            return f"[{key}={value}]"
        case Inside(document):
            return f" | document {document + 1}: " if document else " | "
