"""Kueue's own cases of which flavor a workload gets, and what it says (docs/kueue-tables.md)."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from capacity.amount import add, subtract
from capacity.assign import Assignment, assign
from capacity.causes import Kind
from capacity.demand import PODS, group_of, pod_set_demand, selects
from capacity.fit_mode import Board, Mode, Way, preference, way_of
from capacity.messages import parse_message, parse_refusal
from capacity.model import (
    Admission,
    ClusterQueue,
    FlavorResource,
    PodSet,
    PodSetAssignment,
    Preemption,
    ResourceFlavor,
    Workload,
)
from capacity.preempt_candidates import Asker
from capacity.quota import Tree, can_reserve, potential_available
from tests.capacity.kueue_tables import assign_preference, assign_rules, assign_search, each
from tests.capacity.kueue_tables.assign_notation import (
    FIT,
    FLAVORS,
    NO_FIT,
    PREEMPT,
    Case,
    Try,
    message,
    read,
)
from tests.capacity.kueue_tables.notation import amounts, cohort, pair, pod_set, queue
from tests.capacity.kueue_tables.orders import T0

WORDS = {Mode.FIT: FIT, Mode.NO_FIT: NO_FIT}


def oracle(told: Mapping[str, tuple[Mode, int]]):
    """Return what preemption would do, as told by pair; otherwise PREEMPT without borrowing."""
    by_pair = {pair(text): Way(*way) for text, way in told.items()}
    return lambda board, asker, wanted, amount: by_pair.get(wanted, Way(Mode.PREEMPT))


@dataclass(frozen=True)
class World:
    """A case as values: the queue on its board, and the workload that asks."""

    case: Case
    queue: ClusterQueue
    board: Board
    workload: Workload

    @classmethod
    def of(cls, case: Case) -> "World":
        mine = queue(
            "q",
            *case.groups,
            cohort=case.home,
            used=case.used,
            flavor_fungibility=case.rules,
            preemption=case.preemption,
        )
        lender = queue("lender", *case.lender, cohort=case.home, used=case.lent)
        old = Workload("old", "ns", "old", "", T0, (), admission=held(case.old))
        board = Board(
            Tree.build([mine, lender]),
            lambda name: [old] if case.old and name == "q" else [],
            FLAVORS,
            fair_sharing=case.fair,
            oracle=oracle(case.oracle),
        )
        asked = Workload("in", "ns", "in", "", T0, case.pods, reclaimable=case.reclaimable)
        return cls(case, mine, board, replace(asked, replaces="ns/old" if case.old else ""))

    def demand(self, pods: PodSet) -> dict[str, int]:
        """Return what a pod set asks for beyond what the job holds already."""
        asked = pod_set_demand(self.workload, pods)
        if group_of(self.queue, PODS) is None:
            del asked[PODS]
        old = {p.resource: amount for p, amount in amounts(self.case.old).items()}
        return {name: amount - old.get(name, 0) for name, amount in asked.items()}


def held(text: str) -> Admission:
    taken = amounts(text)
    flavors = {p.resource: p.flavor for p in taken}
    usage = {p.resource: amount for p, amount in taken.items()}
    return Admission("q", (PodSetAssignment("main", 1, flavors, usage),))


def given(case: Case) -> dict[str, dict[str, str]]:
    """Return the expected flavors by pod set and resource; a star means by preemption."""
    return {
        name: {pair(f"f/{word.split()[0]}").resource: word.split()[1] for word in text.split(", ")}
        for name, text in case.gives.items()
    }


@each(assign_search.CASES)
def test_the_flavors_that_a_search_finds(case: Case):
    check(case)


@each(assign_rules.CASES)
def test_the_flavors_that_the_rules_choose(case: Case):
    check(case)


def check(case: Case) -> None:
    world = World.of(case)
    found = assign(world.board, world.queue, world.workload, T0)
    want = given(case)
    assert WORDS.get(found.mode, PREEMPT) == case.want
    assert by_pod_set(found) == {
        name: {r: flavor.rstrip("*") for r, flavor in flavors.items()}
        for name, flavors in want.items()
    }
    assert found.usage == amounts(case.usage)
    assert found.distance == case.borrows
    check_messages(world)
    for pods, tried, assumed in groups(world):
        for one in tried:
            check_try(world, pods, one, assumed)
        check_stars(world, pods, want, assumed)


def by_pod_set(found: Assignment) -> dict[str, dict[str, str]]:
    return {name: dict(flavors) for name, flavors in found.flavors.items()}


def check_messages(world: World) -> None:
    """Kueue's words for this are understood, and their kind is what Kueue calls the reason."""
    case = world.case
    parts = [message(name, tuple(map(read, tries))) for name, tries in case.tries.items()]
    stuck = [p for p, name in zip(parts, case.tries, strict=True) if name not in case.gives]
    if case.kind is not None:
        assert parse_message("; ".join(stuck), world.queue).kind is case.kind
    refusals = [r for part in parts for r in parse_message(part, world.queue).refusals if r.text]
    assert Kind.UNKNOWN not in {refusal.kind for refusal in refusals}


Group = tuple[tuple[PodSet, ...], tuple[Try, ...], dict[FlavorResource, int]]


def groups(world: World) -> Iterator[Group]:
    """Yield pod sets that are placed together, their tries, and what those before them take."""
    assumed: dict[FlavorResource, int] = {}
    pods = world.workload.pod_sets
    together = [pods] if pods[0].group else [(one,) for one in pods]
    want = given(world.case)
    for group in together:
        tried = dict.fromkeys(t for one in group for t in world.case.tries.get(one.name, ()))
        yield group, tuple(map(read, tried)), dict(assumed)
        for one in group:
            for resource, flavor in want.get(one.name, {}).items():
                at = FlavorResource(flavor.rstrip("*"), resource)
                assumed[at] = assumed.get(at, 0) + world.demand(one).get(resource, 0)


def asked_by(world: World, pods: tuple[PodSet, ...]) -> dict[str, int]:
    total: dict[str, int] = {}
    for one in pods:
        for resource, amount in world.demand(one).items():
            total[resource] = total.get(resource, 0) + amount
    return total


def check_try(
    world: World, pods: tuple[PodSet, ...], one: Try, assumed: Mapping[FlavorResource, int]
) -> None:
    """One flavor's answer is ours: whether pods may go there, how it could be had, the figures."""
    known = world.board.flavors.get(one.flavor)
    allowed = known is not None and all(selects(p, known) for p in pods)
    if not one.modes:
        slices = any("original workload" in reason for reason in one.reasons)
        assert allowed is slices
        return
    assert allowed
    ways, refusals = answers(world, one.flavor, asked_by(world, pods), assumed)
    rules = world.queue.flavor_fungibility
    worst = min(ways, key=lambda way: preference(way, rules))
    assert worst.mode in one.modes
    assert max(way.distance for way in ways) == one.distance
    told = [parse_refusal(reason) for reason in one.reasons]
    assert {r.resource: (r.needed, r.considered, r.requested, r.capacity) for r in told} == refusals


def answers(
    world: World, flavor: str, asked: Mapping[str, int], assumed: Mapping[FlavorResource, int]
):
    """Return the ways to what is asked of a flavor, and the figures of what it refuses.

    A resource that can't be had at all ends it, as Kueue's own search does.
    """
    ways, refusals = [], {}
    tree, asker = world.board.tree, Asker(world.queue, {}, 0, T0, T0)
    node = tree.cluster_queue("q")
    group = next(g for g in world.queue.resource_groups if flavor in {f.name for f in g.flavors})
    for resource, amount in asked.items():
        if resource not in group.covered_resources:
            continue
        at = FlavorResource(flavor, resource)
        before = assumed.get(at, 0)
        total, most = add(before, amount), potential_available(node, at)
        ways.append(way_of(world.board, asker, at, total))
        if total > most:
            refusals[resource] = (None, before, amount, most)
        elif (short := subtract(total, can_reserve(node, at))) > 0:
            refusals[resource] = (short, None, None, None)
        if ways[-1].mode is Mode.NO_FIT:
            break
    return ways, refusals


def check_stars(
    world: World,
    pods: tuple[PodSet, ...],
    want: Mapping[str, Mapping[str, str]],
    assumed: Mapping[FlavorResource, int],
) -> None:
    """What is had by preemption, resource by resource."""
    asked, asker = asked_by(world, pods), Asker(world.queue, {}, 0, T0, T0)
    for one in pods:
        for resource, flavor in want.get(one.name, {}).items():
            at = FlavorResource(flavor.rstrip("*"), resource)
            way = way_of(world.board, asker, at, add(assumed.get(at, 0), asked[resource]))
            assert (way.mode is not Mode.FIT) is flavor.endswith("*")


COHORTS = [
    cohort("three", "three: cpu 4"),
    cohort("two", "two: cpu 4", parent="three"),
    cohort("one", "one: cpu 4", parent="two"),
]


@each(assign_rules.HIERARCHY)
def test_the_flavor_of_a_queue_under_several_cohorts(case):
    group, used, by_other, rules, told, flavor = case
    mine = queue(
        "q",
        group,
        cohort="one",
        used=used,
        flavor_fungibility=rules,
        preemption=Preemption("LowerPriority", "LowerPriority"),
    )
    other = queue("other", "one: cpu 0 | two: cpu 0 | three: cpu 0", cohort="two", used=by_other)
    board = Board(
        Tree.build([mine, other], COHORTS),
        lambda _: [],
        {name: ResourceFlavor(name) for name in ("one", "two", "three")},
        oracle=oracle(told),
    )
    asked = Workload("in", "", "in", "", T0, (pod_set("main: cpu 4"),))
    found = assign(board, mine, asked, T0)
    assert (found.mode, by_pod_set(found)) == (Mode.FIT, {"main": {"cpu": flavor}})


@each(assign_preference.PREFERRED)
def test_the_better_of_two_ways(case):
    one, other, rules, preferred = case
    assert (preference(one, rules) > preference(other, rules)) is preferred


@each(assign_preference.BEFORE)
def test_reclaiming_goes_before_preemption_by_priority(case: assign_preference.Case):
    def three(amount: int) -> str:
        flavors = ("uno", "due", "tre")
        return " | ".join(f"{name}: compute {amount}, gpu {amount}" for name in flavors)

    mine = queue(
        "q",
        three(10),
        cohort="c",
        used=case.used,
        flavor_fungibility=case.rules,
        preemption=Preemption("LowerPriority", "LowerPriority"),
    )
    board = Board(
        Tree.build([mine, queue("other", three(0), cohort="c", used=case.by_other)]),
        lambda _: [],
        {name: ResourceFlavor(name) for name in ("uno", "due", "tre")},
        oracle=oracle(case.oracle),
    )
    asked = Workload("in", "", "in", "", T0, (pod_set(f"main: {case.asked}"),))
    found = assign(board, mine, asked, T0)
    assert WORDS.get(found.mode, PREEMPT) == case.want
    assert set(found.flavors["main"].values()) == {case.flavor}
