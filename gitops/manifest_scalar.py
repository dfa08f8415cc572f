"""How a value is written: quoted as its neighbours are, and never read as something else.

[pure]
"""

import re

from capacity.errors import UsageError
from capacity.quantity import canonical, same

_SAFE_PLAIN = re.compile(r"[A-Za-z0-9][-A-Za-z0-9._/+]*")
_PRINTABLE = re.compile(r"[ -~\xa0-\ud7ff\ue000-\ufefe\uff00-\ufffd]*")
_QUANTITY = re.compile(r"-?\d+([KMGTPE]i|[numkMGTPE])?")
_NUMBERS = (
    re.compile(r"[-+]?(0[bB][01_]+|0[oO]?[0-7_]+|0[xX][0-9a-fA-F_]+|[0-9][0-9_]*)"),
    re.compile(r"[-+]?([0-9][0-9_]*\.?[0-9_]*|\.[0-9_]+)([eE][-+]?[0-9]+)?"),
    re.compile(r"[-+]?[0-9][0-9_]*(:[0-5]?[0-9])+(\.[0-9_]*)?"),
    re.compile(r"[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}.*"),
    re.compile(r"[-+]?\.(inf|nan)", re.IGNORECASE),
)
_WORDS = frozenset(["y", "n", "yes", "no", "on", "off", "true", "false", "null", "~", "none"])


def is_text(plain: str) -> bool:
    """Tell whether a plain scalar is text to every YAML 1.1 and 1.2 reader, not number or word."""
    return plain.lower() not in _WORDS and not any(n.fullmatch(plain) for n in _NUMBERS)


def is_null(text: str, style: str) -> bool:
    """Tell whether a scalar says that there is no value."""
    return not style and text in {"null", "Null", "NULL", "~"}


def spelt(new: str, kind: str) -> str:
    """Return the canonical spelling of a new value; raises UsageError if it isn't one.

    ``kind`` is "quantity", "integer" or "text". Quantities are not negative.
    """
    if kind == "quantity":
        text = canonical(new)
        if text.startswith("-"):
            raise UsageError(f"{new!r} is negative; a quota is 0 or more.")
        return text
    if kind == "integer" and not re.fullmatch(r"0|-?[1-9]\d{0,17}", new):
        raise UsageError(f"{new!r} is not a whole number.")
    if kind == "text" and not _PRINTABLE.fullmatch(new):
        raise UsageError(f"{new!r} has characters that don't belong in a value.")
    return new


def equal(held: str, expected: str, kind: str) -> bool:
    """Compare a value in a file with an expected one: quantities by value, the rest as spelt."""
    if kind != "quantity":
        return held == expected
    try:
        return same(held, expected)
    except UsageError:
        return False


def quoted(value: str, style: str, *, number: bool) -> str:
    """Write a value in a quoting style ("" is plain).

    ``number`` says that a plain number is meant as one. A plain value that a reader could take
    for something else gets double quotes.
    """
    if style == "'":
        return "'" + value.replace("'", "''") + "'"
    if style == '"':
        return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
    fits = _QUANTITY.fullmatch(value) if number else is_text(value) and _SAFE_PLAIN.fullmatch(value)
    return value if fits else quoted(value, '"', number=number)


def is_one_token(raw: str, value: str, style: str) -> bool:
    """Tell whether the bytes of a span are exactly this scalar, written on one line."""
    if style == "'":
        return raw[:1] == raw[-1:] == "'" and raw[1:-1].replace("''", "'") == value
    if style == '"':
        return raw[:1] == raw[-1:] == '"' and ("\\" in raw or raw[1:-1] == value)
    return raw == value
