"""A range of time with its basis: what the middle half of jobs took, and which jobs those were.

[pure]
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from commands.history import WINDOW
from commands.survival import Curve, Spell
from commands.words import count, span

FEWEST = 10
_ZERO, _DAY, _MINUTE = timedelta(0), timedelta(days=1), timedelta(minutes=1)


@dataclass(frozen=True, slots=True)
class Range:
    """What the middle half of jobs took, with its basis.

    ``open``: the upper end lies somewhere beyond ``high`` (where both are the same, so does the
    lower). ``jobs`` were seen to the end in the last ``days``; ``going`` more weren't, and count
    as at least what they took so far. ``sizes`` are the GPUs of the jobs that were taken, None for
    jobs of all sizes; ``card`` names them.
    """

    low: timedelta
    high: timedelta
    open: bool
    jobs: int
    going: int
    days: int
    sizes: tuple[int, int] | None
    card: str

    @property
    def words(self) -> str:
        """The range in words: "20 min to 2 h", "1 h to over 9 h", "over 9 h"."""
        return in_words(self.low, self.high, is_open=self.open)

    @property
    def basis(self) -> str:
        """Which jobs it rests on: "last 14 days, 38 jobs of 8 to 32 H100"."""
        return f"last {_days(self.days)}, {count(self.jobs, 'job')}{self._of_size}"

    @property
    def _of_size(self) -> str:
        if self.sizes is None:
            return " of any size" + ("" if self.card == "GPUs" else f" on {self.card}")
        low, high = self.sizes
        if not high:
            return " without GPUs"
        sizes = str(low) if low == high else f"{low} to {high}"
        return f" of {sizes} {'GPU' if (high, self.card) == (1, 'GPUs') else self.card}"


@dataclass(frozen=True, slots=True)
class Like:
    """Which jobs count: those of these sizes (None: any) on these flavors (None: any)."""

    sizes: tuple[int, int] | None
    with_gpus: bool
    flavors: frozenset[str] | None = None
    card: str = "GPUs"

    def size(self, number: int) -> bool:
        """Tell whether so many GPUs are alike."""
        if self.sizes is None:
            return bool(number) == self.with_gpus
        return self.sizes[0] <= number <= self.sizes[1]

    def flavor(self, name: str) -> bool:
        """Tell whether a flavor is one of these; a job without one (yet) may go to any."""
        return self.flavors is None or not name or name in self.flavors


def likes(size: int, flavors: frozenset[str] | None = None, card: str = "GPUs") -> Iterator[Like]:
    """Yield whom a job of so many GPUs is compared with: half to twice its size, else any size."""
    for sizes in ((-(-size // 2), 2 * size), None):
        yield Like(sizes, size > 0, flavors, card)


def spell(start: datetime, end: datetime, now: datetime, *, ended: bool) -> Spell:
    """Return a time that is watched while it reaches into the window before now."""
    return Spell(max(_ZERO, end - start), ended, max(_ZERO, now - WINDOW - start))


def range_of(
    curve: Curve,
    like: Like,
    moments: Sequence[datetime],
    now: datetime,
    after: timedelta | None = None,
) -> Range:
    """Return the middle half as far as it is known, counted from an age on if one is given.

    ``moments`` are when the jobs came to their ends.
    """
    low, high = curve.until(0.75, after), curve.until(0.25, after)
    known = max(low or _ZERO, curve.reached(FEWEST, after)) if high is None else high
    shown = _rough(known, down=high is None)
    least = shown if low is None else _rough(low)
    return Range(
        low=least,
        high=max(least, shown),
        open=high is None,
        jobs=curve.ends(after),
        going=curve.going(after),
        days=_days_since(moments, now),
        sizes=like.sizes,
        card=like.card,
    )


def in_words(low: timedelta, high: timedelta, *, is_open: bool) -> str:
    """Return "20 min to 2 h"; what is open goes on: "1 h to over 9 h", "over 9 h"."""
    first, last = _said(low), _said(high)
    if is_open:
        return f"over {last}" if first == last else f"{first} to over {last}"
    return first if first == last else f"{first} to {last}"


def _days(days: int) -> str:
    return "day" if days == 1 else f"{days} days"


def _days_since(moments: Sequence[datetime], now: datetime) -> int:
    """Return in how many last days all these moments were, at least 1 and at most the window."""
    oldest = min(now - min(moments, default=now), WINDOW)
    return max(1, -(-oldest // _DAY))


def _said(duration: timedelta) -> str:
    return span(duration) if duration >= _MINUTE else "under 1 min"


def _rough(duration: timedelta, *, down: bool = False) -> timedelta:
    """Round to what a person would say: minutes up to an hour by fives, hours by halves."""
    minutes = duration.total_seconds() / 60
    for limit, step in ((10, 1), (60, 5), (600, 30), (6000, 60)):
        if minutes < limit:
            return timedelta(minutes=step * _whole(minutes / step, down=down))
    return timedelta(days=_whole(minutes / 1440, down=down))


def _whole(number: float, *, down: bool) -> int:
    return int(number) if down else round(number)
