"""Would it fit? A request tried on every flavor of a queue, before anybody submits it.

[pure]
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import IntEnum

from capacity.causes import Need
from capacity.demand import group_of, uncounted
from capacity.explain import need_of
from capacity.fit_mode import looks_for_victims
from capacity.model import ClusterQueue, FlavorResource, Fleet
from capacity.preempt import Victim, victims
from capacity.preempt_candidates import Asker
from capacity.quota import Node, Tree

PLACEMENT = "node affinity and taints"
BY_SHARES = "whom fair sharing would stop (judged by the rules without it)"
LEAVES_OUT = (
    "topology",
    PLACEMENT,
    "admission checks",
    "what waits before it in the queue",
)


class Verdict(IntEnum):
    """Whether a request fits, the worst first.

    WAIT: it could, once enough others have finished. PREEMPTION: Kueue would stop others for it.
    """

    NOT_OFFERED = 0
    NEVER = 1
    WAIT = 2
    PREEMPTION = 3
    NOW = 4


@dataclass(frozen=True, slots=True)
class FlavorFit:
    """How one flavor could serve all resources of its group together.

    ``victims`` would be stopped (PREEMPTION only). ``simulated`` is False if preemption was judged
    by the queue's policies alone, because the running workloads weren't given.
    """

    flavor: str
    verdict: Verdict
    needs: tuple[Need, ...]
    victims: tuple[Victim, ...] = ()
    simulated: bool = True

    @property
    def binding(self) -> Need | None:
        """The resource that is short by the largest part of what is wanted; None if it fits."""
        short = [need for need in self.needs if need.short]
        return max(short, key=lambda need: need.short / need.wanted, default=None)


@dataclass(frozen=True, slots=True)
class GroupFit:
    """Resources that must come from one flavor, and each flavor that offers them in order."""

    resources: tuple[str, ...]
    flavors: tuple[FlavorFit, ...]

    @property
    def verdict(self) -> Verdict:
        """The best of its flavors: any of them is enough."""
        best = max((flavor.verdict for flavor in self.flavors), default=Verdict.NOT_OFFERED)
        return Verdict(best)


@dataclass(frozen=True, slots=True)
class FitResult:
    """Whether a queue could take a request: every group must be served.

    ``blocked`` is why the queue takes nothing now, "" if it does. ``ignored`` are resources that
    Kueue doesn't count in this cluster. ``leaves_out`` is what can still
    stop it from starting.
    """

    cluster_queue: str
    wanted: Mapping[str, int]
    groups: tuple[GroupFit, ...]
    blocked: str
    ignored: tuple[str, ...] = ()
    leaves_out: tuple[str, ...] = LEAVES_OUT

    @property
    def verdict(self) -> Verdict:
        """The worst of its groups; no better than WAIT while the queue is blocked."""
        worst = min((group.verdict for group in self.groups), default=Verdict.NOW)
        return Verdict(min(worst, Verdict.WAIT)) if self.blocked else Verdict(worst)

    def flavor(self, name: str) -> FlavorFit | None:
        """Return how one flavor could serve it, None if the queue doesn't offer it for this."""
        found = (flavor for group in self.groups for flavor in group.flavors)
        return next((flavor for flavor in found if flavor.flavor == name), None)


def fits(
    tree: Tree,
    cluster_queue: str,
    wanted: Mapping[str, int],
    fleet: Fleet | None = None,
    priority: int = 0,
) -> FitResult:
    """Return whether amounts per resource (for all pods together) fit into a queue.

    With the fleet, preemption is tried on the workloads that run; without, only the policies are
    looked at. Raises UnknownName for a queue that doesn't exist.
    """
    node = tree.cluster_queue(cluster_queue)
    queue = node.source
    assert isinstance(queue, ClusterQueue)
    asked = {name: amount for name, amount in wanted.items() if amount > 0}
    lacking = [name for name in asked if group_of(queue, name) is None]
    ignored = uncounted(fleet, lacking) if fleet else frozenset()
    asked = {name: amount for name, amount in asked.items() if name not in ignored}
    groups = tuple(
        GroupFit(tuple(together), _flavors(node, queue, together, fleet, priority))
        for together in _by_group(queue, asked)
    )
    return FitResult(cluster_queue, asked, groups, blocked(node, queue), tuple(sorted(ignored)))


def blocked(node: Node, queue: ClusterQueue) -> str:
    """Return why a queue takes no new workload at all, in Kueue's words; "" if it does."""
    if node.cyclic:
        return "its cohorts are in a parent cycle"
    if queue.stop_policy != "None":
        return f"it is stopped ({queue.stop_policy})"
    active = next((c for c in queue.conditions if c.type == "Active"), None)
    return active.message if active is not None and active.status == "False" else ""


def _by_group(queue: ClusterQueue, wanted: Mapping[str, int]) -> Iterator[dict[str, int]]:
    seen: set[str] = set()
    for resource in wanted:
        if resource in seen:
            continue
        group = group_of(queue, resource)
        covered = group.covered_resources if group else (resource,)
        together = {name: amount for name, amount in wanted.items() if name in covered}
        seen.update(together)
        yield together


def _flavors(
    node: Node, queue: ClusterQueue, wanted: Mapping[str, int], fleet: Fleet | None, priority: int
) -> tuple[FlavorFit, ...]:
    group = group_of(queue, next(iter(wanted)))
    found = []
    for flavor in group.flavors if group else ():
        amounts = {FlavorResource(flavor.name, name): amount for name, amount in wanted.items()}
        needs = tuple(need_of(node, pair, amount) for pair, amount in amounts.items())
        found.append(_flavor(node, queue, needs, fleet, priority))
    return tuple(found)


def _flavor(
    node: Node, queue: ClusterQueue, needs: tuple[Need, ...], fleet: Fleet | None, priority: int
) -> FlavorFit:
    name = needs[0].pair.flavor
    if any(need.wanted > need.potential for need in needs):
        return FlavorFit(name, Verdict.NEVER, needs)
    short = {need.pair: need.wanted for need in needs if need.short}
    if not short:
        return FlavorFit(name, Verdict.NOW, needs)
    fair = fleet is not None and fleet.fair_sharing
    if not all(_may_preempt(node, queue, pair, short[pair], fair) for pair in short):
        return FlavorFit(name, Verdict.WAIT, needs)
    if fleet is None:
        return FlavorFit(name, Verdict.PREEMPTION, needs, simulated=False)
    wanted = {need.pair: need.wanted for need in needs}
    asker = Asker(queue, wanted, priority, fleet.as_of, fleet.as_of)
    found = victims(node.tree, fleet.workloads.reserving, asker, short)
    return FlavorFit(name, Verdict.PREEMPTION if found else Verdict.WAIT, needs, found)


def _may_preempt(
    node: Node, queue: ClusterQueue, pair: FlavorResource, amount: int, fair_sharing: bool
) -> bool:
    rules = queue.preemption
    if {rules.reclaim_within_cohort, rules.within_cluster_queue} == {"Never"}:
        return False
    return looks_for_victims(node, queue, pair, amount, fair_sharing)
