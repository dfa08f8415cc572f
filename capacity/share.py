"""Fair sharing: how much a node borrows, as a share of what it could borrow.

The dominant resource share of Kueue v0.19, pkg/cache/scheduler/fair_sharing.go. Kueue computes it
in 64-bit floats, and so do we, step by step: an exact fraction would round differently.

[pure]
"""

import math
from collections import defaultdict
from dataclasses import dataclass

from capacity.amount import add, subtract
from capacity.model import UNLIMITED, Amounts, FlavorResource
from capacity.quota import potential_available, subtree_quota, usage
from capacity.quota_node import Node
from capacity.quota_shape import ROOT


@dataclass(frozen=True, slots=True)
class Share:
    """A node's dominant resource share.

    ``ratio`` is 1000 * borrowed / lendable of the dominant resource, before the weight. It is 0
    when nothing is borrowed, and also when what is borrowed isn't lendable at all.
    """

    ratio: float
    weight: float
    resource: str | None
    borrowed: tuple[FlavorResource, ...]

    @property
    def borrowing(self) -> bool:
        """Whether the node uses more than its quota of any (flavor, resource)."""
        return bool(self.borrowed)

    def borrows(self, request: Amounts) -> bool:
        """Tell whether it borrows any (flavor, resource) that a request asks for."""
        return any(request.get(pair, 0) > 0 for pair in self.borrowed)

    @property
    def precise(self) -> float:
        """The weighted share; infinite for a borrower of weight zero."""
        if self.ratio == 0:
            return 0.0
        return math.inf if self.weight == 0 else self.ratio / self.weight

    @property
    def weighted(self) -> int:
        """The share as in ``status.fairSharing.weightedShare``: rounded up, or UNLIMITED."""
        precise = self.precise
        return UNLIMITED if precise >= UNLIMITED else math.ceil(precise)

    @property
    def order(self) -> tuple[bool, float]:
        """A key to compare shares: the lower is admitted first, the higher is preempted first.

        Borrowers of weight zero come after all others and compare by their ratio.
        """
        zero = self.weight == 0 and self.ratio != 0
        return zero, self.ratio if zero else self.precise


def dominant_resource_share(node: Node, request: Amounts | None = None) -> Share:
    """Return the node's share, with a request added to its usage if given.

    A node without a parent borrows from nobody: its share is 0. Of resources with equal ratios
    the alphabetically first is dominant.
    """
    weight = float(node.fair_weight)
    if node.tree.shape.up[node.number] == ROOT:
        return Share(0.0, weight, None, ())
    borrowed = _borrowed(node, request or {})
    lendable = _lendable(node, {pair.resource for pair in borrowed})
    totals: dict[str, int] = defaultdict(int)
    for pair, amount in borrowed.items():
        totals[pair.resource] = add(totals[pair.resource], amount)
    best, resource = 0.0, None
    for name in sorted(totals):
        ratio = totals[name] * 1000.0 / lendable[name] if lendable[name] > 0 else 0.0
        if ratio > best:
            best, resource = ratio, name
    return Share(best, weight, resource, tuple(borrowed))


def weighted_share(node: Node) -> int:
    """Return the share as Kueue reports it in ``status.fairSharing.weightedShare``."""
    return dominant_resource_share(node).weighted


def _borrowed(node: Node, request: Amounts) -> dict[FlavorResource, int]:
    listed = node.quotas if node.kind == "ClusterQueue" else node.tree.pairs
    amounts = {}
    for pair in listed:
        total = add(request.get(pair, 0), usage(node, pair))
        over = subtract(total, subtree_quota(node, pair))
        if over > 0:
            amounts[pair] = over
    return amounts


def _lendable(node: Node, resources: set[str]) -> dict[str, int]:
    above = node.parent
    amounts = dict.fromkeys(resources, 0)
    for pair in node.tree.pairs:
        if above is not None and pair.resource in resources:
            amounts[pair.resource] = add(amounts[pair.resource], potential_available(above, pair))
    return amounts
