"""Which flavor a workload gets: cases of Kueue's TestAssignFlavors and TestHierarchical (v0.19)."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from capacity.assign import Assignment, assign
from capacity.fit_mode import Board, Mode, height_that_fits
from capacity.model import (
    ClusterQueue,
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


def test_one_flavor_serves_all_resources_of_its_group():
    queue = a_queue({"default": {CPU: "1", "memory": "2Mi"}})
    found = given(queue, wants((1, {CPU: "1", "memory": "1Mi"})))
    assert (found.mode, flavors(found)) == (
        Mode.FIT,
        {"p0": {CPU: "default", "memory": "default"}},
    )
    assert found.usage == {pair("default"): 1000, pair("default", "memory"): 2**20}


def test_what_is_used_isn_t_there():
    queue = a_queue({"default": {CPU: "4"}}, reserved={pair("default"): 3000})
    assert given(queue, wants((1, {CPU: "2"}))).mode is Mode.NO_CANDIDATES


def test_each_resource_group_finds_its_own_flavor():
    queue = a_queue(
        {"one": {CPU: "2"}, "two": {CPU: "4"}},
        {"b_one": {"memory": "1Gi"}, "b_two": {"memory": "5Gi"}},
    )
    found = given(queue, wants((1, {CPU: "3", "memory": "10Mi"})))
    assert flavors(found) == {"p0": {CPU: "two", "memory": "b_one"}}


def test_one_group_that_can_t_is_enough_to_fail():
    queue = a_queue({"one": {CPU: "3"}}, {"b_one": {"memory": "1Mi"}})
    assert given(queue, wants((1, {CPU: "3", "memory": "10Mi"}))).mode is Mode.NO_FIT


def test_a_flavor_must_serve_every_resource_of_the_group():
    queue = a_queue(
        {"one": {CPU: "2", "memory": "1Gi"}, "two": {CPU: "4", "memory": "15Mi"}},
        {"b_one": {GPU: "4"}, "b_two": {GPU: "2"}},
    )
    found = given(queue, wants((1, {CPU: "3", "memory": "10Mi", GPU: "3"})))
    assert flavors(found) == {"p0": {CPU: "two", "memory": "two", GPU: "b_one"}}
    too_small = a_queue({"one": {CPU: "2", "memory": "1Gi"}, "two": {CPU: "4", "memory": "5Mi"}})
    assert given(too_small, wants((1, {CPU: "3", "memory": "10Mi"}))).mode is Mode.NO_FIT


def test_pod_sets_may_get_different_flavors():
    queue = a_queue({"one": {CPU: "4"}, "two": {CPU: "10"}})
    found = given(queue, wants((1, {CPU: "5"}), (1, {CPU: "3"})))
    assert flavors(found) == {"p0": {CPU: "two"}, "p1": {CPU: "one"}}


def test_pod_sets_on_the_same_flavor_add_up():
    queue = a_queue({"one": {CPU: "4"}})
    assert given(queue, wants((1, {CPU: "3"}), (1, {CPU: "1"}))).mode is Mode.FIT
    assert given(queue, wants((1, {CPU: "3"}), (1, {CPU: "2"}))).mode is Mode.NO_FIT


def test_borrowing_fits_up_to_the_limit_and_what_others_lend():
    spec = {"default": {CPU: ("2", "98"), "memory": "2Gi"}}
    lender = other({"default": {CPU: "198", "memory": "198Gi"}})
    asked = wants((1, {CPU: "3", "memory": "10Mi"}), (1, {CPU: "5", "memory": "20Mi"}))
    found = given(a_queue(spec, cohort_name="c"), asked, lender)
    assert (found.mode, found.distance) == (Mode.FIT, 1)
    miser = other({"one": {CPU: ("10", "", "0")}}, {pair("one"): 9000})
    poor = a_queue({"one": {CPU: "1"}}, cohort_name="c")
    assert given(poor, wants((1, {CPU: "2"})), miser).mode is Mode.NO_FIT


def test_a_resource_that_the_queue_doesn_t_list_fails_unless_it_is_zero():
    queue = a_queue({"one": {CPU: "4"}})
    assert given(queue, wants((1, {GPU: "2"}))).mode is Mode.NO_FIT
    assert given(queue, wants((1, {CPU: "1", GPU: "0"}))).mode is Mode.FIT


def test_the_number_of_pods_counts_where_it_has_quota():
    queue = a_queue({"default": {"pods": "3", CPU: "10"}})
    found = given(queue, wants((3, {CPU: "1"})))
    assert found.usage == {pair("default"): 3000, pair("default", "pods"): 3}
    assert given(queue, wants((4, {CPU: "1"}))).mode is Mode.NO_FIT


def test_a_flavor_that_the_selector_contradicts_is_skipped():
    queue = a_queue({"one": {CPU: "4"}, "two": {CPU: "4"}})
    asked = wants((1, {CPU: "1"}), selector={"type": "two", "zone": "x"})
    labels = {"one": {"type": "one"}, "two": {"type": "two"}}
    assert flavors(given(queue, asked, labels=labels)) == {"p0": {CPU: "two"}}


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


@pytest.mark.parametrize(
    ("can_borrow", "second", "flavor"),
    [
        ("TryNextFlavor", "1", "one"),
        ("TryNextFlavor", "10", "two"),
        ("MayStopSearch", "10", "one"),
    ],
)
def test_borrow_or_try_the_next_flavor(can_borrow: str, second: str, flavor: str):
    queue = a_queue(
        {"one": {CPU: ("10", "1")}, "two": {CPU: second}},
        cohort_name="c",
        reserved={pair("one"): 2000},
        flavor_fungibility=FlavorFungibility(can_borrow),
    )
    lender = other({"one": {CPU: "1"}})
    found = given(queue, wants((1, {CPU: "9"})), lender)
    assert (flavors(found), found.mode) == ({"p0": {CPU: flavor}}, Mode.FIT)


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


def test_more_than_the_cohort_ever_has_never_fits():
    queue = a_queue({"one": {CPU: ("0", "12")}}, cohort_name="c", preemption=BORROWER)
    lender = other({"one": {CPU: "11"}}, {pair("one"): 10_000})
    assert given(queue, wants((1, {CPU: "12"})), lender).mode is Mode.NO_FIT


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


def test_the_top_flavor_is_used_when_the_nearer_ones_are_full():
    found = hierarchical(ZERO, {pair("one"): 4000}, {pair("two"): 4000})
    assert (flavors(found), found.mode) == ({"p0": {CPU: "three"}}, Mode.FIT)


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
