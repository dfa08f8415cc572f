"""A cohort's tree as a page.

[pure]
"""

from collections.abc import Sequence

from commands.footer import FREE_IS_NO_PROMISE, footer, gap_notices
from commands.page import Action, Bold, Line, Page, Paragraph, Part, Table
from commands.quota_cohort import CohortPair, CohortQuotaAnswer, Row
from commands.words import amount, card, count, listing, number

_DETAILED = 3
_NAMED = 3
_OFF = {"stopped": "stopped", "inactive": "off", "cycle": "off (loop)"}


def cohort_page(answer: CohortQuotaAnswer) -> Page:
    """Show the tree, one row per queue, the cards with most of them first."""
    detailed = answer.pairs[:_DETAILED]
    shown = [pair for pair in detailed if pair.rows]
    parts: list[Part] = [_table(pair, answer) for pair in shown]
    if answer.in_full:
        parts = [_whole_table(shown, answer)] if shown else []
    parts += _rest(answer.pairs[_DETAILED:])
    if any(row.borrowed or row.lent_least for pair in detailed for row in pair.rows):
        parts.append(Paragraph((_LEGEND,)))
    if answer.in_full:
        parts.append(Paragraph((_FULL_LEGEND,)))
    return Page(
        headline=_headline(answer),
        parts=tuple(parts),
        actions=_actions(answer),
        footer=footer(answer, answer.asked_at, FREE_IS_NO_PROMISE),
        notices=gap_notices(answer.gaps),
    )


_LEGEND = (
    "+n: borrowed. -n: at least so many of its own are with other queues. "
    "Kueue doesn't record whose GPUs a borrower holds."
)
_FULL_LEGEND = (
    "may borrow, may lend: the limits; any means no limit, so all that the cohort has. "
    "running: the part of reserved whose pods may run. most ever: if nothing else ran."
)


def _headline(answer: CohortQuotaAnswer) -> Line:
    if not answer.pairs:
        return (Bold(f"Cohort {answer.cohort} has no quota at all."),)
    if _looped(answer):
        said = f"Nothing can start in {answer.cohort}: its cohorts form a loop."
        return (Bold(said), " Kueue switches off every queue in it until that is mended.")
    shown = answer.pairs[:_DETAILED]
    borrow = [_borrows(pair, named=len(shown) > 1) for pair in shown if pair.borrowers]
    who = f"; {listing(borrow)}." if borrow else "; nobody borrows."
    if answer.parent is not None:
        return _part_of_a_tree(answer, shown, who)
    free = listing([_free(pair) for pair in shown])
    is_are = "is" if len(shown) == 1 and shown[0].free == 1 else "are"
    first = Bold(f"{free} {is_are} free in {answer.cohort}{who}")
    return (first, *(_over(pair) for pair in shown if pair.free < 0))


def _part_of_a_tree(answer: CohortQuotaAnswer, shown: tuple[CohortPair, ...], who: str) -> Line:
    """Say what a cohort inside another can get: its queues' own quota isn't the end of it."""
    free = [(p.pair, number(p.pair.resource, max(0, p.free))) for p in shown]
    more = listing([f"{units} more {card(pair)}" for pair, units in free])
    said = Bold(f"Queues in {answer.cohort} can start {more} now{who}")
    own = listing([amount(pair.pair, pair.total) for pair in shown])
    held = listing([number(pair.pair.resource, pair.reserved) for pair in shown])
    return (said, f" They own {own} and hold {held}; {answer.cohort} is part of {answer.parent}.")


def _free(pair: CohortPair) -> str:
    free, total = max(0, pair.free), pair.total
    return f"{number(pair.pair.resource, free)} of {amount(pair.pair, total)}"


def _borrows(pair: CohortPair, *, named: bool) -> str:
    resource, of = pair.pair.resource, f" {card(pair.pair)}" if named else ""
    if len(pair.borrowers) > _NAMED:
        sum_ = number(resource, sum(b.amount for b in pair.borrowers))
        return f"{len(pair.borrowers)} queues borrow {sum_}{of}"
    said = [f"{b.queue} borrows {number(resource, b.amount)}" for b in pair.borrowers]
    return listing(said) + of


def _over(pair: CohortPair) -> str:
    over = amount(pair.pair, -pair.free)
    return f" It holds {over} more than it has, so nothing new starts beyond what queues keep."


def _looped(answer: CohortQuotaAnswer) -> bool:
    return any(row.blocked == "cycle" for pair in answer.pairs for row in pair.rows)


def _table(pair: CohortPair, answer: CohortQuotaAnswer) -> Table:
    return Table(
        headers=("queue", "own", "reserved", "can start"),
        rows=tuple(_cells(row, pair.pair.resource) for row in pair.rows),
        caption=f"{card(pair.pair)} in {answer.cohort}{_which(answer)}",
        numeric=(1, 2, 3),
        more=_ask(answer, answer.page + 1) if answer.page < answer.pages else "",
    )


def _whole_table(pairs: Sequence[CohortPair], answer: CohortQuotaAnswer) -> Table:
    """Return one table of all cards with all figures: a message shows only one wide table well."""
    headers = ("queue", "card", *_ALL_FIGURES)
    return Table(
        headers=headers,
        rows=tuple(_all_cells(row, pair) for pair in pairs for row in pair.rows),
        caption=f"All figures of {answer.cohort}{_which(answer)}",
        numeric=tuple(range(2, len(headers))),
        more=_ask(answer, answer.page + 1) if answer.page < answer.pages else "",
    )


def _which(answer: CohortQuotaAnswer) -> str:
    return f", page {answer.page} of {answer.pages}" if answer.pages > 1 else ""


_ALL_FIGURES = (
    "own",
    "may borrow",
    "may lend",
    "reserved",
    "running",
    "can start",
    "most ever",
)


def _cells(row: Row, resource: str) -> tuple[Line, ...]:
    return (
        (_name(row),),
        (_own(row, resource),),
        (_reserved(row, resource),),
        _start(row, resource),
    )


def _all_cells(row: Row, pair: CohortPair) -> tuple[Line, ...]:
    """Return a row with all its figures; the top has nobody to borrow from or to lend to."""
    resource = pair.pair.resource
    limits = (row.borrowing_limit, row.lending_limit)
    borrow, lend = ("any" if n is None else number(resource, n) for n in limits)
    if row.is_root:
        borrow = lend = "-"
    own = number(resource, row.nominal)
    if row.kind == "Cohort" and row.own_nominal:
        own += f" (own {number(resource, row.own_nominal)})"
    return (
        (_branch(row) + row.name,),
        (card(pair.pair),),
        (own,),
        (borrow,),
        (lend,),
        (_reserved(row, resource),),
        (number(resource, row.admitted),),
        _start(row, resource),
        (number(resource, row.most_ever) if row.kind == "ClusterQueue" else "-",),
    )


def _name(row: Row) -> str:
    return _branch(row) + (f"{row.name} (cohort)" if row.kind == "Cohort" else row.name)


def _branch(row: Row) -> str:
    return "└" + "─" * (row.depth - 1) + "\u00a0" if row.depth else ""


def _own(row: Row, resource: str) -> str:
    own = number(resource, row.nominal)
    if row.kind == "Cohort" and row.own_nominal:
        return f"{own} ({number(resource, row.own_nominal)} its own)"
    return own


def _reserved(row: Row, resource: str) -> str:
    change = f" (+{number(resource, row.borrowed)})" if row.borrowed else ""
    change += f" (-{number(resource, row.lent_least)})" if row.lent_least else ""
    return number(resource, row.reserved) + change


def _start(row: Row, resource: str) -> Line:
    return (_OFF.get(row.blocked) or number(resource, row.can_reserve),)


def _ask(answer: CohortQuotaAnswer, page: int = 1, *, in_full: bool | None = None) -> str:
    """Return the question for a page of this cohort, as full as this answer or otherwise."""
    full = answer.in_full if in_full is None else in_full
    number = f" {page}" if page > 1 else ""
    return f"quota {answer.cohort}{number}{' --show all' if full else ''}"


def _rest(pairs: tuple[CohortPair, ...]) -> list[Part]:
    rows = tuple(
        (
            (card(p.pair),),
            (number(p.pair.resource, p.total),),
            (number(p.pair.resource, p.reserved),),
            (number(p.pair.resource, max(0, p.free)),),
        )
        for p in pairs
    )
    return [Table(("also", "quota", "reserved", "free"), rows, "", (1, 2, 3))] if rows else []


def _actions(answer: CohortQuotaAnswer) -> tuple[Action, ...]:
    queues = [row for pair in answer.pairs[:1] for row in pair.rows if row.kind == "ClusterQueue"]
    busiest = sorted(queues, key=lambda row: (-row.borrowed, -row.reserved))[:3]
    actions = [Action(f"Show {row.name}", "ask", f"quota {row.name}") for row in busiest]
    if answer.pairs and not answer.in_full:
        actions.append(Action("All figures", "ask", _ask(answer, answer.page, in_full=True)))
    if answer.page < answer.pages:
        left = count(answer.pages - answer.page, "more page")
        actions.append(Action(f"Next ({left})", "ask", _ask(answer, answer.page + 1)))
    if answer.parent:
        actions.append(Action(f"Show {answer.parent}", "ask", f"quota {answer.parent}"))
    return tuple(actions)
