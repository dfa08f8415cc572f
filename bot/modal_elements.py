"""[pure] The input blocks of modals, within Slack's limits."""

from collections.abc import Mapping, Sequence
from typing import Any

Block = dict[str, Any]
MOST_OPTIONS, LABEL, OPTION_VALUE = 100, 75, 150
LIVE: Block = {"dispatch_action": True}


def field(block: str, label: str, element: Block, more: Block | None = None) -> Block:
    """Return an input block; its action id is the block id without the hash after the dash."""
    named = element | {"action_id": block.partition("-")[0]}
    shown = {"type": "input", "block_id": block, "label": plain(label), "element": named}
    return shown | (more or {})


def select(
    block: str,
    label: str,
    options: Sequence[tuple[str, str]],
    chosen: str,
    *,
    live: bool = True,
) -> Block:
    """Return a menu of (value, words); says how many of them a menu can't hold.

    A ``live`` one tells of each choice at once.
    """
    fitting = [_option(value, words) for value, words in options if len(value) <= OPTION_VALUE]
    known = fitting[:MOST_OPTIONS] or [_option("none", "none")]
    more: Block = dict(LIVE) if live else {}
    if len(options) > len(known):
        more["hint"] = plain(
            f"{len(known)} of {len(options)} are listed. Type others after the command."
        )
    return field(
        block, label, {"type": "static_select", "options": known} | _initial(known, chosen), more
    )


def radio(block: str, label: str, options: Mapping[Any, str], chosen: str) -> Block:
    """Return live radio buttons."""
    known = [_option(value, words) for value, words in options.items()]
    return field(
        block, label, {"type": "radio_buttons", "options": known} | _initial(known, chosen), LIVE
    )


def number(block: str, label: str, typed: str) -> Block:
    """Return a live field for a whole number that isn't negative."""
    element: Block = {
        "type": "number_input",
        "is_decimal_allowed": False,
        "min_value": "0",
        "dispatch_action_config": {
            "trigger_actions_on": ["on_enter_pressed", "on_character_entered"]
        },
    }
    element |= {"initial_value": typed} if typed.isdigit() else {}
    return field(block, label, element, LIVE)


def day(block: str, label: str, chosen: str) -> Block:
    """Return a date picker that may stay empty."""
    element: Block = {"type": "datepicker"} | ({"initial_date": chosen} if chosen else {})
    return field(block, label, element, {"optional": True})


def lines(
    block: str, label: str, typed: str, most: int, hint: str = "", *, optional: bool = False
) -> Block:
    """Return a field for several lines of words."""
    element: Block = {"type": "plain_text_input", "multiline": True, "max_length": most}
    element |= {"initial_value": typed} if typed else {}
    more: Block = {"hint": plain(hint)} if hint else {}
    return field(block, label, element, more | ({"optional": True} if optional else {}))


def line(block: str, label: str, example: str) -> Block:
    """Return a field for one line of words that may stay empty."""
    element: Block = {"type": "plain_text_input", "placeholder": plain(example), "max_length": 200}
    return field(block, label, element, {"optional": True})


def upload(block: str, label: str, filetypes: Sequence[str]) -> Block:
    """Return a field for one file, which may stay empty."""
    element: Block = {"type": "file_input", "filetypes": list(filetypes), "max_files": 1}
    return field(block, label, element, {"optional": True})


def words(text: str) -> Block:
    """Return a paragraph in which nothing is parsed."""
    return {"type": "section", "text": plain(text)}


def plain(text: str) -> Block:
    """Return Slack's plain text object."""
    return {"type": "plain_text", "text": text}


def _option(value: str, said: str) -> Block:
    return {"text": plain(said[:LABEL]), "value": value}


def _initial(known: Sequence[Block], chosen: str) -> Block:
    found = next((option for option in known if option["value"] == chosen), None)
    return {"initial_option": found} if found else {}
