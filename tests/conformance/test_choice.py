"""One waiting workload in a random tree: the flavors it gets, or the workloads it stops."""

import json
import random
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from capacity import decode
from capacity.assign import Assignment, assign
from capacity.fit_mode import Board, Mode
from capacity.model import ClusterQueue, FlavorFungibility, Preemption, Workload
from capacity.quota import Tree
from tests.builders import ListedWorkloads
from tests.cluster.kueue import Kueue
from tests.conformance import live
from tests.conformance.forest import FLAVORS, GPU, RandomTree, random_tree
from tests.conformance.live import Live, eventually, how_many
from tests.conformance.test_trees import remove

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(1800)]
TREES = how_many("GPUBOT_CONFORMANCE_CHOICES", few=25, in_ci=100)
BATCH = 25
NOW = datetime.now(UTC).replace(microsecond=0)
SEARCH = ("MayStopSearch", "TryNextFlavor")


def with_rules(rng: random.Random, queue: ClusterQueue) -> ClusterQueue:
    reclaim = rng.choice(("Never", "LowerPriority", "Any", "Any"))
    borrow = rng.choice(("Never", "LowerPriority")) if reclaim != "Never" else "Never"
    rules = Preemption(
        reclaim,
        rng.choice(("Never", "LowerPriority", "LowerOrNewerEqualPriority")),
        borrow,
        rng.choice((None, 0, 1)) if borrow != "Never" else None,
    )
    borrows, preempts = rng.choice(SEARCH), rng.choice(SEARCH)
    both = borrows == preempts == "TryNextFlavor"
    preference = rng.choice((None, "BorrowingOverPreemption", "PreemptionOverBorrowing"))
    fungibility = FlavorFungibility(borrows, preempts, preference if both else None)
    return replace(queue, preemption=rules, flavor_fungibility=fungibility)


def install(client: Live, trees: list[RandomTree], rng: random.Random) -> None:
    have = client.read("ResourceFlavor")
    client.create(live.flavor(name) for name in FLAVORS if name not in have)
    client.create(live.cohort(cohort) for tree in trees for cohort in tree.cohorts)
    client.create(live.cluster_queue(queue) for tree in trees for queue in tree.queues)
    client.create(live.local_queue(queue.name) for tree in trees for queue in tree.queues)
    holders = [
        (
            f"{queue}-h{at}",
            queue,
            {p.resource: (p.flavor, live.text(p.resource, n)) for p, n in each.items()},
        )
        for tree in trees
        for queue, held in tree.held.items()
        for at, each in enumerate(held)
    ]
    client.create(
        live.workload(
            name,
            "none",
            [(1, {r: text for r, (_, text) in held.items()})],
            priority=rng.choice((-1, 0, 0, 1, 2)),
        )
        for name, _, held in holders
    )
    times = (NOW - timedelta(seconds=rng.randrange(600)) for _ in holders)
    stamps = [at.strftime("%Y-%m-%dT%H:%M:%SZ") for at in times]
    client.hold_all(holders, dict(zip((name for name, _, _ in holders), stamps, strict=True)))


def asker(rng: random.Random, at: int, queue: ClusterQueue) -> live.Manifest:
    sizes = [rng.choice((1, 2, 3, 5, 8)) for _ in range(rng.choice((1, 1, 2)))]
    pod_sets = [(1, {GPU: str(size)}) for size in sizes]
    return live.workload(f"asker-{at}", queue.name, pod_sets, priority=rng.choice((0, 1, 2)))


def expected(client: Live, asking: dict[str, Workload]) -> dict[str, Assignment]:
    """Return what we would do, from the controller's own objects."""

    def read(kind: str, reader):
        return [reader(json.dumps(item).encode()) for item in client.read(kind).values()]

    queues = {q.name: q for q in read("ClusterQueue", decode.cluster_queue)}
    flavors = {f.name: f for f in read("ResourceFlavor", decode.resource_flavor)}
    tree = Tree.build(queues.values(), read("Cohort", decode.cohort))
    running = ListedWorkloads(tuple(client.workloads().values()))
    board = Board(tree, running.reserving, flavors)
    return {
        name: assign(board, queues[w.queue_name], w, NOW + timedelta(hours=1))
        for name, w in asking.items()
    }


def outcome(name: str, workloads: dict[str, Workload], prefix: str):
    """Return what the controller did: the flavors given, and the victims with their reasons."""
    given = workloads[name].admission
    flavors = {a.name: dict(a.flavors) for a in given.assignments} if given else {}
    stopped = {
        each.name: found.reason
        for each in workloads.values()
        if each.name.startswith(prefix) and (found := each.condition("Preempted")) is not None
    }
    return flavors, stopped


def wanted(found: Assignment):
    if found.mode is Mode.FIT:
        return {name: dict(flavors) for name, flavors in found.flavors.items()}, {}
    return {}, {victim.workload.name: victim.reason for victim in found.victims}


def test_flavors_and_victims_are_the_controllers(plain_kueue: Kueue):
    client = Live(plain_kueue.control_plane.api)
    counts = dict.fromkeys(Mode, 0)
    for first in range(0, TREES, BATCH):
        rng = random.Random(first)
        trees = [random_tree(7000 + first + at, f"t{at}", 8, crowded=True) for at in range(BATCH)]
        for tree in trees:
            tree.queues = [with_rules(rng, queue) for queue in tree.queues]
        install(client, trees, rng)
        settle(client, trees)
        manifests = [asker(rng, at, rng.choice(tree.queues)) for at, tree in enumerate(trees)]
        asking = {
            m["metadata"]["name"]: decode.workload(json.dumps(_dated(m)).encode())
            for m in manifests
        }
        mine = expected(client, asking)
        for found in mine.values():
            counts[found.mode] += 1
        client.create(manifests)
        compare(client, mine)
        remove(client)
    assert counts[Mode.FIT] >= TREES // 20
    assert counts[Mode.PREEMPT] + counts[Mode.RECLAIM] >= TREES // 20


def _dated(manifest: live.Manifest) -> live.Manifest:
    """The asker is created later than everything else."""
    later = (datetime.now(UTC) + timedelta(seconds=1)).strftime("%Y-%m-%dT%H:%M:%SZ")
    meta = {**manifest["metadata"], "creationTimestamp": later, "uid": "asker"}
    return {**manifest, "metadata": meta}


def settle(client: Live, trees: list[RandomTree]) -> None:
    """Wait until the controller's own figures show every holder."""
    client.touch("ClusterQueue")

    def all_there() -> bool:
        seen = client.read("ClusterQueue")
        for tree in trees:
            for queue in tree.queues:
                found = decode.cluster_queue(json.dumps(seen[queue.name]).encode())
                held = {p: n for p, n in found.reserved.items() if n}
                if held != tree.reserved(queue.name):
                    return False
        return True

    eventually(all_there, "every holder counted", 90)


def compare(client: Live, mine: dict[str, Assignment]) -> None:
    def differ():
        workloads = client.workloads()
        return [
            (name, found.mode.name, wanted(found), seen)
            for name, found in mine.items()
            if (seen := outcome(name, workloads, f"t{name.removeprefix('asker-')}-"))
            != wanted(found)
            or workloads[name].condition("QuotaReserved") is None
        ]

    try:
        eventually(lambda: not differ(), "the same choices", 30)
    except AssertionError:
        assert differ() == []
