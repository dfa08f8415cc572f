"""A digest as a page: what changed and what to do about it first, then teams, jobs and waiting.

[pure]
"""

from datetime import timedelta
from zoneinfo import ZoneInfo

from capacity.errors import Gap
from commands import usage_say as say
from commands.digest_data import REST, DigestAnswer, TeamHours, Waits
from commands.footer import footer, gap_notices
from commands.page import Action, Bold, Bullets, Chart, Facts, Line, Page, Part, Table
from commands.usage_jobs import ENOUGH, JobHours, is_judged
from commands.usage_page import MEANING
from commands.words import count, span

_MOST_TEAMS, _MOST_JOBS = 12, 3
_WORTH_HOURS = 8
_WEEK = timedelta(days=7)


def page(answer: DigestAnswer) -> Page:
    """Show the digest; without Prometheus, what Kueue knows of it."""
    return Page(
        headline=_headline(answer),
        parts=_parts(answer),
        actions=_actions(answer),
        footer=_footer(answer),
        notices=(*gap_notices(_other_gaps(answer)), *_notices(answer)),
    )


def _headline(answer: DigestAnswer) -> Line:
    name = " ".join(filter(None, (answer.cluster, _when(answer))))
    if answer.ledger is None:
        return (Bold(f"{name}: {answer.down}"), " So busy and idle hours are missing.")
    if answer.busy is None:
        return (Bold(f"{name}: DCGM saw no GPU, so nothing can be said about its use."),)
    if answer.ledger.coverage < ENOUGH:
        seen = say.percent(answer.ledger.coverage)
        return (Bold(f"{name}: only {seen} was measured, so idle hours can't be told."),)
    first = f"{name}: {say.percent(answer.busy)} of {answer.cards:.0f} GPUs were busy"
    return (Bold(f"{first}{_was(answer)}."), _todo(answer))


def _when(answer: DigestAnswer) -> str:
    """Name a calendar week by its number, anything else by its words."""
    window = answer.period.window
    start = window.start.astimezone(ZoneInfo(window.zone))
    end = window.end.astimezone(ZoneInfo(window.zone))
    whole = end.date() - start.date() == _WEEK and start.hour == end.hour == 0
    if whole and start.weekday() == 0:
        return f"week {start.isocalendar().week}"
    return answer.period.words


def _was(answer: DigestAnswer) -> str:
    before = answer.busy_before
    if before is None:
        return ""
    return f" ({say.percent(before)} {answer.period.before_words})"


def _todo(answer: DigestAnswer) -> str:
    worst = _idlest(answer)
    if not worst:
        return " No job was idle for long."
    job = worst[0]
    busy = say.percent(job.hours.busy / job.hours.held)
    return (
        f" Look first at {job.job} in {job.namespace}: "
        f"{say.hours(job.hours.idle)} h idle, {busy} busy."
    )


def _idlest(answer: DigestAnswer) -> list[JobHours]:
    """Return the jobs that wasted most; none when too little was measured to say so."""
    if answer.ledger is None or answer.ledger.coverage < ENOUGH:
        return []
    found = [j for j in answer.jobs if j.judged and j.hours.idle >= _WORTH_HOURS]
    mostly = [j for j in found if j.hours.busy < 0.5 * j.hours.held]
    return sorted(mostly, key=lambda j: -j.hours.idle)


def _parts(answer: DigestAnswer) -> tuple[Part, ...]:
    parts: list[Part] = []
    if answer.ledger is not None and answer.ledger.total.held:
        parts += [_facts(answer), _chart(answer), _teams(answer)]
        bullets = tuple(_job(job) for job in _idlest(answer)[:_MOST_JOBS])
        parts += [Bullets(bullets)] if bullets else []
    waits = [w for w in answer.waits if w.started or w.waiting]
    if waits:
        parts.append(_waiting(waits))
    return tuple(parts)


def _facts(answer: DigestAnswer) -> Facts:
    assert answer.ledger is not None
    total, sure = answer.ledger.total, answer.ledger.coverage >= ENOUGH
    pairs: list[tuple[str, Line]] = [
        ("Held", (f"{say.hours(total.held)} GPU-hours",)),
        ("Busy", (say.hours(total.busy),)),
        ("Idle" if sure else "Measured, not busy", (say.hours(total.idle),)),
        ("Unknown", (say.hours(total.unknown),)),
    ]
    if sure:
        free = max(0.0, answer.ledger.card_hours - total.held)
        pairs.append(("Not held", (say.hours(free),)))
    if sure and answer.cost is not None:
        pairs.append(("Cost of idle", (say.money(answer.cost.idle, answer.cost.currency),)))
    return Facts(tuple(pairs), "The cluster" if answer.about else "")


def _chart(answer: DigestAnswer) -> Chart:
    """Return the whole cluster's hours by day."""
    assert answer.ledger is not None
    days, zone = answer.ledger.days, answer.ledger.window.zone
    return Chart(
        title="GPU-hours by day",
        labels=tuple(say.day(one, zone) for one, _ in days),
        series=tuple((name, tuple(getattr(h, name) for _, h in days)) for name in say.NAMES),
        unit="GPU-hours",
        alt=say.by_day(answer.ledger),
    )


def _teams(answer: DigestAnswer) -> Table:
    assert answer.ledger is not None
    sure = answer.ledger.coverage >= ENOUGH
    rows = tuple(_team(team, sure) for team in answer.teams[:_MOST_TEAMS])
    return Table(("team", "held h", "busy", "idle h"), rows, "Teams, the idlest first", (1, 2, 3))


def _team(team: TeamHours, sure: bool) -> tuple[Line, ...]:
    hours = team.hours
    held = (team.team,), (say.hours(hours.held),)
    if not (sure and is_judged(hours)):
        return (*held, ("unknown",), ("unknown",))
    return (*held, (say.percent(hours.busy / hours.held),), (say.hours(hours.idle),))


def _job(job: JobHours) -> Line:
    busy = say.percent(job.hours.busy / job.hours.held)
    idle, held = say.hours(job.hours.idle), say.hours(job.hours.held)
    return (Bold(job.job), f" in {job.namespace}: {idle} of {held} h idle, {busy} busy")


def _waiting(waits: list[Waits]) -> Table:
    rows = tuple(
        (
            (w.queue,),
            (str(w.started),),
            (f"{span(w.median)}, at most {span(w.longest)}" if w.median and w.longest else "-",),
            (str(w.waiting),),
        )
        for w in sorted(waits, key=lambda w: (-(w.median or timedelta(0)), w.queue))
    )
    headers = ("queue", "started", "waited", "wait now")
    return Table(headers, rows, "How long jobs waited (half of them less)", (1, 3))


def _notices(answer: DigestAnswer) -> tuple[Line, ...]:
    if answer.ledger is None:
        return ()
    told = [f"Prometheus warns that this may be partial: {w}" for w in answer.ledger.warnings]
    if answer.ledger.witnesses_differ:
        told.append("What jobs requested and what DCGM saw on cards differ by more than 5 %.")
    strangers = [team for team in answer.teams if team.team == REST and team.hours.held]
    if strangers:
        held = say.hours(strangers[0].hours.held)
        told.append(f"{held} h were held in namespaces that no team of people.yaml answers for.")
    return tuple((words,) for words in told)


def _other_gaps(answer: DigestAnswer) -> tuple[Gap, ...]:
    return tuple(g for g in answer.gaps if g.source != "Prometheus")


def _actions(answer: DigestAnswer) -> tuple[Action, ...]:
    when = answer.period.said or "7d"
    teams = [t.team for t in answer.teams if t.team != REST][:3]
    return tuple(Action(f"{team} by job", "ask", f"usage {team} {when}") for team in teams)


def _footer(answer: DigestAnswer) -> Line:
    coverage = (
        f"coverage {say.percent(answer.ledger.coverage)}"
        if answer.ledger
        else count(len(answer.waits), "queue")
    )
    window = f"window {say.window(answer.period.window)}"
    return footer(answer, answer.asked_at, window, coverage, MEANING)
