"""GPU-hours as a page: the account in a sentence, its parts, the days, the jobs, the sources.

[pure]
"""

from commands import usage_say as say
from commands.footer import footer, gap_notices
from commands.page import Action, Bold, Chart, Facts, Line, Page, Paragraph, Part, Table
from commands.usage_data import UsageAnswer
from commands.usage_jobs import ENOUGH, JobHours
from commands.words import card, listing, number

_MOST_JOBS = 8
POLICY = {"max": "the larger of its compute and memory share", "compute": "its compute share"}
NO_PRICES = "No cost: the GitOps repository has no gpubot/prices.yaml."
MEANING = "idle = held and measured, less utilisation; unknown is never counted as idle"


def page(answer: UsageAnswer) -> Page:
    """Show the account, or what is known without it."""
    if answer.ledger is None:
        return _uncounted(answer)
    return Page(
        headline=_headline(answer),
        parts=_parts(answer),
        actions=_actions(answer),
        footer=_footer(answer),
        notices=(*gap_notices(answer.gaps), *_notices(answer)),
    )


def _uncounted(answer: UsageAnswer) -> Page:
    held = [f"{number(pair.resource, n)} {card(pair)}" for pair, n in answer.reserved]
    have = (
        f"{answer.whose.name} has {listing(held)} reserved now" if held else "Nothing is reserved"
    )
    return Page(
        headline=(Bold(answer.down), f" So held, busy and idle hours are missing. {have}."),
        actions=(Action("Try again", "ask", _again(answer)), *_actions(answer)[1:]),
        footer=footer(answer, answer.asked_at),
        notices=gap_notices(tuple(g for g in answer.gaps if g.source != "Prometheus")),
    )


def _headline(answer: UsageAnswer) -> Line:
    name, words = answer.whose.name, answer.period.words
    assert answer.ledger is not None
    total, coverage = answer.ledger.total, answer.ledger.coverage
    if not total.held:
        doubt = "" if coverage >= ENOUGH else f", but only {say.percent(coverage)} of it was seen"
        return (Bold(f"{name} held no GPU {words}{doubt}."),)
    held = f"{name} held {say.hours(total.held)} GPU-hours {words}"
    if coverage < ENOUGH:
        seen = say.percent(coverage)
        return (Bold(f"{held}; how many were idle can't be said: only {seen} was measured."),)
    busy = say.percent(total.busy / total.held)
    return (Bold(f"{held}, {busy} of them busy; {_idle(answer)}."), _compared(answer))


def _idle(answer: UsageAnswer) -> str:
    assert answer.ledger is not None
    idle = f"{say.hours(answer.ledger.total.idle)} h were idle"
    if answer.cost is None:
        return idle
    return f"{idle} and cost about {say.money(answer.cost.idle, answer.cost.currency)}"


def _compared(answer: UsageAnswer) -> str:
    assert answer.ledger is not None
    before = answer.before
    if before is None or before.coverage < ENOUGH:
        return ""
    words = say.change(answer.ledger.total.held, before.total.held, answer.period.before_words)
    return f" That is {words}." if words else ""


def _parts(answer: UsageAnswer) -> tuple[Part, ...]:
    assert answer.ledger is not None
    total, sure = answer.ledger.total, answer.ledger.coverage >= ENOUGH
    if not total.held:
        return (Facts((("Coverage", (say.percent(answer.ledger.coverage),)),)),)
    facts: list[tuple[str, Line]] = [
        ("Held", (f"{say.hours(total.held)} GPU-hours",)),
        ("Busy", (say.hours(total.busy),)),
        ("Idle" if sure else "Measured, not busy", (say.hours(total.idle),)),
        ("Unknown", (_unknown(answer),)),
        ("Coverage", (say.percent(answer.ledger.coverage),)),
    ]
    if answer.cost is not None:
        facts.append(("Cost of held", (say.money(answer.cost.held, answer.cost.currency),)))
    parts: list[Part] = [Facts(tuple(facts))]
    if len(answer.ledger.days) > 1:
        parts.append(chart(answer))
    if answer.jobs:
        parts.append(_jobs(answer))
    if answer.cost is None and not answer.price_problems:
        parts.append(Paragraph((NO_PRICES,)))
    return tuple(parts)


def _unknown(answer: UsageAnswer) -> str:
    assert answer.ledger is not None
    unknown = answer.ledger.total.unknown
    if unknown < 0.05:
        return "0"
    where = say.worst_day(answer.ledger)
    return f"{say.hours(unknown)} (no measurement{': ' + where if where else ''})"


def chart(answer: UsageAnswer) -> Chart:
    """Return busy, idle and unknown by the asker's days."""
    assert answer.ledger is not None
    days, zone = answer.ledger.days, answer.ledger.window.zone
    return Chart(
        title=f"{answer.whose.name}: GPU-hours by day",
        labels=tuple(say.day(span, zone) for span, _ in days),
        series=tuple((name, tuple(getattr(h, name) for _, h in days)) for name in say.NAMES),
        unit="GPU-hours",
        alt=say.by_day(answer.ledger),
    )


def _jobs(answer: UsageAnswer) -> Table:
    assert answer.ledger is not None
    sure = answer.ledger.coverage >= ENOUGH
    rows = tuple(_job(job, sure) for job in answer.jobs[:_MOST_JOBS])
    rest = answer.jobs[_MOST_JOBS:]
    if rest:
        held = say.hours(sum(job.hours.held for job in rest))
        rows = (*rows, ((f"{len(rest)} more",), (held,), ("",), ("",)))
    return Table(("job", "held h", "busy", "idle h"), rows, "Jobs that held most", (1, 2, 3))


def _job(job: JobHours, sure: bool) -> tuple[Line, ...]:
    held = (job.job,), (say.hours(job.hours.held),)
    if not (sure and job.judged):
        return (*held, ("unknown",), ("unknown",))
    busy = job.hours.busy / job.hours.held
    return (*held, (say.percent(busy),), (say.hours(job.hours.idle),))


def _notices(answer: UsageAnswer) -> tuple[Line, ...]:
    ledger, whose = answer.ledger, answer.whose
    assert ledger is not None
    told: list[str] = [f"Prometheus warns that this may be partial: {w}" for w in ledger.warnings]
    if ledger.witnesses_differ:
        told.append(
            f"The two witnesses differ: jobs requested {say.hours(ledger.requested_hours or 0)} "
            f"GPU-hours, on cards DCGM saw {say.hours(ledger.seen_hours)} (an exporter's outage, "
            "or pods around the queue)."
        )
    if ledger.unreadable:
        told.append(f"Left out, because unknown: MIG {listing(ledger.unreadable)}.")
    if whose.also:
        told.append(f"In it too: jobs of {listing(whose.also)}, from the same namespaces.")
    if whose.namespaces == ():
        told.append(
            f"{whose.name} has no namespace: neither people.yaml nor a LocalQueue says one."
        )
    if answer.price_problems:
        told.append(f"No cost: gpubot/prices.yaml can't be read ({answer.price_problems[0]}).")
    if answer.cost is not None and answer.cost.unpriced >= 0.05:
        hours = say.hours(answer.cost.unpriced)
        told.append(f"{hours} h have no price: their card is not in prices.yaml, or wasn't seen.")
    return tuple((words,) for words in told)


def _actions(answer: UsageAnswer) -> tuple[Action, ...]:
    name = answer.whose.name
    if answer.whose.namespaces is None:
        return (Action("Teams compared", "ask", "digest last week"),)
    return (
        Action("Teams compared", "ask", "digest last week"),
        Action("Quota now", "ask", f"quota {name}"),
        *(Action(f"Show {team}", "ask", f"usage {team}") for team in answer.whose.others[:3]),
    )


def _again(answer: UsageAnswer) -> str:
    return f"usage {answer.whose.asked} {answer.period.said}".strip()


def _footer(answer: UsageAnswer) -> Line:
    assert answer.ledger is not None
    weights = POLICY.get(answer.ledger.policy, "its memory share")
    return footer(
        answer,
        answer.asked_at,
        f"window {say.window(answer.period.window)}",
        MEANING,
        f"a MIG slice counts {weights}",
    )
