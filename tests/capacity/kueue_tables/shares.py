"""How much a node borrows of what it could (pkg/cache/scheduler/fair_sharing_test.go)."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from capacity.model import UNLIMITED, ClusterQueue, Cohort
from tests.capacity.kueue_tables import Table
from tests.capacity.kueue_tables.notation import GPU, cohort, queue

FILE = "pkg/cache/scheduler/fair_sharing_test.go"


@dataclass(frozen=True)
class Case:
    """``used`` is held in ``cq``; ``want`` the share and dominant resource of those that have one.

    The share of every other node is 0. ``request`` is added to each node in turn.
    """

    queues: list[ClusterQueue]
    used: str
    want: Mapping[str, tuple[int, str]] = field(default_factory=dict)
    request: str = ""
    cohorts: list[Cohort] = field(default_factory=list)


def cq(groups: str, weight: str = "1", home: str = "c") -> ClusterQueue:
    return queue("cq", groups, cohort=home, weight=weight)


def lender(groups: str, weight: str = "1") -> ClusterQueue:
    return queue("lender", groups, cohort="c", weight=weight)


BOTH = [cq("default: cpu 2, gpu 5"), lender("default: cpu 8, gpu 5")]

CASES = {
    "a queue without a cohort has no share": Case(
        [queue("cq", "default: cpu 2000, gpu 5")], "default/cpu 1, default/gpu 2"
    ),
    "below nominal": Case(BOTH, "default/cpu 1, default/gpu 2"),
    "above nominal": Case(BOTH, "default/cpu 3, default/gpu 7", {"cq": (200, GPU)}),
    "slightly above nominal among large quotas": Case(
        [cq("default: gpu 500"), lender("default: gpu 1000", "300")],
        "default/gpu 501",
        {"cq": (1, GPU)},
    ),
    "way above nominal among large quotas and weights": Case(
        [cq("default: gpu 500", "300"), lender("default: gpu 1000", "300")],
        "default/gpu 800",
        {"cq": (1, GPU)},
    ),
    "one resource above nominal": Case(BOTH, "default/cpu 3, default/gpu 3", {"cq": (100, "cpu")}),
    "above nominal once a workload is added": Case(
        BOTH,
        "default/cpu 1, default/gpu 2",
        {"cq": (300, "cpu")},
        request="default/cpu 4, default/gpu 4",
    ),
    "a resource of which nothing is lent doesn't count": Case(
        [cq("default: cpu 2, gpu 2//0"), lender("default: cpu 8, gpu 64//0")],
        "default/cpu 1, default/gpu 1",
        {"cq": (300, "cpu")},
        request="default/cpu 4, default/gpu 4",
    ),
    "several flavors of a resource add up": Case(
        [cq("on-demand: cpu 20 | spot: cpu 80"), lender("default: cpu 100")],
        "on-demand/cpu 15, spot/cpu 5",
        {"cq": (25, "cpu")},
        request="on-demand/cpu 10",
    ),
    "a whole weight divides": Case(
        [cq("default: gpu 5", "2"), lender("default: gpu 5")], "default/gpu 7", {"cq": (100, GPU)}
    ),
    "a weight below one multiplies": Case(
        [cq("default: gpu 5", "0.5"), lender("default: gpu 5")], "default/gpu 7", {"cq": (400, GPU)}
    ),
    "a weight of zero makes the share infinite": Case(
        [cq("default: gpu 5", "0"), lender("default: gpu 10", "1")],
        "default/gpu 7",
        {"cq": (UNLIMITED, GPU)},
    ),
    "a cohort has a share of its parent": Case(
        [cq("default: gpu 5", home="child")],
        "default/gpu 10",
        {"cq": (100, GPU), "child": (50, GPU)},
        cohorts=[cohort("child", parent="root", weight="2"), cohort("root", "default: gpu 45")],
    ),
    "what only the root provides counts": Case(
        [cq("default: gpu 0", home="child")],
        "default/gpu 10",
        {"cq": (200, GPU), "child": (100, GPU)},
        cohorts=[cohort("child", parent="root", weight="2"), cohort("root", "default: gpu 50")],
    ),
    "a cohort's borrowing limit makes its queue's share larger": Case(
        [cq("default: gpu 0", home="child")],
        "default/gpu 10",
        {"cq": (1000, GPU), "child": (200, GPU)},
        cohorts=[
            cohort("child", "default: gpu 0/10", parent="root"),
            cohort("root", "default: gpu 50"),
        ],
    ),
    "borrowing from what is unlimited": Case(
        [cq("default: cpu 0"), lender("default: cpu 1E")], "default/cpu 1", {"cq": (1, "cpu")}
    ),
}

BORROWED_PAIRS = {
    "on the requested pair": ("default/cpu 3", "default/cpu 1", (True, True)),
    "only on another pair": ("default/cpu 1, default/gpu 7", "default/cpu 1", (False, True)),
    "on both, one requested": ("default/cpu 3, default/gpu 7", "default/gpu 1", (True, True)),
    "on none": ("default/cpu 1, default/gpu 2", "default/cpu 1", (False, False)),
    "nothing requested": ("default/cpu 3", "", (False, True)),
}
"""What the queue holds, what is requested, and whether it borrows of that and at all."""

PRECISE = {
    "a weight of zero": ((100, 0), math.inf),
    "nothing borrowed": ((0, 1), 0),
    "without a remainder": ((400, 2), 200),
    "with a fraction": ((10, 4), 2.5),
}
"""The ratio before the weight, and the weight, to the share."""

DOMINANT = Table("TestDominantResourceShare", FILE, 16, (CASES,))
BORROWING_ON = Table("TestIsBorrowingOn", FILE, 5, (BORROWED_PAIRS,))
PRECISE_SHARE = Table("TestPreciseWeightedShareSerialized", FILE, 4, (PRECISE,))
TABLES = (DOMINANT, BORROWING_ON, PRECISE_SHARE)
