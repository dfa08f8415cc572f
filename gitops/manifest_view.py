"""A file as the editor sees it: its text, its documents, and texts inside its block scalars.

Offsets in a nested text map to offsets in the file, because a literal block scalar (``|``) keeps
its lines: each inner line is an outer line without its margin.

[pure]
"""

from bisect import bisect_right
from dataclasses import dataclass
from functools import cached_property

from capacity.errors import Refused
from gitops.manifest_text import BREAK, EXPRESSION, RARE_BREAKS, Text
from gitops.manifest_tree import Document, Scalar, parse


@dataclass(frozen=True)
class View:
    """A text, where each of its lines starts in it and in the file, and their margin there."""

    text: Text
    starts: tuple[int, ...] = (0,)
    file_starts: tuple[int, ...] = (0,)
    margin: str = ""

    @cached_property
    def documents(self) -> tuple[Document, ...]:
        """The documents of the text; raises Refused when it can't be parsed."""
        return parse(self.text)

    def to_file(self, offset: int) -> int:
        """Map an offset in this text to one in the file."""
        line = bisect_right(self.starts, offset) - 1
        return self.file_starts[line] + offset - self.starts[line]


def inside(view: View, scalar: Scalar) -> View:
    """Look into a block scalar; raises Refused unless it is literal (``|``).

    A folded (``>``) or quoted text doesn't keep its lines, so its bytes can't be addressed.
    """
    text = view.text
    if scalar.style != "|":
        kind = {">": "a folded block (>)", "": "a plain text"}.get(scalar.style, "a quoted text")
        raise Refused(
            f"{text.place(scalar.start)} holds YAML in {kind}, which doesn't keep its lines.",
            "Make it a literal block (|), or edit it by hand.",
        )
    raw = text.text[scalar.start : scalar.end]
    if any(mark in raw for mark in RARE_BREAKS):
        raise Refused(f"{text.place(scalar.start)} holds a block with unusual line breaks.")
    return _cut(view, scalar, raw)


def _cut(view: View, scalar: Scalar, raw: str) -> View:
    header = BREAK.search(raw)
    at = header.end() if header else len(raw)
    first_line = view.text.line(scalar.start) + (1 if header else 0)
    lines = _lines(raw[at:])
    declared = any(character.isdigit() for character in raw[:at].partition("#")[0])
    margin = _declared(lines, scalar.value) if declared else _detected(lines)
    starts, files, pieces = [], [], []
    inner, outer = 0, scalar.start + at
    for line in lines:
        skipped = min(margin, len(line) - len(line.lstrip(" ")))
        starts.append(inner)
        files.append(view.to_file(outer + skipped))
        pieces.append(line[skipped:])
        inner += len(line) - skipped
        outer += len(line)
    nested = Text(view.text.path, "".join(pieces), first_line=first_line)
    space = view.margin + " " * margin
    return View(nested, tuple(starts) or (0,), tuple(files) or (view.to_file(outer),), space)


def _lines(body: str) -> list[str]:
    ends = [found.end() for found in BREAK.finditer(body)]
    return [body[a:b] for a, b in zip([0, *ends], [*ends, len(body)], strict=True) if a < b]


def _detected(lines: list[str]) -> int:
    """Find how many columns a block is indented by: those of its first line with content.

    Lines of nothing but template expressions are none: they may stand anywhere.
    """
    content = (line for line in lines if EXPRESSION.sub("", line).strip())
    first = next(content, "")
    return len(first) - len(first.lstrip(" "))


def _declared(lines: list[str], value: str) -> int:
    """Find the columns of a block that declares them (``|2``): what its lines have more."""
    for line, kept in zip(lines, value.split("\n"), strict=False):
        if kept.strip():
            return len(line.rstrip("\r\n")) - len(kept)
    return 0
