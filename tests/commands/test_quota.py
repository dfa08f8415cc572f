"""The figures and the sentences of /gpu-quota beyond the golden pages.

Not tested here: that the arithmetic equals the controller's (tests/capacity does).
"""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from capacity.errors import UsageError
from capacity.model import Cohort, Preemption
from capacity.quota import Tree, available, can_reserve
from commands.parse import parse
from commands.quota_figures import (
    borrowed_in_tree,
    figures,
    free_in_tree,
    nominal_in_tree,
    stop,
)
from commands.quota_say import lending, preemption
from commands.table import run
from gitops.people import People, Team
from tests.builders import ANA, H100, FakeWorld, a_cluster_queue, a_fleet, the_queues
from tests.commands.stories import tree_world


def ask(text: str, world: FakeWorld | None = None):
    return run(parse(text, ANA), world or FakeWorld())[0]


@pytest.mark.parametrize(
    ("queue", "can_start", "borrowed", "most", "lent"),
    [
        ("research", 4, 12, 48, (0, 0)),
        ("vision", 12, 0, 80, (2, 12)),
        ("serving", 12, 0, 88, (0, 10)),
    ],
)
def test_the_figures_of_the_examples(queue, can_start, borrowed, most, lent):
    found = ask(f"quota {queue}").queues[0].pairs[0]
    assert (found.can_reserve, found.borrowed, found.most_ever) == (can_start, borrowed, most)
    assert (found.lent.least, found.lent.most) == lent


def test_the_worked_example_of_hierarchical_cohorts():
    tree = Tree.of(tree_world().the_fleet)
    assert {q.name: can_reserve(q, H100) for q in tree.cluster_queues()} == {
        "vision": 8,
        "nlp": 8,
        "prod": 10,
    }
    assert free_in_tree(tree.cohort("org"), H100) == 10
    assert nominal_in_tree(tree.cohort("org"), H100) == 64


def test_a_parents_borrowing_limit_is_named_as_what_stops():
    tree = Tree.build(
        [
            a_cluster_queue("a", {H100: (4,)}, cohort="team"),
            a_cluster_queue("b", {H100: (40,)}, cohort="org"),
        ],
        [
            Cohort("org"),
            Cohort(
                "team", "org", resource_groups=a_cluster_queue("x", {H100: (0, 2)}).resource_groups
            ),
        ],
    )
    found = stop(tree.cluster_queue("a"), H100)
    assert (found.kind, found.node, found.limit) == ("borrowing limit", "team", 2)


def test_no_preemption_is_threatened_when_every_policy_is_never():
    queues = [replace(q, preemption=Preemption()) for q in the_queues()]
    found = ask("quota research", FakeWorld(a_fleet(queues=queues))).queues[0]
    assert "Nobody may take" in preemption(found)[0]


def test_lending_says_that_kueue_keeps_no_record():
    said = lending(ask("quota vision").queues[0])[0]
    assert "At least 2 and at most 12" in said
    assert "doesn't record" in said


def test_a_team_of_several_queues_gets_a_table_and_a_button_for_each():
    people = People(teams={"research": Team("research", ("ana",), (), ("vision", "serving"))})
    fleet = a_fleet(queues=the_queues()[1:])
    answer, page = run(parse("quota", ANA), FakeWorld(fleet, people))
    assert [q.queue for q in answer.queues] == ["vision", "serving"]
    assert "don't add up" in str(page.headline)
    assert [a.value for a in page.actions] == ["quota vision", "quota serving"]


def test_a_team_whose_queues_are_not_in_the_cluster_is_told_so():
    people = People(teams={"research": Team("research", ("ana",), (), ("gone",))})
    with pytest.raises(UsageError) as caught:
        ask("quota", FakeWorld(a_fleet(queues=the_queues()[1:]), people))
    assert "no queue in prod-eu" in caught.value.sentence


def test_a_page_that_does_not_exist_is_refused():
    for text in ("quota ml 2", "quota ml x", "quota ml 0"):
        with pytest.raises(UsageError):
            ask(text)


def test_a_local_queue_and_a_namespace_lead_to_their_cluster_queue():
    fleet = a_fleet()
    local = {
        ("ns-a", "gpus"): replace(
            fleet.local_queues["vision", "vision"], namespace="ns-a", name="gpus"
        )
    }
    world = FakeWorld(replace(fleet, local_queues=local))
    assert ask("quota gpus", world).queues[0].queue == "vision"
    assert ask("quota ns-a", world).queues[0].queue == "vision"


limits = st.none() | st.integers(0, 20)
queues = st.lists(
    st.tuples(st.integers(0, 20), limits, limits, st.integers(0, 40)), min_size=1, max_size=5
)


@settings(max_examples=200, deadline=None)
@given(queues, st.booleans())
def test_figures_agree_with_each_other_in_any_tree(shapes, nested):
    cohorts = [Cohort("sub", "ml")] if nested else []
    made = [
        a_cluster_queue(
            f"q{i}",
            {H100: (nominal, borrowing, lending_limit)},
            cohort="sub" if nested and i % 2 else "ml",
            reserved={H100: reserved},
        )
        for i, (nominal, borrowing, lending_limit, reserved) in enumerate(shapes)
    ]
    tree = Tree.build(made, cohorts)
    for queue in made:
        node = tree.cluster_queue(queue.name)
        f = figures(node, queue, H100, borrowed_in_tree(node.root, H100))
        assert f.can_reserve == max(0, available(node, H100))
        assert f.borrowed == max(0, f.reserved - f.nominal)
        assert 0 <= f.lent.least <= f.lent.most
        assert f.lent.least <= max(0, f.nominal - f.reserved)
        if f.stop.kind == "borrowing limit" and f.stop.node == queue.name:
            assert f.reserved + f.can_reserve <= max(f.reserved, f.nominal + f.stop.limit)
    root = tree.cohort("ml")
    reserved = sum(queue.reserved[H100] for queue in made)
    assert free_in_tree(root, H100) == nominal_in_tree(root, H100) - reserved
