"""Answers to the ledger's questions, computed from the pods that ran on the cluster's cards."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from bot.playground.cluster import GpuNode, PodRun
from bot.playground.metrics.questions import Question
from bot.playground.metrics.recorded import busy_minutes, minutes, minutes_of, seen

Labels = dict[str, str]
Row = tuple[Labels, float]


class Cards(Protocol):
    """What ran on which cards (``bot.playground.cluster.PlaygroundCluster``)."""

    def now(self) -> datetime: ...
    def nodes(self) -> tuple[GpuNode, ...]: ...
    def pods(self, start: datetime, end: datetime) -> tuple[PodRun, ...]: ...


@dataclass(frozen=True, slots=True)
class Recorded:
    """A cluster's metrics, from its first pod to now."""

    cards: Cards

    def answer(self, asked: Question) -> list[Row]:
        """Return the rows of an instant query, as Prometheus would have them."""
        end = min(asked.span.end, self.cards.now())
        runs = self._runs(asked, end)
        match asked.kind:
            case "held" | "measured":
                return _by_card(runs, asked.span.start, end, lambda _run, part: len(part))
            case "busy":
                return _by_card(runs, asked.span.start, end, busy_minutes)
            case "requested":
                return list(_requested(runs, asked.span.start, end))
            case "requests_known":
                return [({}, float(len(runs)))] if runs else []
            case "most_sharing":
                return [({}, 1.0)] if runs else []
            case "detect_exported" | "detect_per_process":
                return []
            case _:
                return self._seen(asked, end)

    def _runs(self, asked: Question, end: datetime) -> list[PodRun]:
        chosen = asked.namespaces
        found = self.cards.pods(asked.span.start, end)
        return [run for run in found if chosen is None or run.namespace in chosen]

    def _seen(self, asked: Question, end: datetime) -> list[Row]:
        """Count what every exporter shows, held or not: minutes, or cards in each minute."""
        whole = minutes(asked.span.start, end)
        by_node = [
            (len(node.gpus), sum(len(part) for part in seen(node.name, whole)))
            for node in self.cards.nodes()
        ]
        if asked.kind == "exporter_minutes":  # at any time at most one node's exporter is away
            value = len(whole) if len(by_node) > 1 else sum(n for _, n in by_node)
        else:
            value = sum(gpus * n for gpus, n in by_node)
        return [({}, float(value))] if value else []


def _by_card(
    runs: Iterable[PodRun],
    start: datetime,
    end: datetime,
    value: Callable[[PodRun, range], float],
) -> list[Row]:
    """Add up a value over the minutes that DCGM saw; cards aren't shared here."""
    totals: dict[tuple[str, str, str, str], float] = defaultdict(float)
    for run in runs:
        parts = [part for part in seen(run.node, minutes_of(run, start, end)) if part]
        if parts:
            total = sum(value(run, part) for part in parts)
            for gpu in run.gpus:
                totals[gpu.uuid, gpu.model, run.namespace, run.pod] += total
    names = ("UUID", "modelName", "namespace", "pod")
    return [(dict(zip(names, labels, strict=True)), total) for labels, total in totals.items()]


def _requested(runs: Iterable[PodRun], start: datetime, end: datetime) -> Iterator[Row]:
    totals: dict[tuple[str, str], float] = defaultdict(float)
    for run in runs:
        sampled = len(minutes_of(run, start, end))
        if sampled:
            totals[run.namespace, run.pod] += float(sampled * len(run.gpus))
    for (namespace, pod), total in totals.items():
        yield {"namespace": namespace, "pod": pod, "resource": "nvidia_com_gpu"}, total
