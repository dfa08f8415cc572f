"""Which of the ledger's questions a PromQL text is; the playground's Prometheus knows no other.

A text is taken apart, asked again by ``capacity.usage_queries``, and must come out the same: so
what is answered here is exactly what a real Prometheus would be asked. [pure]
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from capacity import usage_queries as q
from capacity.usage_queries import Labels, Namespaces, Span

_OVER = re.compile(r"\[(\d+)s(?::60s)?\]\)+$")
_SOME = re.compile(r'\bnamespace=~"((?:[^"\\]|\\.)*)"')
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)
_LABELS = Labels(shared=False, per_process=False)
_OF_SPAN: dict[str, Callable[[Span], str]] = {
    "exporter_minutes": q.exporter_minutes,
    "card_minutes": q.card_minutes,
    "most_sharing": lambda span: q.most_sharing(span, Labels()),
    "detect_exported": q.detect_exported,
    "detect_per_process": q.detect_per_process,
    "requests_known": q.requests_known,
}
_OF_NAMESPACES: dict[str, Callable[[Span, Namespaces], str]] = {
    "held": lambda span, chosen: q.held(span, chosen, _LABELS),
    "busy": lambda span, chosen: q.busy(span, chosen, _LABELS),
    "measured": lambda span, chosen: q.measured(span, chosen, _LABELS),
    "requested": q.requested,
}


@dataclass(frozen=True, slots=True)
class Question:
    """One of the ledger's questions: about what, for whom, over which whole minutes."""

    kind: str
    namespaces: Namespaces
    span: Span


def recognise(promql: str, at: datetime) -> Question | None:
    """Return the question that a text asks at a moment; None if it is none of the ledger's."""
    found = _OVER.search(promql)
    if found is None or int(found[1]) % 60:
        return None
    end = at.replace(second=0, microsecond=0)
    span = Span(end - timedelta(seconds=int(found[1])), end)
    for kind, of_span in _OF_SPAN.items():
        if of_span(span) == promql:
            return Question(kind, None, span)
    for chosen in _namespaces(promql):
        for kind, build in _OF_NAMESPACES.items():
            if build(span, chosen) == promql:
                return Question(kind, chosen, span)
    return None


def _namespaces(promql: str) -> tuple[Namespaces, ...]:
    """Return which namespaces may be meant: the named ones, or all, or none."""
    named = _SOME.search(promql)
    if named is None:
        return (None, ())
    pattern = _ESCAPED.sub(r"\1", named[1])
    return (tuple(_ESCAPED.sub(r"\1", name) for name in re.split(r"(?<!\\)\|", pattern)),)
