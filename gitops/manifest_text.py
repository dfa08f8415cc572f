"""A file's bytes as text that YAML can parse: strict UTF-8, and templates masked.

Offsets count characters of the text without its byte order mark. A mask replaces template
expressions (Helm ``{{ }}``, ``${ }``, Terraform ``%{ }``, Jinja ``{% %}``) character by character,
so that every offset in the masked text is the same offset in the file.

[pure]
"""

import re
from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from functools import cached_property

from capacity.errors import Refused

BOM = b"\xef\xbb\xbf"
BREAK = re.compile(r"\r\n|\n|\r")
RARE_BREAKS = "\x85\u2028\u2029"
EXPRESSION = re.compile(
    r"\{\{(?:(?!\{\{).)*?\}\}|\{%(?:(?!\{%).)*?%\}|\{#.*?#\}|"
    r"[$%]\{(?:[^{}\n]|\{[^{}\n]*\})*\}",
    re.DOTALL,
)
_MARKS = ("{{", "${", "%{", "{%", "{#")
_COMMENT = re.compile(r"\{\{-?\s*/\*|\{#")
_NOT_BREAK = re.compile(r"[^\r\n]")
_CONTROL_LINE = re.compile(r"(?:^|(?<=[\r\n]))([ \t]*)(\0[\0 \t]*(?:#[^\r\n]*)?)(?=[\r\n]|\Z)")
_VALUE = re.compile(r"(?m)^([ \t]*(?:- +)*[^\s:#'\"{\[\0]+:)\0")
OPENER = re.compile(r"(?:\{\{|\{%|%\{)[-~]?\s*(range|for|if|with|define|block|end\w*)\b")


@dataclass(frozen=True)
class Text:
    """A file, or YAML inside a block scalar of one, with where its templates are.

    ``first_line`` is the line in the file that the text starts on, counted from 1.
    """

    path: str
    text: str
    bom: bool = False
    first_line: int = 1

    def line(self, offset: int) -> int:
        """Return the file's line number of an offset, counted from 1 as editors and forges do."""
        return self.first_line + bisect_right(self._breaks, offset)

    def place(self, offset: int) -> str:
        """Return ``path:line`` of an offset, for people."""
        return f"{self.path}:{self.line(offset)}"

    @cached_property
    def _breaks(self) -> list[int]:
        return [found.end() for found in BREAK.finditer(self.text)]

    @cached_property
    def _expressions(self) -> list[re.Match[str]]:
        if not any(mark in self.text for mark in _MARKS):
            return []
        return list(EXPRESSION.finditer(self.text))

    @cached_property
    def templates(self) -> tuple[tuple[int, int], ...]:
        """Spans of template expressions; comments of the template language are none."""
        return tuple(found.span() for found in self._expressions if not _COMMENT.match(found[0]))

    @cached_property
    def loops(self) -> tuple[tuple[int, int], ...]:
        """Spans whose lines a template repeats (``range``, ``for``)."""
        return tuple(_loops(self.text)) if self._expressions else ()

    def templated(self, start: int, end: int) -> bool:
        """Tell whether a template expression has a part in this span."""
        after = bisect_left(self.templates, (end,))
        return after > 0 and self.templates[after - 1][1] > start

    def repeated(self, offset: int) -> bool:
        """Tell whether the offset stands in a loop of a template."""
        return any(a <= offset < b for a, b in self.loops)

    def candidates(self) -> tuple[str, ...]:
        """Return the texts to try to parse, best first; all have the length of ``text``.

        Lines of nothing but expressions become comments, or blanks or empty lines where a comment
        would end a block scalar. ``${ }`` alone usually parses as it stands: unmasked goes first.
        """
        starts = {found[0][0] for found in self._expressions}
        if not starts:
            return (self.text,)
        masks = tuple(_mask(self.text, control) for control in ("# ", "  ", "\n\n"))
        braces = starts != {"$"}
        return (*masks, self.text) if braces else (self.text, *masks)


def read(path: str, data: bytes) -> Text:
    """Decode a file strictly; raises Refused, naming the line, when it isn't UTF-8."""
    bom = data.startswith(BOM)
    body = data[len(BOM) :] if bom else data
    try:
        return Text(path, body.decode("utf-8"), bom)
    except UnicodeDecodeError as error:
        line = body.count(b"\n", 0, error.start) + 1
        raise Refused(
            f"{path}:{line} isn't UTF-8 (byte 0x{body[error.start]:02x}), so I left it alone.",
            "Save the file as UTF-8, or edit it by hand.",
        ) from None


def _mask(text: str, control: str) -> str:
    """Mask expressions with x, and lines of nothing else with a first and other characters.

    An expression right behind the colon of a line's key starts with a blank, as what Helm's
    ``nindent`` puts there would.
    """
    first, other = control[0], control[1]
    holes = EXPRESSION.sub(_hole, text)
    lines = _CONTROL_LINE.sub(
        lambda line: " " * len(line[1]) + first + other * (len(line[2]) - 1), holes
    )
    return _VALUE.sub(r"\1 ", lines).replace("\0", "x")


def _hole(found: re.Match[str]) -> str:
    """Return blanks for a comment of the template language, else characters that mark a hole."""
    return _NOT_BREAK.sub(" " if _COMMENT.match(found[0]) else "\0", found[0])


def _loops(text: str) -> list[tuple[int, int]]:
    found: list[tuple[int, int]] = []
    stack: list[tuple[str, int]] = []
    for opener in OPENER.finditer(text):
        word = opener[1]
        if not word.startswith("end"):
            stack.append((word, opener.start()))
        elif stack:
            started, at = stack.pop()
            if started in {"range", "for"}:
                found.append((at, opener.end()))
    return found
