"""What one queue may still start, what limits it, and who holds what: the answer's data.

[pure]
"""

from dataclasses import dataclass
from datetime import datetime

from capacity.errors import Gap, UsageError
from capacity.model import ClusterQueue, FlavorResource, Fleet, ResourceGroup
from capacity.quota import Tree
from capacity.quota_near import tree_around
from commands.quota_figures import (
    Borrower,
    PairFigures,
    Reclaimer,
    borrowed_in_tree,
    borrowers,
    figures,
    gpu_pairs_first,
    reclaimers,
)
from commands.scope import Scope


@dataclass(frozen=True, slots=True)
class Overlaid:
    """A nominal quota that Kueue replaced by ``status.effectiveQuota``."""

    pair: FlavorResource
    written: int | None
    in_force: int | None


@dataclass(frozen=True, slots=True)
class Blocked:
    """Why a queue admits nothing, whatever its quota: "stopped", "inactive" or "cycle".

    ``detail`` is the stop policy, or Kueue's own message.
    """

    kind: str
    detail: str


@dataclass(frozen=True, slots=True)
class QueueQuota:
    """One queue: its figures per (flavor, resource), GPUs first, and its neighbours on the first.

    ``reclaim`` and ``within`` are its own preemption policies (reclaimWithinCohort,
    withinClusterQueue). ``borrowers`` and ``reclaimers`` are other queues of its tree.
    """

    queue: str
    cohort: str | None
    pairs: tuple[PairFigures, ...]
    blocked: Blocked | None
    overlaid: tuple[Overlaid, ...]
    reclaim: str
    within: str
    borrowers: tuple[Borrower, ...]
    reclaimers: tuple[Reclaimer, ...]
    waiting: int
    weighted_share: int | None


@dataclass(frozen=True, slots=True)
class QueueQuotaAnswer:
    """The quota of a queue, or of a team's queues, the asked one first."""

    scope: Scope
    queues: tuple[QueueQuota, ...]
    asked_at: datetime
    as_of: datetime
    source: str
    gaps: tuple[Gap, ...]


def answer_queues(scope: Scope, fleet: Fleet, now: datetime) -> QueueQuotaAnswer:
    """Answer for a queue or for all queues of a team; raises UsageError if the team has none."""
    if not scope.queues:
        raise UsageError(
            f"Team {scope.name} has no queue in {fleet.cluster}.",
            "Its queues are listed in gpubot/people.yaml; check their names there.",
        )
    tree = tree_around(fleet, scope.queues)
    queues = tuple(queue_quota(fleet.cluster_queues[name], tree) for name in scope.queues)
    return QueueQuotaAnswer(scope, queues, now, fleet.as_of, fleet.source, fleet.gaps)


def queue_quota(queue: ClusterQueue, tree: Tree) -> QueueQuota:
    """Return one queue's quota on all that it lists."""
    node = tree.cluster_queue(queue.name)
    listed = gpu_pairs_first(node.quotas)
    root = node.root
    return QueueQuota(
        queue=queue.name,
        cohort=queue.cohort,
        pairs=tuple(figures(node, queue, p, borrowed_in_tree(root, p)) for p in listed),
        blocked=blocked(queue, cyclic=node.cyclic),
        overlaid=_overlaid(queue),
        reclaim=queue.preemption.reclaim_within_cohort,
        within=queue.preemption.within_cluster_queue,
        borrowers=borrowers(node, listed[0]) if listed else (),
        reclaimers=reclaimers(node, listed[0]) if listed else (),
        waiting=queue.pending_workloads,
        weighted_share=queue.weighted_share,
    )


def blocked(queue: ClusterQueue, *, cyclic: bool) -> Blocked | None:
    """Return why the queue admits nothing whatever its quota, or None if it is open."""
    if cyclic:
        return Blocked("cycle", queue.cohort or "")
    if queue.stop_policy != "None":
        return Blocked("stopped", queue.stop_policy)
    active = next((c for c in queue.conditions if c.type == "Active"), None)
    if active is not None and active.status == "False":
        return Blocked("inactive", active.message or active.reason)
    return None


def _overlaid(queue: ClusterQueue) -> tuple[Overlaid, ...]:
    if queue.effective_resource_groups is None:
        return ()
    written = _nominals(queue.resource_groups)
    in_force = _nominals(queue.effective_resource_groups)
    return tuple(
        Overlaid(pair, written.get(pair), in_force.get(pair))
        for pair in gpu_pairs_first(dict.fromkeys((*written, *in_force)))
        if written.get(pair) != in_force.get(pair)
    )


def _nominals(groups: tuple[ResourceGroup, ...]) -> dict[FlavorResource, int]:
    return {
        FlavorResource(flavor.name, resource): quota.nominal
        for group in groups
        for flavor in group.flavors
        for resource, quota in flavor.resources.items()
    }
