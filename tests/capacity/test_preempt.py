"""Whom Kueue would stop: the figures of TestPreemption (v0.19, without fair sharing)."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import pytest

from capacity.demand import reserved_by
from capacity.model import (
    Admission,
    Cohort,
    Condition,
    FlavorResource,
    PodSet,
    PodSetAssignment,
    Preemption,
    Workload,
)
from capacity.preempt import victims
from capacity.preempt_candidates import Asker
from capacity.quantity import to_amount
from capacity.quota import Tree
from tests.capacity.trees import CPU, cohort, cpu, queue

NOW = datetime(2026, 12, 1, 9, tzinfo=UTC)
MEMORY = "memory"
LOWER, ANY, NEVER = "LowerPriority", "Any", "Never"


def both(*texts: str, memory: tuple[str, ...]) -> dict[tuple[str, str], tuple[str, ...]]:
    return {("default", CPU): texts, ("default", MEMORY): memory}


def policy(within: str = NEVER, reclaim: str = NEVER, borrow: str = NEVER, threshold=None):
    return {"preemption": Preemption(reclaim, within, borrow, threshold)}


LIMITED = both("6", "6", memory=("3Gi", "3Gi"))
FREE = both("6", memory=("3Gi",))
THREE = both("2", memory=("2",))
BORROWS = {"borrow": LOWER, "threshold": 0}
QUEUES = {
    "standalone": (
        None,
        {("default", CPU): ("6",), ("alpha", MEMORY): ("3Gi",), ("beta", MEMORY): ("3Gi",)},
        policy(LOWER),
    ),
    "c1": ("cohort", LIMITED, policy(LOWER, LOWER)),
    "c2": ("cohort", LIMITED, policy(NEVER, ANY)),
    "d1": ("no-limits", FREE, policy(LOWER, LOWER)),
    "d2": ("no-limits", FREE, policy(NEVER, ANY)),
    "l1": ("legion", both("6", "12", memory=("3Gi", "6Gi")), policy(LOWER, LOWER)),
    "starving": (None, cpu(default="6"), policy("LowerOrNewerEqualPriority")),
    "a_standard": ("shared", cpu(default=("1", "12")), policy(NEVER, LOWER, **BORROWS)),
    "b_standard": ("shared", cpu(default=("1", "12")), policy(LOWER, ANY, **BORROWS)),
    "a_effort": ("shared", cpu(default=("1", "12")), policy(NEVER, LOWER, **BORROWS)),
    "b_effort": ("shared", cpu(default=("0", "13")), policy(NEVER, LOWER, **BORROWS)),
    "shared": ("shared", cpu(default="10"), policy()),
    "lend1": ("lend", cpu(default=("6", "", "4")), policy(LOWER, LOWER)),
    "lend2": ("lend", cpu(default=("6", "", "2")), policy(LOWER, LOWER)),
    "a": ("three", THREE, policy(LOWER, ANY)),
    "b": ("three", THREE, policy()),
    "c": ("three", THREE, policy()),
    "left": ("in-left", cpu(default="10"), policy(NEVER, ANY)),
    "right": ("in-right", cpu(default="0"), policy()),
}
COHORTS: list[Cohort] = [cohort("in-left", "root"), cohort("in-right", "root")]


@dataclass
class Run:
    """A running workload: name, ClusterQueue, priority, then "cpu[@flavor]=amount" parts."""

    name: str
    queue: str
    priority: int
    parts: str
    created: datetime = NOW
    reserved: datetime = NOW
    evicted: bool = False

    def workload(self) -> Workload:
        held = amounts(self.parts)
        conditions = [Condition("QuotaReserved", "True", "QuotaReserved", "", self.reserved)]
        if self.evicted:
            conditions.append(Condition("Evicted", "True", "Preempted", "", NOW))
        assigned = PodSetAssignment(
            "main",
            1,
            {pair.resource: pair.flavor for pair in held},
            {pair.resource: amount for pair, amount in held.items()},
        )
        return Workload(
            uid=self.name,
            namespace="",
            name=self.name,
            queue_name="",
            created=self.created,
            pod_sets=(PodSet("main", 1, {}),),
            priority=self.priority,
            conditions=tuple(conditions),
            admission=Admission(self.queue, (assigned,)),
        )


def amounts(parts: str) -> dict[FlavorResource, int]:
    found = {}
    for part in parts.split():
        what, text = part.split("=")
        resource, _, flavor = what.partition("@")
        found[FlavorResource(flavor or "default", resource)] = to_amount(resource, text)
    return found


def stopped(
    running: list[Run],
    target: str,
    wanted: str,
    priority: int = 0,
    contested: str = "",
    since: datetime = NOW,
) -> dict[str, str]:
    """Return {victim: reason}; every wanted pair is contested unless told."""
    workloads: dict[str, list[Workload]] = {}
    for each in running:
        workloads.setdefault(each.queue, []).append(each.workload())
    objects = {}
    for name, (home, spec, rules) in QUEUES.items():
        reserved: dict[FlavorResource, int] = {}
        for workload in workloads.get(name, []):
            for pair, amount in reserved_by(workload).items():
                reserved[pair] = reserved.get(pair, 0) + amount
        plain = queue(name, home, spec, reserved)
        objects[name] = type(plain)(name, home, plain.resource_groups, reserved=reserved, **rules)
    tree = Tree.build(objects.values(), COHORTS)
    pairs = amounts(contested) if contested else amounts(wanted)
    asker = Asker(objects[target], amounts(wanted), priority, since, NOW)
    found = victims(tree, lambda name: workloads.get(name, []), asker, set(pairs))
    assert Tree.build(objects.values(), COHORTS).availability() == tree.availability()
    return {victim.workload.name: victim.reason for victim in found}


OWN, RECLAIM, WHILE = "InClusterQueue", "InCohortReclamation", "InCohortReclaimWhileBorrowing"


def standalone(*cpus: int) -> list[Run]:
    names = ("low", "mid", "high")
    return [
        Run(name, "standalone", at - 1, f"cpu={amount}")
        for at, (name, amount) in enumerate(zip(names, cpus, strict=False))
    ]


def test_the_lowest_priority_is_stopped_first():
    assert stopped(standalone(2, 2, 2), "standalone", "cpu=2", 1) == {"low": OWN}


def test_as_many_as_needed_are_stopped():
    assert stopped(standalone(2, 2, 2), "standalone", "cpu=3", 1) == {"low": OWN, "mid": OWN}


def test_nobody_of_equal_or_higher_priority_is_stopped():
    assert stopped(standalone(3, 3), "standalone", "cpu=1", -1) == {}


def test_nobody_is_stopped_in_vain():
    assert stopped(standalone(3, 3), "standalone", "cpu=4", 0) == {}


def test_free_quota_counts_too():
    assert stopped(standalone(1, 1, 3), "standalone", "cpu=2", 1) == {"low": OWN}


def test_whoever_turns_out_unneeded_is_spared():
    assert stopped(standalone(1, 2, 3), "standalone", "cpu=2", 1) == {"mid": OWN}


def test_only_users_of_the_contested_flavor_are_stopped():
    running = [
        Run("low", "standalone", -1, "memory@alpha=2Gi"),
        Run("mid", "standalone", 0, "memory@beta=1Gi"),
        Run("high", "standalone", 1, "memory@beta=1Gi"),
    ]
    wanted = "cpu=1 memory@beta=2Gi"
    found = stopped(running, "standalone", wanted, 1, "memory@beta=2Gi")
    assert found == {"mid": OWN}


def test_each_flavor_may_need_its_own_victims():
    running = [
        Run("low-alpha", "standalone", -1, "memory@alpha=2Gi"),
        Run("low-beta", "standalone", -1, "memory@beta=2Gi"),
    ]
    found = stopped(running, "standalone", "memory@alpha=2Gi memory@beta=2Gi")
    assert found == {"low-alpha": OWN, "low-beta": OWN}


def test_quota_is_reclaimed_from_a_borrower():
    running = [
        Run("c1-low", "c1", -1, "cpu=3"),
        Run("c2-mid", "c2", 0, "cpu=3"),
        Run("c2-high", "c2", 1, "cpu=6"),
    ]
    assert stopped(running, "c1", "cpu=3", 1) == {"c2-mid": RECLAIM}
    assert stopped(running, "c1", "cpu=3 memory=0", 1, "cpu=3") == {"c2-mid": RECLAIM}


def test_nothing_is_reclaimed_where_nobody_borrows():
    running = [Run("c1-high", "c1", 1, "cpu=4"), Run("c2-low", "c2", -1, "cpu=4")]
    assert stopped(running, "c1", "cpu=4", 1) == {}


def test_nothing_is_reclaimed_that_wouldn_t_be_enough():
    running = [
        Run("c1-high", "c1", 1, "cpu=4"),
        Run("c2-1", "c2", -1, "cpu=4"),
        Run("c2-2", "c2", -1, "cpu=4"),
    ]
    assert stopped(running, "c1", "cpu=4", 1) == {}


def test_own_workloads_are_stopped_while_other_resources_are_borrowed():
    running = [
        Run("c1-low", "c1", -1, "cpu=4"),
        Run("c2-low", "c2", -1, "cpu=4"),
        Run("c2-high", "c2", 1, "cpu=4"),
    ]
    assert stopped(running, "c1", "cpu=4 memory=5Gi", 1) == {"c1-low": OWN}


@pytest.mark.parametrize(("one", "two"), [("c1", "c2"), ("d1", "d2")])
def test_own_workloads_are_stopped_while_the_same_resource_is_borrowed(one: str, two: str):
    running = [
        Run("med", one, 0, "cpu=4"),
        Run("low", one, -1, "cpu=4"),
        Run("other", two, -1, "cpu=4"),
    ]
    assert stopped(running, one, "cpu=4", 1) == {"low": OWN}


def test_with_candidates_elsewhere_borrowing_goes_with_own_victims_only():
    running = [
        Run("c1-med", "c1", 0, "cpu=4"),
        Run("c2-1", "c2", -1, "cpu=5"),
        Run("c2-2", "c2", -1, "cpu=1"),
        Run("c2-3", "c2", -1, "cpu=1"),
    ]
    assert stopped(running, "c1", "cpu=2 memory=5Gi", 1) == {"c1-med": OWN}


def test_a_cohort_of_one_queue_preempts_its_own():
    running = [Run("l1-med", "l1", 0, "cpu=4"), Run("l1-low", "l1", -1, "cpu=2")]
    assert stopped(running, "l1", "cpu=4", 1) == {"l1-med": OWN}


def test_reclaiming_from_lower_priority_spares_equals():
    running = [
        Run("c1", "c1", 0, "cpu=2"),
        Run("c2-1", "c2", 0, "cpu=4"),
        Run("c2-2", "c2", 0, "cpu=4"),
    ]
    assert stopped(running, "c1", "cpu=4", 0) == {}


def test_reclaiming_from_any_takes_equals_the_lowest_first():
    running = [
        Run("c1-1", "c1", 0, "cpu=4"),
        Run("c1-2", "c1", 1, "cpu=4"),
        Run("c2", "c2", 0, "cpu=2"),
    ]
    assert stopped(running, "c2", "cpu=4", 0) == {"c1-1": RECLAIM}


def test_victims_come_from_all_queues_if_needed():
    running = [
        Run("c1-low", "c1", -1, "cpu=3"),
        Run("c1-mid", "c1", 0, "cpu=2"),
        Run("c2-low", "c2", -1, "cpu=3"),
        Run("c2-mid", "c2", 0, "cpu=4"),
    ]
    assert stopped(running, "c1", "cpu=4", 0) == {"c1-low": OWN, "c2-low": RECLAIM}


def test_never_means_never():
    assert stopped([Run("c2-low", "c2", -1, "cpu=3")], "c2", "cpu=4", 1) == {}


def test_newer_equals_may_be_stopped_so_that_nobody_starves():
    second = timedelta(seconds=1)
    running = [
        Run("wl1", "starving", 2, "cpu=2"),
        Run("wl2", "starving", 1, "cpu=2", reserved=NOW + second),
        Run("wl3", "starving", 1, "cpu=2"),
    ]
    early = NOW - 15 * second
    assert stopped(running, "starving", "cpu=2", 1, since=early) == {"wl2": OWN}
    assert stopped(running, "starving", "cpu=2", 1, since=NOW) == {}


def test_a_lower_priority_may_be_stopped_even_if_the_asker_then_borrows():
    running = [
        Run("a-low", "a_effort", -1, "cpu=10"),
        Run("b-low", "b_effort", -1, "cpu=1"),
    ]
    assert stopped(running, "a_standard", "cpu=10") == {"a-low": WHILE}


def test_but_not_above_the_priority_threshold():
    running = [Run("b", "b_standard", 1, "cpu=10")]
    assert stopped(running, "a_standard", "cpu=10", 2) == {}


def test_unless_the_asker_doesn_t_borrow_after_it():
    running = [Run("b", "b_standard", 1, "cpu=13")]
    assert stopped(running, "a_standard", "cpu=1", 2) == {"b": RECLAIM}


def test_borrowing_within_the_cohort_gives_no_right_over_one_s_own_queue():
    running = [Run("a", "a_standard", 1, "cpu=13")]
    assert stopped(running, "a_standard", "cpu=1", 2) == {}


def test_a_queue_above_nominal_takes_from_itself_when_others_are_too_important():
    running = [
        Run("a-1", "a_standard", 1, "cpu=10"),
        Run("a-2", "a_standard", 1, "cpu=1"),
        Run("b-1", "b_standard", 1, "cpu=1"),
        Run("b-2", "b_standard", 2, "cpu=1"),
    ]
    assert stopped(running, "b_standard", "cpu=1", 3) == {"b-1": OWN}


def test_victims_below_the_threshold_and_one_s_own_may_go_together():
    running = [
        Run("b-high", "b_standard", 2, "cpu=10"),
        Run("b-mid", "b_standard", 1, "cpu=1"),
        Run("a-low", "a_effort", -1, "cpu=1"),
        Run("a-lower", "a_effort", -2, "cpu=1"),
    ]
    assert stopped(running, "b_standard", "cpu=2", 2) == {"a-lower": WHILE, "b-mid": OWN}


def test_lending_limits_hold_while_reclaiming():
    running = [
        Run("lend1-low", "lend1", -1, "cpu=3"),
        Run("lend2-mid", "lend2", 0, "cpu=3"),
        Run("lend2-high", "lend2", 1, "cpu=4"),
    ]
    assert stopped(running, "lend1", "cpu=3", 1) == {"lend2-mid": RECLAIM}
    all_of_them = [
        Run("lend1-low", "lend1", -1, "cpu=3"),
        Run("lend1-mid", "lend1", 0, "cpu=2"),
        Run("lend2-low", "lend2", -1, "cpu=3"),
        Run("lend2-mid", "lend2", 0, "cpu=4"),
    ]
    assert stopped(all_of_them, "lend1", "cpu=4") == {"lend1-low": OWN, "lend2-low": RECLAIM}
    assert stopped([Run("lend2-low", "lend2", -1, "cpu=10")], "lend1", "cpu=9") == {}


@pytest.mark.parametrize(
    ("held", "wanted"),
    [
        ("cpu=1", "cpu=2"),
        ("cpu=1 memory=1", "cpu=2 memory=2"),
        ("cpu=1", "cpu=2 memory=2"),
    ],
)
def test_an_exhausted_queue_takes_from_itself(held: str, wanted: str):
    running = [
        Run("a1", "a", -2, held),
        Run("a2", "a", -2, held),
        Run("a3", "a", -1, held),
        *(Run(f"b{i}", "b", 0, held) for i in (1, 2, 3)),
    ]
    assert stopped(running, "a", wanted) == {"a1": OWN, "a2": OWN}


def test_a_queue_that_isn_t_exhausted_takes_from_others_too():
    running = [
        Run("a1", "a", -1, "cpu=1"),
        *(Run(f"b{i}", "b", 0, "cpu=1") for i in (1, 2, 3, 4)),
        Run("b5", "b", -1, "cpu=1"),
    ]
    assert stopped(running, "a", "cpu=2") == {"a1": OWN, "b5": RECLAIM}


def test_reclaiming_reaches_across_the_tree():
    assert stopped([Run("far", "right", 0, "cpu=5")], "left", "cpu=8") == {"far": RECLAIM}


def test_whoever_is_being_stopped_already_is_taken_first():
    running = [
        Run("low", "standalone", -1, "cpu=2"),
        Run("mid", "standalone", 0, "cpu=4", evicted=True),
    ]
    assert stopped(running, "standalone", "cpu=2", 1) == {"mid": OWN}


def test_the_newest_of_equals_is_stopped_first():
    running = [
        Run("old", "standalone", 0, "cpu=3", reserved=NOW - timedelta(hours=1)),
        Run("new", "standalone", 0, "cpu=3"),
    ]
    assert stopped(running, "standalone", "cpu=3", 1) == {"new": OWN}
