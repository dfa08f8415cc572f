"""[pure] A page for Slack: Block Kit and its plain-text fallback, within Slack's limits.

Words from people and from Kueue go into rich_text or raw_text, where Slack parses nothing, or are
escaped in the few mrkdwn places (facts and footer). What doesn't fit is cut, and the message says
what was cut.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any

from bot import text as plain_text
from bot.blocks_rich import (
    Resolver,
    bar_elements,
    bullets,
    diff_elements,
    label,
    mrkdwn,
    nobody,
    quote_elements,
    section,
    shorten,
)
from bot.blocks_table import table_blocks, text_table
from commands.page import (
    Action,
    Bar,
    Bold,
    Bullets,
    Chart,
    Diff,
    Facts,
    Line,
    Page,
    Paragraph,
    Part,
    Quote,
    Table,
)

Block = dict[str, Any]
MOST_BLOCKS = 50
MOST_JSON = 13_000
MOST_FALLBACK = 3_900
_FIELDS, _FIELD = 10, 2_000
_BUTTONS, _LABEL, _VALUE, _URL = 25, 75, 2_000, 3_000
_CONTEXT = 2_000
_IMAGE_TEXT = 2_000
_RESERVED_FOR_CUT = 260


@dataclass(frozen=True, slots=True)
class Message:
    """What chat.postMessage takes: ``text`` says the same as ``blocks``, for notifications."""

    text: str
    blocks: list[Block]


@dataclass(frozen=True, slots=True)
class _Frame:
    """What every part may need: who is who in Slack, and the pictures of charts by title."""

    who: Resolver
    images: Mapping[str, str]


def render(
    page: Page,
    *,
    who: Resolver = nobody,
    images: Mapping[str, str] | None = None,
    view: bool = False,
) -> Message:
    """Return the page as a Slack message, never above Slack's limits.

    ``who`` maps a person's id to a Slack user id (None: named, not mentioned). ``images`` maps a
    chart's title to a Slack file id or https address; a chart without one is said in words. The
    headline, the buttons and the footer always stay; parts are cut from the end. A ``view`` (modal
    or Home tab) may hold no table block, so that tables are text there.
    """
    frame = _Frame(who, images or {})
    first = [_rich(section(page.headline, who))]
    first += [_rich(section(("⚠ ", *notice), who)) for notice in page.notices]
    last = [*_buttons(page.actions), *_footer(page.footer, who)]
    room = MOST_JSON - size(first) - size(last) - _RESERVED_FOR_CUT
    slots = MOST_BLOCKS - len(first) - len(last) - 1
    middle = _fit(page.parts, frame, room, slots, table=not view)
    return Message(_fallback(page), [*first, *middle, *last])


def size(blocks: Sequence[Block]) -> int:
    """Return the length of the JSON that the SDK sends for these blocks."""
    return len(json.dumps(blocks))


def _fit(
    parts: Sequence[Part], frame: _Frame, room: int, slots: int, *, table: bool
) -> list[Block]:
    """Render parts in order until one doesn't fit; Slack allows one table block a message."""
    made: list[Block] = []
    for i, part in enumerate(parts):
        left = room - size(made)
        blocks = _part(part, frame, left, table=table)
        table = table and not any(b["type"] == "table" for b in blocks)
        if size(blocks) > left or len(made) + len(blocks) > slots:
            return [*made, _cut(len(parts) - i)]
        made += blocks
    return made


def _cut(parts: int) -> Block:
    what = "part" if parts == 1 else "parts"
    line: Line = (Bold(f"{parts} more {what} cut"), " because Slack allows no longer message.")
    return _rich(section(line, nobody))


def _part(part: Part, frame: _Frame, room: int, *, table: bool) -> list[Block]:
    match part:
        case Paragraph(line=line):
            return [_rich(section(line, frame.who))]
        case Bullets(items=items):
            return [_rich(bullets(items, frame.who))] if items else []
        case Facts():
            return _facts(part, frame.who)
        case Table():
            if table:
                return table_blocks(part, frame.who, room)
            return text_table(part, room)
        case Bar(parts=amounts, caption=caption):
            return [_rich(*bar_elements(amounts, caption))]
        case Quote(text=text, source=source):
            return [_rich(*quote_elements(text, source))]
        case Diff(path=path, lines=lines):
            return [_rich(*diff_elements(path, lines))]
        case Chart():
            return [_chart(part, frame.images)]


def _rich(*elements: Block) -> Block:
    return {"type": "rich_text", "elements": list(elements)}


def _facts(facts: Facts, who: Resolver) -> list[Block]:
    fields = [
        {
            "type": "mrkdwn",
            "text": shorten(f"*{mrkdwn((label,), who)}*\n{mrkdwn(value, who)}", _FIELD),
            "verbatim": True,
        }
        for label, value in facts.pairs
    ]
    title = [_rich(section((Bold(facts.title),), who))] if facts.title else []
    grid = [
        {"type": "section", "fields": fields[i : i + _FIELDS]}
        for i in range(0, len(fields), _FIELDS)
    ]
    return [*title, *grid]


def _chart(chart: Chart, images: Mapping[str, str]) -> Block:
    image = images.get(chart.title)
    if image is None:
        return _rich(section((Bold(chart.title), ": ", chart.alt), nobody))
    source = {"image_url": image} if "://" in image else {"slack_file": {"id": image}}
    return {
        "type": "image",
        "alt_text": label(chart.alt, _IMAGE_TEXT),
        "title": {"type": "plain_text", "text": label(chart.title, _IMAGE_TEXT)},
        **source,
    }


def _buttons(actions: Sequence[Action]) -> list[Block]:
    seen: dict[str, count[int]] = {}
    shown = [a for a in actions if len(a.value) <= _VALUE and len(a.url) <= _URL][:_BUTTONS]
    elements = [_button(a, next(seen.setdefault(a.action, count(1)))) for a in shown]
    return [{"type": "actions", "elements": elements}] if elements else []


def _button(action: Action, number: int) -> Block:
    """Build a button; Slack wants action ids unique in a block: ``ask``, ``ask.2``, ``ask.3``."""
    button: Block = {
        "type": "button",
        "action_id": action.action if number == 1 else f"{action.action}.{number}",
        "text": {"type": "plain_text", "text": label(action.label, _LABEL)},
    }
    if action.value:
        button["value"] = action.value
    if action.url:
        button["url"] = action.url
    if action.style:
        button["style"] = action.style
    if action.confirm:
        button["confirm"] = {
            "title": {"type": "plain_text", "text": label(action.label, 100)},
            "text": {"type": "plain_text", "text": label(action.confirm, 300)},
            "confirm": {"type": "plain_text", "text": label(action.label, 30)},
            "deny": {"type": "plain_text", "text": "Go back"},
        }
    return button


def _footer(line: Line, who: Resolver) -> list[Block]:
    said = shorten(mrkdwn(line, who), _CONTEXT).strip()
    if not said:
        return []
    element = {"type": "mrkdwn", "text": said, "verbatim": True}
    return [{"type": "context", "elements": [element]}]


def _fallback(page: Page) -> str:
    """Say the page's facts in plain words, escaped because Slack parses ``text`` as mrkdwn."""
    said = plain_text.render(page, width=100).strip()
    said = said.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return shorten(said, MOST_FALLBACK) or "-"
