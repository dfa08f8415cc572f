"""Arguments of a Web API call, whether they came as a form, as JSON or in the query. [pure]."""

import json
from typing import Any

from bot.playground.fake_slack.error import SlackError

Params = dict[str, Any]


def word(params: Params, name: str, default: str = "") -> str:
    """Return a string argument."""
    value = params.get(name)
    return default if value is None else str(value)


def needed(params: Params, name: str) -> str:
    """Return a string argument that must be there."""
    value = word(params, name)
    if not value:
        raise SlackError("invalid_arguments", (f"missing required field: {name}",))
    return value


def flag(params: Params, name: str) -> bool:
    """Return a boolean argument; forms write it as 1 or true."""
    return str(params.get(name, "")).lower() in {"1", "true"}


def structure(params: Params, name: str, kind: type, error: str) -> Any:
    """Return a JSON argument, which forms carry as a string; None if it is absent."""
    value = params.get(name)
    if value is None or value == "":
        return None
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except json.JSONDecodeError as problem:
            raise SlackError(error) from problem
    if not isinstance(value, kind):
        raise SlackError(error)
    return value


def paged(items: list[Any], params: Params, default: int = 100) -> tuple[list[Any], str]:
    """Return one page of a list and the cursor of the next ("" at the end)."""
    try:
        start = int(word(params, "cursor") or "0")
        size = int(word(params, "limit", str(default)))
    except ValueError as problem:
        raise SlackError("invalid_cursor") from problem
    end = start + max(1, min(size, 1000))
    return items[start:end], str(end) if end < len(items) else ""
