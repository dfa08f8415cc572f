"""[pure] What was seen lately: recognises a payload that comes again.

This is the quick guard for things whose repetition only annoys (an answer given twice). What
changes something is guarded by the inbox's unique key, which outlives the process.
"""

from collections import OrderedDict
from datetime import datetime, timedelta

KEPT = timedelta(minutes=15)  # Slack's last retry of an event comes after 5 minutes
MOST = 50_000


class Recent:
    """Keys seen within ``kept``; above ``most`` the oldest are forgotten first."""

    def __init__(self, kept: timedelta = KEPT, most: int = MOST) -> None:
        self._kept = kept
        self._most = most
        self._seen: OrderedDict[str, datetime] = OrderedDict()

    def again(self, key: str, now: datetime) -> bool:
        """Remember the key, and tell whether it was seen before."""
        while self._seen and (
            len(self._seen) > self._most or now - next(iter(self._seen.values())) > self._kept
        ):
            self._seen.popitem(last=False)
        if key in self._seen:
            return True
        self._seen[key] = now
        return False
