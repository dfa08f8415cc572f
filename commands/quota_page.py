"""A queue's or a team's quota as a page.

[pure]
"""

from commands.footer import FREE_IS_NO_PROMISE, footer, gap_notices
from commands.page import Action, Bar, Bold, Facts, Line, Page, Paragraph, Part, Table
from commands.quota_figures import PairFigures
from commands.quota_queue import QueueQuota, QueueQuotaAnswer
from commands.quota_say import can_start, headline, lending, main_pairs, preemption
from commands.words import card, count, is_gpu, number

_MOST_DRAWN = 100_000
_STEP = 8


def queue_page(answer: QueueQuotaAnswer) -> Page:
    """Show one queue in full, or a team's queues in a table."""
    if len(answer.queues) > 1:
        return _team_page(answer)
    queue = answer.queues[0]
    shown = main_pairs(queue)
    parts: list[Part] = []
    if shown:
        parts.append(Facts(_facts(shown[0], queue), card(shown[0].pair)))
        parts += _bar(shown[0])
    parts += [Paragraph(line) for line in (preemption(queue), lending(queue)) if line]
    parts += _others(queue)
    return Page(
        headline=headline(queue),
        parts=tuple(parts),
        actions=(*_queue_actions(queue), *_other_teams(answer)),
        footer=footer(answer, answer.asked_at, FREE_IS_NO_PROMISE),
        notices=(*gap_notices(answer.gaps), *_overlays(queue), *_team_notice(answer)),
    )


def _facts(f: PairFigures, queue: QueueQuota) -> tuple[tuple[str, Line], ...]:
    resource = f.pair.resource
    pairs: list[tuple[str, Line]] = [
        ("Own quota (nominal)", (number(resource, f.nominal),)),
        ("Reserved by jobs", (_reserved(f),)),
    ]
    if queue.cohort:
        pairs.append((f"Borrowed from {queue.cohort}", (_borrowed(f),)))
    if f.lending_limit is not None:
        pairs.append(("Lends at most", (number(resource, f.lending_limit),)))
    pairs.append(("Most it can ever have", (number(resource, f.most_ever),)))
    if queue.waiting:
        pairs.append(("Waiting", (count(queue.waiting, "job"),)))
    if queue.weighted_share is not None:
        pairs.append(("Fair share (weighted)", (number("", queue.weighted_share),)))
    return tuple(pairs)


def _reserved(f: PairFigures) -> str:
    resource = f.pair.resource
    starting = f.reserved - f.admitted
    if not starting:
        return f"{number(resource, f.reserved)}{', all running' if f.reserved else ''}"
    parts = f"{number(resource, f.admitted)} running, {number(resource, starting)} starting"
    return f"{number(resource, f.reserved)} ({parts})"


def _borrowed(f: PairFigures) -> str:
    resource = f.pair.resource
    if f.borrowing_limit is None:
        return f"{number(resource, f.borrowed)} (no limit)"
    return f"{number(resource, f.borrowed)} of at most {number(resource, f.borrowing_limit)}"


def _bar(f: PairFigures) -> list[Part]:
    beyond = max(0, f.reserved - f.nominal - f.borrowed)
    named = [
        ("own", min(f.reserved, f.nominal), True),
        ("borrowed", f.borrowed, f.cohort_free is not None),
        ("over", beyond, bool(beyond)),
        ("left", f.can_reserve, True),
        ("lent out", f.lent.least, bool(f.lent.least)),
    ]
    drawn = is_gpu(f.pair.resource) and all(n < _MOST_DRAWN for _, n, _ in named)
    parts = tuple((label, n) for label, n, shown in named if shown)
    return [Bar(parts)] if drawn and any(n for _, n in parts) else []


def _others(queue: QueueQuota) -> list[Part]:
    """Show what else the queue has quota of, one row each."""
    rows = tuple(
        (
            (card(f.pair),),
            (number(f.pair.resource, f.nominal),),
            (_held(f),),
            (number(f.pair.resource, f.can_reserve),),
        )
        for f in queue.pairs
        if f is not main_pairs(queue)[0]
    )
    headers = ("Also here", "own", "reserved", "can start")
    return [Table(headers, rows, "Other quota of the queue", (1, 2, 3))] if rows else []


def _held(f: PairFigures) -> str:
    plus = f" (+{number(f.pair.resource, f.borrowed)})" if f.borrowed else ""
    return number(f.pair.resource, f.reserved) + plus


def _queue_actions(queue: QueueQuota) -> tuple[Action, ...]:
    actions = [Action("Queue", "ask", f"queue {queue.queue}")]
    if queue.cohort:
        actions.insert(0, Action("Who has them?", "ask", f"quota {queue.cohort}"))
    shown = main_pairs(queue)
    if shown and queue.blocked is None:
        actions.insert(0, Action("Ask for more", "request", _request(queue, shown[0]), "primary"))
    return tuple(actions)


def _request(queue: QueueQuota, f: PairFigures) -> str:
    """Return the modal's prefill: a higher borrowing limit if that is what stops it, else quota."""
    borrowing = f.stop.kind == "borrowing limit" and f.stop.node == queue.queue
    if borrowing and f.borrowing_limit is not None:
        to = number(f.pair.resource, f.borrowing_limit + _step(f))
        return f"{queue.queue} {f.pair.flavor} borrowing {to}"
    return f"{queue.queue} {f.pair.flavor} nominal {number(f.pair.resource, f.nominal + _step(f))}"


def _step(f: PairFigures) -> int:
    return _STEP if is_gpu(f.pair.resource) else max(1, f.nominal // 4)


def _overlays(queue: QueueQuota) -> tuple[Line, ...]:
    return tuple(
        (
            (
                f"Kueue uses {_or_none(o.pair.resource, o.in_force)} {card(o.pair)} as "
                f"{queue.queue}'s quota instead of the {_or_none(o.pair.resource, o.written)} in "
                "its manifest (status.effectiveQuota); the figures here do too."
            ),
        )
        for o in queue.overlaid[:4]
    )


def _or_none(resource: str, units: int | None) -> str:
    return "none" if units is None else number(resource, units)


def _team_notice(answer: QueueQuotaAnswer) -> tuple[Line, ...]:
    if not answer.scope.others:
        return ()
    return ((f"You are in several teams; this is {answer.scope.name}.",),)


def _other_teams(answer: QueueQuotaAnswer) -> tuple[Action, ...]:
    return tuple(Action(f"Show {team}", "ask", f"quota {team}") for team in answer.scope.others[:5])


def _team_page(answer: QueueQuotaAnswer) -> Page:
    rows = tuple(row for queue in answer.queues for row in _team_rows(queue))
    table = Table(
        ("queue", "own", "reserved", "can start"), rows, f"Queues of {answer.scope.name}", (1, 2, 3)
    )
    first = [f"{q.queue} {can_start(main_pairs(q)[:1])}" for q in answer.queues if q.pairs][:3]
    more = "; ".join(first)
    return Page(
        headline=(
            Bold(f"{answer.scope.name} has {len(answer.queues)} queues. Can start now: {more}."),
            " What is free is shared, so these don't add up.",
        ),
        parts=(table,),
        actions=(
            *(Action(f"Show {q.queue}", "ask", f"quota {q.queue}") for q in answer.queues[:8]),
            *_other_teams(answer),
        ),
        footer=footer(answer, answer.asked_at, FREE_IS_NO_PROMISE),
        notices=(*gap_notices(answer.gaps), *_team_notice(answer)),
    )


def _team_rows(queue: QueueQuota) -> list[tuple[Line, ...]]:
    rows: list[tuple[Line, ...]] = []
    for f in main_pairs(queue)[:4]:
        start = "stopped" if queue.blocked else number(f.pair.resource, f.can_reserve)
        own = f"{number(f.pair.resource, f.nominal)} {card(f.pair)}"
        rows.append(((queue.queue,), (own,), (_held(f),), (start,)))
    return rows
