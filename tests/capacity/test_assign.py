"""Which flavor a workload gets where preemption is simulated, not told (test_assign_tables.py)."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from capacity.assign import Assignment, assign
from capacity.fit_mode import Board, Mode, height_that_fits
from capacity.model import (
    ClusterQueue,
    Condition,
    FlavorFungibility,
    FlavorQuotas,
    FlavorResource,
    PodSet,
    Preemption,
    ResourceFlavor,
    ResourceGroup,
    Workload,
)
from capacity.quantity import to_amount
from capacity.quota import Tree
from tests.capacity.test_preempt import Run
from tests.capacity.trees import CPU, cohort, cpu, pair, quota

NOW = datetime(2026, 12, 1, 9, tzinfo=UTC)
GPU = "example.com/gpu"
FLAVORS = ("one", "two", "three", "b_one", "b_two", "default")
Group = Mapping[str, Mapping[str, tuple[str, ...] | str]]


def a_queue(*groups: Group, cohort_name: str | None = None, reserved=None, **changes):
    """Each group is {flavor: {resource: texts}}; flavors in order of preference."""
    built = tuple(
        ResourceGroup(
            tuple(dict.fromkeys(r for flavor in group.values() for r in flavor)),
            tuple(
                FlavorQuotas(
                    name,
                    {
                        r: quota(r, (texts,) if isinstance(texts, str) else texts)
                        for r, texts in resources.items()
                    },
                )
                for name, resources in group.items()
            ),
        )
        for group in groups
    )
    return ClusterQueue("q", cohort_name, built, reserved=dict(reserved or {}), **changes)


def other(spec, reserved=None, name: str = "other", home: str = "c") -> ClusterQueue:
    return replace(a_queue(spec, cohort_name=home, reserved=reserved), name=name)


def wants(*pod_sets: tuple[int, dict[str, str]], priority: int = 0, selector=None) -> Workload:
    return Workload(
        uid="in",
        namespace="",
        name="in",
        queue_name="",
        created=NOW,
        priority=priority,
        pod_sets=tuple(
            PodSet(
                f"p{at}",
                count,
                {r: to_amount(r, text) for r, text in requests.items()},
                node_selector=selector or {},
            )
            for at, (count, requests) in enumerate(pod_sets)
        ),
    )


def given(
    queue: ClusterQueue,
    workload: Workload,
    *others: ClusterQueue,
    cohorts=(),
    running: Mapping[str, list[Run]] | None = None,
    fair: bool = False,
    labels: Mapping[str, Mapping[str, str]] | None = None,
) -> Assignment:
    held = {name: [run.workload() for run in runs] for name, runs in (running or {}).items()}
    flavors = {name: ResourceFlavor(name, (labels or {}).get(name, {})) for name in FLAVORS}
    tree = Tree.build([queue, *others], cohorts)
    board = Board(tree, lambda name: held.get(name, []), flavors, fair_sharing=fair)
    return assign(board, queue, workload, NOW)


def flavors(found: Assignment) -> dict[str, dict[str, str]]:
    return {name: dict(by_resource) for name, by_resource in found.flavors.items()}


def test_what_is_used_isn_t_there():
    queue = a_queue({"default": {CPU: "4"}}, reserved={pair("default"): 3000})
    assert given(queue, wants((1, {CPU: "2"}))).mode is Mode.NO_CANDIDATES


def test_pod_sets_on_the_same_flavor_add_up():
    queue = a_queue({"one": {CPU: "4"}})
    assert given(queue, wants((1, {CPU: "3"}), (1, {CPU: "1"}))).mode is Mode.FIT
    assert given(queue, wants((1, {CPU: "3"}), (1, {CPU: "2"}))).mode is Mode.NO_FIT


def test_a_flavor_without_its_object_is_skipped():
    queue = a_queue({"ghost": {CPU: "4"}, "two": {CPU: "4"}})
    assert flavors(given(queue, wants((1, {CPU: "1"})))) == {"p0": {CPU: "two"}}


LOWER = Preemption(within_cluster_queue="LowerPriority")
TWO_FLAVORS = {"one": {CPU: "10"}, "two": {CPU: "10"}}
LOW = {"q": [Run("low", "q", -1, "cpu@one=2")]}


@pytest.mark.parametrize(
    ("rules", "flavor", "mode"),
    [
        (FlavorFungibility("MayStopSearch", "MayStopSearch"), "one", Mode.PREEMPT),
        (FlavorFungibility(), "two", Mode.FIT),
    ],
)
def test_preempt_or_try_the_next_flavor(rules: FlavorFungibility, flavor: str, mode: Mode):
    queue = a_queue(
        TWO_FLAVORS, reserved={pair("one"): 2000}, preemption=LOWER, flavor_fungibility=rules
    )
    found = given(queue, wants((1, {CPU: "9"})), running=LOW)
    assert (flavors(found), found.mode) == ({"p0": {CPU: flavor}}, mode)
    assert [v.workload.name for v in found.victims] == (["low"] if mode is Mode.PREEMPT else [])


BORROWER = Preemption("LowerPriority", borrow_within_cohort="LowerPriority")
BUSY = {"other": [Run("low", "other", -1, "cpu@one=10")]}


@pytest.mark.parametrize(
    ("can_borrow", "flavor", "mode"),
    [("MayStopSearch", "one", Mode.RECLAIM), ("TryNextFlavor", "two", Mode.FIT)],
)
@pytest.mark.parametrize("limit", ["12", ""])
def test_borrowing_by_preemption(can_borrow: str, flavor: str, mode: Mode, limit: str):
    """The lender holds 10 of its 12, and is within its nominal: nobody may be stopped there."""
    queue = a_queue(
        {"one": {CPU: ("0", limit)}, "two": {CPU: "12"}},
        cohort_name="c",
        preemption=BORROWER,
        flavor_fungibility=FlavorFungibility(can_borrow, "MayStopSearch"),
    )
    lender = other({"one": {CPU: "2"}}, {pair("one"): 10_000})
    spare = other({"one": {CPU: "10"}}, name="spare")
    found = given(queue, wants((1, {CPU: "12"})), lender, spare, running=BUSY)
    assert (flavors(found), found.mode) == ({"p0": {CPU: flavor}}, mode)


def test_no_candidates_in_the_first_flavor_tries_the_second():
    queue = a_queue(
        {"one": {CPU: ("0", "2")}, "two": {CPU: ("0", "2")}},
        cohort_name="c",
        preemption=BORROWER,
        flavor_fungibility=FlavorFungibility("MayStopSearch", "MayStopSearch"),
    )
    lender = other({"one": {CPU: "2"}, "two": {CPU: "2"}}, {pair("one"): 2000})
    found = given(queue, wants((1, {CPU: "2"})), lender)
    assert (flavors(found), found.mode) == ({"p0": {CPU: "two"}}, Mode.FIT)


COHORTS = [
    cohort("three", None, cpu(three="4")),
    cohort("two", "three", cpu(two="4")),
    cohort("one", "two", cpu(one="4")),
]
ZERO = {"one": {CPU: "0"}, "two": {CPU: "0"}, "three": {CPU: "0"}}
BOTH_LOWER = Preemption("LowerPriority", "LowerPriority")


def hierarchical(spec, used: dict[FlavorResource, int], by_other=None, rules=None) -> Assignment:
    queue = a_queue(
        spec,
        cohort_name="one",
        reserved=used,
        preemption=BOTH_LOWER,
        flavor_fungibility=rules or FlavorFungibility(),
    )
    return given(queue, wants((1, {CPU: "4"})), other(ZERO, by_other, home="two"), cohorts=COHORTS)


def test_the_first_flavor_that_fits_is_used():
    found = hierarchical(ZERO, {pair("one"): 4000})
    assert (flavors(found), found.mode) == ({"p0": {CPU: "two"}}, Mode.FIT)


def test_a_farther_flavor_that_fits_beats_a_nearer_one_without_candidates():
    rules = FlavorFungibility("TryNextFlavor", "TryNextFlavor", "PreemptionOverBorrowing")
    spec = {"one": {CPU: ("4", "0")}, "two": {CPU: "0"}, "three": {CPU: "0"}}
    found = hierarchical(spec, {pair("one"): 4000}, rules=rules)
    assert (flavors(found), found.mode) == ({"p0": {CPU: "two"}}, Mode.FIT)


def test_the_height_of_the_subtree_that_could_hold_it():
    queue = a_queue(ZERO, cohort_name="one")
    tree = Tree.build([queue, other(ZERO, home="two")], COHORTS)
    node = tree.cluster_queue("q")
    heights = [height_that_fits(node, pair(flavor), 4000) for flavor in ("one", "two", "three")]
    assert heights == [(1, True), (2, True), (3, False)]
    assert height_that_fits(node, pair("three"), 5000) == (3, False)
    assert height_that_fits(node, pair("three"), 0) == (0, True)


SAID = (
    "couldn't assign flavors to pod set p0: flavor one doesn't match node affinity; "
    "couldn't assign flavors to pod set p1: insufficient unused quota for cpu in flavor one, 1 more needed"
)


def test_what_kueue_refused_a_pod_set_is_refused_to_that_pod_set_only():
    queue = a_queue({"one": {CPU: "4"}, "two": {CPU: "4"}})
    told = Condition("QuotaReserved", "False", "Pending", SAID, NOW)
    asked = replace(wants((1, {CPU: "1"}), (1, {CPU: "1"})), conditions=(told,))
    assert flavors(given(queue, asked)) == {"p0": {CPU: "two"}, "p1": {CPU: "one"}}


def test_a_job_that_grows_is_told_with_what_it_replaces():
    queue = a_queue({"one": {CPU: "4"}}, reserved={pair("one"): 2000})
    asked = wants((1, {CPU: "3"}))
    main = replace(asked.pod_sets[0], name="main")
    grown = replace(asked, pod_sets=(main,), replaces="/old")
    old = Run("old", "q", 0, "cpu@one=2")
    found = given(queue, grown, running={"q": [old]})
    assert (found.mode, found.usage) == (Mode.FIT, {pair("one"): 1000})
    assert found.old is not None
    assert given(queue, grown).mode is Mode.NO_CANDIDATES
