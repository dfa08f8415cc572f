"""The order of pending workloads against Kueue's visibility API, on random queues."""

import random
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from capacity.model import ClusterQueue, LocalQueue, Workload
from capacity.order import pending_order
from tests.builders import ListedWorkloads, a_fleet
from tests.cluster.kueue import Kueue
from tests.conformance import live
from tests.conformance.forest import GPU
from tests.conformance.live import NAMESPACE, Live, condition, eventually, how_many

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(1800)]
QUEUES = how_many("GPUBOT_CONFORMANCE_QUEUES", few=50, in_ci=200)
BATCH = 50
VISIBLE = "/apis/visibility.kueue.x-k8s.io/v1beta2/clusterqueues"
NOW = datetime.now(UTC).replace(microsecond=0)
EVICTIONS = ("PodsReadyTimeout", "AdmissionCheck", "Preempted", "NodeFailures")


def a_queue(rng: random.Random, name: str) -> ClusterQueue:
    """A queue without any quota, so that whoever waits keeps waiting."""
    return ClusterQueue(
        name,
        queueing_strategy=rng.choice(("StrictFIFO", "BestEffortFIFO")),
        stop_policy=rng.choice(("None", "None", "Hold")),
    )


def waiting(rng: random.Random, queue: str) -> list[live.Manifest]:
    return [
        live.workload(
            f"{queue}-w{rng.randrange(10**9)}",
            queue,
            [(rng.randint(1, 3), {GPU: "1"})],
            priority=rng.choice((0, 0, 0, -5, 7, 1000)),
        )
        for _ in range(rng.randint(1, 8))
    ]


def past(rng: random.Random) -> live.Manifest:
    """A random history of evictions, some of it undone."""
    at = (NOW - timedelta(seconds=rng.choice((1, 1, 60, 3600)))).strftime("%Y-%m-%dT%H:%M:%SZ")
    reason, status = rng.choice(EVICTIONS), rng.choice(("True", "True", "False"))
    conditions = [condition("Evicted", reason, at, status)]
    if reason == "Preempted":
        conditions.append(condition("Preempted", "InCohortReclaimWhileBorrowing", at, status))
    return {"conditions": conditions}


def test_the_order_is_the_visibility_apis(fair_kueue: Kueue):
    client = Live(fair_kueue.control_plane.api)
    rng = random.Random(20261201)
    for first in range(0, QUEUES, BATCH):
        queues = [a_queue(rng, f"q{first + at}") for at in range(min(BATCH, QUEUES - first))]
        manifests = [w for queue in queues for w in waiting(rng, queue.name)]
        client.create(live.cluster_queue(queue) for queue in queues)
        client.create(live.local_queue(queue.name) for queue in queues)
        client.create(manifests)
        names = [m["metadata"]["name"] for m in manifests]
        marked = [(name, past(rng)) for name in names if rng.random() < 0.5]
        client.each(lambda pair: client.patch_status(*pair), marked)
        compare(client, queues, len(manifests))
        for kind in ("Workload", "LocalQueue", "ClusterQueue"):
            client.delete(kind, client.read(kind))


def compare(client: Live, queues: list[ClusterQueue], count: int) -> None:
    def differ() -> list[tuple[str, list[str], list[str]]]:
        mine, theirs = ours(queues, list(client.workloads().values())), seen(client, queues)
        return [(n, mine[n], theirs[n]) for n in mine if mine[n] != theirs[n]]

    eventually(lambda: sum(map(len, seen(client, queues).values())) == count, "all to wait", 60)
    try:
        eventually(lambda: not differ(), "the same order", 20)
    except AssertionError:
        assert differ() == []


def ours(queues: list[ClusterQueue], workloads: list[Workload]) -> dict[str, list[str]]:
    local = {(NAMESPACE, q.name): LocalQueue(NAMESPACE, q.name, q.name) for q in queues}
    homes = {key: found.cluster_queue for key, found in local.items()}
    held = ListedWorkloads(tuple(workloads), homes)
    fleet = replace(a_fleet(queues=queues), local_queues=local, workloads=held)
    return {q.name: [w.name for w in pending_order(fleet, q.name)] for q in queues}


def seen(client: Live, queues: list[ClusterQueue]) -> dict[str, list[str]]:
    def of(name: str) -> list[str]:
        items = client.api.get(f"{VISIBLE}/{name}/pendingworkloads")["items"]
        return [item["metadata"]["name"] for item in items]

    names = [queue.name for queue in queues]
    return dict(zip(names, client.each(of, names), strict=True))
