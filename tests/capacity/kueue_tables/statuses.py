"""What workloads hold, as the status of queues tells it (pkg/cache/scheduler/cache_test.go)."""

from dataclasses import dataclass

from tests.capacity.kueue_tables import Table
from tests.capacity.kueue_tables.cohorts import FILE

GROUPS = (
    "default: cpu 10/10",
    "model_a: gpu 5/5 | model_b: gpu 5",
    "interconnect_a: vf-0 5/5, vf-1 5/5, vf-2 5/5",
)


@dataclass(frozen=True)
class Holder:
    """A workload: what it holds (totals), for how many pods; running or only reserved, or waiting."""

    holds: str
    pods: int = 1
    running: bool = False
    waiting: bool = False


@dataclass(frozen=True)
class Case:
    """What is reserved, borrowed and admitted in the end; pairs that aren't named are 0."""

    holders: tuple[Holder, ...]
    reserved: str
    admitted: str = ""
    borrowed: str = ""
    cohort: str = ""
    counts: tuple[int, int] = (0, 0)


ONE = Holder("default/cpu 8000m, model_a/gpu 5", running=True)
TWO = Holder("default/cpu 5000m, model_b/gpu 6")
OF_ONE = "default/cpu 8, model_a/gpu 5"
OF_BOTH = "default/cpu 13, model_a/gpu 5, model_b/gpu 6"

CLUSTER_QUEUE = {
    "one that runs, nothing borrowed, no cohort": Case(
        (ONE,), OF_ONE, admitted=OF_ONE, counts=(1, 1)
    ),
    "two borrow in a cohort": Case(
        (ONE, TWO),
        OF_BOTH,
        admitted=OF_ONE,
        borrowed="default/cpu 3, model_b/gpu 1",
        cohort="one",
        counts=(2, 1),
    ),
    "above nominal without a cohort nothing is borrowed": Case(
        (ONE, TWO), OF_BOTH, admitted=OF_ONE, counts=(2, 1)
    ),
    "admitted with fewer pods than asked": Case(
        (Holder("default/cpu 4000m", pods=2, running=True), Holder("default/cpu 4000m", pods=2)),
        "default/cpu 8",
        admitted="default/cpu 4",
        cohort="one",
        counts=(2, 1),
    ),
}

FIVE = Holder("default/cpu 5000m, model_a/gpu 5")
LOCAL_QUEUE = {
    "its ClusterQueue is missing": Case((Holder("default/cpu 5", waiting=True),), ""),
    "no workloads": Case((), ""),
    "all workloads have quota": Case(
        (FIVE, Holder("default/cpu 3000m, model_b/gpu 3")),
        "default/cpu 8, model_a/gpu 5, model_b/gpu 3",
    ),
    "some workloads wait": Case(
        (FIVE, Holder("default/cpu 100000, model_b/gpu 3", waiting=True)),
        "default/cpu 5, model_a/gpu 5",
    ),
}

CLUSTER_QUEUE_USAGE = Table("TestClusterQueueUsage", FILE, 4, (CLUSTER_QUEUE,))
LOCAL_QUEUE_USAGE = Table("TestLocalQueueUsage", FILE, 4, (LOCAL_QUEUE,))
TABLES = (CLUSTER_QUEUE_USAGE, LOCAL_QUEUE_USAGE)
