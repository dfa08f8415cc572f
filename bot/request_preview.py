"""[pure] What a draft would do, for the modal: whom it changes, who must approve, what is odd."""

from collections.abc import Iterator

from bot.cards import missing
from bot.wishes import amount, thing_of
from capacity.outcome import Outcome, Row
from commands.page import Bold, Bullets, Line, Page, Paragraph, Part
from commands.words import card, count, listing, number
from gitops.ports import Preview

MOST_QUEUES = 6


def preview_page(preview: Preview) -> Page:
    """Say what would be after the change, and what it takes; a refusal comes first."""
    draft = preview.draft
    if preview.refused:
        return Page((Bold(preview.refused),), _then(preview.next_step))
    step = f"{draft.cluster_queue}'s {thing_of(draft)} {amount(draft.old)} → {amount(draft.new)}"
    return Page(
        (Bold("After this: "), step, *_possible(preview)),
        (*_effects(preview.what_if), *_approvals(preview), *_findings(preview)),
    )


def _possible(preview: Preview) -> Line:
    found: Outcome | None = preview.what_if
    rows = found.rows if found else ()
    own = next((row for row in rows if row.cluster_queue == preview.draft.cluster_queue), None)
    if own is None:
        return (".",)
    return (f", most ever {_moved(own, own.before.potential, own.after.potential)}.",)


def _effects(found: Outcome | None) -> tuple[Part, ...]:
    if found is None:
        return ()
    lines = [*_queues(found), *_promises(found), *_jobs(found), *_over(found)]
    return (Bullets(tuple((line,) for line in lines)),)


def _queues(found: Outcome) -> Iterator[str]:
    moved = [r for r in found.rows if r.before.available != r.after.available]
    for row in moved[:MOST_QUEUES]:
        can = _moved(row, max(0, row.before.available), max(0, row.after.available))
        if max(0, row.before.available) != max(0, row.after.available):
            yield f"{row.cluster_queue} can start {can} {card(row.pair)}"
    rest = [r.cluster_queue for r in found.rows if not r.changed]
    if rest:
        keeps = "keeps its" if len(rest) == 1 else "keep their"
        yield f"{listing(rest)} {keeps} numbers"


def _promises(found: Outcome) -> Iterator[str]:
    for promise in found.promises:
        if promise.before != promise.after:
            yield (
                f"{promise.root} promises {promise.after} {card(promise.pair)} in all "
                f"(now {promise.before})"
            )


def _jobs(found: Outcome) -> Iterator[str]:
    for starts, words in ((found.starts, "would start"), (found.held_back, "would wait longer")):
        if starts:
            names = listing([start.workload.job for start in starts], most=3)
            yield f"{count(len(starts), 'waiting job')} {words}: {names}"
    if not found.starts and not found.held_back:
        yield "No waiting job would start by it right now"


def _over(found: Outcome) -> Iterator[str]:
    for over in found.over:
        takers = listing([queue for queue, _ in over.reclaimers])
        who = f"; {takers} may take theirs back" if takers else ""
        yield (
            f"{over.cluster_queue} would hold {number(over.pair.resource, over.after)} "
            f"{card(over.pair)} more than its own{who}"
        )


def _approvals(preview: Preview) -> tuple[Part, ...]:
    verdict = preview.verdict
    if verdict is None:
        return ()
    if verdict.need is None or verdict.need.met:
        return (Paragraph((verdict.why or "Nobody has to approve it.",)),)
    return (Paragraph(("Must approve: ", *missing(verdict.need))),)


def _findings(preview: Preview) -> tuple[Part, ...]:
    found = tuple((finding.sentence,) for finding in preview.findings)
    notes = tuple((note,) for note in preview.change.notes) if preview.change else ()
    return (Bullets((*found, *notes)),) if found or notes else ()


def _moved(row: Row, before: int, after: int) -> str:
    then, now = number(row.pair.resource, before), number(row.pair.resource, after)
    return then if then == now else f"{then} → {now}"


def _then(next_step: str) -> tuple[Part, ...]:
    return (Paragraph((next_step,)),) if next_step else ()
