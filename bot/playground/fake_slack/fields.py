"""What Slack's client refuses before a form is sent at all. [pure]."""

import re
from collections.abc import Iterable, Mapping
from decimal import Decimal, InvalidOperation
from typing import Any

from bot.playground.fake_slack.state import Value, Values, stateful


def form_errors(blocks: Iterable[dict[str, Any]], values: Values) -> dict[str, str]:
    """Return a sentence for each input block whose value the client would not send."""
    errors = {}
    for block, element in stateful(blocks):
        if block["type"] != "input":
            continue
        value = values.get(block["block_id"], {}).get(element["action_id"])
        words = _error(element, value, optional=bool(block.get("optional")))
        if words:
            errors[block["block_id"]] = words
    return errors


def _error(element: Mapping[str, Any], value: Value, *, optional: bool) -> str:
    if not value:
        return "" if optional else "Please complete this required field."
    if element["type"] == "file_input" and len(value) > (element.get("max_files") or 10):
        return f"Please choose at most {element.get('max_files') or 10} files."
    if element["type"] == "number_input" and isinstance(value, str):
        return _number_error(element, value)
    if element["type"] == "plain_text_input":
        return _length_error(element, len(value))
    if element["type"] == "email_text_input" and not re.fullmatch(r"\S+@\S+\.\S+", str(value)):
        return "Please enter a valid email address."
    if element["type"] == "url_text_input" and not re.match(r"https?://\S+", str(value)):
        return "Please enter a valid URL."
    return ""


def _number_error(element: Mapping[str, Any], value: str) -> str:
    try:
        number = Decimal(value)
    except InvalidOperation:
        return "Please enter a number."
    if not element["is_decimal_allowed"] and number != number.to_integral_value():
        return "Please enter a whole number."
    if element.get("min_value") and number < Decimal(element["min_value"]):
        return f"Please enter a number of at least {element['min_value']}."
    if element.get("max_value") and number > Decimal(element["max_value"]):
        return f"Please enter a number of at most {element['max_value']}."
    return ""


def _length_error(element: Mapping[str, Any], length: int) -> str:
    if length < (element.get("min_length") or 0):
        return f"Please enter at least {element['min_length']} characters."
    if length > (element.get("max_length") or 3000):
        return f"Please enter at most {element.get('max_length') or 3000} characters."
    return ""
