"""Figures of Kueue v0.19's own test tables, and the worked examples that ran on its controller."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import pytest

from capacity.errors import UnknownName
from capacity.model import UNLIMITED, ClusterQueue, Cohort, FlavorResource
from capacity.quota import (
    Node,
    Tree,
    available,
    borrowed,
    can_borrow,
    can_reserve,
    excess,
    local_available,
    local_quota,
    potential_available,
    subtree_quota,
    usage,
)
from capacity.share import weighted_share
from tests.builders import A100, H100, a_fleet
from tests.capacity.trees import CPU, GPU, cohort, cpu, pair, queue

RED, BLUE, DEFAULT = pair("red"), pair("blue"), pair("default")
ARM, X86 = pair("arm"), pair("x86")


@dataclass
class Case:
    queues: list[ClusterQueue]
    cohorts: list[Cohort] = field(default_factory=list)
    usage: Mapping[str, Mapping[FlavorResource, int]] = field(default_factory=dict)
    available: Mapping[str, Mapping[FlavorResource, int]] = field(default_factory=dict)
    potential: Mapping[str, Mapping[FlavorResource, int]] = field(default_factory=dict)


def red(**figures: int) -> dict[str, dict[FlavorResource, int]]:
    return {name.replace("_", "-"): {RED: amount} for name, amount in figures.items()}


TEST_AVAILABLE = {
    "base queues": Case(
        [queue("cq1", None, cpu(red="0")), queue("cq2", None, cpu(red="5", blue="10"))],
        usage={"cq1": {RED: 1_000}, "cq2": {RED: 2_500, BLUE: 1_000}},
        available={"cq1": {RED: 0}, "cq2": {RED: 2_500, BLUE: 9_000}},
        potential={"cq1": {RED: 0}, "cq2": {RED: 5_000, BLUE: 10_000}},
    ),
    "queues with a cohort": Case(
        [
            queue("cq1", "cohort", cpu(red="10")),
            queue("cq2", "cohort", cpu(red=("10", "", "9"))),
        ],
        [cohort("cohort", None, cpu(red="10"))],
        usage=red(cq1=1_000, cq2=500),
        available=red(cq1=28_000, cq2=28_500),
        potential=red(cq1=29_000, cq2=30_000),
    ),
    "a queue borrows from its cohort": Case(
        [queue("cq1", "cohort", cpu(red="10"))],
        [cohort("cohort", None, cpu(red="10"))],
        usage=red(cq1=11_000),
        available=red(cq1=9_000),
        potential=red(cq1=20_000),
    ),
    "oversubscription spills into the cohort": Case(
        [
            queue("cq1", "cohort", cpu(red="10")),
            queue("cq2", "cohort", cpu(red=("10", "0", "0"))),
        ],
        [cohort("cohort", None, cpu(red="10"))],
        usage=red(cq1=31_000),
        available=red(cq1=0, cq2=0),
        potential=red(cq1=20_000, cq2=10_000),
    ),
    "lending and borrowing limits": Case(
        [
            queue("cq1", "cohort", cpu(red="10")),
            queue("cq2", "cohort", cpu(red=("10", "2"))),
            queue("cq3", "cohort", cpu(red=("10", "", "5"))),
        ],
        [cohort("cohort", None, cpu(red="10"))],
        usage=red(cq1=20_000, cq2=10_000, cq3=6_000),
        available=red(cq1=4_000, cq2=2_000, cq3=4_000),
        potential=red(cq1=35_000, cq2=12_000, cq3=40_000),
    ),
    "hierarchical cohorts": Case(
        [
            queue("cq1", "left", cpu(red="10")),
            queue("cq2", "right", cpu(red=("10", "", "0"))),
        ],
        [
            cohort("root"),
            cohort("left", "root", cpu(red="10")),
            cohort("right", "root", cpu(red="10")),
        ],
        usage=red(cq1=10_000, cq2=5_000),
        available=red(cq1=20_000, cq2=25_000),
        potential=red(cq1=30_000, cq2=40_000),
    ),
    "hierarchical cohorts with a borrowing limit": Case(
        [
            queue("left-cq1", "left", cpu(red="10")),
            queue("left-cq2", "left", cpu(red=("10", "5"))),
            queue("right-cq", "right", cpu(red="10")),
        ],
        [
            cohort("root"),
            cohort("left", "root", cpu(red=("10", "5"))),
            cohort("right", "root", cpu(red="10")),
        ],
        available=red(left_cq1=35_000, left_cq2=15_000, right_cq=50_000),
        potential=red(left_cq1=35_000, left_cq2=15_000, right_cq=50_000),
    ),
    "hierarchical cohorts with a lending limit": Case(
        [
            queue("left-cq1", "left", cpu(red=("10", "", "5"))),
            queue("left-cq2", "left", cpu(red="10")),
            queue("right-cq", "right", cpu(red="0")),
            queue("root-cq", "root", cpu(red="0")),
        ],
        [
            cohort("root"),
            cohort("left", "root", cpu(red=("0", "", "5"))),
            cohort("right", "root", cpu(red="0")),
        ],
        available=red(left_cq1=20_000, left_cq2=15_000, right_cq=5_000, root_cq=5_000),
        potential=red(left_cq1=20_000, left_cq2=15_000, right_cq=5_000, root_cq=5_000),
    ),
}


def clamped(tree: Tree) -> dict[str, dict[FlavorResource, int]]:
    return {n.name: {p: can_reserve(n, p) for p in n.quotas} for n in tree.cluster_queues()}


def potentials(tree: Tree) -> dict[str, dict[FlavorResource, int]]:
    return {n.name: {p: potential_available(n, p) for p in n.quotas} for n in tree.cluster_queues()}


@pytest.mark.parametrize("name", TEST_AVAILABLE)
def test_figures_of_test_available(name: str):
    case = TEST_AVAILABLE[name]
    tree = Tree.build(case.queues, case.cohorts)
    assert clamped(tree) == potentials(tree) == case.potential
    for used, amounts in case.usage.items():
        tree.add_usage(used, amounts)
    assert clamped(tree) == case.available
    assert potentials(tree) == case.potential == tree.potentials()
    for used, amounts in case.usage.items():
        tree.remove_usage(used, amounts)
    assert clamped(tree) == case.potential


LEND = [
    queue("lend-a", "lend", cpu(default=("10", "", "4"))),
    queue("lend-b", "lend", cpu(default=("10", "", "6"))),
]
LEND_WORKLOADS = {
    "a-1": ("lend-a", 1_000),
    "a-2": ("lend-a", 9_000),
    "a-3": ("lend-a", 6_000),
    "b-1": ("lend-b", 4_000),
}
ALL = ("a-1", "a-2", "a-3", "b-1")


@pytest.mark.parametrize(
    ("removed", "added", "figures"),
    [
        (ALL, ALL, (10_000, 16_000, 4_000)),
        (ALL, (), (0, 0, 0)),
        (("a-2",), (), (1_000, 7_000, 4_000)),
        (("a-1", "a-2"), (), (0, 6_000, 4_000)),
        (("a-2", "a-3"), (), (0, 1_000, 4_000)),
        (ALL, ("a-1",), (0, 1_000, 0)),
        (ALL, ("a-3",), (0, 6_000, 0)),
        (ALL, ("a-2",), (3_000, 9_000, 0)),
    ],
)
def test_figures_of_test_snapshot_add_remove_workload_with_lending_limit(removed, added, figures):
    tree = Tree.build(LEND)
    for name in ALL:
        tree.add_usage(LEND_WORKLOADS[name][0], {DEFAULT: LEND_WORKLOADS[name][1]})
    for name in removed:
        tree.remove_usage(LEND_WORKLOADS[name][0], {DEFAULT: LEND_WORKLOADS[name][1]})
    for name in added:
        tree.add_usage(LEND_WORKLOADS[name][0], {DEFAULT: LEND_WORKLOADS[name][1]})
    nodes = (tree.cohort("lend"), tree.cluster_queue("lend-a"), tree.cluster_queue("lend-b"))
    assert tuple(usage(node, DEFAULT) for node in nodes) == figures
    assert subtree_quota(nodes[0], DEFAULT) == 10_000


def test_figures_of_test_snapshot_with_lending_limit_and_two_flavors():
    spec = cpu(arm=("10", "", "5"), x86=("20", "", "10"))
    tree = Tree.build(
        [
            queue("a", "lending", spec, {ARM: 15_000, X86: 10_000}),
            queue("b", "lending", spec),
        ]
    )
    lending = tree.cohort("lending")
    assert {p: usage(lending, p) for p in (ARM, X86)} == {ARM: 10_000, X86: 0}
    assert {p: subtree_quota(lending, p) for p in (ARM, X86)} == {ARM: 10_000, X86: 20_000}


def test_figures_of_test_snapshot_where_the_cohort_provides_resources():
    mips = pair("mips")
    tree = Tree.build(
        [queue("cq", "cohort", cpu(arm=("7", "", "3"), x86="5"))],
        [cohort("cohort", None, cpu(arm="10", x86="20", mips="42"))],
    )
    top = tree.cohort("cohort")
    assert [subtree_quota(top, p) for p in (ARM, X86, mips)] == [13_000, 25_000, 42_000]


def test_figures_of_test_cohort_lendable():
    both = {("default", CPU): ("8", "", "8"), ("default", GPU): ("3", "", "3")}
    tree = Tree.build([queue("cq1", "c", both), queue("cq2", "c", cpu(default=("2", "", "2")))])
    assert potential_available(tree.cohort("c"), DEFAULT) == 10_000
    assert potential_available(tree.cohort("c"), pair("default", GPU)) == 3


@pytest.mark.parametrize(("in_cohort", "borrows"), [("one", (3_000, 0, 1)), (None, (0, 0, 0))])
def test_figures_of_test_cluster_queue_usage(in_cohort, borrows):
    a, b = pair("model_a", GPU), pair("model_b", GPU)
    spec = {
        ("default", CPU): ("10", "10"),
        ("model_a", GPU): ("5", "5"),
        ("model_b", GPU): ("5",),
    }
    reserved = {DEFAULT: 13_000, a: 5, b: 6}
    node = Tree.build([queue("foo", in_cohort, spec, reserved)]).cluster_queue("foo")
    assert tuple(borrowed(node, p) for p in (DEFAULT, a, b)) == borrows
    assert tuple(excess(node, p) for p in (DEFAULT, a, b)) == (3_000, 0, 1)


def test_figures_of_test_delete_cohort_updates_ancestor_subtree_quota():
    tree = Tree.build(
        [],
        [
            cohort("root", None, cpu(default="10")),
            cohort("mid", "root", cpu(default="5")),
            cohort("leaf", "mid", cpu(default="3")),
        ],
    )
    assert subtree_quota(tree.cohort("mid"), DEFAULT) == 8_000
    assert subtree_quota(tree.cohort("root"), DEFAULT) == 18_000
    tree.remove_cohort("leaf")
    assert subtree_quota(tree.cohort("mid"), DEFAULT) == 5_000
    assert subtree_quota(tree.cohort("root"), DEFAULT) == 15_000


def test_a_deleted_cohort_with_children_stays_as_an_implicit_root():
    tree = Tree.build(
        [queue("cq", "mid", cpu(default="7"))],
        [cohort("root", None, cpu(default="10")), cohort("mid", "root", cpu(default="5"))],
    )
    assert subtree_quota(tree.cohort("root"), DEFAULT) == 22_000
    tree.remove_cohort("mid")
    assert subtree_quota(tree.cohort("root"), DEFAULT) == 10_000
    assert tree.cohort("mid").source is None
    assert tree.cohort("mid") in tree.roots()
    assert available(tree.cluster_queue("cq"), DEFAULT) == 7_000


def test_a_cohort_that_moves_takes_its_quota_along():
    tree = Tree.build(
        [],
        [cohort("root1"), cohort("root2"), cohort("cohort", "root1", cpu(arm="10"))],
    )
    assert subtree_quota(tree.cohort("root1"), ARM) == 10_000
    tree.put_cohort(cohort("cohort", "root2", cpu(arm="10")))
    assert subtree_quota(tree.cohort("root1"), ARM) == 0
    assert subtree_quota(tree.cohort("root2"), ARM) == 10_000


def test_a_queue_that_joins_a_cycle_leaves_its_old_cohort():
    tree = Tree.build(
        [queue("cq", "cohort", cpu(arm="5"))],
        [cohort("cycle", "cycle"), cohort("cohort", None, cpu(arm="10"))],
    )
    assert subtree_quota(tree.cohort("cohort"), ARM) == 15_000
    tree.put_cluster_queue(queue("cq", "cycle", cpu(arm="5")))
    assert subtree_quota(tree.cohort("cohort"), ARM) == 10_000
    assert tree.cyclic("cq")


def test_a_parent_cycle_deactivates_everything_in_and_under_it():
    tree = Tree.build(
        [queue("in", "a", cpu(red="5")), queue("under", "d", cpu(red="5")), queue("out", "e", {})],
        [cohort("a", "b"), cohort("b", "c"), cohort("c", "a"), cohort("d", "c")],
    )
    assert [tree.cyclic(name) for name in ("in", "under", "a", "b", "c", "d")] == [True] * 6
    assert not tree.cyclic("out")
    under = tree.cluster_queue("under")
    assert (available(under, RED), potential_available(under, RED)) == (0, 0)
    assert tree.availability()["under"] == tree.potentials()["under"] == {RED: 0}
    assert {node.name for node in tree.roots()} == {"e"}
    assert {node.name for node in tree.cohort("a").cluster_queues()} == {"in", "under"}
    tree.remove_cohort("c")
    assert not tree.cyclic("under")
    assert available(tree.cluster_queue("under"), RED) == 10_000


@pytest.fixture
def org() -> Tree:
    gpus = pair("h100", GPU)

    def spec(*texts: str) -> dict[tuple[str, str], tuple[str, ...]]:
        return {("h100", GPU): texts}

    return Tree.build(
        [
            queue("vision", "research", spec("16", "8", "4"), {gpus: 14}),
            queue("nlp", "research", spec("16"), {gpus: 30}),
            queue("prod", "org", spec("24", "", "12"), {gpus: 10}),
        ],
        [cohort("research", "org", spec("8", "16", "24"), weight="2"), cohort("org")],
    )


@pytest.mark.parametrize(
    ("name", "figures"),
    [
        ("org", (0, 36, 28, 8, 36, 0, 0)),
        ("research", (4, 28, 32, 8, 40, 4, 56)),
        ("vision", (12, 16, 14, 8, 24, 0, 0)),
        ("nlp", (0, 16, 30, 8, 40, 14, 350)),
        ("prod", (12, 24, 10, 10, 48, 0, 0)),
    ],
)
def test_the_worked_example_that_the_real_controller_confirmed(org: Tree, name: str, figures):
    gpus = pair("h100", GPU)
    node = org.cohort(name) if name in ("org", "research") else org.cluster_queue(name)
    names = (local_quota, subtree_quota, usage, available, potential_available, borrowed)
    assert (*(figure(node, gpus) for figure in names), weighted_share(node)) == figures


def test_what_can_still_be_borrowed_in_the_worked_example(org: Tree):
    gpus = pair("h100", GPU)
    can = {node.name: can_borrow(node, gpus) for node in org.cluster_queues()}
    assert can == {"vision": 6, "nlp": 8, "prod": 0}
    assert local_available(org.cluster_queue("prod"), gpus) == 2


def test_the_world_of_the_answers():
    tree = Tree.of(a_fleet())
    can = {node.name: can_reserve(node, H100) for node in tree.cluster_queues()}
    assert can == {"research": 4, "vision": 12, "serving": 12}
    research = tree.cluster_queue("research")
    assert (borrowed(research, H100), potential_available(research, H100)) == (12, 48)
    assert available(tree.cohort("ml"), H100) == 12
    assert subtree_quota(tree.cohort("ml"), H100) == 72
    assert usage(tree.cohort("ml"), H100) == 60
    assert can_reserve(research, A100) == 24


def test_an_over_committed_tree_has_negative_available_and_nothing_to_reserve():
    tree = Tree.build([queue("q", "c", cpu(red="4"), {RED: 9_000})])
    node = tree.cluster_queue("q")
    assert (available(node, RED), can_reserve(node, RED)) == (-5_000, 0)


def test_effective_quota_replaces_the_spec():
    spec = queue("q", None, cpu(red="4"))
    measured = replace(
        spec, effective_resource_groups=queue("q", None, cpu(red="6")).resource_groups
    )
    assert available(Tree.build([measured]).cluster_queue("q"), RED) == 6_000


def test_a_stopped_queue_still_lends_its_nominal():
    stopped = replace(queue("a", "c", cpu(red="4")), stop_policy="HoldAndDrain")
    tree = Tree.build([stopped, queue("b", "c", cpu(red="0"))])
    assert can_reserve(tree.cluster_queue("b"), RED) == 4_000


def test_usage_on_a_pair_that_the_queue_no_longer_lists_still_counts_in_the_cohort():
    tree = Tree.build(
        [queue("a", "c", cpu(blue="1")), queue("b", "c", cpu(red="10"))],
        stray={"a": {RED: 3_000}},
    )
    assert available(tree.cluster_queue("b"), RED) == 7_000
    assert tree.availability()["a"] == {BLUE: 1_000}


def test_an_unlimited_quota_stays_unlimited_all_the_way_up():
    tree = Tree.build(
        [queue("a", "c", cpu(red="10E")), queue("b", "c", cpu(red="1"), {RED: 5_000})],
        [cohort("c", "root")],
    )
    b = tree.cluster_queue("b")
    assert subtree_quota(tree.cohort("root"), RED) == UNLIMITED
    assert available(b, RED) == potential_available(b, RED) == UNLIMITED
    assert tree.availability()["b"][RED] == tree.potentials()["b"][RED] == UNLIMITED


def test_unlimited_lent_entirely_leaves_no_local_quota():
    tree = Tree.build([queue("a", "c", cpu(red=("10E", "", "10E")))])
    assert local_quota(tree.cluster_queue("a"), RED) == 0
    assert available(tree.cluster_queue("a"), RED) == UNLIMITED


def test_a_copy_and_its_source_don_t_see_each_other_s_changes():
    tree = Tree.build([queue("a", "c", cpu(red="4")), queue("b", "c", cpu(red="4"))])
    twin = tree.copy()
    twin.add_usage("a", {RED: 3_000})
    tree.add_usage("b", {RED: 1_000})
    again = twin.copy()
    again.put_cluster_queue(queue("a", "c", cpu(red="1", blue="2")))
    shown = [available(t.cluster_queue("a"), RED) for t in (tree, twin, again)]
    assert shown == [7_000, 5_000, 5_000]
    assert twin.column(BLUE) is None


def test_an_unknown_name_is_answered_with_the_nearest():
    tree = Tree.build([queue("research", "ml", {})])
    with pytest.raises(UnknownName) as raised:
        tree.cluster_queue("reserch")
    assert raised.value.nearest == ("research",)
    with pytest.raises(UnknownName):
        tree.cohort("research")


def test_nodes_know_their_place(org: Tree):
    vision = org.cluster_queue("vision")
    research = vision.parent
    assert research is not None
    assert (research.name, research.kind, research.parent) == (
        "research",
        "Cohort",
        org.cohort("org"),
    )
    assert [child.name for child in research.children] == ["vision", "nlp"]
    assert vision.root == org.cohort("org")
    assert [node.name for node in org.cohort("org").cluster_queues()] == ["vision", "nlp", "prod"]
    assert isinstance(vision, Node)
    assert {node.name for node in org.cohorts()} == {"org", "research"}
    assert org.pairs == (pair("h100", GPU),)
