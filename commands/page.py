"""[pure] A page: what an answer looks like, before Slack, terminal or JSON.

A command turns its Answer into a Page; ``bot.blocks`` renders a Page to Block Kit and ``bot.text``
to plain text. Plain strings in a line are data and are always escaped by the renderers.
"""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal


@dataclass(frozen=True, slots=True)
class Bold:
    """Emphasised words."""

    text: str


@dataclass(frozen=True, slots=True)
class Code:
    """A name, value or message shown verbatim in fixed width."""

    text: str


@dataclass(frozen=True, slots=True)
class Person:
    """A person by id in people.yaml; the renderer mentions or names them."""

    id: str


@dataclass(frozen=True, slots=True)
class Time:
    """A moment (aware, UTC), shown in the reader's zone where the medium can.

    ``clock`` shows the time of day with seconds and no date: for moments that are close to now.
    """

    at: datetime
    clock: bool = False


@dataclass(frozen=True, slots=True)
class Link:
    """Words that lead to an https address (or loopback in the playground)."""

    text: str
    url: str


Span = str | Bold | Code | Person | Time | Link
Line = tuple[Span, ...]


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A line of prose."""

    line: Line


@dataclass(frozen=True, slots=True)
class Bullets:
    """A short list."""

    items: tuple[Line, ...]


@dataclass(frozen=True, slots=True)
class Facts:
    """Label and value pairs: the few numbers that carry the answer."""

    pairs: tuple[tuple[str, Line], ...]
    title: str = ""


@dataclass(frozen=True, slots=True)
class Table:
    """Rows under headers, at most four narrow columns so that a phone shows them, unless asked for.

    ``caption`` names the table for screen readers. ``numeric`` are right-aligned column indexes.
    ``more`` is the question that shows rows a renderer must cut ("queue research 2").
    """

    headers: tuple[str, ...]
    rows: tuple[tuple[Line, ...], ...]
    caption: str = ""
    numeric: tuple[int, ...] = ()
    more: str = ""


@dataclass(frozen=True, slots=True)
class Bar:
    """A bar of consecutive parts, each with its words beside it (never colour alone)."""

    parts: tuple[tuple[str, int], ...]
    caption: str = ""


@dataclass(frozen=True, slots=True)
class Quote:
    """Text from a person or from Kueue, verbatim and inert."""

    text: str
    source: str = ""


@dataclass(frozen=True, slots=True)
class Diff:
    """Unified diff lines of one file."""

    path: str
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Chart:
    """A chart as data: ``series`` is (name, values) over ``labels``; ``alt`` says it in words."""

    title: str
    labels: tuple[str, ...]
    series: tuple[tuple[str, tuple[float, ...]], ...]
    unit: str
    alt: str


@dataclass(frozen=True, slots=True)
class Action:
    """A button: ``action`` is the verb that bot/ dispatches on; ``value`` is never authority.

    The verb ``ask`` re-asks: its value is the command text ("queue research").
    """

    label: str
    action: str
    value: str = ""
    style: Literal["", "primary", "danger"] = ""
    url: str = ""
    confirm: str = ""


Part = Paragraph | Bullets | Facts | Table | Bar | Quote | Diff | Chart


@dataclass(frozen=True, slots=True)
class Page:
    """First the answer in one sentence, then its numbers, then what to do next, then its source."""

    headline: Line
    parts: tuple[Part, ...] = ()
    actions: tuple[Action, ...] = ()
    footer: Line = ()
    notices: tuple[Line, ...] = field(default=())


def plain(line: Line) -> str:
    """Return a line's words without emphasis, for notifications and tests."""
    return "".join(_word(span) for span in line)


def _word(span: Span) -> str:
    match span:
        case str():
            return span
        case Bold(text) | Code(text) | Link(text):
            return text
        case Person(id=who):
            return f"@{who}"
        case Time(at=at, clock=clock):
            return f"{at:%H:%M:%S} UTC" if clock else f"{at:%Y-%m-%d %H:%M} UTC"
