"""How long a job may wait, by the waits of jobs like it: a range, never a promise.

[pure]
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import chain

from capacity.demand import candidates, demand, selects
from capacity.model import ClusterQueue, FlavorResource, Fleet, PodSet, Workload
from capacity.quota import Tree, potential_available
from commands.history import WINDOW, Stretch, awaits_quota, queued_since
from commands.jobs import gpus
from commands.ranges import FEWEST, Like, Range, likes, range_of, spell
from commands.survival import Curve, Spell
from commands.words import card, is_gpu

Flavors = frozenset[str] | None
_SEVERAL = 3


@dataclass(frozen=True, slots=True)
class Wait:
    """How long a job has waited, and what is typical for its like; None where it can't be said.

    ``more`` is how much longer jobs waited that had waited as long; only where it waits longer
    than is typical. ``known`` counts the jobs that it could be compared with. Of its like ``line``
    wait now, itself among them, and ``longer`` of those longer than is typical.
    """

    gpus: int
    card: str
    waited: timedelta
    typical: Range | None
    more: Range | None
    known: int
    line: int = 0
    longer: int = 0

    @property
    def is_slow(self) -> bool:
        """Tell whether most of its like that wait now, and several, wait longer than is typical."""
        return self.longer >= _SEVERAL and self.longer * 2 > self.line

    @property
    def is_long(self) -> bool:
        """Tell whether it waits longer than three of four jobs like it did."""
        typical = self.typical
        return typical is not None and not typical.open and self.waited > typical.high


def wait_of(
    workload: Workload,
    queue: ClusterQueue,
    fleet: Fleet,
    tree: Tree,
    *,
    past: Sequence[Stretch],
    now: datetime,
) -> Wait:
    """Return what is known of a waiting job's wait.

    By those that got quota in its queue, and those that wait there with it: of half to twice its
    GPUs, else of any size; on its own flavors where it can't use all of the queue's.
    """
    size, waited = gpus(workload), max(timedelta(0), now - queued_since(workload))
    flavors, name = _flavors(workload, queue, fleet)
    here, everyone = [s for s in past if s.queue == queue.name], _Line(queue, fleet, tree)
    wait = Wait(size, name, waited, None, None, 0)
    for like in likes(size, flavors, name):
        mine = [s for s in here if like.size(s.gpus) and like.flavor(s.flavor)]
        line = list(everyone.spells(like, now))
        curve = Curve(chain(_past(mine, now), line))
        wait = replace(wait, known=curve.ends(), line=len(line))
        if wait.known >= FEWEST:
            started = [s.reserved_at for s in mine if s.reserved_at]
            typical = range_of(curve, like, started, now)
            longer = 0 if typical.open else sum(s.length > typical.high for s in line)
            wait = replace(wait, typical=typical, longer=longer)
            if wait.is_long and curve.ends(waited) >= FEWEST:
                wait = replace(wait, more=range_of(curve, like, started, now, waited))
            break
    return wait


class _Line:
    """The jobs that wait for quota in a queue and can get it some day."""

    def __init__(self, queue: ClusterQueue, fleet: Fleet, tree: Tree) -> None:
        self._fleet = fleet
        self._sizes: dict[int, int] = {}
        self._most = _most(queue, tree)
        self._jobs = [w for w in fleet.workloads.pending(queue.name) if self._waits(w)]

    def spells(self, like: Like, now: datetime) -> Iterator[Spell]:
        """Yield how long those of a kind have waited so far."""
        for workload in self._jobs:
            if like.size(self._size(workload)) and self._may_use(workload, like.flavors):
                yield spell(queued_since(workload), now, now, ended=False)

    def _waits(self, workload: Workload) -> bool:
        return awaits_quota(workload) and self._size(workload) <= self._most

    def _size(self, workload: Workload) -> int:
        """Return its GPUs, counted once for all Workloads of a shape: they share their pod sets."""
        shape = id(workload.pod_sets)
        if shape not in self._sizes:
            self._sizes[shape] = gpus(workload)
        return self._sizes[shape]

    def _may_use(self, workload: Workload, flavors: Flavors) -> bool:
        names = flavors or ()
        return flavors is None or any(_selected(workload.pod_sets, n, self._fleet) for n in names)


def _most(queue: ClusterQueue, tree: Tree) -> int:
    """Return the most GPUs that the queue could ever have, of all flavors together."""
    node = tree.cluster_queue(queue.name)
    return sum(potential_available(node, pair) for pair in node.quotas if is_gpu(pair.resource))


def _flavors(workload: Workload, queue: ClusterQueue, fleet: Fleet) -> tuple[Flavors, str]:
    """Return the flavors that it is bound to, None if it may use all; and what their cards are."""
    pairs = [p for p in candidates(queue, demand(workload)) if is_gpu(p.resource)]
    usable = [p for p in pairs if _selected(workload.pod_sets, p.flavor, fleet)] or pairs
    bound = None if len(usable) == len(pairs) else frozenset(p.flavor for p in usable)
    return bound, _card(usable)


def _card(pairs: Iterable[FlavorResource]) -> str:
    cards = {card(pair) for pair in pairs}
    return cards.pop() if len(cards) == 1 else "GPUs"


def _selected(pod_sets: Iterable[PodSet], name: str, fleet: Fleet) -> bool:
    flavor = fleet.flavors.get(name)
    return flavor is None or all(selects(pod_set, flavor) for pod_set in pod_sets)


def _past(stretches: Iterable[Stretch], now: datetime) -> Iterator[Spell]:
    """Yield waits that reach into the window; one that was given up lasted at least so long."""
    for stretch in stretches:
        over = stretch.reserved_at or stretch.ended_at or now
        if over >= now - WINDOW:
            yield spell(stretch.queued_since, over, now, ended=stretch.reserved_at is not None)
