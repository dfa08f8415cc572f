"""Trees with usage in them (pkg/cache/scheduler/snapshot_test.go and resource_node_test.go)."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal

from capacity.model import ClusterQueue, Cohort, FlavorResource, Preemption
from tests.capacity.kueue_tables import Table
from tests.capacity.kueue_tables.notation import by_name, cohort, queue

FILE = "pkg/cache/scheduler/snapshot_test.go"
Figures = Mapping[str, Mapping[FlavorResource, int]]


@dataclass(frozen=True)
class Lend:
    """Which workloads leave and which come back; usage of the cohort and of both queues then."""

    removed: str
    added: str
    usage: tuple[int, int, int]


LENDERS = [
    queue("lend-a", "default: cpu 10//4", cohort="lend"),
    queue("lend-b", "default: cpu 10//6", cohort="lend"),
]
WORKLOADS = {
    "a1": ("lend-a", 1_000),
    "a2": ("lend-a", 9_000),
    "a3": ("lend-a", 6_000),
    "b1": ("lend-b", 4_000),
}
ALL = "a1 a2 a3 b1"

ADD_REMOVE = {
    "all leave and come back": Lend(ALL, ALL, (10_000, 16_000, 4_000)),
    "all leave": Lend(ALL, "", (0, 0, 0)),
    "one leaves, more than what is never lent stays in use": Lend("a2", "", (1_000, 7_000, 4_000)),
    "exactly what is never lent stays in use": Lend("a1 a2", "", (0, 6_000, 4_000)),
    "less than what is never lent stays in use": Lend("a2 a3", "", (0, 1_000, 4_000)),
    "all leave, one comes back with less than that": Lend(ALL, "a1", (0, 1_000, 0)),
    "all leave, one comes back with exactly that": Lend(ALL, "a3", (0, 6_000, 0)),
    "all leave, one comes back with more than that": Lend(ALL, "a2", (3_000, 9_000, 0)),
}


@dataclass(frozen=True)
class Snapshot:
    """A forest, what its nodes then have and use, and which queues stand in or under a cycle."""

    queues: list[ClusterQueue] = field(default_factory=list)
    cohorts: list[Cohort] = field(default_factory=list)
    subtree: Figures = field(default_factory=dict)
    usage: Figures = field(default_factory=dict)
    cyclic: tuple[str, ...] = ()


LENDING = "arm: cpu 10//5 | x86: cpu 20//10"

SNAPSHOTS: dict[str, Snapshot] = {
    "nothing": Snapshot(),
    "queues in one cohort and one without": Snapshot(
        [
            queue("a", "demand: cpu 100 | spot: cpu 200", cohort="borrowing", used="demand/cpu 10"),
            queue(
                "b",
                "spot: cpu 100",
                "default: gpu 50",
                cohort="borrowing",
                used="spot/cpu 10, default/gpu 15",
            ),
            queue("c", "default: cpu 100"),
        ],
        subtree=by_name(
            borrowing="demand/cpu 100, spot/cpu 300, default/gpu 50",
            a="demand/cpu 100, spot/cpu 200",
            b="spot/cpu 100, default/gpu 50",
            c="default/cpu 100",
        ),
        usage=by_name(
            borrowing="demand/cpu 10, spot/cpu 10, default/gpu 15",
            a="demand/cpu 10, spot/cpu 0",
            b="spot/cpu 10, default/gpu 15",
            c="default/cpu 0",
        ),
    ),
    "two queues with lending limits on two flavors": Snapshot(
        [
            queue("a", LENDING, cohort="lending", used="arm/cpu 15, x86/cpu 10"),
            queue("b", LENDING, cohort="lending"),
        ],
        subtree=by_name(
            lending="arm/cpu 10, x86/cpu 20",
            a="arm/cpu 10, x86/cpu 20",
            b="arm/cpu 10, x86/cpu 20",
        ),
        usage=by_name(
            lending="arm/cpu 10, x86/cpu 0", a="arm/cpu 15, x86/cpu 10", b="arm/cpu 0, x86/cpu 0"
        ),
    ),
    "a cohort has quota of its own": Snapshot(
        [queue("cq", "arm: cpu 7//3 | x86: cpu 5", cohort="cohort")],
        [cohort("cohort", "arm: cpu 10 | x86: cpu 20", "mips: cpu 42")],
        subtree=by_name(cohort="arm/cpu 13, x86/cpu 25, mips/cpu 42", cq="arm/cpu 7, x86/cpu 5"),
    ),
    "cohorts in a cycle are out, with the queues in them": Snapshot(
        [
            queue("cq-autocycle", "arm: cpu 0", cohort="autocycle"),
            queue("cq-a", "arm: cpu 0", cohort="cycle-a"),
            queue("cq-b", "arm: cpu 0", cohort="cycle-b"),
            queue("cq-nocycle", "arm: cpu 0", cohort="nocycle"),
        ],
        [
            cohort("autocycle", parent="autocycle"),
            cohort("cycle-a", parent="cycle-b"),
            cohort("cycle-b", parent="cycle-a"),
            cohort("nocycle"),
        ],
        subtree=by_name(nocycle="arm/cpu 0", cq_nocycle="arm/cpu 0"),
        cyclic=("cq-a", "cq-autocycle", "cq-b"),
    ),
    "a flavor with a topology counts as quota like any other": Snapshot(
        [queue("tas-cq", "tas-flavor: cpu 100")], subtree=by_name(tas_cq="tas-flavor/cpu 100")
    ),
}

SPECS: dict[str, tuple[str, dict[str, object], dict[str, object]]] = {
    "labels of flavors": (
        "ResourceFlavor",
        {"nodeLabels": {"a": "b", "instance": "demand"}},
        {"node_labels": {"a": "b", "instance": "demand"}},
    ),
    "preemption policies of a queue": (
        "ClusterQueue",
        {"preemption": {"reclaimWithinCohort": "Any", "withinClusterQueue": "LowerPriority"}},
        {"preemption": Preemption("Any", "LowerPriority"), "fair_weight": Decimal(1)},
    ),
    "fair weight of a queue": (
        "ClusterQueue",
        {"fairSharing": {"weight": "3"}},
        {"fair_weight": Decimal(3), "preemption": Preemption()},
    ),
    "fair weight of a cohort": (
        "Cohort",
        {"fairSharing": {"weight": "0.5"}},
        {"fair_weight": Decimal("0.5")},
    ),
}
"""A kind and its spec, and what of it counts."""

TOPOLOGY = "assignment of topologies"
LENDABLE = Table(
    "TestCohortLendable",
    "pkg/cache/scheduler/resource_node_test.go",
    1,
    by_hand=("a_cohort_lends_what_its_queues_lend",),
)
SNAPSHOT = Table(
    "TestSnapshot",
    FILE,
    16,
    (SNAPSHOTS, SPECS),
    ("queues_of_their_own_hold_their_own_workloads", "a_flavor_without_its_object_takes_nothing"),
    {
        "usage on a topology that is missing": TOPOLOGY,
        "flavors on disjoint nodes": TOPOLOGY,
        "flavors that share a node": TOPOLOGY,
        "a flavor that moved to other nodes": TOPOLOGY,
    },
)
LENDING_LIMIT = Table("TestSnapshotAddRemoveWorkloadWithLendingLimit", FILE, 8, (ADD_REMOVE,))
TABLES = (LENDABLE, SNAPSHOT, LENDING_LIMIT)
