"""The picture of the cohorts beside the chat: per queue own, borrowed, lent, free and waiting.

Computed from the same Fleet and by the same arithmetic as the bot's answers. [pure].
"""

from collections.abc import Iterator
from typing import Any

from capacity.demand import selects
from capacity.model import FlavorResource, Fleet, Workload
from capacity.quota import (
    Node,
    Tree,
    borrowed,
    can_reserve,
    potential_available,
    subtree_quota,
    usage,
)
from commands.words import is_gpu

Json = dict[str, Any]


def picture(fleet: Fleet) -> Json:
    """Return one panel per root cohort (or lone queue) and kind of GPU that it has quota of."""
    tree = Tree.of(fleet)
    pairs = [pair for pair in tree.pairs if is_gpu(pair.resource)]
    panels = [_panel(fleet, root, pair) for root in tree.roots() for pair in pairs]
    return {
        "cluster": fleet.cluster,
        "as_of": fleet.as_of.isoformat(),
        "gaps": [gap.missing for gap in fleet.gaps],
        "panels": [p for p in panels if p["queues"]],
    }


def _panel(fleet: Fleet, root: Node, pair: FlavorResource) -> Json:
    queues = [q for q in root.cluster_queues() if pair in q.quotas]
    return {
        "cohort": root.name,
        "flavor": pair.flavor,
        "resource": pair.resource,
        "quota": sum(q.quotas[pair].nominal for q in queues),
        "reserved": sum(usage(q, pair) for q in queues),
        "queues": [_queue(fleet, q, pair) for q in queues],
    }


def _queue(fleet: Fleet, queue: Node, pair: FlavorResource) -> Json:
    used, nominal = usage(queue, pair), subtree_quota(queue, pair)
    waiting = [w for w in fleet.workloads.pending(queue.name) if _hopes(fleet, queue, w) == pair]
    most = potential_available(queue, pair)
    free = can_reserve(queue, pair)
    return {
        "name": queue.name,
        "nominal": nominal,
        "reserved": used,
        "own": min(used, nominal),
        "borrowed": borrowed(queue, pair),
        "lent": max(0, nominal - used - free),
        "can_start": free,
        "most": most,
        "waiting": sum(_wants(w, pair.resource) for w in waiting),
        "waiting_jobs": len(waiting),
        "jobs": list(_jobs(fleet, queue.name)),
    }


def _hopes(fleet: Fleet, queue: Node, workload: Workload) -> FlavorResource | None:
    """Return the first kind of GPU in the queue's order that the workload may use."""
    for pair in queue.quotas:
        if not is_gpu(pair.resource) or not _wants(workload, pair.resource):
            continue
        flavor = fleet.flavors.get(pair.flavor)
        if flavor is None or all(selects(p, flavor) for p in workload.pod_sets):
            return pair
    return None


def _wants(workload: Workload, resource: str) -> int:
    return sum(p.count * p.requests.get(resource, 0) for p in workload.pod_sets)


def _jobs(fleet: Fleet, queue: str) -> Iterator[Json]:
    for workload in fleet.workloads.reserving(queue):
        usages = [a.usage for a in workload.admission.assignments] if workload.admission else []
        gpus = sum(v for u in usages for r, v in u.items() if is_gpu(r))
        yield {"name": workload.job, "gpus": gpus, "status": workload.status}
