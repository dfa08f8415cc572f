"""Blocks within Slack's limits, alone and as a message. [pure].

Not covered: the newest blocks (data_table, data_visualization, card, carousel, alert, plan ...);
they are refused as in a workspace that does not have them yet.
"""

import json
from typing import Any

from bot.playground.fake_slack.error import SlackError
from bot.playground.fake_slack.validate_elements import (
    ACTION_ELEMENT,
    INPUT_ELEMENT,
    SECTION_ACCESSORY,
)
from bot.playground.fake_slack.validate_rich_text import RICH_TEXT
from bot.playground.fake_slack.validate_shape import (
    Check,
    Report,
    array,
    boolean,
    both,
    by_type,
    fields,
    string,
)
from bot.playground.fake_slack.validate_table import TABLE, check_tables
from bot.playground.fake_slack.validate_text import (
    ID,
    IMAGE_BLOCK,
    IMAGE_ELEMENT,
    plain_text,
    text_object,
)

MESSAGE_BLOCKS = 50
VIEW_BLOCKS = 100
MESSAGE_JSON = 13_200
"""Slack refuses more as msg_blocks_too_long; undocumented, measured (bolt-js #2509)."""
MARKDOWN_CHARACTERS = 12_000


def _says_something(report: Report, path: str, value: Any) -> None:
    if value.get("text") is None and not value.get("fields"):
        report.add(path, "must define either `text` or `fields`")


_CONTEXT_ELEMENT = by_type(
    {
        "image": IMAGE_ELEMENT,
        "mrkdwn": fields({"text": string(3000, 1)}, {"verbatim": boolean}),
        "plain_text": fields({"text": string(3000, 1)}, {"emoji": boolean}),
    }
)
COMMON_BLOCKS: dict[str, Check] = {
    "section": both(
        fields(
            {},
            {
                "block_id": ID,
                "text": text_object(3000),
                "fields": array(text_object(2000), 10),
                "accessory": SECTION_ACCESSORY,
                "expand": boolean,
            },
        ),
        _says_something,
    ),
    "header": fields({"text": plain_text(150)}, {"block_id": ID}),
    "actions": fields({"elements": array(ACTION_ELEMENT, 25)}, {"block_id": ID}),
    "context": fields({"elements": array(_CONTEXT_ELEMENT, 10)}, {"block_id": ID}),
    "divider": fields({}, {"block_id": ID}),
    "image": IMAGE_BLOCK,
    "input": fields(
        {"label": plain_text(2000), "element": INPUT_ELEMENT},
        {"block_id": ID, "hint": plain_text(2000), "optional": boolean, "dispatch_action": boolean},
    ),
    "rich_text": RICH_TEXT,
}
_MESSAGE_ONLY: dict[str, Check] = {
    "table": TABLE,
    "markdown": fields({"text": string(MARKDOWN_CHARACTERS, 1)}, {"block_id": ID}),
}
_IN_MESSAGE = array(by_type({**COMMON_BLOCKS, **_MESSAGE_ONLY}), MESSAGE_BLOCKS, 0)
_IN_VIEW = array(by_type(COMMON_BLOCKS), VIEW_BLOCKS, 0)


def elements_of(block: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the interactive elements of a block, wherever it keeps them."""
    one = block.get("accessory") or block.get("element")
    return [one] if one else list(block.get("elements") or []) if _holds(block) else []


def _holds(block: dict[str, Any]) -> bool:
    return bool(block["type"] == "actions")


def check_ids(report: Report, blocks: list[dict[str, Any]], path: str) -> None:
    """Check that block ids are unique, action ids are within a block, and one field has focus."""
    ids = [b["block_id"] for b in blocks if b.get("block_id")]
    report.errors += [
        f"`block_id` already exists: {i} [json-pointer:{path}]"
        for i in sorted({i for i in ids if ids.count(i) > 1})
    ]
    focused = 0
    for index, block in enumerate(blocks):
        actions = [e["action_id"] for e in elements_of(block) if e.get("action_id")]
        focused += sum(bool(e.get("focus_on_load")) for e in elements_of(block))
        for twice in sorted({a for a in actions if actions.count(a) > 1}):
            report.add(f"{path}/{index}", f"`action_id` already exists: {twice}")
    if focused > 1:
        report.add(path, "only one element can have focus_on_load")


def message_errors(blocks: Any) -> list[str]:
    """Return what is wrong with a message's blocks, in Slack's words; empty if nothing is."""
    report = Report()
    _IN_MESSAGE(report, "/blocks", blocks)
    if not report.errors:
        check_ids(report, blocks, "/blocks")
        check_tables(report, blocks)
        if sum(len(b["text"]) for b in blocks if b["type"] == "markdown") > MARKDOWN_CHARACTERS:
            report.add("/blocks", f"markdown exceeds {MARKDOWN_CHARACTERS} characters")
    return report.errors


def view_block_errors(blocks: Any) -> list[str]:
    """Return what is wrong with the blocks of a modal or Home tab."""
    report = Report()
    _IN_VIEW(report, "/view/blocks", blocks)
    if not report.errors:
        check_ids(report, blocks, "/view/blocks")
    return report.errors


def check_message_blocks(blocks: Any) -> None:
    """Raise the error that chat.* methods answer for these blocks, if any."""
    errors = message_errors(blocks)
    if errors:
        raise SlackError("invalid_blocks", tuple(errors))
    if sum(b["type"] == "table" for b in blocks) > 1:
        raise SlackError("invalid_attachments", ("only_one_table_allowed",))
    if len(json.dumps(blocks, ensure_ascii=False, separators=(",", ":"))) > MESSAGE_JSON:
        raise SlackError("msg_blocks_too_long")
