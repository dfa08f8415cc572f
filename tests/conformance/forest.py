"""Random cohort trees, as model values."""

import random
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal

from capacity.model import (
    UNLIMITED,
    ClusterQueue,
    Cohort,
    FlavorQuotas,
    FlavorResource,
    Quota,
    ResourceGroup,
)

FLAVORS = ("f0", "f1", "f2")
GPU = "example.com/gpu"
CPU = "cpu"
MEMORY = "memory"
LARGE = (1_000_000, 10**15, UNLIMITED)
SMALL = (0, 5)


@dataclass
class RandomTree:
    """A tree under one prefix, and what its queues hold: {queue: [{pair: amount}]}."""

    queues: list[ClusterQueue] = field(default_factory=list)
    cohorts: list[Cohort] = field(default_factory=list)
    held: dict[str, list[dict[FlavorResource, int]]] = field(default_factory=dict)

    def reserved(self, queue: str) -> dict[FlavorResource, int]:
        total: dict[FlavorResource, int] = {}
        for each in self.held.get(queue, []):
            for pair, amount in each.items():
                total[pair] = total.get(pair, 0) + amount
        return total


def amount(rng: random.Random, resource: str, odd: tuple[int, ...]) -> int:
    size = rng.choice((0, rng.randint(1, 20), rng.randint(1, 20), rng.randint(1, 20), None))
    if size is None:
        return rng.choice(odd)
    return size * (500 if resource == CPU else 1)


def limit(rng: random.Random, resource: str, odd: tuple[int, ...]) -> int | None:
    return rng.choice((None, None, 0, amount(rng, resource, odd)))


def quota(rng: random.Random, resource: str, odd: tuple[int, ...], *, limits: bool) -> Quota:
    nominal = amount(rng, resource, odd)
    if not limits:
        return Quota(nominal)
    return Quota(nominal, limit(rng, resource, odd), limit(rng, resource, odd))


def resource_groups(
    rng: random.Random, odd: tuple[int, ...], *, limits: bool, some: bool
) -> tuple[ResourceGroup, ...]:
    flavors = rng.sample(FLAVORS, rng.randint(0 if some else 1, len(FLAVORS)))
    resources = (GPU, CPU) if rng.random() < 0.3 else (GPU,)
    if not flavors:
        return ()
    if odd is LARGE and len(flavors) > 1 and rng.random() < 0.3:
        first = group(rng, flavors[:-1], resources, odd, limits=limits)
        return (first, group(rng, flavors[-1:], (MEMORY,), odd, limits=limits))
    return (group(rng, flavors, resources, odd, limits=limits),)


def group(
    rng: random.Random,
    flavors: list[str],
    resources: tuple[str, ...],
    odd: tuple[int, ...],
    *,
    limits: bool,
) -> ResourceGroup:
    listed = tuple(
        FlavorQuotas(name, {r: quota(rng, r, odd, limits=limits) for r in resources})
        for name in flavors
    )
    return ResourceGroup(resources, listed)


def weight(rng: random.Random) -> Decimal:
    return Decimal(rng.choice(("0", "0.5", "1", "1", "1", "2", "3", "0.3")))


def random_tree(
    seed: int, prefix: str, most_queues: int = 30, *, crowded: bool = False
) -> RandomTree:
    """Up to four levels: three of cohorts, some of them without an object, and the queues.

    A crowded tree has no huge quotas and more, smaller holders.
    """
    odd = SMALL if crowded else LARGE
    holders = (1, 2, 3) if crowded else (0, 0, 1, 1, 2)
    rng = random.Random(seed)
    tree = RandomTree()
    names = [f"{prefix}-c{at}" for at in range(rng.randint(0, 6))]
    depth: dict[str, int] = {}
    for at, name in enumerate(names):
        above = [other for other in names[:at] if depth[other] < 2]
        parent = rng.choice([None, *above]) if above else None
        depth[name] = depth[parent] + 1 if parent else 0
        if parent or rng.random() < 0.8:
            groups = resource_groups(rng, odd, limits=parent is not None, some=True)
            tree.cohorts.append(Cohort(name, parent, groups, fair_weight=weight(rng)))
    for at in range(min(most_queues, int(rng.expovariate(1 / 7)) + 1)):
        home = rng.choice(names) if names and rng.random() < 0.9 else None
        groups = resource_groups(rng, odd, limits=home is not None, some=False)
        name = f"{prefix}-q{at}"
        tree.queues.append(ClusterQueue(name, home, groups, fair_weight=weight(rng)))
        most = 12 if crowded else 30
        tree.held[name] = [held(rng, groups, most) for _ in range(rng.choice(holders))]
    return tree


def held(
    rng: random.Random, groups: tuple[ResourceGroup, ...], most: int
) -> dict[FlavorResource, int]:
    """One workload's quota: one flavor for all resources of the group."""
    chosen = rng.choice(groups)
    flavor = rng.choice(chosen.flavors).name
    found: Mapping[str, int] = {
        r: rng.randint(1, most) * (500 if r == CPU else 1) for r in chosen.covered_resources
    }
    return {FlavorResource(flavor, r): n for r, n in found.items()}
