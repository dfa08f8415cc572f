"""Whether a job would fit in a queue, per kind of card: now, by preemption, ever.

[pure]
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, get_args

from capacity.amount import subtract
from capacity.causes import Need
from capacity.demand import group_of, selects
from capacity.errors import Gap
from capacity.model import ClusterQueue, FlavorResource, Fleet, ResourceGroup
from capacity.quota import Tree, can_reserve, potential_available, subtree_quota, usage
from commands.fit_preempt import AfterPreemption, Wish, after_preemption
from commands.fit_shape import Shape
from commands.quota_queue import Blocked, blocked
from commands.words import is_gpu

Verdict = Literal["now", "by preemption", "later", "never", "not allowed"]
VERDICTS: tuple[Verdict, ...] = get_args(Verdict)
"""From best to worst."""


@dataclass(frozen=True, slots=True)
class FlavorFit:
    """One flavor's verdict; ``need`` is of the resource that stands most in the way.

    "not allowed": the job's node selector rules the flavor out. ``after`` is what preemption could
    bring at most; None where it isn't needed.
    """

    flavor: str
    verdict: Verdict
    need: Need
    after: AfterPreemption | None


@dataclass(frozen=True, slots=True)
class FitAnswer:
    """Whether a shape would fit in a queue: the asked flavor first, then the best verdicts.

    ``wanted`` is the sum over all pods. ``missing`` are resources that the queue has no quota of.
    ``ahead`` is how many jobs wait there already.
    """

    title: str
    queue: str
    wanted: Mapping[str, int]
    pods: int
    flavors: tuple[FlavorFit, ...]
    missing: tuple[str, ...]
    blocked: Blocked | None
    ahead: int
    strict: bool
    priority: int
    notes: tuple[str, ...]
    cohort: str | None
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
    return FitAnswer(
        title=shape.title,
        queue=queue.name,
        wanted=wanted,
        pods=sum(s.count for s in shape.pod_sets),
        flavors=_flavors(fitting, wanted, tree, fleet),
        missing=tuple(r for r in wanted if wanted[r] and group_of(queue, r) is None),
        blocked=blocked(queue, cyclic=tree.cyclic(queue.name)),
        ahead=ahead,
        strict=queue.queueing_strategy == "StrictFIFO",
        priority=fitting.priority,
        notes=shape.notes,
        cohort=queue.cohort,
        asked_at=now,
        as_of=fleet.as_of,
        source=fleet.source,
        gaps=fleet.gaps,
    )


def total(shape: Shape) -> dict[str, int]:
    """Return what all pods ask for together, GPUs first."""
    wanted: dict[str, int] = {}
    for pod_set in shape.pod_sets:
        for resource, each in pod_set.requests.items():
            wanted[resource] = wanted.get(resource, 0) + each * pod_set.count
    return dict(sorted(wanted.items(), key=lambda item: not is_gpu(item[0])))


def _flavors(
    fitting: Fitting, wanted: Mapping[str, int], tree: Tree, fleet: Fleet
) -> tuple[FlavorFit, ...]:
    main = next((group_of(fitting.queue, r) for r in wanted if wanted[r]), None)
    if main is None:
        return ()
    asked = fitting.shape.flavor
    made = [_Flavor(fitting, wanted, tree, fleet).fit(f.name, main) for f in main.flavors]
    return tuple(sorted(made, key=lambda fit: (fit.flavor != asked, VERDICTS.index(fit.verdict))))


class _Flavor:
    """Judges flavors of one question."""

    def __init__(
        self, fitting: Fitting, wanted: Mapping[str, int], tree: Tree, fleet: Fleet
    ) -> None:
        self._fitting, self._wanted, self._tree, self._fleet = fitting, wanted, tree, fleet
        self._node = tree.cluster_queue(fitting.queue.name)

    def fit(self, flavor: str, main: ResourceGroup) -> FlavorFit:
        """Return the verdict on one flavor of the group that serves the GPUs."""
        needs = self._needs(flavor, main)
        worst = max(needs, key=lambda n: (n.wanted > n.potential, n.short))
        if not self._allowed(flavor):
            return FlavorFit(flavor, "not allowed", worst, None)
        if worst.wanted > worst.potential:
            return FlavorFit(flavor, "never", worst, None)
        if not worst.short:
            return FlavorFit(flavor, "now", needs[0], None)
        after = [self._after(need) for need in needs if need.short]
        enough = all(a.available >= n.wanted for a, n in zip(after, _short(needs), strict=True))
        return FlavorFit(flavor, "by preemption" if enough else "later", worst, self._after(worst))

    def _needs(self, flavor: str, main: ResourceGroup) -> list[Need]:
        """Return the need on this flavor, and for other resources on their best flavor."""
        needs = []
        for resource, amount in self._wanted.items():
            group = group_of(self._fitting.queue, resource)
            if group is None or not amount:
                continue
            names = [flavor] if group is main else [f.name for f in group.flavors]
            options = [self._need(FlavorResource(n, resource), amount) for n in names]
            needs.append(min(options, key=lambda n: n.short))
        return needs

    def _need(self, pair: FlavorResource, wanted: int) -> Need:
        node = self._node
        now = can_reserve(node, pair)
        unused = max(0, subtract(subtree_quota(node, pair), usage(node, pair)))
        lent = 0 if node.cyclic else max(0, subtract(unused, now))
        return Need(pair, wanted, now, potential_available(node, pair), lent, matches=True)

    def _allowed(self, flavor: str) -> bool:
        known = self._fleet.flavors.get(flavor)
        return known is None or all(selects(s, known) for s in self._fitting.shape.pod_sets)

    def _after(self, need: Need) -> AfterPreemption:
        wish = Wish(self._fitting.queue, need.pair, need.wanted, self._fitting.priority)
        return after_preemption(wish, self._tree, self._fleet)


def _short(needs: Sequence[Need]) -> list[Need]:
    return [need for need in needs if need.short]
