"""A clock that can run fast or stand still."""

import threading
import time
from collections.abc import Callable
from datetime import datetime, timedelta

FASTEST = 3_600.0


class SimulatedClock:
    """Starts at a moment and goes on at ``speed`` simulated seconds a second; never backwards."""

    def __init__(
        self, start: datetime, speed: float = 1.0, ticks: Callable[[], float] = time.monotonic
    ) -> None:
        self._ticks = ticks
        self._lock = threading.Lock()
        self._base = start
        self._since = ticks()
        self._speed = _sane(speed)
        self._paused = False

    def now(self) -> datetime:
        """Return the simulated time."""
        with self._lock:
            return self._read()

    @property
    def speed(self) -> float:
        """Simulated seconds a second, also while it is paused."""
        with self._lock:
            return self._speed

    @property
    def paused(self) -> bool:
        """Tell whether it stands still."""
        with self._lock:
            return self._paused

    def set_speed(self, speed: float) -> None:
        """Go on at another speed, between 0.1 and an hour a second."""
        with self._lock:
            self._base, self._since = self._read(), self._ticks()
            self._speed = _sane(speed)

    def pause(self) -> None:
        """Stand still."""
        with self._lock:
            self._base, self._since = self._read(), self._ticks()
            self._paused = True

    def resume(self) -> None:
        """Go on."""
        with self._lock:
            self._since = self._ticks() if self._paused else self._since
            self._paused = False

    def _read(self) -> datetime:
        if self._paused:
            return self._base
        return self._base + timedelta(seconds=(self._ticks() - self._since) * self._speed)


def _sane(speed: float) -> float:
    return min(FASTEST, max(0.1, speed))
