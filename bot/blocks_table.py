"""[pure] Tables for Slack: one ``table`` block a message, further ones in fixed width."""

import json
from typing import Any

from bot.blocks_rich import Resolver, nobody, preformatted, section, shorten
from bot.text import inert, table_lines
from commands.page import Bold, Line, Link, Person, Table, Time, plain

Block = dict[str, Any]
MOST_ROWS = 100
MOST_COLUMNS = 20
MOST_CELL_TEXT = 10_000
_CELL = 300
_PHONE = 38
_MOST_PREFORMATTED = 3_000


def table_blocks(table: Table, who: Resolver, room: int) -> list[Block]:
    """Return a table in at most ``room`` characters of JSON; rows that don't fit are counted."""
    caption = _caption(table, who)
    header = [_raw(h) for h in table.headers[:MOST_COLUMNS]]
    rows = [[_cell(cell, who) for cell in row[:MOST_COLUMNS]] for row in table.rows]
    room -= len(json.dumps(caption)) + len(json.dumps(_settings(table))) + 400
    kept = _rows_that_fit(header, rows, room)
    block = {"type": "table", "rows": [header, *kept], "column_settings": _settings(table)}
    return [*caption, block, *_rest(table, len(table.rows) - len(kept))]


def text_table(table: Table, room: int) -> list[Block]:
    """Return a table in fixed width, narrow enough for a phone: Slack allows one real table."""
    lines = table_lines(table, _PHONE)
    used = 0
    shown: list[str] = []
    for line in lines:
        used += len(line) + 2
        if used > min(_MOST_PREFORMATTED, room - 600):
            break
        shown.append(line)
    elements = [*(e for b in _caption(table, nobody) for e in b["elements"])]
    elements.append(preformatted("\n".join(shown)))
    if len(shown) < len(lines):
        elements.append(section((f"{len(lines) - len(shown)} more lines{_hint(table)}",), nobody))
    return [{"type": "rich_text", "elements": elements}]


def _rows_that_fit(header: list[Block], rows: list[list[Block]], room: int) -> list[list[Block]]:
    text = sum(_text_length(cell) for cell in header)
    used = len(json.dumps(header))
    kept: list[list[Block]] = []
    for row in rows[: MOST_ROWS - 1]:
        text += sum(_text_length(cell) for cell in row)
        used += len(json.dumps(row)) + 2
        if text > MOST_CELL_TEXT or used > room:
            break
        kept.append(row)
    return kept


def _rest(table: Table, cut: int) -> list[Block]:
    if cut <= 0:
        return []
    line = f"{cut} more {'row' if cut == 1 else 'rows'}{_hint(table)}"
    return [{"type": "rich_text", "elements": [section((line,), nobody)]}]


def _hint(table: Table) -> str:
    return f"; ask /gpu {table.more}" if table.more else " don't fit in a Slack message"


def _caption(table: Table, who: Resolver) -> list[Block]:
    if not table.caption:
        return []
    return [{"type": "rich_text", "elements": [section((Bold(table.caption),), who)]}]


def _settings(table: Table) -> list[Block]:
    return [
        {"align": "right" if i in table.numeric else "left", "is_wrapped": i not in table.numeric}
        for i in range(min(len(table.headers), MOST_COLUMNS))
    ]


def _cell(line: Line, who: Resolver) -> Block:
    """Build a cell: raw text, or rich text where a mention, a moment or a link needs it."""
    if any(isinstance(span, Person | Time | Link) for span in line):
        return {"type": "rich_text", "elements": [section(line, who)]}
    return _raw(plain(line))


def _raw(text: str) -> Block:
    """Build a raw cell; Slack refuses an empty one."""
    return {"type": "raw_text", "text": shorten(inert(text), _CELL).strip() or " "}


def _text_length(cell: Block) -> int:
    if "text" in cell:
        return len(cell["text"])
    return len(json.dumps(cell["elements"]))
