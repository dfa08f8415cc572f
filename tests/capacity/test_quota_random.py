"""Random forests: the definitions of resource_node.go, written out again, must agree."""

from dataclasses import dataclass
from decimal import Decimal

from hypothesis import given, settings
from hypothesis import strategies as st

from capacity.amount import add, subtract
from capacity.model import (
    UNLIMITED,
    ClusterQueue,
    Cohort,
    FlavorQuotas,
    FlavorResource,
    Quota,
    ResourceGroup,
)
from capacity.quota import (
    Tree,
    available,
    local_quota,
    potential_available,
    subtree_quota,
    usage,
)

PAIRS = tuple(FlavorResource(flavor, "gpu") for flavor in ("a", "b", "c"))

sizes = st.one_of(st.just(0), st.integers(0, 20), st.sampled_from([2**48, 2**62, UNLIMITED]))
limits = st.one_of(st.none(), sizes)
quotas = st.builds(Quota, sizes, limits, limits)
small_quotas = st.builds(
    Quota, st.integers(0, 20), st.none() | st.integers(0, 20), st.none() | st.integers(0, 20)
)
amounts = st.dictionaries(st.sampled_from(PAIRS), st.integers(0, 40), max_size=3)


def groups(quota):
    by_pair = st.dictionaries(st.sampled_from(PAIRS), quota, max_size=3)
    return by_pair.map(
        lambda listed: tuple(
            ResourceGroup(("gpu",), (FlavorQuotas(pair.flavor, {"gpu": given_quota}),))
            for pair, given_quota in listed.items()
        )
    )


@st.composite
def forests(draw, quota=quotas):
    names = [f"c{i}" for i in range(draw(st.integers(1, 5)))]
    cohorts = [
        Cohort(
            name,
            draw(st.none() | st.sampled_from([*names[:at], f"implicit{at}"])),
            draw(groups(quota)),
        )
        for at, name in enumerate(names)
        if draw(st.booleans())
    ]
    queues = [
        ClusterQueue(
            f"q{i}",
            draw(st.none() | st.sampled_from(names)),
            draw(groups(quota)),
            reserved=draw(amounts),
            fair_weight=Decimal(1),
        )
        for i in range(draw(st.integers(1, 6)))
    ]
    return queues, cohorts


@dataclass
class Definition:
    """The formulas by recursion over the objects: slow, and independent of the tree's lists."""

    queues: list[ClusterQueue]
    cohorts: list[Cohort]

    def parent(self, node):
        name = node.cohort if isinstance(node, ClusterQueue) else node.parent
        found = [cohort for cohort in self.cohorts if cohort.name == name]
        return (found[0] if found else Cohort(name)) if name else None

    def children(self, node):
        if isinstance(node, ClusterQueue):
            return []
        below = [c for c in self.cohorts if c.parent == node.name]
        missing = {q.cohort for q in self.queues} | {c.parent for c in self.cohorts}
        assert node.name in missing | {c.name for c in self.cohorts}
        return below + [q for q in self.queues if q.cohort == node.name]

    def quota(self, node, pair):
        for group in node.resource_groups:
            for flavor in group.flavors:
                if (flavor.name, "gpu") == pair:
                    return flavor.resources["gpu"]
        return Quota(0)

    def subtree(self, node, pair):
        total = self.quota(node, pair).nominal
        for child in self.children(node):
            total = add(total, subtract(self.subtree(child, pair), self.local(child, pair)))
        return total

    def local(self, node, pair):
        lending = self.quota(node, pair).lending_limit
        return 0 if lending is None else max(0, subtract(self.subtree(node, pair), lending))

    def usage(self, node, pair):
        if isinstance(node, ClusterQueue):
            return node.reserved.get(pair, 0)
        total = 0
        for child in self.children(node):
            total = add(total, max(0, subtract(self.usage(child, pair), self.local(child, pair))))
        return total

    def available(self, node, pair):
        above, used, local = self.parent(node), self.usage(node, pair), self.local(node, pair)
        if above is None:
            return subtract(self.subtree(node, pair), used)
        most = self.available(above, pair)
        limit = self.quota(node, pair).borrowing_limit
        if limit is not None:
            stored = subtract(self.subtree(node, pair), local)
            most = min(most, add(subtract(stored, max(0, subtract(used, local))), limit))
        return add(max(0, subtract(local, used)), most)

    def potential(self, node, pair):
        above = self.parent(node)
        if above is None:
            return self.subtree(node, pair)
        most = add(self.local(node, pair), self.potential(above, pair))
        limit = self.quota(node, pair).borrowing_limit
        return most if limit is None else min(most, add(self.subtree(node, pair), limit))


def figures(tree: Tree):
    nodes = [*tree.cohorts(), *tree.cluster_queues()]
    names = (local_quota, subtree_quota, usage, available, potential_available)
    return {
        (node.kind, node.name, pair): tuple(figure(node, pair) for figure in names)
        for node in nodes
        for pair in PAIRS
    }


@given(forests())
@settings(max_examples=150, deadline=None)
def test_the_tree_agrees_with_the_definitions(forest):
    queues, cohorts = forest
    tree = Tree.build(queues, cohorts)
    by_definition = Definition(queues, cohorts)
    objects = {("ClusterQueue", queue.name): queue for queue in queues}
    for (kind, name, pair), of_tree in figures(tree).items():
        if kind == "Cohort":
            found = [cohort for cohort in cohorts if cohort.name == name]
            objects[kind, name] = found[0] if found else Cohort(name)
        node = objects[kind, name]
        assert of_tree == (
            by_definition.local(node, pair),
            by_definition.subtree(node, pair),
            by_definition.usage(node, pair),
            by_definition.available(node, pair),
            by_definition.potential(node, pair),
        )


@given(forests())
@settings(max_examples=100, deadline=None)
def test_all_at_once_is_the_same_as_one_by_one(forest):
    tree = Tree.build(*forest)
    at_once, most = tree.availability(), tree.potentials()
    for node in tree.cluster_queues():
        assert at_once[node.name] == {pair: available(node, pair) for pair in node.quotas}
        assert most[node.name] == {pair: potential_available(node, pair) for pair in node.quotas}


@st.composite
def changes(draw):
    """A forest, then a list of later states of single objects."""
    queues, cohorts = draw(forests())
    later = []
    for _ in range(draw(st.integers(1, 5))):
        if cohorts and draw(st.booleans()):
            old = draw(st.sampled_from(cohorts))
            later.append(Cohort(old.name, old.parent, draw(groups(quotas))))
        else:
            old = draw(st.sampled_from(queues))
            home = draw(st.sampled_from([old.cohort, old.cohort, "c0", "new", None]))
            later.append(ClusterQueue(old.name, home, draw(groups(quotas)), reserved=draw(amounts)))
    return queues, cohorts, later


@given(changes())
@settings(max_examples=150, deadline=None)
def test_a_tree_changed_step_by_step_equals_one_built_from_the_end_state(case):
    queues, cohorts, later = case
    tree = Tree.build(queues, cohorts)
    before = figures(tree.copy())
    spare = tree.copy()
    state = {("q", q.name): q for q in queues} | {("c", c.name): c for c in cohorts}
    for change in later:
        if isinstance(change, Cohort):
            tree.put_cohort(change)
            state["c", change.name] = change
        else:
            tree.put_cluster_queue(change)
            state["q", change.name] = change
    built = Tree.build(
        [o for (kind, _), o in state.items() if kind == "q"],
        [o for (kind, _), o in state.items() if kind == "c"],
    )
    assert figures(tree) == figures(built)
    assert figures(spare) == before


@given(forests(), st.data())
@settings(max_examples=150, deadline=None)
def test_adding_then_removing_usage_changes_nothing(forest, data):
    queues, cohorts = forest
    tree = Tree.build(queues, cohorts)
    before = figures(tree)
    steps = data.draw(
        st.lists(st.tuples(st.sampled_from([q.name for q in queues]), amounts), max_size=5)
    )
    for name, held in steps:
        tree.add_usage(name, held)
    for name, held in data.draw(st.permutations(steps)):
        tree.remove_usage(name, held)
    assert figures(tree) == before


@given(forests(small_quotas), st.data())
@settings(max_examples=150, deadline=None)
def test_reserving_all_that_is_available_leaves_nothing_and_over_commits_nobody(forest, data):
    queues, cohorts = forest
    empty = [ClusterQueue(q.name, q.cohort, q.resource_groups) for q in queues]
    tree = Tree.build(empty, cohorts)
    name = data.draw(st.sampled_from([q.name for q in queues]))
    pair = data.draw(st.sampled_from(PAIRS))
    free = available(tree.cluster_queue(name), pair)
    assert free == potential_available(tree.cluster_queue(name), pair)
    tree.add_usage(name, {pair: free})
    assert available(tree.cluster_queue(name), pair) == 0
    for node in (*tree.cohorts(), *tree.cluster_queues()):
        assert available(node, pair) >= 0
