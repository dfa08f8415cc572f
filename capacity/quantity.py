"""Kubernetes quantities: text such as "500m" or "36Gi" to exact numbers, and back.

The grammar and the canonical form are those of apimachinery's pkg/api/resource; the unit of an
amount is Kueue's (pkg/resources): millicores for cpu, whole units for everything else.

[pure]
"""

import re
from decimal import ROUND_UP, Context, Decimal

from capacity.errors import UsageError
from capacity.model import UNLIMITED

_BINARY = ("", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei")
_DECIMAL = {-9: "n", -6: "u", -3: "m", 0: "", 3: "k", 6: "M", 9: "G", 12: "T", 15: "P", 18: "E"}
_EXPONENTS = {suffix: exponent for exponent, suffix in _DECIMAL.items()}
_FORM = re.compile(r"([+-]?(?:\d+\.?\d*|\.\d+))([KMGTPE]i|[numkMGTPE]|[eE][+-]?\d{1,3})?", re.ASCII)
_LONGEST = 64
_NANO = Decimal("1e-9")
_EXACT = Context(prec=2000)
_MILLI = 1000
_BINARY_RESOURCES = ("memory", "ephemeral-storage")


def parse(text: str | float) -> Decimal:
    """Return the exact value of a quantity; what is finer than a billionth is rounded up.

    A number (from YAML without quotes) is read by its shortest decimal form. Raises UsageError
    for anything that Kubernetes would refuse.
    """
    number, suffix = _split(text)
    if suffix in _BINARY:
        value = _EXACT.multiply(number, Decimal(1024) ** _BINARY.index(suffix))
    else:
        value = number.scaleb(_exponent(suffix), _EXACT)
    return _to_nano(value)


def to_amount(resource: str, text: str | float) -> int:
    """Return a quantity as Kueue counts it: millicores for cpu, else whole units, rounded up.

    A quantity that Kueue can't hold in 64 bits is UNLIMITED (AmountFromQuantity).
    """
    value = parse(text)
    if resource == "cpu":
        if value >= UNLIMITED // _MILLI:
            return UNLIMITED
        return _round_up(value * _MILLI)
    return UNLIMITED if value >= UNLIMITED else _round_up(value)


def to_text(resource: str, amount: int) -> str:
    """Return an amount as canonical Kubernetes text: "12", "500m", "36Gi"; "unlimited" is spelt.

    Memory, ephemeral storage and huge pages are written in powers of 1024 (Kueue's formatter).
    """
    if amount >= UNLIMITED:
        return "unlimited"
    if resource == "cpu":
        return _decimal_text(Decimal(amount) / _MILLI)
    if resource in _BINARY_RESOURCES or resource.startswith("hugepages-"):
        return _binary_text(Decimal(amount))
    return _decimal_text(Decimal(amount))


def canonical(text: str | float) -> str:
    """Return the text that Kubernetes would store for this quantity, in the same notation.

    "12000m" becomes "12", "0.5" becomes "500m", "1.5Gi" becomes "1536Mi", "1e3" stays "1e3".
    """
    suffix = _split(text)[1]
    value = parse(text)
    if suffix.endswith("i"):
        return _binary_text(value)
    if suffix[:1] in ("e", "E") and suffix != "E":
        digits, exponent = _thousands(value)
        return f"{digits}e{exponent}" if exponent else str(digits)
    return _decimal_text(value)


def same(a: str | float, b: str | float) -> bool:
    """Tell whether two quantities are equal by value: "12000m" and "12" are."""
    return parse(a) == parse(b)


def _split(text: str | float) -> tuple[Decimal, str]:
    if isinstance(text, int) and text.bit_length() > _LONGEST * 4:
        raise UsageError("A number that long is not a quantity.", "Write it as 12, 500m or 36Gi.")
    written = text.strip() if isinstance(text, str) else repr(text)
    found = _FORM.fullmatch(written) if len(written) <= _LONGEST else None
    if found is None or isinstance(text, bool):
        raise UsageError(
            f"{written[:_LONGEST]!r} is not a quantity.", "Write it as 12, 500m or 36Gi."
        )
    return Decimal(found[1]), found[2] or ""


def _exponent(suffix: str) -> int:
    return _EXPONENTS[suffix] if suffix in _EXPONENTS else int(suffix[1:])


def _to_nano(value: Decimal) -> Decimal:
    if value.normalize(_EXACT).as_tuple().exponent < -9:  # type: ignore[operator]  # finite: an int
        return value.quantize(_NANO, ROUND_UP, _EXACT)
    return value


def _round_up(value: Decimal) -> int:
    return int(value.to_integral_value(ROUND_UP, _EXACT))


def _thousands(value: Decimal) -> tuple[int, int]:
    """Split into an integer without trailing zeros to spare and a power of ten that 3 divides."""
    exponent = int(value.normalize(_EXACT).as_tuple().exponent)
    exponent -= exponent % 3
    return int(value.scaleb(-exponent, _EXACT)), exponent


def _decimal_text(value: Decimal) -> str:
    if not value:
        return "0"
    digits, exponent = _thousands(value)
    return f"{digits}{_DECIMAL[exponent]}" if exponent in _DECIMAL else f"{digits}e{exponent}"


def _binary_text(value: Decimal) -> str:
    whole = int(value)
    if abs(value) < 1024 or whole != value:
        return _decimal_text(value)
    power = 0
    while power < len(_BINARY) - 1 and whole % 1024 == 0:
        whole //= 1024
        power += 1
    return f"{whole}{_BINARY[power]}" if power else _decimal_text(value)
