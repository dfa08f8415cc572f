"""Where people click: messages and views, their elements, and what was put into them. [pure]."""

from typing import Any

from bot.playground.fake_slack.error import SlackError
from bot.playground.fake_slack.messages import Message
from bot.playground.fake_slack.state import Value, kept
from bot.playground.fake_slack.validate_blocks import elements_of
from bot.playground.fake_slack.view_book import View

Place = Message | View
Found = tuple[dict[str, Any], dict[str, Any]]


def address(place: Place) -> str:
    """Return what errors shown to people refer to."""
    return place.id if isinstance(place, View) else f"{place.channel}/{place.ts}"


def find_element(place: Place, block_id: str, action_id: str) -> Found:
    """Return a block and its element; an empty block id means the first with that action."""
    for block in place.blocks:
        if block_id and block["block_id"] != block_id:
            continue
        for element in elements_of(block):
            if element.get("action_id") == action_id:
                return block, element
    raise SlackError("no_such_element", (f"{action_id} is not there any more",))


def keep(place: Place, block: dict[str, Any], element: dict[str, Any], value: Value) -> None:
    """Put a value into an element."""
    place.values = kept(place.values, place.blocks)
    place.values[block["block_id"]][element["action_id"]] = value
