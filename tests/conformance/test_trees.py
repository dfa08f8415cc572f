"""Random trees in the real controller: borrowed, weighted share, and single probes to the unit."""

import json
import random
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from capacity import decode
from capacity.causes import Kind
from capacity.messages import parse_message
from capacity.model import UNLIMITED, FlavorResource, Workload
from capacity.quota import Tree, borrowed, can_reserve, potential_available
from capacity.share import weighted_share
from tests.cluster.kueue import Kueue
from tests.conformance import live
from tests.conformance.forest import FLAVORS, RandomTree, random_tree
from tests.conformance.live import Live, eventually, how_many

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(3600)]
TREES = how_many("GPUBOT_CONFORMANCE_TREES", few=25, in_ci=150)
BATCH = 25
QUEUES = 3
FITTING = 4
ASKED: Counter[str] = Counter()
NOW = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


@dataclass
class Probe:
    """A request for one pair of one queue, and what must come of it."""

    name: str
    queue: str
    pair: FlavorResource
    value: int
    can: int
    potential: int

    def is_answered(self, workload: Workload | None) -> bool:
        found = workload.condition("QuotaReserved") if workload else None
        if found is None:
            return False
        if self.value <= self.can:
            return found.status == "True"
        refusals = parse_message(found.message).refusals
        if found.status == "True" or not refusals:
            return False
        mine = [
            r for r in refusals if (r.flavor, r.resource) == (self.pair.flavor, self.pair.resource)
        ]
        if self.value > self.potential:
            return any(
                (r.kind, r.requested, r.capacity)
                == (Kind.EXCEEDS_MAX_QUOTA, self.value, self.potential)
                for r in mine
            )
        needed = self.value - self.can
        return any((r.kind, r.needed) == (Kind.WAITING_FOR_QUOTA, needed) for r in mine)


@given(st.integers(0, 2**48))
@settings(
    max_examples=max(1, TREES // BATCH),
    deadline=None,
    phases=(Phase.explicit, Phase.generate),
    suppress_health_check=list(HealthCheck),
    derandomize=True,
)
def test_no_figure_differs_from_the_controllers(fair_kueue: Kueue, seed: int):
    client = Live(fair_kueue.control_plane.api)
    trees = [random_tree(seed + at, f"t{at}") for at in range(BATCH)]
    install(client, trees)
    try:
        tree = ours(trees)
        check_status(client, tree, trees)
        check_probes(client, tree, trees, random.Random(seed))
        assert min(ASKED["fits"], ASKED["refused"]) > BATCH
    finally:
        remove(client)


def ours(trees: list[RandomTree]) -> Tree:
    queues = [
        replace(queue, reserved=tree.reserved(queue.name))
        for tree in trees
        for queue in tree.queues
    ]
    return Tree.build(queues, [cohort for tree in trees for cohort in tree.cohorts])


def install(client: Live, trees: list[RandomTree]) -> None:
    client.create(
        live.flavor(name) for name in FLAVORS if name not in client.read("ResourceFlavor")
    )
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
    # A LocalQueue that doesn't exist keeps the scheduler away until the quota is written.
    client.create(
        live.workload(name, "none", [(1, {r: text for r, (_, text) in held.items()})])
        for name, _, held in holders
    )
    client.hold_all(holders, NOW)
    client.touch("ClusterQueue")
    client.touch("Cohort")


def remove(client: Live) -> None:
    for kind in ("Workload", "LocalQueue", "ClusterQueue", "Cohort"):
        client.delete(kind, client.read(kind))


def differences(client: Live, tree: Tree, trees: list[RandomTree]) -> list[str]:
    """Return what the controller reports otherwise than we compute."""
    found = []
    queues, cohorts = client.read("ClusterQueue"), client.read("Cohort")
    for each in trees:
        for queue in each.queues:
            node = tree.cluster_queue(queue.name)
            seen = decode.cluster_queue(json.dumps(queues[queue.name]).encode())
            mine = {p: borrowed(node, p) for p in node.quotas}
            if dict(seen.reported_borrowed) != mine:
                found.append(f"{queue.name} borrowed {seen.reported_borrowed} not {mine}")
            if seen.weighted_share != weighted_share(node):
                found.append(f"{queue.name} share {seen.weighted_share} not {weighted_share(node)}")
        for cohort in each.cohorts:
            seen_cohort = decode.cohort(json.dumps(cohorts[cohort.name]).encode())
            share = weighted_share(tree.cohort(cohort.name))
            if seen_cohort.weighted_share != share:
                found.append(f"{cohort.name} share {seen_cohort.weighted_share} not {share}")
    return found


def check_status(client: Live, tree: Tree, trees: list[RandomTree]) -> None:
    try:
        eventually(lambda: not differences(client, tree, trees), "equal status", 60)
    except AssertionError:
        assert differences(client, tree, trees) == []


def check_probes(client: Live, tree: Tree, trees: list[RandomTree], rng: random.Random) -> None:
    """Ask for what can't be had at once, since it changes nothing; for what can, one a root."""
    pairs = {root: chosen(tree, queues, rng) for root, queues in by_root(tree, trees).items()}
    refused = [p for found in pairs.values() for at in found for p in beyond(tree, *at)]
    ask(client, refused)
    for turn in range(FITTING):
        ask(client, [p for found in pairs.values() for p in within(tree, found[turn : turn + 1])])


def by_root(tree: Tree, trees: list[RandomTree]) -> dict[str, list[str]]:
    """Return the queues that share quota with each other, under their root's name."""
    found: dict[str, list[str]] = {}
    for each in trees:
        for queue in each.queues:
            root = tree.cluster_queue(queue.name)
            while root.parent is not None:
                root = root.parent
            found.setdefault(root.name, []).append(queue.name)
    return found


def chosen(tree: Tree, queues: list[str], rng: random.Random) -> list[tuple[str, FlavorResource]]:
    """Return up to five queues of a root with all their pairs, in any order."""
    some = rng.sample(queues, min(QUEUES, len(queues)))
    found = [(name, pair) for name in some for pair in tree.cluster_queue(name).quotas]
    return rng.sample(found, len(found))


def beyond(tree: Tree, queue: str, pair: FlavorResource) -> list[Probe]:
    """Return requests that can't be had now: just too much for now, and around too much ever."""
    node = tree.cluster_queue(queue)
    can, most = can_reserve(node, pair), potential_available(node, pair)
    return [
        Probe(f"{queue}-{pair.flavor}-{slug(pair)}-{value}", queue, pair, value, can, most)
        for value in sorted({can + 1, most, most + 1})
        if can < value < UNLIMITED
    ]


def within(tree: Tree, found: list[tuple[str, FlavorResource]]) -> list[Probe]:
    """Return requests for exactly what can be had now."""
    probes = []
    for queue, pair in found:
        node = tree.cluster_queue(queue)
        can = can_reserve(node, pair)
        if 0 < can < UNLIMITED:
            name = f"{queue}-{pair.flavor}-{slug(pair)}-fits"
            probes.append(Probe(name, queue, pair, can, can, potential_available(node, pair)))
    return probes


def slug(pair: FlavorResource) -> str:
    return pair.resource.rpartition("/")[2]


def ask(client: Live, probes: list[Probe]) -> None:
    client.create(
        live.workload(
            p.name,
            p.queue,
            [(1, {p.pair.resource: live.text(p.pair.resource, p.value)})],
            flavor_name=p.pair.flavor,
        )
        for p in probes
    )
    wait_for_answers(client, probes)
    ASKED.update(["fits" if p.value <= p.can else "refused" for p in probes])
    client.delete("Workload", [p.name for p in probes])


def wait_for_answers(client: Live, probes: list[Probe]) -> None:
    left = list(probes)

    def answered() -> bool:
        seen = client.read("Workload")
        left[:] = [probe for probe in left if not probe.is_answered(found(seen, probe))]
        return not left

    try:
        eventually(answered, "the probes' answers", 60)
    except AssertionError:
        seen = client.read("Workload")
        told = [(p, w.condition("QuotaReserved") if (w := found(seen, p)) else None) for p in left]
        assert told == []


def found(seen: Mapping[str, live.Manifest], probe: Probe) -> Workload | None:
    item = seen.get(probe.name)
    return decode.workload(json.dumps(item).encode()) if item else None
