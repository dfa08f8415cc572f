"""Whom Kueue stops in trees of cohorts (pkg/scheduler/preemption/preemption_hierarchical_test.go)."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from capacity.model import ClusterQueue, Cohort, Preemption
from tests.capacity.kueue_tables import Table
from tests.capacity.kueue_tables.notation import cohort, queue

FILE = "pkg/scheduler/preemption/preemption_hierarchical_test.go"
OWN, RECLAIM, WHILE = "InClusterQueue", "InCohortReclamation", "InCohortReclaimWhileBorrowing"


@dataclass(frozen=True)
class Held:
    """A running workload: its queue, priority and amounts."""

    queue: str
    priority: int
    amounts: str
    evicted: bool = False


@dataclass(frozen=True)
class Case:
    """``wanted`` is asked for in ``target`` at a priority; ``want`` is the reason by victim."""

    cohorts: list[Cohort]
    queues: list[ClusterQueue]
    held: Mapping[str, Held]
    wanted: str
    priority: int = 0
    target: str = "q"
    want: Mapping[str, str] = field(default_factory=dict)


def in_(home: str, name: str, *groups: str, rules: Preemption | None = None) -> ClusterQueue:
    return queue(name, *groups, cohort=home, preemption=rules or RECLAIMS)


RECLAIMS = Preemption("Any", "LowerPriority", "Never", None)
BORROWS = Preemption("Any", "LowerPriority", "LowerPriority", 0)
CAREFUL = Preemption("LowerPriority", "LowerPriority", "LowerPriority", 0)


def two_levels(inner: str, outer: str = "") -> list[Cohort]:
    """Return r with c in it, each with its own quota of the flavor default."""
    own = [f"default: {outer}"] if outer else []
    return [cohort("r", *own), cohort("c", f"default: {inner}", parent="r")]


def one(cpus: int) -> str:
    return f"default/cpu {cpus}"


INNER = [in_("c", "q"), in_("r", "outside")]
WITH_OWNER = [in_("r", "owner", "default: cpu 2"), *INNER]
NEIGHBOURS = [in_("c", "q", rules=BORROWS), in_("c", "beside")]
MIXED = [in_("c", "q", rules=CAREFUL), in_("r", "outside"), in_("c", "beside")]
DEEP = [
    cohort("r"),
    *(cohort(name, "default: cpu 4", parent="r") for name in ("c11", "c12")),
    *(cohort(name, "default: cpu 4", parent="c11") for name in ("c21", "c22", "c23")),
    *(cohort(name, "default: cpu 4", parent="c21") for name in ("c31", "c32")),
]
DEEP_QUEUES = [
    in_(home, name)
    for name, home in (("q1", "c12"), ("q2", "c23"), ("q3", "c22"), ("q4", "c32"), ("q5", "c31"))
]

CASES = {
    "the cohort's own quota is taken back from outside": Case(
        two_levels("cpu 2"), INNER, {"a": Held("outside", 0, one(2))}, one(2), want={"a": RECLAIM}
    ),
    "whoever is within nominal is left alone": Case(
        two_levels("cpu 2"),
        WITH_OWNER,
        {"low": Held("owner", -10, one(2)), "a": Held("outside", 0, one(2))},
        one(2),
        want={"a": RECLAIM},
    ),
    "several are stopped, whatever their priority": Case(
        two_levels("cpu 2"),
        INNER,
        {"a": Held("outside", 1, one(1)), "b": Held("outside", 2, one(1))},
        one(2),
        want={"a": RECLAIM, "b": RECLAIM},
    ),
    "its own queue and its cohort give together": Case(
        two_levels("cpu 3"),
        NEIGHBOURS,
        {
            "equal": Held("beside", 1, one(1)),
            "lower": Held("beside", 0, one(2)),
            "own": Held("q", -1, one(1)),
        },
        one(2),
        priority=1,
        want={"own": OWN, "lower": WHILE},
    ),
    "taking back goes before stopping one's own": Case(
        two_levels("cpu 2"),
        INNER,
        {"a": Held("outside", 1, one(1)), "own": Held("q", -2, one(1))},
        one(1),
        want={"a": RECLAIM},
    ),
    "a lower one beside it goes when nothing is to be taken back": Case(
        two_levels("cpu 2"),
        [in_("c", "q", rules=BORROWS), in_("r", "owner", "default: cpu 2"), in_("c", "beside")],
        {"low": Held("owner", -10, one(2)), "a": Held("beside", -1, one(2))},
        one(2),
        want={"a": WHILE},
    ),
    "its own nominal is taken back from everybody": Case(
        two_levels("cpu 2"),
        [in_("c", "q", "default: cpu 4"), in_("r", "outside"), in_("c", "beside")],
        {"a": Held("outside", 10, one(3)), "b": Held("beside", 10, one(3))},
        one(4),
        want={"a": RECLAIM, "b": RECLAIM},
    ),
    "from outside and from beside, by priority": Case(
        two_levels("cpu 4", "cpu 1"),
        MIXED,
        {
            "a": Held("outside", -1, one(2)),
            "b": Held("beside", -1, one(1)),
            "higher": Held("outside", 1, one(2)),
        },
        one(3),
        want={"a": RECLAIM, "b": WHILE},
    ),
    "from outside and from its own queue, by priority": Case(
        two_levels("cpu 4", "cpu 1"),
        MIXED,
        {
            "a": Held("outside", -1, one(2)),
            "own": Held("q", -1, one(1)),
            "higher": Held("outside", 1, one(2)),
        },
        one(3),
        want={"a": RECLAIM, "own": OWN},
    ),
    "the lowest of the borrowers goes": Case(
        two_levels("cpu 3"),
        [in_("c", "q"), in_("r", "outside"), in_("r", "owner", "default: cpu 2")],
        {
            "a8": Held("outside", 8, one(1)),
            "a9": Held("outside", 9, one(1)),
            "b9": Held("outside", 9, one(1)),
            "low": Held("owner", -2, one(2)),
        },
        one(1),
        want={"a8": RECLAIM},
    ),
    "nobody where all are within their cohorts' quota": Case(
        [*two_levels("cpu 2"), cohort("d", "default: cpu 2", parent="r")],
        [in_("d", "elsewhere"), in_("c", "q"), in_("c", "beside")],
        {
            "a": Held("elsewhere", -10, one(1)),
            "b": Held("elsewhere", -10, one(1)),
            "equal": Held("beside", 0, one(2)),
        },
        one(2),
    ),
    "several resources": Case(
        two_levels("cpu 4, memory 4Gi", "cpu 3"),
        [in_("c", "q"), in_("r", "outside"), in_("c", "beside")],
        {
            "a": Held("outside", 0, "default/cpu 3, default/memory 1Gi"),
            "b": Held("beside", -2, "default/cpu 1, default/memory 3Gi"),
        },
        "default/cpu 2, default/memory 1Gi",
        priority=-2,
        want={"a": RECLAIM},
    ),
    "one that is being stopped already goes first": Case(
        two_levels("cpu 2"),
        [in_("c", "q", rules=BORROWS), in_("r", "outside"), in_("c", "beside")],
        {"a": Held("outside", -10, one(1)), "b": Held("beside", -1, one(1), evicted=True)},
        one(1),
        want={"b": WHILE},
    ),
    "a lending limit keeps what it keeps": Case(
        two_levels("cpu 2"),
        [in_("c", "q", "default: cpu 3//2"), in_("r", "outside")],
        {"a": Held("outside", 0, one(4))},
        one(5),
        priority=-2,
        want={"a": RECLAIM},
    ),
    "four levels": Case(
        DEEP,
        DEEP_QUEUES,
        {
            "q1-6": Held("q1", -6, one(4)),
            "q1-5": Held("q1", -5, one(4)),
            "q2-9": Held("q2", -9, one(4)),
            "q2-10": Held("q2", -10, one(4)),
            "q3-4": Held("q3", -4, one(4)),
            "q3-3": Held("q3", -3, one(3)),
            "q4+4": Held("q4", 4, one(2)),
            "q4+2": Held("q4", 2, one(3)),
        },
        one(7),
        priority=-2,
        target="q5",
        want={"q1-6": RECLAIM, "q2-10": RECLAIM},
    ),
}

TABLES = (Table("TestHierarchicalPreemptions", FILE, 15, (CASES,)),)
