"""What queues can take now and could ever take (pkg/cache/scheduler/resource_test.go)."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from capacity.model import ClusterQueue, Cohort, FlavorResource
from tests.capacity.kueue_tables import Table
from tests.capacity.kueue_tables.notation import by_name, cohort, queue

Figures = Mapping[str, Mapping[FlavorResource, int]]


@dataclass(frozen=True)
class Case:
    """``potential`` is what could ever be taken, and all that is available before any usage."""

    queues: list[ClusterQueue]
    potential: Figures
    available: Figures
    usage: Figures = field(default_factory=dict)
    cohorts: list[Cohort] = field(default_factory=list)


TEN = cohort("cohort", "red: cpu 10")

CASES = {
    "queues of their own": Case(
        [queue("cq1", "red: cpu 0"), queue("cq2", "red: cpu 5 | blue: cpu 10")],
        usage=by_name(cq1="red/cpu 1", cq2="red/cpu 2500m, blue/cpu 1"),
        potential=by_name(cq1="red/cpu 0", cq2="red/cpu 5, blue/cpu 10"),
        available=by_name(cq1="red/cpu 0", cq2="red/cpu 2500m, blue/cpu 9"),
    ),
    "queues in a cohort, one lends less than all": Case(
        [
            queue("cq1", "red: cpu 10", cohort="cohort"),
            queue("cq2", "red: cpu 10//9", cohort="cohort"),
        ],
        cohorts=[TEN],
        usage=by_name(cq1="red/cpu 1", cq2="red/cpu 500m"),
        potential=by_name(cq1="red/cpu 29", cq2="red/cpu 30"),
        available=by_name(cq1="red/cpu 28", cq2="red/cpu 28500m"),
    ),
    "a queue borrows from its cohort": Case(
        [queue("cq1", "red: cpu 10", cohort="cohort")],
        cohorts=[TEN],
        usage=by_name(cq1="red/cpu 11"),
        potential=by_name(cq1="red/cpu 20"),
        available=by_name(cq1="red/cpu 9"),
    ),
    "a queue over everything leaves nothing even to one that neither lends nor borrows": Case(
        [
            queue("cq1", "red: cpu 10", cohort="cohort"),
            queue("cq2", "red: cpu 10/0/0", cohort="cohort"),
        ],
        cohorts=[TEN],
        usage=by_name(cq1="red/cpu 31"),
        potential=by_name(cq1="red/cpu 20", cq2="red/cpu 10"),
        available=by_name(cq1="red/cpu 0", cq2="red/cpu 0"),
    ),
    "lending and borrowing limits": Case(
        [
            queue("cq1", "red: cpu 10", cohort="cohort"),
            queue("cq2", "red: cpu 10/2", cohort="cohort"),
            queue("cq3", "red: cpu 10//5", cohort="cohort"),
        ],
        cohorts=[TEN],
        usage=by_name(cq1="red/cpu 20", cq2="red/cpu 10", cq3="red/cpu 6"),
        potential=by_name(cq1="red/cpu 35", cq2="red/cpu 12", cq3="red/cpu 40"),
        available=by_name(cq1="red/cpu 4", cq2="red/cpu 2", cq3="red/cpu 4"),
    ),
    "cohorts under cohorts": Case(
        [
            queue("cq1", "red: cpu 10", cohort="left"),
            queue("cq2", "red: cpu 10//0", cohort="right"),
        ],
        cohorts=[
            cohort("root"),
            cohort("left", "red: cpu 10", parent="root"),
            cohort("right", "red: cpu 10", parent="root"),
        ],
        usage=by_name(cq1="red/cpu 10", cq2="red/cpu 5"),
        potential=by_name(cq1="red/cpu 30", cq2="red/cpu 40"),
        available=by_name(cq1="red/cpu 20", cq2="red/cpu 25"),
    ),
    "a cohort's borrowing limit holds for all below it": Case(
        [
            queue("left-cq1", "red: cpu 10", cohort="left"),
            queue("left-cq2", "red: cpu 10/5", cohort="left"),
            queue("right-cq", "red: cpu 10", cohort="right"),
        ],
        cohorts=[
            cohort("root"),
            cohort("left", "red: cpu 10/5", parent="root"),
            cohort("right", "red: cpu 10", parent="root"),
        ],
        potential=by_name(left_cq1="red/cpu 35", left_cq2="red/cpu 15", right_cq="red/cpu 50"),
        available=by_name(left_cq1="red/cpu 35", left_cq2="red/cpu 15", right_cq="red/cpu 50"),
    ),
    "a cohort's lending limit holds for all beside it": Case(
        [
            queue("left-cq1", "red: cpu 10//5", cohort="left"),
            queue("left-cq2", "red: cpu 10", cohort="left"),
            queue("right-cq", "red: cpu 0", cohort="right"),
            queue("root-cq", "red: cpu 0", cohort="root"),
        ],
        cohorts=[
            cohort("root"),
            cohort("left", "red: cpu 0//5", parent="root"),
            cohort("right", "red: cpu 0", parent="root"),
        ],
        potential=by_name(
            left_cq1="red/cpu 20", left_cq2="red/cpu 15", right_cq="red/cpu 5", root_cq="red/cpu 5"
        ),
        available=by_name(
            left_cq1="red/cpu 20", left_cq2="red/cpu 15", right_cq="red/cpu 5", root_cq="red/cpu 5"
        ),
    ),
}

AVAILABLE = Table("TestAvailable", "pkg/cache/scheduler/resource_test.go", 8, (CASES,))
TABLES = (AVAILABLE,)
