"""Where an answer comes from and when: the small print that every page ends with.

[pure]
"""

from datetime import datetime

from capacity.errors import Gap
from commands.command import Answer
from commands.page import Line, Span, Time
from commands.words import since

FREE_IS_NO_PROMISE = "free is not a promise: gang size, topology and checks still decide"


def footer(answer: Answer, asked_at: datetime, *more: str) -> Line:
    """Return "as of 14:03:12 (2 s ago) · Kueue, cluster prod-eu · ..." with what is missing."""
    spans: list[Span] = ["as of ", Time(answer.as_of, clock=True)]
    spans.append(f" ({since(answer.as_of, asked_at)} ago) · {answer.source}")
    spans += [f" · {words}" for words in more]
    if answer.gaps:
        spans.append(f" · missing: {', '.join(dict.fromkeys(g.source for g in answer.gaps))}")
    return tuple(spans)


def gap_notices(gaps: tuple[Gap, ...]) -> tuple[Line, ...]:
    """Return one sentence per gap: what doesn't answer, since when, and what is missing for it."""
    return tuple(_notice(gap) for gap in gaps)


def _notice(gap: Gap) -> Line:
    if gap.since is None:
        return (f"I couldn't read {gap.source} yet; missing: {gap.missing}.",)
    return (f"I can't reach {gap.source} since ", Time(gap.since), f"; missing: {gap.missing}.")
