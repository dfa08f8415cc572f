"""[pure] A page for a terminal: aligned, wrapped, inert.

Control characters in data never reach the terminal, so a job's name or a message can't move the
cursor or change colours. The Slack renderer uses the same words for its text fallback.
"""

import textwrap
import unicodedata
from collections.abc import Callable, Sequence

from commands.page import (
    Action,
    Bar,
    Bullets,
    Chart,
    Diff,
    Facts,
    Line,
    Page,
    Paragraph,
    Part,
    Person,
    Quote,
    Table,
    plain,
)

MARKS = "█▒·░▓#+o"
_LAYOUT = "\n\t"
_BOLD, _PLAIN = "\x1b[1m", "\x1b[0m"
_NARROWEST = 6


def render(
    page: Page,
    width: int = 80,
    *,
    name: Callable[[str], str] = "@{}".format,
    colour: bool = False,
) -> str:
    """Return the page as text of at most ``width`` columns, ending with a newline.

    ``name`` gives the words for a person's id. With ``colour`` the headline is bold. Words longer
    than a line (addresses) are kept whole, and diffs and quotes keep their own lines.
    """
    headline = _wrap(words(page.headline, name), width)
    chunks = [f"{_BOLD}{headline}{_PLAIN}" if colour else headline]
    chunks += [_wrap("! " + words(notice, name), width, "  ") for notice in page.notices]
    chunks += [_part(part, width, name) for part in page.parts]
    chunks += [_actions(page.actions, width)]
    chunks += [_wrap(words(page.footer, name), width)]
    return "\n\n".join(chunk for chunk in chunks if chunk) + "\n"


def words(line: Line, name: Callable[[str], str] = "@{}".format) -> str:
    """Return a line's words with people named and control characters removed."""
    return "".join(
        inert(name(span.id) if isinstance(span, Person) else plain((span,))) for span in line
    )


def inert(text: str) -> str:
    """Drop control, zero-width and direction-changing characters; keep newlines and tabs."""
    return "".join(c for c in text if c in _LAYOUT or not unicodedata.category(c).startswith("C"))


def bar(parts: Sequence[tuple[str, int]], cells: int = 40) -> tuple[str, str]:
    """Return a bar of at most ``cells`` characters and its words.

    Each positive part gets at least one cell; cells are in proportion otherwise. Parts of zero
    are said in words only. When amounts are small a cell is exactly one unit.
    """
    total = sum(max(0, amount) for _, amount in parts)
    scale = min(1.0, cells / total) if total else 0.0
    drawn = "".join(
        MARKS[i % len(MARKS)] * max(1, round(amount * scale))
        for i, (_, amount) in enumerate(parts)
        if amount > 0
    )
    return drawn[: cells + len(parts)], inert(
        " | ".join(f"{amount} {label}" for label, amount in parts)
    )


def table_lines(table: Table, width: int, name: Callable[[str], str] = "@{}".format) -> list[str]:
    """Return a table's lines, its columns narrowed and its cells wrapped to fit ``width``."""
    rows = [tuple(inert(h) for h in table.headers)]
    rows += [tuple(words(cell, name) for cell in row) for row in table.rows]
    sizes = _column_widths(rows, width)
    lines = [line for row in rows for line in _row_lines(row, sizes, table.numeric)]
    header_height = len(_row_lines(rows[0], sizes, table.numeric))
    rule = "  ".join("-" * size for size in sizes)
    return [*lines[:header_height], rule, *lines[header_height:]]


def display_width(text: str) -> int:
    """Return how many terminal cells the text takes: wide East Asian characters take two."""
    return sum(
        0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1
        for c in text
    )


def _part(part: Part, width: int, name: Callable[[str], str]) -> str:
    match part:
        case Paragraph(line=line):
            return _wrap(words(line, name), width)
        case Bullets(items=items):
            return "\n".join(_wrap("- " + words(item, name), width, "  ") for item in items)
        case Facts():
            return _facts(part, width, name)
        case Table():
            return _table(part, width, name)
        case Bar(parts=parts, caption=caption):
            drawn, said = bar(parts, min(width - 2, 60))
            return "\n".join(filter(None, [inert(caption), drawn, _wrap(said, width)]))
        case Quote(text=text, source=source):
            quoted = [f"> {line}" for line in _wrap(inert(text), width - 2).splitlines() or [""]]
            return "\n".join([*([f"{inert(source)}:"] if source else []), *quoted])
        case Diff(path=path, lines=lines):
            return "\n".join([inert(path), *(f"  {inert(line)}" for line in lines)])
        case Chart(title=title, alt=alt):
            return _wrap(f"{inert(title)}: {inert(alt)}", width)


def _facts(facts: Facts, width: int, name: Callable[[str], str]) -> str:
    left = max((display_width(inert(label)) for label, _ in facts.pairs), default=0)
    left = min(left, width // 2)
    lines = [inert(facts.title)] if facts.title else []
    for label, value in facts.pairs:
        start = _pad(inert(label), left) + "  "
        lines.append(_wrap(start + words(value, name), width, " " * (left + 2)))
    return "\n".join(lines)


def _table(table: Table, width: int, name: Callable[[str], str]) -> str:
    caption = [inert(table.caption)] if table.caption else []
    return "\n".join([*caption, *table_lines(table, width, name)])


def _actions(actions: Sequence[Action], width: int) -> str:
    lines = []
    for action in actions:
        if action.action == "ask":
            lines.append(f"- {inert(action.label)}: {inert(action.value)}")
        elif action.url:
            lines.append(f"- {inert(action.label)}: {inert(action.url)}")
        elif action.action == "request":
            lines.append(f"- {inert(action.label)}: /gpu-request {inert(action.value)} in Slack")
    wrapped = [_wrap(line, width, "  ") for line in lines]
    return "\n".join(["You can ask next:", *wrapped]) if wrapped else ""


def _wrap(text: str, width: int, indent: str = "") -> str:
    lines = []
    for i, line in enumerate(text.split("\n")):
        lines += textwrap.wrap(
            line,
            max(width, 20),
            initial_indent=indent if i else "",
            subsequent_indent=indent,
            break_long_words=False,
            break_on_hyphens=False,
            replace_whitespace=False,
            drop_whitespace=True,
        ) or [""]
    return "\n".join(lines)


def _column_widths(rows: Sequence[tuple[str, ...]], width: int) -> list[int]:
    """Narrow the widest columns until all fit: first between words, then within them."""
    sizes = [max(1, *map(display_width, column)) for column in zip(*rows, strict=True)]
    words_ = [_longest_word(column) for column in zip(*rows, strict=True)]
    for least in (words_, [_NARROWEST] * len(sizes)):
        while sum(sizes) + 2 * (len(sizes) - 1) > width:
            wide = [(size, -at) for at, size in enumerate(sizes) if size > least[at]]
            if not wide:
                break
            sizes[-max(wide)[1]] -= 1
    return sizes


def _longest_word(column: Sequence[str]) -> int:
    return max(1, *(display_width(word) for cell in column for word in cell.split(" ")))


def _row_lines(row: tuple[str, ...], sizes: Sequence[int], numeric: Sequence[int]) -> list[str]:
    cells = [textwrap.wrap(cell, size) or [""] for cell, size in zip(row, sizes, strict=True)]
    height = max(len(cell) for cell in cells)
    lines = []
    for i in range(height):
        shown = [
            _pad(cell[i] if i < len(cell) else "", size, right=column in numeric)
            for column, (cell, size) in enumerate(zip(cells, sizes, strict=True))
        ]
        lines.append("  ".join(shown).rstrip())
    return lines


def _pad(text: str, size: int, *, right: bool = False) -> str:
    space = " " * max(0, size - display_width(text))
    return space + text if right else text + space
