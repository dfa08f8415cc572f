"""Whether a job would fit in a queue, per kind of card: now, by preemption, ever.

[pure]
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, get_args

from capacity import fits as fit
from capacity.causes import Need
from capacity.demand import selects
from capacity.errors import Gap
from capacity.model import ClusterQueue, FlavorResource, Fleet
from capacity.preempt import Victim
from capacity.quota import Tree
from commands.fit_shape import Shape
from commands.quota_queue import Blocked, blocked
from commands.words import is_gpu

Verdict = Literal["now", "by preemption", "later", "never", "not allowed"]
VERDICTS: tuple[Verdict, ...] = get_args(Verdict)
"""From best to worst."""
_FROM: dict[fit.Verdict, Verdict] = {
    fit.Verdict.NOW: "now",
    fit.Verdict.PREEMPTION: "by preemption",
    fit.Verdict.WAIT: "later",
    fit.Verdict.NEVER: "never",
}


@dataclass(frozen=True, slots=True)
class Stopped:
    """A job that Kueue would stop to make room, and what that frees."""

    job: str
    namespace: str
    queue: str
    priority: int
    frees: Mapping[FlavorResource, int]


@dataclass(frozen=True, slots=True)
class CardFit:
    """One flavor's verdict; ``need`` is of the resource that stands most in the way.

    "not allowed": the job's node selector rules the flavor out. ``stopped`` are the jobs that
    preemption would take.
    """

    flavor: str
    verdict: Verdict
    need: Need
    stopped: tuple[Stopped, ...]


@dataclass(frozen=True, slots=True)
class FitAnswer:
    """Whether a shape would fit in a queue: the asked flavor first, then the best verdicts.

    ``wanted`` is the sum over all pods. ``missing`` are resources that the queue has no quota of;
    ``ignored`` those that Kueue doesn't count here. ``ahead`` is how many jobs wait there already.
    """

    title: str
    queue: str
    cohort: str | None
    wanted: Mapping[str, int]
    pods: int
    cards: tuple[CardFit, ...]
    missing: tuple[str, ...]
    ignored: tuple[str, ...]
    blocked: Blocked | None
    ahead: int
    strict: bool
    priority: int
    notes: tuple[str, ...]
    leaves_out: tuple[str, ...]
    asked_at: datetime
    as_of: datetime
    source: str
    gaps: tuple[Gap, ...]


@dataclass(frozen=True, slots=True)
class Fitting:
    """What is asked: a shape in a queue, at a priority."""

    shape: Shape
    queue: ClusterQueue
    priority: int


def answer_fit(fitting: Fitting, fleet: Fleet, ahead: int, now: datetime) -> FitAnswer:
    """Return the verdicts on every flavor of the queue that could serve the shape."""
    shape, queue = fitting.shape, fitting.queue
    tree, wanted = Tree.of(fleet), total(shape)
    result = fit.fits(tree, queue.name, wanted, fleet, fitting.priority)
    lacking = [g for g in result.groups if g.verdict is fit.Verdict.NOT_OFFERED]
    return FitAnswer(
        title=shape.title,
        queue=queue.name,
        cohort=queue.cohort,
        wanted=wanted,
        pods=sum(s.count for s in shape.pod_sets),
        cards=() if lacking else _cards(result, shape, fleet),
        missing=tuple(resource for group in lacking for resource in group.resources),
        ignored=result.ignored,
        blocked=blocked(queue, cyclic=tree.cyclic(queue.name)),
        ahead=ahead,
        strict=queue.queueing_strategy == "StrictFIFO",
        priority=fitting.priority,
        notes=shape.notes,
        leaves_out=_leaves_out(result, shape, fleet),
        asked_at=now,
        as_of=fleet.as_of,
        source=fleet.source,
        gaps=fleet.gaps,
    )


def _leaves_out(result: fit.FitResult, shape: Shape, fleet: Fleet) -> tuple[str, ...]:
    """Return what wasn't looked at: a manifest tells where its pods may go, a size doesn't."""
    told = all(pod_set.tolerations is not None for pod_set in shape.pod_sets)
    left = tuple(part for part in result.leaves_out if not told or part != fit.PLACEMENT)
    return (*left, fit.BY_SHARES) if fleet.fair_sharing else left


def total(shape: Shape) -> dict[str, int]:
    """Return what all pods ask for together, GPUs first."""
    wanted: dict[str, int] = {}
    for pod_set in shape.pod_sets:
        for resource, each in pod_set.requests.items():
            wanted[resource] = wanted.get(resource, 0) + each * pod_set.count
    return dict(sorted(wanted.items(), key=lambda item: not is_gpu(item[0])))


def _cards(result: fit.FitResult, shape: Shape, fleet: Fleet) -> tuple[CardFit, ...]:
    """Return a verdict per flavor of the group that serves the GPUs; other groups bound it."""
    if not result.groups:
        return ()
    main = next((g for g in result.groups if any(map(is_gpu, g.resources))), result.groups[0])
    others = [g for g in result.groups if g is not main]
    made = [_card(flavor, others, shape, fleet) for flavor in main.flavors]
    return tuple(sorted(made, key=lambda c: (c.flavor != shape.flavor, VERDICTS.index(c.verdict))))


def _card(
    flavor: fit.FlavorFit, others: Iterable[fit.GroupFit], shape: Shape, fleet: Fleet
) -> CardFit:
    worst = min(others, key=lambda g: g.verdict, default=None)
    if not _allowed(flavor.flavor, shape, fleet):
        return CardFit(flavor.flavor, "not allowed", flavor.needs[0], ())
    binding = flavor
    if worst is not None and worst.verdict < flavor.verdict:
        binding = max(worst.flavors, key=lambda f: f.verdict)
    need = binding.binding or binding.needs[0]
    stopped = tuple(_stopped(v) for v in binding.victims)
    return CardFit(flavor.flavor, _FROM[binding.verdict], need, stopped)


def _allowed(flavor: str, shape: Shape, fleet: Fleet) -> bool:
    known = fleet.flavors.get(flavor)
    return known is None or all(selects(pod_set, known) for pod_set in shape.pod_sets)


def _stopped(victim: Victim) -> Stopped:
    job = victim.workload
    return Stopped(job.job, job.namespace, victim.cluster_queue, job.priority, victim.frees)
