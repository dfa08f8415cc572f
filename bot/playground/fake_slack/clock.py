"""The fake Slack's own time, which tests may move forward."""

import time


class Clock:
    """Wall-clock seconds since 1970, plus whatever was skipped."""

    def __init__(self) -> None:
        self._skipped = 0.0

    def now(self) -> float:
        """Return the time in seconds since 1970."""
        return time.time() + self._skipped

    def skip(self, seconds: float) -> None:
        """Let time pass at once: tickets expire and rate limits recover."""
        self._skipped += seconds
