"""[pure] An answer as JSON for scripts: every field by its name, exact figures, ISO moments."""

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from dataclasses import fields, is_dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal
from enum import Enum
from typing import Any

from capacity.model import UNLIMITED


def to_json(answer: object) -> dict[str, Any]:
    """Return an Answer as a dict that ``json.dumps`` takes.

    Moments are ISO 8601, durations seconds, Decimals text. A key or value that is a NamedTuple is
    its fields joined by a slash ("h100/nvidia.com/gpu"). Kueue's largest amount is "unlimited";
    None stays null.
    """
    made = _json(answer)
    if not isinstance(made, dict):
        raise TypeError(f"an answer is a dataclass, not {type(answer).__name__}")
    return made


def _json(value: Any) -> Any:
    match value:
        case None | bool() | str() | float():
            return value
        case Enum():
            return value.value
        case int():
            return "unlimited" if value >= UNLIMITED else value
        case Decimal():
            return format(value, "f")
        case datetime() | date():
            return value.isoformat()
        case timedelta():
            return value.total_seconds()
        case Mapping():
            return {_key(k): _json(v) for k, v in value.items()}
    return _composite(value)


def _composite(value: Any) -> Any:
    if is_dataclass(value) and not isinstance(value, type):
        return {f.name: _json(getattr(value, f.name)) for f in fields(value)}
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return _key(value)
    if isinstance(value, AbstractSet):
        return sorted(_key(v) for v in value)
    if isinstance(value, list | tuple):
        return [_json(v) for v in value]
    raise TypeError(f"no JSON form for {type(value).__name__}")


def _key(value: Any) -> str:
    if isinstance(value, tuple):
        return "/".join(str(part) for part in value)
    return str(value)
