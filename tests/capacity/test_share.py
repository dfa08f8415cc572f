"""Dominant resource shares beyond Kueue's own cases (test_quota_tables.py)."""

from capacity.model import UNLIMITED
from capacity.quota import Tree
from capacity.share import Share, dominant_resource_share
from tests.capacity.kueue_tables import shares
from tests.capacity.trees import GPU, cpu, pair, queue

DEFAULT_CPU, DEFAULT_GPU = pair("default"), pair("default", GPU)


def test_without_a_cohort_there_is_no_share_even_above_nominal():
    tree = Tree.build([queue("cq", None, cpu(default="1"), {DEFAULT_CPU: 9_000})])
    share = dominant_resource_share(tree.cluster_queue("cq"))
    assert (share.weighted, share.borrowing) == (0, False)


def test_of_equal_ratios_the_alphabetically_first_resource_is_dominant():
    spec = {("f", "b"): ("0",), ("f", "a"): ("0",)}
    used = {pair("f", "a"): 2, pair("f", "b"): 2}
    lender = queue("lender", "c", {("f", "b"): ("10",), ("f", "a"): ("10",)})
    tree = Tree.build([queue("cq", "c", spec, used), lender])
    assert dominant_resource_share(tree.cluster_queue("cq")).resource == "a"


def test_borrowed_pairs_are_named():
    used = {DEFAULT_CPU: 3_000, DEFAULT_GPU: 7}
    tree = Tree.build(shares.BOTH)
    tree.add_usage("cq", used)
    assert set(dominant_resource_share(tree.cluster_queue("cq")).borrowed) == set(used)


def test_borrowers_of_weight_zero_come_last_and_compare_by_ratio():
    order = [Share(r, w, None, ()) for r, w in [(0, 0), (10, 4), (90, 1), (5, 0), (7, 0)]]
    mixed = [order[at] for at in (3, 0, 4, 2, 1)]
    assert sorted(mixed, key=lambda share: share.order) == order


def test_a_share_too_large_for_64_bits_is_the_largest_amount():
    assert Share(1e300, 1e-9, None, ()).weighted == UNLIMITED
