"""The cluster as bars: for each queue what is its own, borrowed, lent, free and waited for."""

from dataclasses import dataclass
from datetime import datetime

from bot.playground.cluster.job import State
from bot.playground.cluster.world import Happening, World
from capacity.model import FlavorResource, quotas
from capacity.quota import Node, Tree, borrowed, can_reserve, usage


@dataclass(frozen=True, slots=True)
class QueueBar:
    """One queue in one flavor, in GPUs.

    ``own`` and ``borrowed`` are what its jobs reserve within and beyond its nominal quota.
    ``lent`` is the least that others hold of it: the part of its unused nominal quota that it
    couldn't get back now without preemption (Kueue doesn't record whose quota a borrower holds).
    ``waiting`` is what its waiting jobs ask for.
    """

    queue: str
    nominal: int
    own: int
    borrowed: int
    lent: int
    can_reserve: int
    waiting: int
    waiting_jobs: int
    running_jobs: int


@dataclass(frozen=True, slots=True)
class CohortBar:
    """A cohort in one flavor: the sum of its queues' nominal quotas, what is reserved of it."""

    cohort: str
    flavor: str
    resource: str
    nominal: int
    reserved: int
    free: int
    queues: tuple[QueueBar, ...]


@dataclass(frozen=True, slots=True)
class Picture:
    """Everything that the page draws; ``events`` are the latest ones, the newest first."""

    now: datetime
    speed: float
    paused: bool
    commit: str
    sync_error: str
    bars: tuple[CohortBar, ...]
    events: tuple[Happening, ...]


def bars(world: World) -> tuple[CohortBar, ...]:
    """Return a bar for every cohort and flavor, the most used flavor first."""
    tree = world.tree()
    return tuple(_cohort(root, pair, tree, world) for root in tree.roots() for pair in _pairs(root))


def _pairs(root: Node) -> list[FlavorResource]:
    pairs = {pair: None for node in root.cluster_queues() for pair in node.quotas}
    return list(pairs)


def _cohort(root: Node, pair: FlavorResource, tree: Tree, world: World) -> CohortBar:
    nodes = [node for node in root.cluster_queues() if pair in node.quotas]
    nominal = sum(node.quotas[pair].nominal for node in nodes)
    reserved = sum(usage(node, pair) for node in nodes)
    queues = tuple(_queue(node, pair, world) for node in nodes)
    free = max(0, nominal - reserved)
    return CohortBar(root.name, pair.flavor, pair.resource, nominal, reserved, free, queues)


def _queue(node: Node, pair: FlavorResource, world: World) -> QueueBar:
    nominal, held, free = node.quotas[pair].nominal, usage(node, pair), can_reserve(node, pair)
    waiting = [
        job for job in world.pending(node.name) if _wants(job.spec.on, pair.flavor, world, node)
    ]
    running = [
        job
        for job in world.jobs
        if job.spec.queue == node.name and job.state is State.RUNNING and job.pair == pair
    ]
    return QueueBar(
        queue=node.name,
        nominal=nominal,
        own=min(held, nominal),
        borrowed=borrowed(node, pair),
        lent=max(0, nominal - held - free) if held < nominal else 0,
        can_reserve=free,
        waiting=sum(job.spec.total for job in waiting),
        waiting_jobs=len(waiting),
        running_jobs=len(running),
    )


def _wants(on: str | None, flavor: str, world: World, node: Node) -> bool:
    """Tell whether a waiting job counts for a flavor: the one it names, else the preferred one."""
    first = next(iter(quotas(world.rules.cluster_queues[node.name])))
    return flavor == (on or first.flavor)
