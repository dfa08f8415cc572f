"""The quota arithmetic on 1,000 queues x 8 flavors in four levels: ``python -m bench.arithmetic``.

Lines: NAME FIGURE UNIT goal GOAL ok|short. Each figure is the median of repeated runs.
"""

import random
import statistics
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

from bench.lines import line
from capacity.changes import QuotaChange
from capacity.explain import explain
from capacity.model import (
    ClusterQueue,
    Cohort,
    FlavorQuotas,
    FlavorResource,
    Fleet,
    LocalQueue,
    PodSet,
    Quota,
    ResourceFlavor,
    ResourceGroup,
    Workload,
)
from capacity.order import pending_order
from capacity.quota import Tree
from capacity.simulate import simulate

GPU = "nvidia.com/gpu"
FLAVORS = tuple(f"f{at}" for at in range(8))
NOW = datetime(2026, 12, 1, tzinfo=UTC)


def groups(rng: random.Random) -> tuple[ResourceGroup, ...]:
    def quota() -> Quota:
        return Quota(rng.randrange(64), rng.choice((None, 16)), rng.choice((None, 8)))

    return (ResourceGroup((GPU,), tuple(FlavorQuotas(f, {GPU: quota()}) for f in FLAVORS)),)


def forest(rng: random.Random, count: int = 1000) -> tuple[list[ClusterQueue], list[Cohort]]:
    queues = [
        ClusterQueue(
            f"q{at}",
            f"c{at % 50}",
            groups(rng),
            reserved={FlavorResource(f, GPU): rng.randrange(60) for f in FLAVORS},
        )
        for at in range(count)
    ]
    teams = [Cohort(f"c{at}", f"m{at % 5}", groups(rng)) for at in range(50)]
    return queues, [*teams, *(Cohort(f"m{at}", "root") for at in range(5))]


@dataclass(frozen=True)
class Waiting:
    """Workloads by queue; nobody runs."""

    by_queue: Mapping[str, list[Workload]]

    def __len__(self) -> int:
        return sum(map(len, self.by_queue.values()))

    def __iter__(self) -> Iterator[Workload]:
        return (workload for waiting in self.by_queue.values() for workload in waiting)

    def reserving(self, cluster_queue: str) -> Collection[Workload]:
        return ()

    def pending(self, cluster_queue: str) -> Collection[Workload]:
        return self.by_queue.get(cluster_queue, [])

    def named(self, name: str) -> Collection[Workload]:
        return [workload for workload in self if workload.name == name]

    def names(self) -> Collection[str]:
        return [workload.name for workload in self]


def fleet_of(queues: list[ClusterQueue], cohorts: list[Cohort], per_queue: int) -> Fleet:
    waiting = {
        queue.name: [
            Workload(
                uid=f"{queue.name}-{at}",
                namespace="n",
                name=f"{queue.name}-{at}",
                queue_name=queue.name,
                created=NOW - timedelta(seconds=at),
                pod_sets=(PodSet("main", 1 + at % 4, {GPU: 8}),),
                priority=at % 3,
            )
            for at in range(per_queue)
        ]
        for queue in queues
    }
    local = {("n", q.name): LocalQueue("n", q.name, q.name) for q in queues}
    return Fleet(
        "bench",
        NOW,
        {q.name: q for q in queues},
        {c.name: c for c in cohorts},
        local,
        {f: ResourceFlavor(f) for f in FLAVORS},
        {},
        Waiting(waiting),
    )


def milliseconds(work: Callable[[], object], runs: int = 21) -> float:
    taken = []
    for _ in range(runs):
        began = time.perf_counter()
        work()
        taken.append(time.perf_counter() - began)
    return statistics.median(taken) * 1000


def main() -> None:
    queues, cohorts = forest(random.Random(1))
    tree = Tree.build(queues, cohorts)
    one = replace(queues[3], reserved=queues[4].reserved, resource_groups=queues[5].resource_groups)
    states = [queues[3], one]

    def change() -> None:
        states.reverse()
        tree.put_cluster_queue(states[0])

    fleet = fleet_of(queues[:100], cohorts, 20)
    small = Tree.of(fleet)
    head = pending_order(fleet, "q7")[0]
    what_if = [QuotaChange("q7", FlavorResource("f0", GPU), "nominal", 100)]
    print(line("P8", milliseconds(tree.availability), "ms-availability", 10))
    print(line("P8", milliseconds(tree.potentials), "ms-potentials", 10))
    print(line("P8", milliseconds(lambda: Tree.build(queues, cohorts), 9), "ms-build", 100))
    print(line("P8", milliseconds(tree.copy), "ms-copy", 1))
    print(line("P8", milliseconds(change, 99), "ms-one-queue-changes", 1))
    print(line("P8", milliseconds(lambda: explain(head, fleet, small), 99), "ms-explain", 5))
    print(
        line("P8", milliseconds(lambda: simulate(fleet, what_if), 3), "ms-what-if-100-queues", 2000)
    )


if __name__ == "__main__":
    main()
