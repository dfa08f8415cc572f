"""The GPU meter: asks Prometheus for a window's minutes and adds them up."""

from collections.abc import Callable
from datetime import datetime
from typing import Protocol

from capacity import usage_queries as q
from capacity.mig import Policy
from capacity.prometheus import QueryResult, Row
from capacity.usage import DeviceMinutes, Ledger, RequestedMinutes, SpanFacts, Window, ledger
from capacity.usage_queries import Labels, Span


class Queries(Protocol):
    """What the meter needs of a Prometheus."""

    def query(self, promql: str, at: datetime) -> QueryResult: ...


class Meter:
    """Counts GPU-hours by pod. Raises SourceDown when Prometheus doesn't answer."""

    def __init__(self, prometheus: Queries, policy: Policy = "max") -> None:
        self._prometheus = prometheus
        self._policy = policy

    def hours(self, namespaces: tuple[str, ...], window: Window) -> Ledger:
        """Return the account of these namespaces; their order doesn't matter, none means none."""
        labels = self._labels(window.end)
        facts = [self._facts(span, namespaces, labels) for span in window.spans()]
        return ledger(window, facts, self._policy)

    def _labels(self, at: datetime) -> Labels:
        renamed = self._prometheus.query(q.detect_exported(), at).only()
        return q.EXPORTED if renamed else Labels()

    def _facts(self, span: Span, namespaces: tuple[str, ...], labels: Labels) -> SpanFacts:
        results: list[QueryResult] = []

        def ask(promql: str) -> QueryResult:
            results.append(self._prometheus.query(promql, span.evaluate_at))
            return results[-1]

        def devices(build: Callable[[Span, tuple[str, ...], Labels], str]) -> QueryResult:
            return ask(build(span, namespaces, labels))

        held, busy, measured = (devices(build) for build in (q.held, q.busy, q.measured))
        requested = ask(q.requested(span, namespaces))
        covered = ask(q.exporter_minutes(span)).only() or 0.0
        return SpanFacts(
            span=span,
            held=tuple(_device(row, labels) for row in held.rows),
            busy=tuple(_device(row, labels) for row in busy.rows),
            measured=tuple(_device(row, labels) for row in measured.rows),
            requested=tuple(_asked(row) for row in requested.rows) or self._no_requests(span),
            exporter_minutes=covered,
            warnings=tuple(w for result in results for w in result.warnings),
        )

    def _no_requests(self, span: Span) -> tuple[RequestedMinutes, ...] | None:
        """Tell "nothing was requested" from "kube-state-metrics isn't there"."""
        there = self._prometheus.query(f"count({q.REQUESTS})", span.evaluate_at).only()
        return () if there else None


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
