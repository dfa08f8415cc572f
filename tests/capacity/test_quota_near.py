"""A tree around some queues has the figures of the whole forest."""

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from capacity.model import Fleet, quotas
from capacity.quota import Tree, available, borrowed, potential_available
from capacity.quota_near import tree_around
from capacity.share import weighted_share
from tests.builders import a_cluster_queue, a_fleet
from tests.conformance.forest import random_tree


def forest(seed: int) -> Fleet:
    """Two random trees, which overlap only in their flavors."""
    trees = [random_tree(seed + n, f"t{n}-", 8) for n in range(2)]
    queues = [
        replace(q, reserved=dict.fromkeys(list(quotas(q))[:2], 3)) for t in trees for q in t.queues
    ]
    cohorts = {c.name: c for t in trees for c in t.cohorts}
    return replace(a_fleet(queues=queues), cohorts=cohorts)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**48))
def test_figures_around_a_queue_are_those_of_the_whole_forest(seed: int) -> None:
    fleet = forest(seed)
    whole = Tree.of(fleet)
    for name in fleet.cluster_queues:
        near, node = tree_around(fleet, [name]), whole.cluster_queue(name)
        twin = near.cluster_queue(name)
        assert twin.cyclic == node.cyclic
        assert weighted_share(twin) == weighted_share(node)
        for pair in node.quotas:
            for figure in (available, potential_available, borrowed):
                assert figure(twin, pair) == figure(node, pair)


def test_other_trees_are_left_out() -> None:
    fleet = a_fleet(queues=[a_cluster_queue("a", {}, cohort="x"), a_cluster_queue("b", {})])
    assert [q.name for q in tree_around(fleet, ["a"]).cluster_queues()] == ["a"]
    assert [q.name for q in tree_around(fleet, ["b"]).cluster_queues()] == ["b"]
    assert list(tree_around(fleet, ["nobody"]).cluster_queues()) == []
