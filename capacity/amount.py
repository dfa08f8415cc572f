"""Kueue's saturating amounts: exact integers with a largest one that means "unlimited".

Formulas as in Kueue's pkg/resources/amount.go; amounts are plain ints so that tight
loops stay fast.

[pure]
"""

from capacity.model import UNLIMITED

SMALLEST = -(2**63)
LARGE = 2**48
"""Fewer than 16,384 amounts below this can't add up to ``UNLIMITED``: plain + and - are exact."""


def clip(total: int) -> int:
    """Return an exact sum as Kueue would hold it: between the smallest amount and unlimited."""
    if total >= UNLIMITED:
        return UNLIMITED
    return max(total, SMALLEST)


def add(a: int, b: int) -> int:
    """Return a + b; unlimited plus anything stays unlimited."""
    if UNLIMITED in (a, b):
        return UNLIMITED
    return clip(a + b)


def subtract(a: int, b: int) -> int:
    """Return a - b; unlimited minus a bounded amount stays unlimited, minus unlimited is zero.

    A bounded amount minus unlimited is the smallest amount, which callers read as "nothing left".
    """
    if b == UNLIMITED:
        return 0 if a == UNLIMITED else SMALLEST
    if a == UNLIMITED:
        return UNLIMITED
    return clip(a - b)
