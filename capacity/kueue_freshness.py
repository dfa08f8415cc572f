"""How fresh each kind of object is, and what an answer must therefore say is missing.

``as_of`` is honest in one direction: it may be older than the truth, never newer. A watch that is
open and silent counts as fresh only as far as the API server has answered a pulse meanwhile.
[pure]
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime

from capacity.errors import Gap
from capacity.kueue_kinds import KINDS, Kind


@dataclass(slots=True)
class KindState:
    """How far one kind is: ``read`` once a whole list was seen, ``watching`` while one is open.

    ``confirmed`` is when the cluster last said something about it, ``failure`` why it doesn't
    now (``refused``: because the account may not), ``unreadable`` the objects that don't have
    the shape of their kind.
    """

    read: bool = False
    watching: bool = False
    absent: bool = False
    confirmed: datetime | None = None
    failure: str = ""
    refused: bool = False
    unreadable: dict[str, str] = field(default_factory=dict)

    @property
    def settled(self) -> bool:
        """Tell whether waiting longer for its first list would be no use."""
        return self.read or self.absent or bool(self.failure)

    @property
    def well(self) -> bool:
        """Tell whether all that exists of it is known and followed."""
        return self.absent or (self.read and not self.failure)


class Freshness:
    """The states of all kinds and the pulse. Not thread-safe: the cache's lock guards it."""

    def __init__(self) -> None:
        self.of = {kind.plural: KindState() for kind in KINDS}
        self.healthy_since: datetime | None = None
        self.pulse_failure = ""
        self._pulse: datetime | None = None

    def confirm(self, kind: Kind, at: datetime) -> None:
        """Note that the cluster spoke about this kind."""
        self.of[kind.plural].confirmed = at
        self._note_health(at)

    def opened(self, kind: Kind, at: datetime) -> None:
        """Note that a watch is open: from now on silence means that nothing changed."""
        state = self.of[kind.plural]
        state.watching, state.failure, state.refused = True, "", False
        self.confirm(kind, at)

    def closed(self, kind: Kind, failure: str, at: datetime, *, refused: bool = False) -> None:
        """Note that the watch or list ended; ``failure`` is empty when it ended as usual."""
        state = self.of[kind.plural]
        state.confirmed = self._known_until(state)
        state.watching, state.failure, state.refused = False, failure, refused
        self._note_health(at)

    def pulse(self, failure: str, at: datetime) -> None:
        """Note whether the API server answered just now."""
        self.pulse_failure = failure
        self._pulse = self._pulse if failure else at
        self._note_health(at)

    def settled(self) -> bool:
        """Tell whether every kind was read or is known to be unreadable."""
        return all(state.settled for state in self.of.values())

    def as_of(self) -> datetime | None:
        """Return the moment up to which everything is known; None before the first list."""
        return self._oldest(state for state in self.of.values() if state.read)

    def whole(self, kind: Kind) -> bool:
        """Tell whether all that exists of a kind is known, and followed right now."""
        state = self.of[kind.plural]
        known = state.read and state.watching and not (state.failure or state.unreadable)
        return known and not self.pulse_failure

    def gaps(self, source: str) -> Iterator[Gap]:
        """Yield what an answer lacks: stale kinds together, then what never was read."""
        yield from self._stale(source)
        for kind in KINDS:
            state = self.of[kind.plural]
            if state.absent:
                yield Gap(source, None, f"{kind.words} (the cluster has no such kind)")
            elif not state.read:
                yield Gap(source, None, f"{kind.words} ({state.failure or 'still being read'})")
            if state.unreadable:
                first = next(iter(state.unreadable.values()))
                yield Gap(source, None, f"{len(state.unreadable)} {kind.words} ({first})")

    def _stale(self, source: str) -> Iterator[Gap]:
        read = [kind for kind in KINDS if self.of[kind.plural].read]
        stale = [kind for kind in read if self.pulse_failure or self.of[kind.plural].failure]
        if stale:
            whole = len(stale) == len(read)
            words = "anything" if whole else ", ".join(kind.words for kind in stale)
            refused = next((s.failure for k in stale if (s := self.of[k.plural]).refused), "")
            since = self._oldest(self.of[kind.plural] for kind in stale)
            why = f" ({refused})" if refused else ""
            yield Gap(source, since, f"changes since then to {words}{why}")

    def _known_until(self, state: KindState) -> datetime | None:
        if state.confirmed and self._pulse and state.watching:
            return max(state.confirmed, self._pulse)
        return state.confirmed

    def _oldest(self, states: Iterable[KindState]) -> datetime | None:
        return min((m for s in states if (m := self._known_until(s))), default=None)

    def _note_health(self, at: datetime) -> None:
        if self.pulse_failure or not all(state.well for state in self.of.values()):
            self.healthy_since = None
        elif self.healthy_since is None:
            self.healthy_since = at
