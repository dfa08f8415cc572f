"""What people have put into input fields, and the ``state`` that payloads carry of it. [pure].

A value is kept as the page knows it: a string (typed text, a date, an option's value, an id), a
list of strings where several can be chosen, or None when the field is empty. Of files it is their
ids; Slack sends whole file objects, of which the id is all that can be relied on.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from bot.playground.fake_slack.validate_blocks import elements_of
from bot.playground.fake_slack.validate_elements import all_options

Value = str | list[str] | None
Values = dict[str, dict[str, Value]]

_INITIAL = {
    "plain_text_input": "initial_value",
    "number_input": "initial_value",
    "email_text_input": "initial_value",
    "url_text_input": "initial_value",
    "datepicker": "initial_date",
    "timepicker": "initial_time",
    "datetimepicker": "initial_date_time",
    "users_select": "initial_user",
    "channels_select": "initial_channel",
    "conversations_select": "initial_conversation",
    "multi_users_select": "initial_users",
    "multi_channels_select": "initial_channels",
    "multi_conversations_select": "initial_conversations",
}
_SELECTED = {
    "datepicker": "selected_date",
    "timepicker": "selected_time",
    "datetimepicker": "selected_date_time",
    "users_select": "selected_user",
    "channels_select": "selected_channel",
    "conversations_select": "selected_conversation",
    "multi_users_select": "selected_users",
    "multi_channels_select": "selected_channels",
    "multi_conversations_select": "selected_conversations",
}
_ONE_OPTION = {"static_select", "external_select", "radio_buttons", "overflow"}
_MANY_OPTIONS = {"multi_static_select", "multi_external_select", "checkboxes"}
_STATELESS = {"button", "overflow", "image"}


def stateful(blocks: Iterable[dict[str, Any]]) -> Iterable[tuple[dict[str, Any], dict[str, Any]]]:
    """Yield (block, element) for every element that keeps a value."""
    for block in blocks:
        for element in elements_of(block):
            if element["type"] not in _STATELESS:
                yield block, element


def initial(element: Mapping[str, Any]) -> Value:
    """Return the value an untouched element has."""
    kind = element["type"]
    if kind in _ONE_OPTION:
        option = element.get("initial_option")
        return option["value"] if option else None
    if kind in _MANY_OPTIONS:
        return [o["value"] for o in element.get("initial_options") or []]
    value = element.get(_INITIAL.get(kind, ""))
    return str(value) if isinstance(value, int) else value


def kept(values: Values, blocks: Iterable[dict[str, Any]]) -> Values:
    """Return values for these blocks: kept where ids are the same, else initial."""
    result: Values = {}
    for block, element in stateful(blocks):
        block_id, action_id = block["block_id"], element["action_id"]
        old = values.get(block_id, {})
        value = old[action_id] if action_id in old else initial(element)
        result.setdefault(block_id, {})[action_id] = value
    return result


def to_state(blocks: Iterable[dict[str, Any]], values: Values) -> dict[str, dict[str, Any]]:
    """Return ``state.values`` as Slack sends it."""
    result: dict[str, dict[str, Any]] = {}
    for block, element in stateful(blocks):
        value = values.get(block["block_id"], {}).get(element["action_id"])
        entry = {"type": element["type"], **chosen(element, value)}
        result.setdefault(block["block_id"], {})[element["action_id"]] = entry
    return result


def chosen(element: Mapping[str, Any], value: Value) -> dict[str, Any]:
    """Return the part of an action or a state entry that says what was chosen or typed."""
    kind = element["type"]
    if kind in _ONE_OPTION:
        return {"selected_option": _option(element, value) if isinstance(value, str) else None}
    if kind in _MANY_OPTIONS:
        return {"selected_options": [_option(element, v) for v in value or []]}
    if kind == "file_input":
        return {"files": [{"id": file} for file in value or []]}
    if kind == "datetimepicker":
        return {"selected_date_time": int(value) if isinstance(value, str) and value else None}
    if kind in _SELECTED:
        return {_SELECTED[kind]: value or ([] if kind.startswith("multi_") else None)}
    return {"value": value or None}


def _option(element: Mapping[str, Any], value: str) -> dict[str, Any]:
    known = {o["value"]: o for o in all_options(dict(element))}
    if value in known or not element["type"].endswith("external_select"):
        return known[value]
    return {"text": {"type": "plain_text", "text": value, "emoji": True}, "value": value}
