"""Windows of time as people say them: "last week", "7d", "yesterday", "2026-11-01..2026-11-08".

Calendar words mean the asker's days, so a week with a change of clocks has 167 or 169 hours. Every
window comes with the one before it, to compare with.

[pure]
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

from capacity.errors import UsageError
from capacity.usage import Window

LONGEST = timedelta(days=62)
DEFAULT = "7d"
_EXAMPLES = "For example: last week, 7d, 24h, yesterday, 2026-W48 or 2026-11-01..2026-11-08."
_DAY = timedelta(days=1)
_WEEK = timedelta(days=7)
_MINUTE = timedelta(minutes=1)
_ROLLING = re.compile(r"(?:the )?(?:last |past )?(\d{1,4}) ?(h|hours?|d|days?|w|weeks?)")
_UNITS = {"h": timedelta(hours=1), "d": _DAY, "w": _WEEK}
_ISO_WEEK = re.compile(r"(?:(\d{4})-?)?w(?:eek )?(\d{1,2})")
_DATE = r"(\d{4}-\d{2}-\d{2})"
_RANGE = re.compile(rf"{_DATE} ?(?:\.\.|…|to|until) ?{_DATE}")
_ONE_DAY = re.compile(_DATE)


@dataclass(frozen=True, slots=True)
class Period:
    """A window in words ("last week"), and the one before it ("the week before").

    ``said`` is how it was asked for, "" if it wasn't.
    """

    words: str
    window: Window
    before_words: str
    before: Window
    said: str = ""


@dataclass(frozen=True, slots=True)
class _Days:
    """Calendar days [first, last) and the day on which what they are compared with begins."""

    words: str
    first: date
    last: date
    before: date
    before_words: str


def is_window(words: Sequence[str]) -> bool:
    """Tell whether these words are about time at all, right or wrong."""
    said = " ".join(words).casefold().strip()
    known = (_ROLLING, _ISO_WEEK, _RANGE, _ONE_DAY)
    return said in _NAMED or any(pattern.fullmatch(said) for pattern in known)


def parse(words: Sequence[str], now: datetime, zone: str = "UTC") -> Period:
    """Return the period that the words mean to someone in ``zone``; no words are the last 7 days.

    The end is never after ``now``'s whole minute. Raises UsageError for words that mean no time,
    for the future, for nothing at all and for more than 62 days.
    """
    said = " ".join(words).casefold().strip() or DEFAULT
    end = now.astimezone(UTC).replace(second=0, microsecond=0)
    rolling = _ROLLING.fullmatch(said)
    place = ZoneInfo(zone)
    if rolling:
        return _checked(_rolled(int(rolling[1]), rolling[2][0], end, zone), said)
    today = now.astimezone(place).date()
    return _checked(_clipped(_calendar(said, today), end, place), said)


def _rolled(amount: int, unit: str, end: datetime, zone: str) -> Period:
    length = amount * _UNITS[unit]
    name = {"h": "hour", "d": "day", "w": "week"}[unit]
    words = f"{amount} {name}{'' if amount == 1 else 's'}"
    return Period(
        f"in the last {words}",
        Window(end - length, end, zone),
        f"the {words} before",
        Window(end - 2 * length, end - length, zone),
    )


def _clipped(days: _Days, now: datetime, zone: ZoneInfo) -> Period:
    """Cut a period that isn't over at now, and the one before it at the same time of its day."""
    start, end = _midnight(days.first, zone), _midnight(days.last, zone)
    before, before_end = _midnight(days.before, zone), start
    if end > now:
        end = now
        before_end = min(start, before + (end - start))
    return Period(
        days.words,
        Window(start, end, zone.key),
        days.before_words,
        Window(before, before_end, zone.key),
    )


def _checked(period: Period, said: str) -> Period:
    length = period.window.end - period.window.start
    if length < _MINUTE:
        raise UsageError(f"{said!r} hasn't begun yet.", _EXAMPLES)
    if length > LONGEST:
        raise UsageError(f"{said!r} is longer than {LONGEST.days} days.", _EXAMPLES)
    return replace(period, said="" if said == DEFAULT else said)


def _calendar(said: str, today: date) -> _Days:
    named = _NAMED.get(said)
    if named:
        return named(today)
    for pattern, read in ((_ISO_WEEK, _iso_week), (_RANGE, _range), (_ONE_DAY, _one_day)):
        found = pattern.fullmatch(said)
        if found:
            try:
                return read(found, today)
            except (ValueError, OverflowError) as error:
                raise UsageError(f"{said!r} is no such time: {error}.", _EXAMPLES) from error
    raise UsageError(f"I don't understand the time {said!r}.", _EXAMPLES)


def _iso_week(found: re.Match[str], today: date) -> _Days:
    """Read "2026-W48"; without a year it is the latest week of that number that has begun."""
    number, year = int(found[2]), today.isocalendar().year
    if found[1]:
        monday = date.fromisocalendar(int(found[1]), number, 1)
    else:
        begun = [m for y in (year, year - 1) for m in _mondays(y, number) if m <= today]
        if not begun:
            raise ValueError("there was no such week lately")
        monday = begun[0]
    return _week(f"in week {number}", monday)


def _mondays(year: int, week: int) -> list[date]:
    """Return the week's Monday, if the year has that week."""
    last = date(year, 12, 28).isocalendar().week
    return [date.fromisocalendar(year, week, 1)] if 1 <= week <= last else []


def _range(found: re.Match[str], today: date) -> _Days:
    first, last = date.fromisoformat(found[1]), date.fromisoformat(found[2])
    if last <= first:
        raise ValueError("the end is not after the start")
    words = f"from {first:%d %b} to {last:%d %b %Y}"
    return _Days(words, first, last, first - (last - first), "the same length before")


def _one_day(found: re.Match[str], today: date) -> _Days:
    day = date.fromisoformat(found[1])
    return _day(f"on {day:%d %b %Y}", day)


def _day(words: str, day: date) -> _Days:
    return _Days(words, day, day + _DAY, day - _DAY, "the day before")


def _week(words: str, monday: date) -> _Days:
    return _Days(words, monday, monday + _WEEK, monday - _WEEK, "the week before")


def _month(words: str, today: date, back: int) -> _Days:
    months = today.year * 12 + today.month - 1 - back
    first, last, before = (date(m // 12, m % 12 + 1, 1) for m in (months, months + 1, months - 1))
    return _Days(words, first, last, before, "the month before")


def _monday(today: date) -> date:
    return today - today.weekday() * _DAY


_NAMED: dict[str, Callable[[date], _Days]] = {
    "today": lambda today: _day("today", today),
    "yesterday": lambda today: _day("yesterday", today - _DAY),
    "this week": lambda today: _week("this week", _monday(today)),
    "last week": lambda today: _week("last week", _monday(today) - _WEEK),
    "this month": lambda today: _month("this month", today, 0),
    "last month": lambda today: _month("last month", today, 1),
}


def _midnight(day: date, zone: ZoneInfo) -> datetime:
    return datetime(day.year, day.month, day.day, tzinfo=zone).astimezone(UTC)
