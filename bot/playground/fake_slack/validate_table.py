"""Table blocks within Slack's limits: 100 rows, 20 columns, 10,000 characters a message. [pure]."""

from typing import Any

from bot.playground.fake_slack.validate_rich_text import RICH_TEXT
from bot.playground.fake_slack.validate_shape import (
    Report,
    anything,
    array,
    boolean,
    by_type,
    fields,
    one_of,
    string,
)
from bot.playground.fake_slack.validate_text import ID

CHARACTERS_PER_MESSAGE = 10_000

_CELL = by_type(
    {
        "raw_text": fields({"text": string(CHARACTERS_PER_MESSAGE, 1)}),
        "raw_number": fields({"value": anything}, {"text": string(200)}),
        "rich_text": RICH_TEXT,
    }
)
_COLUMN = fields({}, {"align": one_of("left", "center", "right"), "is_wrapped": boolean})

TABLE = fields(
    {"rows": array(array(_CELL, 20), 100)},
    {"block_id": ID, "column_settings": array(_COLUMN, 20, 0)},
)


def check_tables(report: Report, blocks: list[dict[str, Any]]) -> None:
    """Check what holds for all tables of a message together."""
    tables = [b for b in blocks if b["type"] == "table"]
    if sum(cell_characters(row) for t in tables for row in t["rows"]) > CHARACTERS_PER_MESSAGE:
        report.add("/blocks", f"tables exceed {CHARACTERS_PER_MESSAGE} characters")
    for table in tables:
        if len({len(row) for row in table["rows"]}) > 1:
            report.add("/blocks", "table rows must have the same number of cells")


def cell_characters(cells: Any) -> int:
    """Count the characters of all texts below."""
    if isinstance(cells, list):
        return sum(cell_characters(c) for c in cells)
    if isinstance(cells, dict):
        own = len(cells["text"]) if isinstance(cells.get("text"), str) else 0
        return own + cell_characters(cells.get("elements") or [])
    return 0
