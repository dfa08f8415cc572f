"""How GPU-hours, shares, money and days are said.

[pure]
"""

from datetime import timedelta
from decimal import Decimal
from zoneinfo import ZoneInfo

from capacity.usage import Hours, Ledger, Window
from capacity.usage_queries import Span

MOST_DAYS_IN_WORDS = 31
# A number never stands on another line than its sign.
_PERCENT = "\N{NO-BREAK SPACE}%"
NAMES = ("busy", "idle", "unknown")


def hours(amount: float) -> str:
    """Return "5,210", "12.5" or "0.3": a decimal where it matters."""
    if 0 < abs(amount) < 0.05:
        return "under 0.1"
    shown = f"{amount:,.0f}" if abs(amount) >= 99.5 else f"{amount:.1f}"
    return shown.removesuffix(".0")


def percent(share: float) -> str:
    """Return "61 %"; what isn't all is never "100 %", what isn't nothing never "0 %"."""
    if 0 < share < 0.005:
        return f"under 1{_PERCENT}"
    if 0.995 <= share < 1 - 1e-9:
        return f"over 99{_PERCENT}"
    return f"{share:.0%}".replace("%", _PERCENT)


def money(amount: Decimal, currency: str) -> str:
    """Return "4,060 EUR", and cents below a hundred."""
    return f"{amount:,.0f} {currency}" if amount >= 100 else f"{amount:.2f} {currency}"


def change(now: float, before: float, words: str) -> str:
    """Return "8 % more than the week before"; "" without anything to compare with."""
    if before <= 0:
        return ""
    share = (now - before) / before
    if abs(share) < 0.005:
        return f"as much as {words}"
    if share >= 1:
        return f"{now / before:.1f} times as much as {words}"
    return f"{percent(abs(share))} {'more' if share > 0 else 'less'} than {words}"


def window(of: Window) -> str:
    """Return the window's two ends, both in UTC; the end is not in it."""
    return f"{of.start:%Y-%m-%d %H:%M} to {of.end:%Y-%m-%d %H:%M} UTC"


def day(span: Span, zone: str) -> str:
    """Return the day as its people call it: "Tue 24"."""
    return f"{span.start.astimezone(ZoneInfo(zone)):%a %d}".replace(" 0", " ")


def by_day(ledger: Ledger) -> str:
    """Return every day's busy, idle and unknown hours in words, the longest ones summed up."""
    shown = ledger.days[:MOST_DAYS_IN_WORDS]
    zone = ledger.window.zone
    words = "; ".join(f"{day(span, zone)} {_three(hours_)}" for span, hours_ in shown)
    rest = len(ledger.days) - len(shown)
    return words + (f"; and {rest} more days" if rest else "")


def worst_day(ledger: Ledger) -> str:
    """Return where most of what is unknown lies: "96 of them on Tue 24"; "" if it is spread."""
    zone = ledger.window.zone
    span, most = max(ledger.days, key=lambda entry: entry[1].unknown)
    if len(ledger.days) < 2 or most.unknown < 0.5 * ledger.total.unknown:
        return ""
    return f"{hours(most.unknown)} of them on {day(span, zone)}"


def length(of: Window) -> timedelta:
    """Return how long the window is."""
    return of.end - of.start


def _three(of: Hours) -> str:
    return f"{hours(of.busy)} busy, {hours(of.idle)} idle" + (
        f", {hours(of.unknown)} unknown" if of.unknown >= 0.05 else ""
    )
