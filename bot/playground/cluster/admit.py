"""Who is admitted next: Kueue's cycle over the heads of the queues, by our own arithmetic.

Kueue v0.19, pkg/scheduler: one head per ClusterQueue and cycle; those that stay within their
nominal quota before borrowers, then by priority, then by age. Classical preemption only.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from bot.playground.cluster.job import GPU, Job, State
from capacity.model import ClusterQueue, FlavorResource, effective_resource_groups
from capacity.quota import Node, Tree, available, can_reserve, potential_available, subtree_quota
from capacity.quota import usage as used

BEFORE = "couldn't assign flavors to pod set main: "


@dataclass(frozen=True, slots=True)
class Assessment:
    """What the scheduler finds for one job now.

    ``flavor`` is where it fits. Otherwise ``message`` says why not, in Kueue's words, and
    ``reclaim`` is the flavor in which preemption could make room for it.
    """

    job: Job
    queue: ClusterQueue
    flavor: str | None
    borrows: bool = False
    message: str = ""
    reclaim: str | None = None


def rank(job: Job) -> tuple[int, datetime, str]:
    """Return the place of a job in its queue: priority, then age, then uid."""
    return (-job.spec.priority, job.created, job.uid)


def heads(
    waiting: Iterable[tuple[ClusterQueue, Job]], tried: set[str]
) -> list[tuple[ClusterQueue, Job]]:
    """Return the next candidate of every queue.

    In a StrictFIFO queue only the first counts, and nothing passes it; a BestEffortFIFO queue
    goes on behind those that were tried in vain.
    """
    first: dict[str, tuple[ClusterQueue, Job]] = {}
    blocked: set[str] = set()
    for queue, job in sorted(waiting, key=lambda pair: rank(pair[1])):
        if queue.name in first or queue.name in blocked or queue.stop_policy != "None":
            continue
        if job.uid not in tried:
            first[queue.name] = (queue, job)
        elif queue.queueing_strategy == "StrictFIFO":
            blocked.add(queue.name)
    return list(first.values())


def assess(job: Job, queue: ClusterQueue, tree: Tree) -> Assessment:
    """Try the flavors in their order of preference."""
    node = tree.cluster_queue(queue.name)
    reasons: list[str] = []
    reclaim = None
    for flavor in _flavors(queue):
        if job.spec.on not in (None, flavor):
            reasons.append(f"flavor {flavor} doesn't match node affinity")
            continue
        pair, need = FlavorResource(flavor, GPU), job.spec.total
        if need <= can_reserve(node, pair):
            return Assessment(
                job, queue, flavor, used(node, pair) + need > subtree_quota(node, pair)
            )
        reasons.append(_shortage(node, pair, need))
        if reclaim is None and need <= potential_available(node, pair):
            reclaim = flavor
    return Assessment(job, queue, None, False, BEFORE + ", ".join(sorted(reasons)), reclaim)


def in_turn(found: Iterable[Assessment]) -> list[Assessment]:
    """Return the heads of a cycle in the order in which they are served."""
    return sorted(found, key=lambda a: (a.borrows, rank(a.job)))


def victims(found: Assessment, tree: Tree, holding: Sequence[Job]) -> list[Job]:
    """Return the jobs whose end would make room: as few as possible, [] when none would do."""
    if found.reclaim is None:
        return []
    pair, trial = FlavorResource(found.reclaim, GPU), tree.copy()
    chosen: list[Job] = []
    for candidate in _candidates(found, pair, tree, holding):
        owner = trial.cluster_queue(candidate.spec.queue)
        if candidate.spec.queue != found.queue.name and not _borrowing(owner, pair):
            continue
        trial.remove_usage(candidate.spec.queue, {pair: candidate.spec.total})
        chosen.append(candidate)
        if _room(found, trial, pair, chosen):
            return _spared(found, trial, pair, chosen)
    return []


def _flavors(queue: ClusterQueue) -> list[str]:
    groups = effective_resource_groups(queue)
    return [f.name for g in groups if GPU in g.covered_resources for f in g.flavors]


def _shortage(node: Node, pair: FlavorResource, need: int) -> str:
    most = potential_available(node, pair)
    if need > most:
        return (
            f"insufficient quota for {GPU} in flavor {pair.flavor}, previously considered podsets "
            f"requests (0) + current podset request ({need}) > maximum capacity ({most})"
        )
    more = need - can_reserve(node, pair)
    return f"insufficient unused quota for {GPU} in flavor {pair.flavor}, {more} more needed"


def _candidates(
    found: Assessment, pair: FlavorResource, tree: Tree, holding: Sequence[Job]
) -> list[Job]:
    """Return who may be preempted: others' first, then the lower and the younger."""
    root = tree.cluster_queue(found.queue.name).root
    cohort = {node.name for node in root.cluster_queues()}
    able = [
        job
        for job in holding
        if job.flavor == pair.flavor and job.spec.queue in cohort and _may_preempt(found, job)
    ]
    own = found.queue.name
    return sorted(
        able,
        key=lambda job: (
            job.state is not State.STOPPING,
            job.spec.queue == own,
            job.spec.priority,
            -(job.reserved_at or job.created).timestamp(),
        ),
    )


def _may_preempt(found: Assessment, other: Job) -> bool:
    lower = other.spec.priority < found.job.spec.priority
    rules = found.queue.preemption
    if other.spec.queue == found.queue.name:
        newer = other.spec.priority == found.job.spec.priority and other.created > found.job.created
        policy = rules.within_cluster_queue
        return (policy != "Never" and lower) or (policy == "LowerOrNewerEqualPriority" and newer)
    policy = rules.reclaim_within_cohort
    return policy == "Any" or (policy == "LowerPriority" and lower)


def _borrowing(node: Node, pair: FlavorResource) -> bool:
    return used(node, pair) > subtree_quota(node, pair)


def _room(found: Assessment, tree: Tree, pair: FlavorResource, chosen: Sequence[Job]) -> bool:
    """Tell whether it fits now; who takes from others must stay within its own nominal quota."""
    node, need = tree.cluster_queue(found.queue.name), found.job.spec.total
    if any(job.spec.queue != found.queue.name for job in chosen):
        within = used(node, pair) + need <= subtree_quota(node, pair)
        return within and need <= available(node, pair)
    return need <= available(node, pair)


def _spared(found: Assessment, tree: Tree, pair: FlavorResource, chosen: list[Job]) -> list[Job]:
    """Put back those that needn't go after all, the last first (fillBackWorkloads)."""
    kept = list(chosen)
    for job in chosen[-2::-1]:
        tree.add_usage(job.spec.queue, {pair: job.spec.total})
        rest = [other for other in kept if other is not job]
        if _room(found, tree, pair, rest):
            kept = rest
        else:
            tree.remove_usage(job.spec.queue, {pair: job.spec.total})
    return kept
