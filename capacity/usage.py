"""GPU-hours of a window: held, busy, idle and unknown, never one without the others [pure].

Held is what a pod was given (requested while Running, or seen on a device by DCGM, whichever is
more), in whole-card equivalents. Busy is utilisation times held where there is a measurement; idle
is the measured rest; unknown is held without a measurement. So held = busy + idle + unknown.
"""

from collections import defaultdict
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo

from capacity.mig import Policy
from capacity.usage_queries import Span

DIFFER = 0.05
"""Requested and seen hours that differ by more than this are worth a word: an exporter's outage,
dynamic resource allocation, or pods around the queue."""


@dataclass(frozen=True, slots=True)
class Window:
    """[start, end), aware UTC, on whole minutes; the IANA ``zone``'s midnights part its days."""

    start: datetime
    end: datetime
    zone: str = "UTC"

    @property
    def hours(self) -> float:
        """Its length in hours."""
        return (self.end - self.start) / timedelta(hours=1)

    def spans(self) -> tuple[Span, ...]:
        """Cut at the zone's midnights, so that no query covers more than a (25-hour) day."""
        cuts = [self.start, *self._midnights(), self.end]
        return tuple(Span(start, end) for start, end in pairwise(cuts) if start < end)

    def _midnights(self) -> list[datetime]:
        zone = ZoneInfo(self.zone)
        first, last = self.start.astimezone(zone).date(), self.end.astimezone(zone).date()
        days = (first + timedelta(days=n) for n in range(1, (last - first).days + 1))
        found = (datetime(d.year, d.month, d.day, tzinfo=zone).astimezone(UTC) for d in days)
        return [moment for moment in found if self.start < moment < self.end]


@dataclass(frozen=True, slots=True)
class DeviceMinutes:
    """One row of a DCGM query: minutes of one device (or slice) that a pod had."""

    namespace: str
    pod: str
    uuid: str
    profile: str
    model: str
    minutes: float


@dataclass(frozen=True, slots=True)
class RequestedMinutes:
    """One row of the requests query: minutes times devices of one resource that a pod asked for."""

    namespace: str
    pod: str
    resource: str
    minutes: float


@dataclass(frozen=True, slots=True)
class SpanFacts:
    """What the server counted for one span; ``requested`` is None without kube-state-metrics.

    ``exporter_minutes`` are those in which any card was seen, ``card_minutes`` the cards seen in
    each of them, added up, whoever held them.
    """

    span: Span
    held: tuple[DeviceMinutes, ...]
    busy: tuple[DeviceMinutes, ...]
    measured: tuple[DeviceMinutes, ...]
    requested: tuple[RequestedMinutes, ...] | None
    exporter_minutes: float
    card_minutes: float = 0.0
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Hours:
    """GPU-hours in whole-card equivalents; ``held`` = ``busy`` + ``idle`` + ``unknown``."""

    held: float = 0.0
    busy: float = 0.0
    idle: float = 0.0
    unknown: float = 0.0

    def __add__(self, other: "Hours") -> "Hours":
        return Hours(
            self.held + other.held,
            self.busy + other.busy,
            self.idle + other.idle,
            self.unknown + other.unknown,
        )

    @property
    def busy_share(self) -> float | None:
        """Busy as a share of what was measured, 0..1; None when nothing was."""
        measured = self.busy + self.idle
        return self.busy / measured if measured else None


@dataclass(frozen=True, slots=True)
class PodHours:
    """One pod's hours and the card it had (modelName; "" when only requests are known)."""

    namespace: str
    pod: str
    model: str
    hours: Hours


@dataclass(frozen=True, slots=True)
class Ledger:
    """The whole account of a window.

    ``exporter_coverage`` is the share of minutes, 0..1, in which the exporter was seen at all.
    ``card_hours`` are the hours of all cards of the cluster that it saw, held or not.
    ``requested_hours`` and ``seen_hours`` are each witness's own total (None for requests without
    kube-state-metrics).
    """

    window: Window
    total: Hours
    pods: tuple[PodHours, ...]
    days: tuple[tuple[Span, Hours], ...]
    exporter_coverage: float
    requested_hours: float | None
    seen_hours: float
    policy: Policy
    card_hours: float = 0.0
    unreadable: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()

    @property
    def source(self) -> str:
        """Name the witnesses: DCGM, and requests when kube-state-metrics is there."""
        return "DCGM" if self.requested_hours is None else "DCGM and kube-state-metrics"

    @property
    def coverage(self) -> float:
        """How much of the account was measured, 0..1: the smaller of two shares.

        One is that of held hours with a measurement (one node's exporter was down), the other that
        of minutes with any exporter (without requests nothing held is known then).
        """
        if not self.total.held:
            return self.exporter_coverage
        measured = (self.total.busy + self.total.idle) / self.total.held
        return min(self.exporter_coverage, measured)

    @property
    def witnesses_differ(self) -> bool:
        """Tell whether requests and DCGM differ by more than 5 % of the larger."""
        if self.requested_hours is None:
            return False
        larger = max(self.requested_hours, self.seen_hours)
        return larger > 0 and abs(self.requested_hours - self.seen_hours) > DIFFER * larger

    def by_namespace(self) -> dict[str, Hours]:
        """Return each namespace's hours, largest holder first."""
        totals: dict[str, Hours] = defaultdict(Hours)
        for pod in self.pods:
            totals[pod.namespace] += pod.hours
        return dict(sorted(totals.items(), key=lambda item: (-item[1].held, item[0])))
