"""Why a job waits, as a page.

[pure]
"""

from capacity.causes import Kind, Need
from commands.footer import FREE_IS_NO_PROMISE, footer, gap_notices
from commands.page import (
    Action,
    Bold,
    Bullets,
    Code,
    Line,
    Page,
    Paragraph,
    Part,
    Quote,
    Span,
    Table,
    Time,
)
from commands.starts import tell_me
from commands.wait_say import wait_words
from commands.why_checks import checks
from commands.why_data import ChoicesAnswer, WhyAnswer
from commands.why_help import Remedy
from commands.why_place import left_out, makes_room, not_ready, stands
from commands.why_say import headline
from commands.why_story import eviction, past_evictions, story
from commands.words import card, count, is_gpu, number

_MOST_CHOICES = 10
_LINED_UP = (Kind.WAITING_FOR_QUOTA, Kind.PENDING_EVALUATION)
_ABOUT_QUOTA = (
    Kind.WAITING_FOR_QUOTA,
    Kind.EXCEEDS_MAX_QUOTA,
    Kind.PENDING_EVALUATION,
    Kind.WAITING_FOR_PREEMPTED_WORKLOADS,
    Kind.NO_MATCHING_FLAVOR,
    Kind.TOPOLOGY_PLACEMENT_FAILED,
    Kind.UNKNOWN,
)


def why_page(answer: WhyAnswer) -> Page:
    """Show the cause, the arithmetic behind it, what would help, and Kueue's own words."""
    parts: list[Part] = [*_arithmetic(answer), *_progress(answer)]
    parts += _remedies(answer)
    message = answer.cause.message
    if message is not None and message.text:
        parts.append(Quote(message.text, "Kueue says"))
    return Page(
        headline=headline(answer),
        parts=tuple(parts),
        actions=_actions(answer),
        footer=footer(answer, answer.asked_at, *_small_print(answer)),
        notices=gap_notices(answer.gaps),
    )


def choices_page(answer: ChoicesAnswer) -> Page:
    """Show which jobs the name may mean, each with its button."""
    shown = answer.choices[:_MOST_CHOICES]
    total = len(answer.choices)
    left = f" The first {_MOST_CHOICES} are below." if total > _MOST_CHOICES else ""
    return Page(
        headline=(Bold(f"{total} jobs are called {answer.name}. Which one?"), left),
        parts=(Bullets(tuple((Code(n), f" in {queue}: {state}") for n, queue, state in shown)),),
        actions=tuple(Action(name, "ask", f"why {name}") for name, _, _ in shown),
        footer=footer(answer, answer.asked_at),
        notices=gap_notices(answer.gaps),
    )


def _arithmetic(answer: WhyAnswer) -> list[Part]:
    """Show per kind of card what it asks for, what is there, and what is lacking."""
    needs = [n for n in answer.cause.needs if is_gpu(n.pair.resource) or n.short]
    if not needs or answer.cause.kind not in _ABOUT_QUOTA:
        return []
    rows = tuple(_row(need) for need in needs[:12])
    caption = f"What {answer.job} needs at once, and what {answer.queue} can get"
    parts: list[Part] = [Table(("needs", "can get", "lacks", "ever"), rows, caption, (1, 2, 3))]
    lent = answer.need.own_lent if answer.need else 0
    if lent and answer.need:
        parts.append(Paragraph((_lent(answer, number(answer.need.pair.resource, lent)),)))
    return parts


def _row(need: Need) -> tuple[Line, ...]:
    resource = need.pair.resource
    refused = "" if need.matches else " (the job doesn't allow it)"
    return (
        (f"{number(resource, need.wanted)} {card(need.pair)}{refused}",),
        (number(resource, need.available),),
        (number(resource, need.short),),
        (number(resource, need.potential),),
    )


def _lent(answer: WhyAnswer, lent: str) -> str:
    if answer.reclaim == "Never":
        return (
            f"{lent} more of {answer.queue}'s own are lent out and return only as jobs there end."
        )
    return (
        f"{lent} more of {answer.queue}'s own are lent out; Kueue may stop borrowers for them "
        f"(reclaim {answer.reclaim})."
    )


def _progress(answer: WhyAnswer) -> list[Part]:
    """Show retries, checks, readiness and what happened before."""
    lines: list[Line] = [not_ready(answer), stands(answer), left_out(answer)]
    lines += [_requeue(answer), eviction(answer)]
    preempted = answer.cause.preempted
    if preempted is not None and not preempted.current:
        lines.append(("Before: ", *story(answer)))
    lines += checks(answer)
    if answer.cause.kind is Kind.DEACTIVATED:
        resume = f"kubectl kueue resume workload {answer.workload} -n {answer.namespace}"
        lines.append(("Mend the reason, then switch it on again: ", Code(resume)))
    past = past_evictions(answer)
    return [Paragraph(line) for line in (*lines, (past,) if past else ()) if line]


def _requeue(answer: WhyAnswer) -> Line:
    requeue = answer.cause.requeue
    if requeue is None:
        return ()
    tried = f"Requeued {count(requeue.count, 'time')}" if requeue.count else "Requeued"
    after: list[Span] = ["; the next try is when capacity frees."]
    if requeue.waiting and requeue.at is not None:
        after = ["; the next try is not before ", Time(requeue.at), "."]
    elif requeue.waiting:
        after = [f"; held back for now ({requeue.reason})."]
    return (tried, *(after if answer.cause.status == "Pending" else ["."]))


def _remedies(answer: WhyAnswer) -> list[Part]:
    remedies = (*_first_in_line(answer), *makes_room(answer), *answer.remedies)
    items: tuple[Line, ...] = tuple((f"{r.what} ({r.price})",) for r in remedies)
    parts: list[Part] = []
    if items:
        parts += [Paragraph((Bold("What would start it:"),)), Bullets(items)]
    if answer.wait is not None and answer.wait.typical and answer.cause.kind in _LINED_UP:
        parts.append(Paragraph((wait_words(answer.job, answer.wait),)))
    return parts


def _first_in_line(answer: WhyAnswer) -> tuple[Remedy, ...]:
    """Return what gets it past the first of a strict line, which nothing else does."""
    if not (answer.strict and answer.ahead_of_it and answer.cause.kind in _LINED_UP):
        return ()
    first = answer.ahead_of_it.partition("/")[2]
    between = (answer.position or 0) - 2
    then = f"then {count(between, 'job')} more before it" if between else "then it is first"
    return (
        Remedy(f"wait until {first} starts or is withdrawn", then),
        Remedy(f"give it a higher priority than {first}", "all it overtakes wait longer"),
    )


def _actions(answer: WhyAnswer) -> tuple[Action, ...]:
    remedies = [_button(r) for r in answer.remedies if r.verb]
    asked = [Action("Queue", "ask", f"queue {answer.queue}")] if answer.queue else []
    quota = [Action("Quota", "ask", f"quota {answer.queue}")] if answer.queue else []
    ahead = answer.ahead_of_it if answer.strict else ""
    first = f"Why {ahead.partition('/')[2]}?"
    head = [Action(first, "ask", f"why {ahead}")] if ahead else []
    return (*remedies, *_tell_me(answer), *head, *asked, *quota)


def _tell_me(answer: WhyAnswer) -> tuple[Action, ...]:
    """Offer to tell of the start, while there is one to come."""
    comes = answer.cause.status in ("Pending", "QuotaReserved")
    if not comes or answer.cause.kind is Kind.DEACTIVATED:
        return ()
    return (tell_me(answer.uid, f"why {answer.namespace}/{answer.job}"),)


def _button(remedy: Remedy) -> Action:
    style = "primary" if remedy.verb == "request" else ""
    return Action(remedy.label, remedy.verb, remedy.value, style)  # type: ignore[arg-type]


def _small_print(answer: WhyAnswer) -> tuple[str, ...]:
    waits = (FREE_IS_NO_PROMISE,) if answer.cause.status == "Pending" else ()
    older = f"{count(answer.namesakes, 'older job')} of this name not shown"
    return (*waits, *([older] if answer.namesakes else ()))
