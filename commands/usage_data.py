"""The account of a window of GPU-hours, of the one before, and what Kueue has reserved now.

[pure]
"""

from dataclasses import dataclass, replace
from datetime import datetime
from typing import Protocol

from capacity.errors import Gap, SourceDown
from capacity.model import FlavorResource, Fleet
from capacity.usage import Ledger, Window
from commands.command import Ask, World
from commands.usage_cost import Cost, cost
from commands.usage_jobs import JobHours, by_job
from commands.usage_scope import Whose, known_fleet, whose
from commands.window import Period, is_window, parse
from commands.words import is_gpu


class Meter(Protocol):
    """What counts GPU-hours (``capacity.meter.Meter``); raises SourceDown."""

    def hours(self, namespaces: tuple[str, ...] | None, window: Window) -> Ledger: ...


@dataclass(frozen=True, slots=True)
class UsageAnswer:
    """The account of a window and of the one before; ``ledger`` is None when it can't be counted.

    ``down`` says then why. ``reserved`` is what Kueue has reserved for the queues now. ``cost`` is
    None without prices; ``price_problems`` tells a faulty file from none.
    """

    asked_at: datetime
    as_of: datetime
    source: str
    gaps: tuple[Gap, ...]
    whose: Whose
    period: Period
    ledger: Ledger | None
    before: Ledger | None
    jobs: tuple[JobHours, ...]
    cost: Cost | None
    price_problems: tuple[str, ...]
    down: str
    reserved: tuple[tuple[FlavorResource, int], ...]


def split(ask: Ask) -> tuple[Ask, tuple[str, ...]]:
    """Part the words into whose and when: the longest ending that is about time is when."""
    for start in range(len(ask.args)):
        if is_window(ask.args[start:]):
            return _with_args(ask, ask.args[:start]), ask.args[start:]
    return _with_args(ask, ask.args[:1]), ask.args[1:]


def answer(ask: Ask, world: World) -> UsageAnswer:
    """Answer for the named team, queue or cohort (or the asker's own), for the last 7 days.

    Without Prometheus it is what Kueue knows; with neither of the two SourceDown is raised.
    """
    who, when = split(ask)
    now = world.now()
    period = parse(when, now, ask.asker.time_zone)
    fleet, gaps = known_fleet(world)
    about = whose(who, fleet, world.people())
    blank = _uncounted(about, period, fleet, now, gaps)
    try:
        meter: Meter = world.meter()
        counted = meter.hours(about.namespaces, period.window)
        before = meter.hours(about.namespaces, period.before)
    except SourceDown as down:
        if fleet is None:
            raise
        gap = Gap(down.source, down.since, "held, busy and idle hours")
        return replace(blank, gaps=(*gaps, gap), down=f"{down.sentence} {down.next_step}".strip())
    prices = world.prices()
    return replace(
        blank,
        as_of=now,
        source=counted.source,
        ledger=counted,
        before=before,
        jobs=by_job(counted.pods, fleet.workloads.names() if fleet else ()),
        cost=cost(counted.pods, prices),
        price_problems=prices.problems if prices else (),
    )


def _uncounted(
    about: Whose, period: Period, fleet: Fleet | None, now: datetime, gaps: tuple[Gap, ...]
) -> UsageAnswer:
    return UsageAnswer(
        asked_at=now,
        as_of=fleet.as_of if fleet else now,
        source=fleet.source if fleet else "",
        gaps=gaps,
        whose=about,
        period=period,
        ledger=None,
        before=None,
        jobs=(),
        cost=None,
        price_problems=(),
        down="",
        reserved=_reserved(about, fleet) if fleet else (),
    )


def _reserved(about: Whose, fleet: Fleet) -> tuple[tuple[FlavorResource, int], ...]:
    totals: dict[FlavorResource, int] = {}
    for queue in (fleet.cluster_queues[q] for q in about.queues if q in fleet.cluster_queues):
        for pair, units in queue.reserved.items():
            if is_gpu(pair.resource):
                totals[pair] = totals.get(pair, 0) + units
    return tuple((pair, units) for pair, units in totals.items() if units)


def _with_args(ask: Ask, args: tuple[str, ...]) -> Ask:
    return Ask(ask.word, args, ask.options, ask.asker, ask.attachment)
