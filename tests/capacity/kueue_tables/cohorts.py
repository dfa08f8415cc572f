"""Cohorts that come, go, move and stand in cycles (pkg/cache/scheduler/cache_test.go)."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from capacity.model import ClusterQueue, Cohort
from tests.capacity.kueue_tables import Table
from tests.capacity.kueue_tables.notation import cohort, queue

FILE = "pkg/cache/scheduler/cache_test.go"


@dataclass(frozen=True)
class Deleted:
    """A cohort that goes, and cpu in the subtrees of the others before and after."""

    name: str
    cohorts: list[Cohort]
    before: Mapping[str, int]
    after: Mapping[str, int]
    queues: list[ClusterQueue] = field(default_factory=list)


ROOT = cohort("root", "default: cpu 10")
MID = cohort("mid", "default: cpu 5", parent="root")

DELETED = {
    "a child": Deleted(
        "child",
        [ROOT, cohort("child", "default: cpu 5", parent="root")],
        {"root": 15_000},
        {"root": 10_000},
    ),
    "a grandchild": Deleted(
        "leaf",
        [ROOT, MID, cohort("leaf", "default: cpu 3", parent="mid")],
        {"mid": 8_000, "root": 18_000},
        {"mid": 5_000, "root": 15_000},
    ),
    "one with a queue in it, which goes with it": Deleted(
        "mid",
        [ROOT, MID],
        {"root": 22_000},
        {"root": 10_000},
        [queue("cq", "default: cpu 7", cohort="mid")],
    ),
}


@dataclass(frozen=True)
class Step:
    """Something that is put or deleted; then what is cyclic, and arm cpu in subtrees of cohorts."""

    put: ClusterQueue | Cohort | None = None
    delete: str = ""
    cyclic: tuple[str, ...] = ()
    subtree: Mapping[str, int] = field(default_factory=dict)


CYCLE = Step(cohort("cycle", parent="cycle"), cyclic=("cycle",))
ARM = "arm: cpu 10"
RING = [
    Step(cohort("a", parent="b")),
    Step(cohort("b", parent="c")),
    Step(cohort("c", parent="a"), cyclic=("a", "b", "c")),
]

CYCLES = {
    "a cohort that is its own parent": [CYCLE],
    "a ring of three": RING,
    "a queue in a ring, until the ring is broken": [
        *RING,
        Step(queue("cq", cohort="a"), cyclic=("a", "b", "c", "cq")),
        Step(queue("cq", cohort="b"), cyclic=("a", "b", "c", "cq")),
        Step(delete="c"),
        Step(queue("cq", cohort="b")),
    ],
    "a queue that leaves a cycle counts in its new cohort": [
        CYCLE,
        Step(cohort("cohort", ARM), cyclic=("cycle",)),
        Step(queue("cq", "arm: cpu 5", cohort="cycle"), cyclic=("cq", "cycle")),
        Step(
            queue("cq", "arm: cpu 5", cohort="cohort"),
            cyclic=("cycle",),
            subtree={"cohort": 15_000},
        ),
    ],
    "a queue that joins a cycle no longer counts in its old cohort": [
        CYCLE,
        Step(cohort("cohort", ARM), cyclic=("cycle",)),
        Step(
            queue("cq", "arm: cpu 5", cohort="cohort"),
            cyclic=("cycle",),
            subtree={"cohort": 15_000},
        ),
        Step(
            queue("cq", "arm: cpu 5", cohort="cycle"),
            cyclic=("cq", "cycle"),
            subtree={"cohort": 10_000},
        ),
    ],
    "a cohort that moves takes its quota along": [
        Step(cohort("root1")),
        Step(cohort("root2")),
        Step(cohort("cohort", ARM, parent="root1"), subtree={"root1": 10_000, "root2": 0}),
        Step(cohort("cohort", ARM, parent="root2"), subtree={"root1": 0, "root2": 10_000}),
    ],
    "a cohort that leaves a cycle counts in its new parent": [
        CYCLE,
        Step(cohort("root"), cyclic=("cycle",)),
        Step(cohort("cohort", ARM, parent="cycle"), cyclic=("cohort", "cycle")),
        Step(cohort("cohort", ARM, parent="root"), cyclic=("cycle",), subtree={"root": 10_000}),
    ],
    "a cohort that joins a cycle no longer counts in its old parent": [
        CYCLE,
        Step(cohort("root"), cyclic=("cycle",)),
        Step(cohort("cohort", ARM, parent="root"), cyclic=("cycle",), subtree={"root": 10_000}),
        Step(
            cohort("cohort", ARM, parent="cycle"), cyclic=("cohort", "cycle"), subtree={"root": 0}
        ),
    ],
    "figures over all cohorts end despite a cycle": [
        Step(cohort("a", parent="b")),
        Step(cohort("b", parent="a"), cyclic=("a", "b")),
    ],
}

COHORT_CYCLES = Table("TestCohortCycles", FILE, 9, (CYCLES,))
DELETE = Table("TestDeleteCohortUpdatesAncestorSubtreeQuota", FILE, 3, (DELETED,))
TABLES = (COHORT_CYCLES, DELETE)
