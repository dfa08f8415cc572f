"""What was said of waits and run times against what then happened, in simulated queues.

Jobs of several sizes come at random to a strict queue of 64 GPUs that is nearly full, and run for
random times. The range is the middle half: about half of what then happens has to lie in it, about
a quarter on either side. Typical isn't tailored: it knows nothing of who stands in line just now.
"""

import heapq
import math
import random
from dataclasses import dataclass, replace
from datetime import timedelta

import pytest

from capacity.model import Fleet, Workload
from capacity.quota import Tree
from commands.estimate import wait_of
from commands.history import WINDOW, Stretch
from commands.ranges import FEWEST, Like, Range, range_of, spell
from commands.run_times import RunTimes
from commands.survival import Curve
from tests.builders import H100, NOW, a_cluster_queue, a_fleet, a_workload

GPUS = 64
QUEUE = a_cluster_queue("research", {H100: (GPUS,)}, cohort=None)
SIZES = (1, 2, 4, 8, 16)
DAYS = 24
START = NOW - timedelta(days=DAYS)


@dataclass(frozen=True)
class Lived:
    """A job of the simulation, in minutes from its start: came, got quota, was done."""

    number: int
    size: int
    came: float
    began: float
    done: float


def simulate(seed: int, load: float) -> list[Lived]:
    """Serve jobs strictly in order of arrival; ``load`` is the share of GPUs that are asked for."""
    dice = random.Random(seed)
    mean_run, mean_size = 180.0, sum(SIZES) / len(SIZES)
    every = mean_run * mean_size / (GPUS * load)
    held: list[tuple[float, int]] = []
    free, came, last, lived = GPUS, 0.0, 0.0, []
    while came < DAYS * 1440:
        came += dice.expovariate(1 / every)
        size, run = dice.choice(SIZES), dice.lognormvariate(math.log(mean_run) - 0.32, 0.8)
        at = max(came, last)
        while held and held[0][0] <= at:
            free += heapq.heappop(held)[1]
        while free < size:
            at, back = heapq.heappop(held)
            free += back
        last = at
        free -= size
        heapq.heappush(held, (at + run, size))
        lived.append(Lived(len(lived), size, came, at, at + run))
    return lived


def moment(minutes: float):
    return START + timedelta(minutes=minutes)


def stretch(job: Lived, now: float) -> Stretch:
    over = job.done <= now
    return Stretch(
        uid=f"u{job.number}", queue="research", flavor="h100", gpus=job.size, pods=1, priority=0,
        queued_since=moment(job.came), reserved_at=moment(job.began),
        ended_at=moment(job.done) if over else None, end="finished" if over else "",
        reason="Succeeded" if over else "",
    )  # fmt: skip


def known(lived: list[Lived], now: float) -> list[Stretch]:
    """What the bot would have at that moment, and no more."""
    since = now - WINDOW.total_seconds() / 60
    return [stretch(j, now) for j in lived if j.began <= now and j.done >= since]


def waiting(lived: list[Lived], now: float) -> list[Workload]:
    line = [j for j in lived if j.came <= now < j.began]
    return [
        a_workload(f"w{j.number}", 1, j.size, created=moment(j.came), uid=f"w{j.number}")
        for j in line
    ]


def fleet_of(line: list[Workload]) -> Fleet:
    return a_fleet(queues=[QUEUE], workloads=line)


def told(lived: list[Lived], job: Lived) -> Range | None:
    """What a person was told who asked right after they had submitted the job."""
    now = job.came
    fleet = fleet_of(waiting(lived, now))
    mine = next(
        (w for w in fleet.workloads if w.uid == f"w{job.number}"),
        a_workload("mine", 1, job.size, created=moment(now)),
    )
    past = known(lived, now)
    return wait_of(mine, QUEUE, fleet, Tree.of(fleet), past=past, now=moment(now)).typical


def shares(found: list[tuple[Range, timedelta]]) -> tuple[float, float, float]:
    """Which shares of what happened lay below, in and above the range that was told."""
    below = sum(actual < said.low for said, actual in found) / len(found)
    above = sum(actual > said.high for said, actual in found) / len(found)
    return below, 1 - below - above, above


def middle_half(seeds: range, load: float) -> list[tuple[Range, timedelta]]:
    found = []
    for seed in seeds:
        lived = simulate(seed, load)
        asked = [job for job in lived if moment(job.came) > START + WINDOW][::9]
        for job in asked:
            said = told(lived, job)
            if said is not None and not said.open:
                found.append((said, timedelta(minutes=job.began - job.came)))
    return found


def test_about_half_of_the_waits_lie_in_the_range_and_a_quarter_on_either_side() -> None:
    found = middle_half(range(8), load=0.88)
    below, within, above = shares(found)
    assert len(found) > 400
    assert 0.40 <= within <= 0.65
    assert 0.10 <= below <= 0.35
    assert 0.10 <= above <= 0.35
    assert sorted(said.high for said, _ in found)[len(found) // 2] > timedelta(minutes=20)


def test_about_half_of_the_running_jobs_end_in_the_range() -> None:
    found = []
    for seed in range(4):
        lived = simulate(seed, 0.88)
        for now in range(15 * 1440, DAYS * 1440, 720):
            times = RunTimes(known(lived, now), moment(now))
            for job in lived:
                if job.began <= now < job.done:
                    said = times.left("research", job.size, timedelta(minutes=now - job.began))
                    if said is not None and not said.open:
                        found.append((said, timedelta(minutes=job.done - now)))
    below, within, above = shares(found)
    assert len(found) > 500
    assert 0.42 <= within <= 0.62
    assert 0.15 <= below <= 0.33
    assert 0.15 <= above <= 0.33


@pytest.mark.parametrize(("hours", "slow"), [(2, False), (8, True), (12, True)])
def test_when_nothing_starts_any_more_the_range_never_falls_and_it_is_said(
    hours: int, slow: bool
) -> None:
    """By those alone that got quota, all would look as before, or even quicker."""
    lived = simulate(3, 0.85)
    now = 20 * 1440.0
    jammed = [replace(j, began=math.inf, done=math.inf) if j.began > now else j for j in lived]
    later = now + hours * 60
    line, past = waiting(jammed, later), known(jammed, later)
    fleet = fleet_of(line)
    wait = wait_of(line[0], QUEUE, fleet, Tree.of(fleet), past=past, now=moment(later))
    said = wait.typical
    like = Like(said.sizes, with_gpus=True)
    started = [s for s in past if like.size(s.gpus)]
    spells = [spell(s.queued_since, s.reserved_at, moment(later), ended=True) for s in started]
    naive = range_of(Curve(spells), like, [], moment(later))
    assert naive.jobs == said.jobs >= FEWEST
    assert said.going > 0
    assert said.low >= naive.low
    assert said.high > naive.high if hours == 12 else said.high >= naive.high
    assert wait.is_slow == slow
