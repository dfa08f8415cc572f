"""Whether a job would fit, as a page.

[pure]
"""

from commands.fit_data import CardFit, FitAnswer, Stopped
from commands.footer import footer, gap_notices
from commands.page import Action, Bold, Line, Page, Paragraph, Part, Table
from commands.words import amount, card, count, is_gpu, listing, number


def fit_page(answer: FitAnswer) -> Page:
    """Show the verdict in a sentence, then each card: now, by stopping others, ever."""
    parts: list[Part] = []
    if answer.cards:
        rows = tuple(_row(fit) for fit in answer.cards)
        headers = ("card", "now", "by stopping", "ever")
        parts.append(
            Table(headers, rows, f"Would {answer.title} fit in {answer.queue}?", (1, 2, 3))
        )
    left_out = [part for part in answer.leaves_out if "waits before it" not in part]
    ahead = "" if answer.missing else _line_ahead(answer)
    notes = [ahead, _preemption(answer), _missing(answer), _ignored(answer), *answer.notes]
    parts += [Paragraph((note,)) for note in notes if note]
    return Page(
        headline=_headline(answer),
        parts=tuple(parts),
        actions=_actions(answer),
        footer=footer(answer, answer.asked_at, f"not looked at: {', '.join(left_out)}"),
        notices=gap_notices(answer.gaps),
    )


def _headline(answer: FitAnswer) -> Line:
    if answer.missing or not answer.cards:
        lacks = listing(list(answer.missing)) or "anything it asks for"
        return (Bold(f"No, never as it is: {answer.queue} has no quota of {lacks}."),)
    if answer.blocked is not None:
        state = "stopped" if answer.blocked.kind == "stopped" else "switched off"
        return (Bold(f"No: {answer.queue} is {state}, nothing starts there now."), _numbers(answer))
    best = answer.cards[0]
    others = [f for f in answer.cards[1:] if f.verdict != "not allowed"]
    ever = f" Ever: yes, up to {number(best.need.pair.resource, best.need.potential)}."
    later = (ever,) if best.verdict in ("by preemption", "later") else ()
    return (Bold(_verdict(best, answer)), *(_other(f, answer) for f in others[:3]), *later)


def _verdict(fit: CardFit, answer: FitAnswer) -> str:
    need = fit.need
    pair, queue = need.pair, answer.queue
    wanted, now = number(pair.resource, need.wanted), number(pair.resource, need.available)
    match fit.verdict:
        case "now":
            free = amount(pair, need.available)
            return f"{_yes(answer)}: {queue} can get {free} now, this needs {wanted}."
        case "by preemption":
            short = f"{queue} can get {now} {card(pair)}, this needs {wanted} at once"
            return f"Only by stopping other jobs: {short}."
        case "later":
            return f"No, not now: {queue} can get {now} {card(pair)}, this needs {wanted} at once."
        case "never":
            most = amount(pair, need.potential)
            return f"No, never as it is: {queue} may have {most} at most, this needs {wanted}."
        case "not allowed":
            return f"No: its node selector fits no kind of node that {queue} has."


def _yes(answer: FitAnswer) -> str:
    return "It would fit, but others go first" if answer.ahead and answer.strict else "Yes"


def _other(fit: CardFit, answer: FitAnswer) -> str:
    need = fit.need
    name, free = card(need.pair), number(need.pair.resource, need.available)
    match fit.verdict:
        case "now" if answer.ahead and answer.strict:
            return f" On {name}: {free} free, but others go first."
        case "now":
            return f" On {name}: yes, {free} free."
        case "never":
            return f" On {name}: never, {number(need.pair.resource, need.potential)} at most."
    return f" On {name}: not now, {free} free."


def _numbers(answer: FitAnswer) -> str:
    need = answer.cards[0].need
    return f" By the numbers: {amount(need.pair, need.available)} free, this needs {need.wanted}."


def _row(fit: CardFit) -> tuple[Line, ...]:
    need = fit.need
    resource = need.pair.resource
    free, most = number(resource, need.available), number(resource, need.potential)
    label = fit.flavor.upper() if is_gpu(resource) else f"{fit.flavor} ({resource})"
    if fit.verdict == "not allowed":
        return ((label,), ("not allowed",), ("no",), ("no",))
    wanted = number(resource, need.wanted)
    now = f"yes, {free}" if fit.verdict == "now" else f"{free} of {wanted}"
    ever = f"{most} at most" if fit.verdict == "never" else f"up to {most}"
    return ((label,), (now,), (_after(fit),), (ever,))


def _after(fit: CardFit) -> str:
    match fit.verdict:
        case "now":
            return "-"
        case "by preemption":
            return count(len(fit.stopped), "job") if fit.stopped else "maybe"
    return "no"


def _line_ahead(answer: FitAnswer) -> str:
    if not answer.ahead:
        return ""
    waits = "waits" if answer.ahead == 1 else "wait"
    rule = (
        "strict order (StrictFIFO), so they all go first"
        if answer.strict
        else "those of higher priority or age are tried first"
    )
    return f"{count(answer.ahead, 'job')} already {waits} in {answer.queue}: {rule}."


def _preemption(answer: FitAnswer) -> str:
    best = answer.cards[0] if answer.cards else None
    if best is None or best.verdict not in ("by preemption", "later"):
        return ""
    if not best.stopped:
        return f"Kueue wouldn't stop anybody's jobs for this, by {answer.queue}'s policies."
    jobs = [f"{job.job} of {job.queue} ({_frees(job)})" for job in best.stopped]
    return f"Kueue would stop {listing(jobs)} for it, and queue what it stops again."


def _frees(job: Stopped) -> str:
    shown = {p: n for p, n in job.frees.items() if is_gpu(p.resource)} or job.frees
    return ", ".join(amount(pair, units) for pair, units in shown.items())


def _missing(answer: FitAnswer) -> str:
    if not answer.missing:
        return ""
    return (
        "Kueue turns down a job that asks for anything its queue has no quota of, unless its "
        "configuration leaves that out (excludeResourcePrefixes)."
    )


def _ignored(answer: FitAnswer) -> str:
    return f"Kueue doesn't count {listing(answer.ignored)} here." if answer.ignored else ""


def _actions(answer: FitAnswer) -> tuple[Action, ...]:
    actions = [Action("Quota", "ask", f"quota {answer.queue}")]
    if answer.ahead:
        actions.append(Action("Queue", "ask", f"queue {answer.queue}"))
    best = answer.cards[0] if answer.cards else None
    if (
        best
        and best.verdict in ("by preemption", "later", "never")
        and is_gpu(best.need.pair.resource)
    ):
        value = f"{answer.queue} {best.flavor}"
        actions.insert(0, Action("Ask for more", "request", value, "primary"))
    return tuple(actions)
