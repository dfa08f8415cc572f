"""Quota in trees: worked examples that ran on Kueue's controller, and what its own cases leave open."""

from dataclasses import replace

import pytest

from capacity.errors import UnknownName
from capacity.model import UNLIMITED
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
