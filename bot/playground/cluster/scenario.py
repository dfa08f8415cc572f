"""Who works in the simulated cluster: the jobs at the start, and those that come later.

The start is the example of the documentation: cohort ml with research, vision and serving
holding 44, 10 and 30 H100. Nothing comes or ends in the first ``QUIET`` minutes, so that a visitor
finds it as described.
"""

import random
from collections import Counter
from dataclasses import dataclass
from datetime import datetime, timedelta

from bot.playground.cluster.job import Spec
from bot.playground.cluster.world import World

QUIET = timedelta(minutes=40)
_MOST_WAITING = 8
_H = timedelta(hours=1)
_M = timedelta(minutes=1)


@dataclass(frozen=True, slots=True)
class Present:
    """A job that runs at the start: since when, and when it will end."""

    spec: Spec
    age: timedelta
    ends: timedelta


@dataclass(frozen=True, slots=True)
class Sort:
    """A sort of job that a team submits now and then; ``hours`` is from and to."""

    weight: int
    name: str
    pods: int
    gpus: int
    hours: tuple[float, float]
    behaviour: str
    kind: str = "Job"


@dataclass(frozen=True, slots=True)
class Team:
    """How often a team submits, and what."""

    queue: str
    every: timedelta
    sorts: tuple[Sort, ...]
    priority_class: str | None = None
    priority: int = 0


RUNNING = (
    Present(Spec("research", "llm-pretrain", 4, 8, 26 * _H, "JobSet"), 20 * _H, 6 * _H),
    Present(Spec("research", "eval-1", 1, 8, 6 * _H, behaviour="eval"), 5 * _H, 45 * _M),
    Present(Spec("research", "eval-2", 1, 2, 5 * _H, behaviour="eval"), 2 * _H, 3 * _H),
    Present(Spec("vision", "detector", 1, 8, 30 * _H), 20 * _H, 9 * _H),
    Present(Spec("vision", "labels", 1, 2, 5 * _H, behaviour="notebook"), _H, 4 * _H),
    Present(Spec("serving", "chat", 3, 8, 240 * _H, behaviour="serving"), 20 * _H, 220 * _H),
    Present(Spec("serving", "embed", 3, 2, 240 * _H, behaviour="serving"), 20 * _H, 200 * _H),
)
CHECKING = Spec("research", "sweep-2", 1, 2, 3 * _H, behaviour="eval", check=41 * _M)
CHECKING_AGE = 3 * _M
WAITING = (
    (Spec("research", "llm-ft-7", 2, 8, 5 * _H, "JobSet", on="h100"), 41 * _M),
    (Spec("research", "eval-3", 1, 1, _H, behaviour="eval"), 12 * _M),
    (Spec("research", "eval-4", 1, 1, _H, behaviour="eval"), 11 * _M),
    (Spec("research", "ablation-1", 1, 8, 3 * _H), 9 * _M),
    (Spec("research", "ablation-2", 1, 8, 3 * _H), 5 * _M),
)
TEAMS = (
    Team(
        "research",
        28 * _M,
        (
            Sort(5, "eval", 1, 2, (0.5, 1.5), "eval"),
            Sort(3, "ablation", 1, 8, (2, 4), "training"),
            Sort(3, "sweep", 1, 4, (1, 3), "training"),
            Sort(1, "llm-ft", 2, 8, (4, 6), "training", "JobSet"),
        ),
    ),
    Team(
        "vision",
        45 * _M,
        (
            Sort(4, "labels", 1, 2, (1, 2), "eval"),
            Sort(3, "detector", 1, 8, (3, 6), "training"),
            Sort(2, "notebook", 1, 1, (4, 8), "notebook"),
            Sort(1, "stuck-train", 1, 2, (3, 5), "stuck"),
        ),
    ),
    Team(
        "serving",
        90 * _M,
        (
            Sort(3, "chat-burst", 1, 8, (1, 3), "serving"),
            Sort(2, "canary", 1, 2, (0.5, 1.5), "serving"),
        ),
        "high",
        1000,
    ),
)


def begin(world: World, start: datetime, seed: int) -> None:
    """Put the jobs of the start into the world, and note the first arrivals."""
    for present in RUNNING:
        job = world.submit(present.spec, start - present.age - _M)
        world.restore(job, "h100", start - present.age, start + present.ends)
    checking = world.submit(CHECKING, start - CHECKING_AGE - _M)
    world.reserve(checking, world.rules.cluster_queues["research"], "h100", start - CHECKING_AGE)
    for spec, age in WAITING:
        world.submit(spec, start - age)
    # Only the first is tried in a StrictFIFO queue, and it was as soon as it came.
    world.schedule(start - WAITING[0][1] + timedelta(seconds=1))
    arrivals = Arrivals(world, seed)
    for team in TEAMS:
        arrivals.next(team, start + QUIET)


class Arrivals:
    """Submits jobs for the teams at random moments, the same ones for the same seed."""

    def __init__(self, world: World, seed: int) -> None:
        self._world = world
        self._dice = {team.queue: random.Random(f"{seed}/{team.queue}") for team in TEAMS}  # noqa: S311
        self._numbers = Counter({"eval": 4, "ablation": 2, "sweep": 2, "llm-ft": 7})

    def next(self, team: Team, after: datetime) -> None:
        """Note the team's next submission."""
        wait = self._dice[team.queue].expovariate(1 / team.every.total_seconds())
        at = after + timedelta(seconds=wait)
        self._world.agenda.note(at, lambda moment: self._arrive(team, moment))

    def _arrive(self, team: Team, at: datetime) -> None:
        spec = self._made(team)
        if len(self._world.pending(team.queue)) < _MOST_WAITING:
            self._world.submit(spec, at)
        self.next(team, at)

    def _made(self, team: Team) -> Spec:
        dice = self._dice[team.queue]
        sort = dice.choices(team.sorts, [s.weight for s in team.sorts])[0]
        self._numbers[sort.name] += 1
        return Spec(
            team.queue,
            f"{sort.name}-{self._numbers[sort.name]}",
            sort.pods,
            sort.gpus,
            timedelta(hours=dice.uniform(*sort.hours)),
            sort.kind,
            on="h100",
            priority=team.priority,
            priority_class=team.priority_class,
            behaviour=sort.behaviour,
        )
