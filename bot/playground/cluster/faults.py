"""What can be wrong with an API server, for tests and for a visitor who pulls a plug."""

import threading
from dataclasses import dataclass, field


@dataclass(slots=True)
class Faults:
    """Faults that are on now. Plain attributes: set them, and the next request meets them.

    ``fail`` is a status that every request gets, ``failures`` how many more (None: all of them).
    ``forbidden`` are plurals that the account may not read. ``delay`` is in seconds. ``hang``
    takes requests and never answers. ``mute`` lets watches say nothing, not even bookmarks.
    """

    fail: int = 0
    failures: int | None = None
    forbidden: frozenset[str] = frozenset()
    delay: float = 0.0
    hang: bool = False
    mute: bool = False
    released: threading.Event = field(default_factory=threading.Event)

    def next_failure(self) -> int:
        """Return the status that the present request fails with, 0 for none."""
        if not self.fail or self.failures == 0:
            return 0
        if self.failures is not None:
            self.failures -= 1
        return self.fail
