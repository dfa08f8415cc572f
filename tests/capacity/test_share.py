"""Dominant resource shares: figures of Kueue v0.19's TestDominantResourceShare and its neighbours."""

import math
from dataclasses import dataclass, field

import pytest

from capacity.model import UNLIMITED
from capacity.quota import Tree
from capacity.share import Share, dominant_resource_share
from tests.capacity.trees import CPU, GPU, Spec, cohort, cpu, pair, queue

DEFAULT_CPU, DEFAULT_GPU = pair("default"), pair("default", GPU)


def both(cpus: str, gpus: str, lending: str = "") -> dict[tuple[str, str], tuple[str, ...]]:
    return {("default", CPU): (cpus,), ("default", GPU): (gpus, "", lending)}


def gpu(*texts: str) -> dict[tuple[str, str], tuple[str, ...]]:
    return {("default", GPU): texts}


@dataclass
class Case:
    spec: Spec
    usage: dict
    want: tuple[int, str | None]
    lender: Spec | None = None
    weight: str = "1"
    lender_weight: str = "1"
    request: dict = field(default_factory=dict)


CASES = {
    "usage below nominal": Case(
        both("2", "5"), {DEFAULT_CPU: 1_000, DEFAULT_GPU: 2}, (0, None), both("8", "5")
    ),
    "usage above nominal": Case(
        both("2", "5"), {DEFAULT_CPU: 3_000, DEFAULT_GPU: 7}, (200, GPU), both("8", "5")
    ),
    "slightly above nominal with large quotas": Case(
        gpu("500"), {DEFAULT_GPU: 501}, (1, GPU), gpu("1000"), lender_weight="300"
    ),
    "way above nominal with large quotas and weights": Case(
        gpu("500"), {DEFAULT_GPU: 800}, (1, GPU), gpu("1000"), weight="300", lender_weight="300"
    ),
    "one resource above nominal": Case(
        both("2", "5"), {DEFAULT_CPU: 3_000, DEFAULT_GPU: 3}, (100, CPU), both("8", "5")
    ),
    "usage with a workload above nominal": Case(
        both("2", "5"),
        {DEFAULT_CPU: 1_000, DEFAULT_GPU: 2},
        (300, CPU),
        both("8", "5"),
        request={DEFAULT_CPU: 4_000, DEFAULT_GPU: 4},
    ),
    "a resource with nothing lendable": Case(
        both("2", "2", "0"),
        {DEFAULT_CPU: 1_000, DEFAULT_GPU: 1},
        (300, CPU),
        both("8", "64", "0"),
        request={DEFAULT_CPU: 4_000, DEFAULT_GPU: 4},
    ),
    "several flavors": Case(
        cpu(**{"on-demand": "20", "spot": "80"}),
        {pair("on-demand"): 15_000, pair("spot"): 5_000},
        (25, CPU),
        cpu(default="100"),
        request={pair("on-demand"): 10_000},
    ),
    "integer weight": Case(gpu("5"), {DEFAULT_GPU: 7}, (100, GPU), gpu("5"), weight="2"),
    "decimal weight": Case(gpu("5"), {DEFAULT_GPU: 7}, (400, GPU), gpu("5"), weight="0.5"),
    "zero weight": Case(gpu("5"), {DEFAULT_GPU: 7}, (UNLIMITED, GPU), gpu("10"), weight="0"),
    "against unlimited lendable capacity": Case(
        cpu(default="0"), {DEFAULT_CPU: 1_000}, (1, CPU), cpu(default="1E")
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_figures_of_test_dominant_resource_share(name: str):
    case = CASES[name]
    queues = [queue("cq", "c", case.spec, case.usage, case.weight)]
    if case.lender is not None:
        queues.append(queue("lender", "c", case.lender, weight=case.lender_weight))
    tree = Tree.build(queues)
    share = dominant_resource_share(tree.cluster_queue("cq"), case.request)
    assert (share.weighted, share.resource) == case.want
    assert share.borrowing is (case.want[0] > 0)
    others = (tree.cluster_queue("lender"), tree.cohort("c"))
    assert [dominant_resource_share(node).weighted for node in others] == [0, 0]


def test_a_queue_without_cohort_has_no_share():
    tree = Tree.build([queue("cq", None, both("1", "5"), {DEFAULT_CPU: 9_000})])
    share = dominant_resource_share(tree.cluster_queue("cq"))
    assert (share.weighted, share.borrowing) == (0, False)


def shares(tree: Tree) -> dict[str, tuple[int, str | None]]:
    nodes = [*tree.cohorts(), *tree.cluster_queues()]
    found = {node.name: dominant_resource_share(node) for node in nodes}
    return {name: (share.weighted, share.resource) for name, share in found.items()}


def test_a_cohort_has_a_share_of_its_parent():
    tree = Tree.build(
        [queue("cq", "child", gpu("5"), {DEFAULT_GPU: 10})],
        [cohort("child", "root", weight="2"), cohort("root", None, gpu("45"))],
    )
    assert shares(tree) == {"root": (0, None), "child": (50, GPU), "cq": (100, GPU)}


def test_what_only_the_root_provides_counts():
    tree = Tree.build(
        [queue("cq", "child", gpu("0"), {DEFAULT_GPU: 10})],
        [cohort("child", "root", weight="2"), cohort("root", None, gpu("50"))],
    )
    assert shares(tree) == {"root": (0, None), "child": (100, GPU), "cq": (200, GPU)}


def test_a_cohorts_borrowing_limit_makes_its_queues_shares_larger():
    tree = Tree.build(
        [queue("cq", "child", gpu("0"), {DEFAULT_GPU: 10})],
        [cohort("child", "root", gpu("0", "10")), cohort("root", None, gpu("50"))],
    )
    assert shares(tree) == {"root": (0, None), "child": (200, GPU), "cq": (1000, GPU)}


def test_of_equal_ratios_the_alphabetically_first_resource_is_dominant():
    spec = {("f", "b"): ("0",), ("f", "a"): ("0",)}
    used = {pair("f", "a"): 2, pair("f", "b"): 2}
    lender = queue("lender", "c", {("f", "b"): ("10",), ("f", "a"): ("10",)})
    tree = Tree.build([queue("cq", "c", spec, used), lender])
    assert dominant_resource_share(tree.cluster_queue("cq")).resource == "a"


def test_borrowed_pairs_are_named():
    used = {DEFAULT_CPU: 3_000, DEFAULT_GPU: 7}
    tree = Tree.build(
        [queue("cq", "c", both("2", "5"), used), queue("lender", "c", both("8", "5"))]
    )
    assert set(dominant_resource_share(tree.cluster_queue("cq")).borrowed) == set(used)


@pytest.mark.parametrize(
    ("ratio", "weight", "precise"), [(100, 0, math.inf), (0, 1, 0), (400, 2, 200), (10, 4, 2.5)]
)
def test_figures_of_test_precise_weighted_share(ratio: float, weight: float, precise: float):
    assert Share(ratio, weight, None, ()).precise == precise


def test_borrowers_of_weight_zero_come_last_and_compare_by_ratio():
    order = [Share(r, w, None, ()) for r, w in [(0, 0), (10, 4), (90, 1), (5, 0), (7, 0)]]
    mixed = [order[at] for at in (3, 0, 4, 2, 1)]
    assert sorted(mixed, key=lambda share: share.order) == order


def test_a_share_too_large_for_64_bits_is_the_largest_amount():
    assert Share(1e300, 1e-9, None, ()).weighted == UNLIMITED
