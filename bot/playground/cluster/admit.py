"""Who is admitted next, by the scheduling cycles that the bot's what-ifs use, and why others wait.

One set of rules for both: what the bot foretells is what the simulated cluster then does.
"""

from collections.abc import Iterable, Mapping
from datetime import datetime

import msgspec

from bot.playground.cluster.job import GPU, Job
from bot.playground.cluster.rules import Rules
from bot.playground.cluster.workload_json import workload_json
from capacity.cycle import Floor, Line, Start, run
from capacity.decode import workload
from capacity.kueue_workloads import WorkloadStore
from capacity.model import ClusterQueue, FlavorResource, Fleet, Workload, effective_resource_groups
from capacity.quota import Node, Tree, can_reserve, potential_available

_BEFORE = "couldn't assign flavors to pod set main: "
_TRIES = 500


def rank(job: Job) -> tuple[int, datetime, str]:
    """Return the place of a job in its queue: priority, then age, then uid."""
    return (-job.spec.priority, job.created, job.uid)


class Scheduler:
    """Decides for all queues at once; it reads jobs as the bot does, as Workloads."""

    def __init__(self) -> None:
        self._store = WorkloadStore()
        self._versions: dict[str, int] = {}

    def starts(
        self,
        rules: Rules,
        jobs: Iterable[Job],
        lines: Mapping[str, list[Job]],
        tree: Tree,
        now: datetime,
    ) -> tuple[Start, ...]:
        """Return who would get quota, in order, and who would have to make way for them.

        ``lines`` are the waiting jobs by queue, in order.
        """
        fleet = self._fleet(rules, jobs, now)
        waiting = [
            Line(rules.cluster_queues[name], [self._read(job) for job in line])
            for name, line in lines.items()
        ]
        found, _ = run(Floor(fleet, tree.copy()), waiting, _TRIES)
        return found

    def forget(self, job: Job) -> None:
        """Drop what was read of a job that is no more."""
        self._versions.pop(job.uid, None)
        self._store.drop(job.spec.queue, job.workload_name)

    def _read(self, job: Job) -> Workload:
        found = self._store.get(job.spec.queue, job.workload_name)
        if found is None or self._versions.get(job.uid) != job.version:
            found = workload(msgspec.json.encode(workload_json(job)))
            self._versions[job.uid] = job.version
            self._store.put(found)
        return found

    def _fleet(self, rules: Rules, jobs: Iterable[Job], now: datetime) -> Fleet:
        for job in jobs:
            self._read(job)
        return Fleet(
            cluster="",
            as_of=now,
            cluster_queues=rules.cluster_queues,
            cohorts=rules.cohorts,
            local_queues=rules.local_queues,
            flavors=rules.flavors,
            priority_classes={},
            workloads=self._store.snapshot(rules.local_queues),
        )


def why_not(job: Job, queue: ClusterQueue, tree: Tree) -> str:
    """Return why a job doesn't fit now, in Kueue's words (flavorassigner's sorted reasons)."""
    node = tree.cluster_queue(queue.name)
    reasons = [
        f"flavor {flavor} doesn't match node affinity"
        if job.spec.on not in (None, flavor)
        else _shortage(node, FlavorResource(flavor, GPU), job.spec.total)
        for group in effective_resource_groups(queue)
        if GPU in group.covered_resources
        for flavor in (quotas.name for quotas in group.flavors)
    ]
    return _BEFORE + ", ".join(sorted(reasons))


def _shortage(node: Node, pair: FlavorResource, need: int) -> str:
    most = potential_available(node, pair)
    if need > most:
        return (
            f"insufficient quota for {GPU} in flavor {pair.flavor}, previously considered podsets "
            f"requests (0) + current podset request ({need}) > maximum capacity ({most})"
        )
    more = max(0, need - can_reserve(node, pair))
    return f"insufficient unused quota for {GPU} in flavor {pair.flavor}, {more} more needed"
