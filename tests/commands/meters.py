"""Meters and accounts written by hand, for pages about GPU-hours."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from capacity.usage import DeviceMinutes, Ledger, RequestedMinutes, SpanFacts, Window
from capacity.usage_sum import ledger

H100 = "NVIDIA H100 80GB HBM3"


@dataclass(frozen=True)
class Run:
    """A pod on cards, every day of the window: hours a day held, share of it busy, hours unseen."""

    namespace: str
    pod: str
    hours: float
    busy: float
    unseen: float = 0.0
    model: str = H100
    profile: str = ""


@dataclass
class FakeMeter:
    """Counts the same runs in every window, times ``growth`` for those that end before ``turn``."""

    runs: tuple[Run, ...]
    before: tuple[Run, ...] = ()
    requests: bool = True
    exporter: float = 1.0
    warnings: tuple[str, ...] = ()
    cards: float = 96.0
    _seen: dict[Window, int] = field(default_factory=dict)

    def hours(self, namespaces: tuple[str, ...] | None, window: Window) -> Ledger:
        """The first window that is asked for is the present one, any other the one before."""
        first = not self._seen or window in self._seen
        if first:
            self._seen[window] = 1
        runs = self.runs if first else self.before or self.runs
        chosen = [r for r in runs if namespaces is None or r.namespace in namespaces]
        return ledger(window, [self._facts(span, chosen) for span in window.spans()])

    def _facts(self, span, runs) -> SpanFacts:
        share = span.minutes / (24 * 60)

        def rows(minutes: Mapping[int, float]) -> tuple[DeviceMinutes, ...]:
            return tuple(
                DeviceMinutes(r.namespace, r.pod, f"GPU-{i}", r.profile, r.model, minutes[i])
                for i, r in enumerate(runs)
            )

        seen = {i: (r.hours - r.unseen) * 60 * share for i, r in enumerate(runs)}
        asked = tuple(
            RequestedMinutes(r.namespace, r.pod, "nvidia_com_gpu", r.hours * 60 * share)
            for r in runs
            if not r.profile
        )
        return SpanFacts(
            span=span,
            held=rows(seen),
            busy=rows({i: seen[i] * r.busy for i, r in enumerate(runs)}),
            measured=rows(seen),
            requested=asked if self.requests else None,
            exporter_minutes=span.minutes * self.exporter,
            card_minutes=span.minutes * self.cards * self.exporter,
            warnings=self.warnings,
        )
