"""What a digest is made of: the cluster's hours by team, the idlest jobs, and how long jobs waited.

[pure]
"""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import chain
from statistics import median

from capacity.errors import Gap, SourceDown
from capacity.model import Fleet
from capacity.usage import Hours, Ledger, PodHours, Window
from commands.command import Ask, World
from commands.history import queued_since, reserved_at
from commands.jobs import gpus
from commands.usage_cost import Cost, cost
from commands.usage_data import Meter, split
from commands.usage_jobs import JobHours, by_job
from commands.usage_scope import Whose, known_fleet, whose
from commands.window import Period, parse
from gitops.people import People

REST = "other namespaces"
DEFAULT = ("last", "week")


@dataclass(frozen=True, slots=True)
class TeamHours:
    """A team's hours; pods in namespaces of no team are ``REST``'s."""

    team: str
    hours: Hours


@dataclass(frozen=True, slots=True)
class Waits:
    """How long the jobs waited that got their GPUs in the window, and how many wait now."""

    queue: str
    started: int
    median: timedelta | None
    longest: timedelta | None
    waiting: int


@dataclass(frozen=True, slots=True)
class DigestAnswer:
    """The digest of a period: of all teams, or of one (``about``).

    ``busy`` and ``busy_before`` are the busy share of all cards' hours that DCGM saw, 0..1; None
    when it saw none. ``cost`` is the cluster's. ``ledger`` is None when Prometheus doesn't answer;
    ``down`` says why.
    """

    asked_at: datetime
    as_of: datetime
    source: str
    gaps: tuple[Gap, ...]
    cluster: str
    about: Whose | None
    period: Period
    ledger: Ledger | None
    busy: float | None
    busy_before: float | None
    cards: float
    teams: tuple[TeamHours, ...]
    jobs: tuple[JobHours, ...]
    waits: tuple[Waits, ...]
    cost: Cost | None
    down: str


def answer(ask: Ask, world: World) -> DigestAnswer:
    """Answer for all teams or the named one, for the week that ended last if no time is named."""
    who, when = split(ask)
    now, people = world.now(), world.people()
    period = parse(when or DEFAULT, now, ask.asker.time_zone)
    fleet, gaps = known_fleet(world)
    about = whose(who, fleet, people) if who.args else None
    blank = _uncounted(about, period, fleet, now, gaps)
    try:
        meter: Meter = world.meter()
        counted, before = meter.hours(None, period.window), meter.hours(None, period.before)
    except SourceDown as down:
        if fleet is None:
            raise
        gap = Gap(down.source, down.since, "held, busy and idle hours")
        return replace(blank, gaps=(*gaps, gap), down=f"{down.sentence} {down.next_step}".strip())
    pods = [pod for pod in counted.pods if _in_scope(pod, about)]
    return replace(
        blank,
        as_of=now,
        source=f"{counted.source}, {fleet.source}" if fleet else counted.source,
        ledger=counted,
        busy=_busy(counted),
        busy_before=_busy(before),
        cards=_cards(counted),
        teams=_by_team(pods, people),
        jobs=by_job(pods, fleet.workloads.names() if fleet else ()),
        cost=cost(counted.pods, world.prices()),
    )


def _uncounted(
    about: Whose | None,
    period: Period,
    fleet: Fleet | None,
    now: datetime,
    gaps: tuple[Gap, ...],
) -> DigestAnswer:
    queues = about.queues if about else tuple(fleet.cluster_queues) if fleet else ()
    return DigestAnswer(
        asked_at=now,
        as_of=fleet.as_of if fleet else now,
        source=fleet.source if fleet else "",
        gaps=gaps,
        cluster=fleet.cluster if fleet else "",
        about=about,
        period=period,
        ledger=None,
        busy=None,
        busy_before=None,
        cards=0.0,
        teams=(),
        jobs=(),
        waits=tuple(_waits(q, fleet, period.window) for q in queues) if fleet else (),
        cost=None,
        down="",
    )


def _in_scope(pod: PodHours, about: Whose | None) -> bool:
    return about is None or about.namespaces is None or pod.namespace in about.namespaces


def _busy(counted: Ledger) -> float | None:
    """Return the busy share of all cards, held or not; unknown hours are not taken for idle."""
    known = counted.card_hours
    return counted.total.busy / known if known else None


def _cards(counted: Ledger) -> float:
    """Return how many cards were seen on average, while any was."""
    seen = counted.window.hours * counted.exporter_coverage
    return counted.card_hours / seen if seen else 0.0


def _by_team(pods: Iterable[PodHours], people: People) -> tuple[TeamHours, ...]:
    """Add up by team, the idlest first."""
    team_of = {space: team.name for team in people.teams.values() for space in team.namespaces}
    totals: dict[str, Hours] = defaultdict(Hours)
    for pod in pods:
        totals[team_of.get(pod.namespace, REST)] += pod.hours
    ordered = sorted(totals.items(), key=lambda item: (-item[1].idle, item[0]))
    return tuple(TeamHours(team, hours) for team, hours in ordered)


def _waits(queue: str, fleet: Fleet, window: Window) -> Waits:
    kept = fleet.workloads
    waited = []
    for workload in chain(kept.finished(queue), kept.reserving(queue)):
        start = reserved_at(workload)
        if start is not None and window.start <= start < window.end and gpus(workload):
            waited.append(max(timedelta(0), start - min(queued_since(workload), start)))
    waiting = sum(1 for workload in kept.pending(queue) if gpus(workload))
    if not waited:
        return Waits(queue, 0, None, None, waiting)
    middle = timedelta(seconds=median(wait.total_seconds() for wait in waited))
    return Waits(queue, len(waited), middle, max(waited), waiting)
