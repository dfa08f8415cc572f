"""A queue's waiting and running jobs as a page.

[pure]
"""

from commands.footer import footer, gap_notices
from commands.page import Action, Bold, Code, Line, Page, Paragraph, Part, Table
from commands.queue_data import Holding, QueueAnswer, Waiting
from commands.starts import tell_me
from commands.wait_say import wait_words
from commands.words import count, since

_HOLDERS = 8
_STRICT = "Strict order (StrictFIFO): nothing overtakes the first in line, even if it would fit."
_ORDER = {
    "kueue": "order: Kueue's own",
    "gpubot": "order: by Kueue's rules, worked out here because Kueue's own list isn't served",
}


def queue_page(answer: QueueAnswer) -> Page:
    """Show who waits in order and why, how long it takes here, and who holds quota."""
    parts: list[Part] = []
    if answer.waiting:
        parts.append(_waiting_table(answer))
        parts += _wait(answer)
    if answer.strategy == "StrictFIFO" and answer.total > 1:
        parts.append(Paragraph((_STRICT,)))
    if answer.aside:
        words = "stands" if answer.aside == 1 else "stand"
        outside = f"{count(answer.aside, 'more job')} {words} outside the line"
        parts.append(Paragraph((f"{outside}: on hold, gated or switched off.",)))
    if answer.holding and answer.page == 1:
        parts += _holding(answer)
    parts += [Paragraph((words,)) for words in answer.caveats]
    return Page(
        headline=_headline(answer),
        parts=tuple(parts),
        actions=_actions(answer),
        footer=footer(answer, answer.asked_at, *([_ORDER[answer.order]] if answer.total else [])),
        notices=(*gap_notices(answer.gaps), *_others_notice(answer)),
    )


def _headline(answer: QueueAnswer) -> Line:
    if answer.asked_job is not None:
        return (*_place(answer, answer.asked_job), *_stopped(answer))
    if not answer.first:
        running = count(len(answer.holding), "job")
        verb = "has" if len(answer.holding) == 1 else "have"
        said = f"Nothing waits in {answer.queue}; {running} {verb} quota there."
        return (Bold(said), *_stopped(answer))
    head = answer.first
    jobs = f"{count(answer.total, 'job')} {'waits' if answer.total == 1 else 'wait'}"
    who = f"{head.job} ({shape(head)}), waiting for {since(head.since, answer.asked_at)}"
    needs = f" {answer.head_needs[0].upper()}{answer.head_needs[1:]}." if answer.head_needs else ""
    return (
        Bold(f"{jobs} in {answer.queue}; the next in line is {who}."),
        needs,
        *_stopped(answer),
    )


def shape(row: Waiting) -> str:
    """Return "2 x 8 H100", or "3 pods" without GPUs."""
    return f"{row.gang} {row.card}" if row.gpus else row.gang


def ordinal(n: int) -> str:
    """Return "1st", "2nd", "3rd", "4th", "11th"."""
    ending = "th" if 10 < n % 100 < 14 else {1: "st", 2: "nd", 3: "rd"}.get(n % 10, "th")
    return f"{n}{ending}"


def _place(answer: QueueAnswer, row: Waiting) -> Line:
    ahead = row.position - 1
    said = f"{row.job} ({shape(row)}) is {ordinal(row.position)} of {answer.total} in "
    waits = f" It has waited {since(row.since, answer.asked_at)}: {row.why}."
    before = f" {count(ahead, 'job')} ahead by priority and age." if ahead else ""
    return (Bold(f"{said}{answer.queue}."), waits, before)


def _stopped(answer: QueueAnswer) -> Line:
    if answer.blocked is None:
        return ()
    if answer.blocked.kind == "stopped":
        return (
            f" The queue is stopped ({answer.blocked.detail}): nothing starts until it reopens.",
        )
    return (f" Kueue has switched the queue off: {answer.blocked.detail}",)


def _waiting_table(answer: QueueAnswer) -> Table:
    priorities = len({row.priority for row in answer.waiting}) > 1
    rows = tuple(
        (
            (f"{row.position}. {row.job}",),
            (row.gang + (f" (priority {row.priority})" if priorities else ""),),
            (since(row.since, answer.asked_at),),
            (row.why,),
        )
        for row in answer.waiting
    )
    pages = f", page {answer.page} of {answer.pages}" if answer.pages > 1 else ""
    return Table(
        headers=("job", "needs", "waiting", "why"),
        rows=rows,
        caption=f"Waiting in {answer.queue}{pages}",
        more=f"queue {answer.queue} {answer.page + 1}" if answer.page < answer.pages else "",
    )


def _wait(answer: QueueAnswer) -> list[Part]:
    row = answer.asked_job or answer.first
    if row is None or answer.wait is None or answer.blocked is not None:
        return []
    return [Paragraph((wait_words(row.job, answer.wait),))]


def _holding(answer: QueueAnswer) -> list[Part]:
    shown = answer.holding[:_HOLDERS]
    rows = tuple(((row.job,), (row.gang,), (row.holds,), (_since(row, answer),)) for row in shown)
    left = len(answer.holding) - len(shown)
    caption = "Who has quota here" + (f" ({left} smaller ones not shown)" if left else "")
    return [Table(("job", "size", "holds", "since"), rows, caption)]


def _since(row: Holding, answer: QueueAnswer) -> str:
    if not row.running:
        return "starting"
    return since(row.since, answer.asked_at) if row.since else "?"


def _actions(answer: QueueAnswer) -> tuple[Action, ...]:
    row = answer.asked_job or answer.first
    actions = []
    if row is not None:
        actions.append(Action(f"Why {row.job}?", "ask", f"why {row.namespace}/{row.job}"))
    if answer.asked_job is not None:
        asked = answer.asked_job
        actions.append(tell_me(asked.uid, f"queue {asked.namespace}/{asked.job}"))
    if answer.page < answer.pages:
        following = f"queue {answer.queue} {answer.page + 1}"
        actions.append(Action(f"Next {min(15, answer.total - 15 * answer.page)}", "ask", following))
    actions.append(Action("Quota", "ask", f"quota {answer.queue}"))
    actions += [Action(f"Show {name}", "ask", f"queue {name}") for name in answer.others[:5]]
    return tuple(actions)


def _others_notice(answer: QueueAnswer) -> tuple[Line, ...]:
    if not answer.others:
        return ()
    return (("This is ", Code(answer.queue), "; further queues of yours are below."),)
