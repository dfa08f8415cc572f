"""The GPU meter: asks Prometheus for a window's minutes and adds them up."""

import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Protocol

from capacity import usage_queries as q
from capacity.mig import Policy
from capacity.prometheus import QueryResult, Row, TooMuch
from capacity.usage import DeviceMinutes, Ledger, RequestedMinutes, SpanFacts, Window
from capacity.usage_queries import Labels, Namespaces, Span
from capacity.usage_sum import ledger

AT_ONCE = 4
MOST_KEPT = 400
PATIENCE = 20.0
"""Seconds after which a slow Prometheus is asked nothing more for an answer."""
SETTLED = timedelta(minutes=10)
"""A span this old gets no more samples (scrapes, remote writes), so its facts are kept."""


class Queries(Protocol):
    """What the meter needs of a Prometheus."""

    @property
    def last_seen(self) -> datetime | None: ...
    def query(self, promql: str, at: datetime, seconds: float | None = None) -> QueryResult: ...


Key = tuple[Span, Namespaces]


@dataclass(slots=True)
class _Kept:
    """Facts of spans that are over, the least used dropped first."""

    facts: OrderedDict[Key, SpanFacts] = field(default_factory=OrderedDict)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def get(self, key: Key) -> SpanFacts | None:
        with self.lock:
            found = self.facts.get(key)
            if found is not None:
                self.facts.move_to_end(key)
            return found

    def put(self, key: Key, found: SpanFacts) -> None:
        with self.lock:
            self.facts[key] = found
            while len(self.facts) > MOST_KEPT:
                self.facts.popitem(last=False)


class Meter:
    """Counts GPU-hours by pod. Raises SourceDown when Prometheus doesn't answer.

    Safe to use from several threads. Days that are over are asked once; ``now`` tells which are.
    """

    def __init__(
        self, prometheus: Queries, now: Callable[[], datetime], policy: Policy = "max"
    ) -> None:
        self._prometheus = prometheus
        self._now = now
        self._policy = policy
        self._kept = _Kept()

    @property
    def last_seen(self) -> datetime | None:
        """When Prometheus last answered; None if it never did."""
        return self._prometheus.last_seen

    def hours(self, namespaces: Namespaces, window: Window) -> Ledger:
        """Return the account of these namespaces; None is everybody's, an empty tuple nobody's."""
        chosen = None if namespaces is None else tuple(sorted(set(namespaces)))
        spans = window.spans()
        deadline = time.monotonic() + PATIENCE
        with ThreadPoolExecutor(AT_ONCE, "meter") as pool:
            facts = list(pool.map(lambda span: self._facts(span, chosen, deadline), spans))
        return ledger(window, facts, self._policy)

    def _facts(self, span: Span, namespaces: Namespaces, deadline: float) -> SpanFacts:
        kept = self._kept.get((span, namespaces))
        if kept is not None:
            return kept
        found = self._count(span, namespaces, deadline)
        if not found.warnings and span.end <= self._now() - SETTLED:
            self._kept.put((span, namespaces), found)
        return found

    def _count(self, span: Span, namespaces: Namespaces, deadline: float) -> SpanFacts:
        results: list[QueryResult] = []

        def ask(promql: str) -> QueryResult:
            left = deadline - time.monotonic()
            if left <= 0:
                raise TooMuch(self.last_seen, detail=f"not done in {PATIENCE:.0f} s")
            results.append(self._prometheus.query(promql, span.evaluate_at, left))
            return results[-1]

        labels = self._labels(span, ask)
        held, busy, measured = (
            ask(build(span, namespaces, labels)) for build in (q.held, q.busy, q.measured)
        )
        requested = tuple(_asked(row) for row in ask(q.requested(span, namespaces)).rows)
        known = requested or ask(q.requests_known(span)).only()
        return SpanFacts(
            span=span,
            held=tuple(_device(row, labels) for row in held.rows),
            busy=tuple(_device(row, labels) for row in busy.rows),
            measured=tuple(_device(row, labels) for row in measured.rows),
            requested=requested if known else None,
            exporter_minutes=ask(q.exporter_minutes(span)).only() or 0.0,
            card_minutes=ask(q.card_minutes(span)).only() or 0.0,
            warnings=tuple(dict.fromkeys(w for result in results for w in result.warnings)),
        )

    def _labels(self, span: Span, ask: Callable[[str], QueryResult]) -> Labels:
        """Look how the series are labelled; a quick look first, to tell if anyone is there."""
        exported = self._prometheus.query(q.detect_exported(span), span.evaluate_at)
        plain = q.EXPORTED if exported.only() else Labels()
        return replace(
            plain,
            shared=(ask(q.most_sharing(span, plain)).only() or 0) > 1,
            per_process=bool(ask(q.detect_per_process(span)).only()),
        )


def _device(row: Row, labels: Labels) -> DeviceMinutes:
    found = row.labels
    return DeviceMinutes(
        namespace=found.get(labels.namespace, ""),
        pod=found.get(labels.pod, ""),
        uuid=found.get("UUID", ""),
        profile=found.get("GPU_I_PROFILE", ""),
        model=found.get("modelName", ""),
        minutes=row.value,
    )


def _asked(row: Row) -> RequestedMinutes:
    found = row.labels
    return RequestedMinutes(
        namespace=found.get("namespace", ""),
        pod=found.get("pod", ""),
        resource=found.get("resource", ""),
        minutes=row.value,
    )
