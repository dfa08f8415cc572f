"""Kueue's own figures of quota, cohorts, shares and what queues report (docs/kueue-tables.md)."""

import json
import operator
from collections import Counter
from datetime import UTC, datetime

from capacity import decode
from capacity.amount import add, subtract
from capacity.assign import assign
from capacity.demand import reserved_by
from capacity.fit_mode import Board, Mode
from capacity.kueue_workloads import WorkloadStore
from capacity.model import Admission, ClusterQueue, Condition, FlavorResource, LocalQueue, Workload
from capacity.quantity import to_amount
from capacity.quota import (
    Node,
    Tree,
    borrowed,
    can_reserve,
    potential_available,
    subtree_quota,
    usage,
)
from capacity.share import Share, dominant_resource_share
from tests.capacity.kueue_objects import T0, named
from tests.capacity.kueue_tables import amounts as amount_tables
from tests.capacity.kueue_tables import available, cohorts, each, shares, snapshots, statuses
from tests.capacity.kueue_tables.notation import GPU, amounts, pair, pod_set, queue

AT = datetime(2026, 12, 1, 14, tzinfo=UTC)
DEFAULT = pair("default/cpu")


def figures(tree: Tree, figure) -> dict[str, dict[FlavorResource, int]]:
    """Return a figure of every ClusterQueue on the pairs that it lists."""
    return {n.name: {p: figure(n, p) for p in n.quotas} for n in tree.cluster_queues()}


def nodes(tree: Tree) -> dict[str, Node]:
    return {node.name: node for node in (*tree.cohorts(), *tree.cluster_queues())}


@each(available.CASES)
def test_what_queues_can_take_now_and_ever(case: available.Case):
    tree = Tree.build(case.queues, case.cohorts)
    assert figures(tree, can_reserve) == figures(tree, potential_available) == case.potential
    for name, used in case.usage.items():
        tree.add_usage(name, used)
    assert figures(tree, can_reserve) == case.available
    assert figures(tree, potential_available) == case.potential == tree.potentials()
    for name, used in case.usage.items():
        tree.remove_usage(name, used)
    assert figures(tree, can_reserve) == case.potential


@each(shares.CASES)
def test_the_dominant_resource_share_of_every_node(case: shares.Case):
    tree = Tree.build(case.queues, case.cohorts)
    tree.add_usage("cq", amounts(case.used))
    found = {
        n: dominant_resource_share(node, amounts(case.request)) for n, node in nodes(tree).items()
    }
    assert {n: (s.weighted, s.resource) for n, s in found.items() if s.ratio} == case.want
    assert {n for n, share in found.items() if share.borrowing} == set(case.want)


@each(shares.BORROWED_PAIRS)
def test_whether_it_borrows_of_what_is_requested(case):
    used, request, want = case
    tree = Tree.build(shares.BOTH)
    tree.add_usage("cq", amounts(used))
    share = dominant_resource_share(tree.cluster_queue("cq"))
    assert (share.borrows(amounts(request)), share.borrowing) == want


@each(shares.PRECISE)
def test_the_precise_share(case):
    (ratio, weight), want = case
    assert Share(ratio, weight, None, ()).precise == want


def test_a_cohort_lends_what_its_queues_lend():
    tree = Tree.build(
        [
            queue("cq1", "default: cpu 8//8, gpu 3//3", cohort="c"),
            queue("cq2", "default: cpu 2//2", cohort="c"),
        ]
    )
    top = tree.cohort("c")
    lent = {p.resource: potential_available(top, p) for p in tree.pairs}
    assert lent == {"cpu": 10_000, GPU: 3}


@each(snapshots.SNAPSHOTS)
def test_the_quota_and_usage_of_a_forest(case: snapshots.Snapshot):
    tree = Tree.build(case.queues, case.cohorts)
    found = nodes(tree)
    assert {
        n: {p: subtree_quota(found[n], p) for p in w} for n, w in case.subtree.items()
    } == case.subtree
    assert {n: {p: usage(found[n], p) for p in w} for n, w in case.usage.items()} == case.usage
    in_or_under_a_cycle = sorted(n.name for n in tree.cluster_queues() if n.cyclic)
    assert tuple(in_or_under_a_cycle) == case.cyclic


@each(snapshots.SPECS)
def test_what_of_an_object_counts(case):
    kind, spec, want = case
    read = {
        "ResourceFlavor": decode.resource_flavor,
        "ClusterQueue": decode.cluster_queue,
        "Cohort": decode.cohort,
    }
    found = read[kind](json.dumps(named(kind, "x", spec=spec)).encode())
    assert {name: getattr(found, name) for name in want} == want


def test_queues_of_their_own_hold_their_own_workloads():
    store = WorkloadStore()
    for name, home in (("alpha", "a"), ("beta", "b")):
        reserved = Condition("QuotaReserved", "True", "QuotaReserved", "", AT)
        held = {"admission": Admission(home, ()), "conditions": (reserved,)}
        store.put(Workload(name, "", name, "", AT, (), **held))
    view = store.snapshot({})
    assert {q: [w.name for w in view.reserving(q)] for q in "ab"} == {"a": ["alpha"], "b": ["beta"]}


def test_a_flavor_without_its_object_takes_nothing():
    lacking = queue("q", "nonexistent: cpu 100")
    board = Board(Tree.build([lacking]), lambda _: [], {})
    asked = Workload("u", "", "w", "", AT, (pod_set("main: cpu 1"),))
    assert assign(board, lacking, asked, AT).mode is Mode.NO_FIT


@each(snapshots.ADD_REMOVE)
def test_usage_beyond_what_is_never_lent_counts_in_the_cohort(case: snapshots.Lend):
    tree = Tree.build(snapshots.LENDERS)

    def change(names: str, sign: int) -> None:
        for home, amount in map(snapshots.WORKLOADS.__getitem__, names.split()):
            tree.add_usage(home, {DEFAULT: sign * amount})

    change(snapshots.ALL, +1)
    change(case.removed, -1)
    change(case.added, +1)
    found = nodes(tree)
    assert tuple(usage(found[n], DEFAULT) for n in ("lend", "lend-a", "lend-b")) == case.usage
    assert subtree_quota(found["lend"], DEFAULT) == 10_000


@each(cohorts.DELETED)
def test_a_deleted_cohort_takes_its_quota_out_of_all_above(case: cohorts.Deleted):
    tree = Tree.build(case.queues, case.cohorts)
    assert {n: subtree_quota(tree.cohort(n), DEFAULT) for n in case.before} == case.before
    tree.remove_cohort(case.name)
    assert {n: subtree_quota(tree.cohort(n), DEFAULT) for n in case.after} == case.after


@each(cohorts.CYCLES)
def test_parent_cycles_are_told_and_left_again(case: list[cohorts.Step]):
    tree = Tree.build([])
    arm = pair("arm/cpu")
    for step in case:
        if step.delete:
            tree.remove_cohort(step.delete)
        elif isinstance(step.put, ClusterQueue):
            tree.put_cluster_queue(step.put)
        elif step.put:
            tree.put_cohort(step.put)
        assert tuple(sorted(n for n, node in nodes(tree).items() if node.cyclic)) == step.cyclic
        found = {name: subtree_quota(tree.cohort(name), arm) for name in step.subtree}
        assert found == step.subtree
    assert tree.availability().keys() == tree.potentials().keys()


def workload(name: str, holder: statuses.Holder) -> Workload:
    """Return a workload as the API would give it."""
    held = amounts(holder.holds)
    flavors = {p.resource: p.flavor for p in held}
    texts = {
        word.split("/")[1]: quantity for word, quantity in map(str.split, holder.holds.split(", "))
    }
    resources = {{"gpu": GPU}.get(short, short): text for short, text in texts.items()}
    placed = {"name": "main", "flavors": flavors, "resourceUsage": resources, "count": holder.pods}
    status = {
        "conditions": [
            {"type": kind, "status": "True", "reason": kind, "lastTransitionTime": T0}
            for kind in ("QuotaReserved", *(["Admitted"] if holder.running else []))
        ],
        "admission": {"clusterQueue": "foo", "podSetAssignments": [placed]},
    }
    spec = {
        "queueName": "test",
        "podSets": [{"name": "main", "count": 5, "template": {"spec": {"containers": []}}}],
    }
    made = named("Workload", name, spec=spec, status={} if holder.waiting else status)
    return decode.workload(
        json.dumps(
            made | {"metadata": made["metadata"] | {"namespace": "ns1", "uid": name}}
        ).encode()
    )


def held(workloads) -> dict[FlavorResource, int]:
    total: Counter[FlavorResource] = Counter()
    for each_ in workloads:
        total.update(reserved_by(each_))
    return {p: amount for p, amount in total.items() if amount}


def view_of(case: statuses.Case, *doors: LocalQueue):
    store = WorkloadStore()
    for at, holder in enumerate(case.holders):
        store.put(workload(f"w{at}", holder))
    return store.snapshot({(door.namespace, door.name): door for door in doors})


@each(statuses.CLUSTER_QUEUE)
def test_what_a_cluster_queue_reports(case: statuses.Case):
    reserving = view_of(case).reserving("foo")
    running = [w for w in reserving if w.status == "Admitted"]
    node = Tree.build(
        [queue("foo", *statuses.GROUPS, cohort=case.cohort, used=case.reserved)]
    ).cluster_queue("foo")
    assert held(reserving) == amounts(case.reserved)
    assert held(running) == amounts(case.admitted)
    assert (len(reserving), len(running)) == case.counts
    over = {p: amount for p in node.quotas if (amount := borrowed(node, p))}
    assert over == amounts(case.borrowed)


@each(statuses.LOCAL_QUEUE)
def test_what_a_local_queue_reports(case: statuses.Case):
    view = view_of(case, LocalQueue("ns1", "test", "foo"))
    mine = [w for w in view.reserving("foo") if (w.namespace, w.queue_name) == ("ns1", "test")]
    assert held(mine) == amounts(case.reserved)
    waiting = sum(holder.waiting for holder in case.holders)
    assert len(view.pending("foo")) == waiting


@each(amount_tables.QUANTITIES)
def test_amounts_from_quantities(case):
    resource, text, want = case
    assert to_amount(resource, text) == want


@each(amount_tables.ARITHMETIC)
def test_amounts_saturate(case):
    sign, left, right, want = case
    by_sign = {"+": add, "-": subtract, ">": operator.gt, "=": operator.eq}
    assert by_sign[sign](left, right) == want
