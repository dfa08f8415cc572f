"""How long something takes, by what took how long before and by what still goes on.

The product-limit estimate of E. L. Kaplan and P. Meier (J. Am. Stat. Assoc. 53, 1958, 457-481):
what isn't over yet counts as "at least so long", so that a jammed queue doesn't look quick. What
was only watched from an age on counts among its like from that age on (delayed entry; Klein and
Moeschberger, Survival Analysis, 2nd ed., 4.6). A quartile is the first moment at which no more
than that share is left (same, 4.5).

[pure]
"""

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta

_NONE = timedelta(0)
# Products of fractions miss the share they stand for by a few units in the last place.
_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True)
class Spell:
    """Something that lasted ``length``; unless ``ended`` it lasts longer, or would have.

    ``entered`` is its age when it came into view: had it ended before, it wouldn't be known.
    """

    length: timedelta
    ended: bool = True
    entered: timedelta = _NONE


class Curve:
    """The share that lasts longer than a given time, as a falling staircase."""

    def __init__(self, spells: Iterable[Spell]) -> None:
        seen = [s for s in spells if s.entered <= _NONE or s.entered < s.length]
        self._exits = sorted(s.length for s in seen)
        self._entries = sorted(s.entered for s in seen if s.entered > _NONE)
        ends = Counter(s.length for s in seen if s.ended)
        self._times = sorted(ends)
        self._left = [1 - ends[time] / self._at_risk(time) for time in self._times]
        self._ends_before = [0]
        for time in self._times:
            self._ends_before.append(self._ends_before[-1] + ends[time])

    def ends(self, after: timedelta | None = None) -> int:
        """Return how many were seen to end, beyond an age if one is given."""
        return self._ends_before[-1] - self._ends_before[self._first(after)]

    def going(self, after: timedelta | None = None) -> int:
        """Return of how many the end wasn't seen, though they lasted longer than an age."""
        reached = 0 if after is None else bisect_right(self._exits, after)
        return len(self._exits) - reached - self.ends(after)

    def until(self, share: float, after: timedelta | None = None) -> timedelta | None:
        """Return how long it takes until no more than a share (0..1) is left; None if unknown.

        With ``after`` it is counted from that age on, of those that reached it.
        """
        left = 1.0
        for at in range(self._first(after), len(self._times)):
            left *= self._left[at]
            if left <= share + _ROUNDING:
                return self._times[at] - (after or _NONE)
        return None

    def reached(self, by: int, after: timedelta | None = None) -> timedelta:
        """Return how long at least so many are known to have lasted, counted as ``until`` is."""
        known = self._exits[-by] if 0 < by <= len(self._exits) else _NONE
        return max(_NONE, known - (after or _NONE))

    def _first(self, after: timedelta | None) -> int:
        return 0 if after is None else bisect_right(self._times, after)

    def _at_risk(self, time: timedelta) -> int:
        """Return how many lasted at least so long and were in view before."""
        lasted = len(self._exits) - bisect_left(self._exits, time)
        return lasted - (len(self._entries) - bisect_left(self._entries, time))
