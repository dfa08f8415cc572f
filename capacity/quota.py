"""Kueue's quota arithmetic over cohort trees, by Kueue's names.

Every figure is per (flavor, resource) and in the model's units. ``usage`` has Kueue's meaning:
quota reserved by workloads, whether or not they run yet. Formulas as in Kueue v0.19,
pkg/cache/scheduler/resource_node.go. Kueue deactivates a node in or under a parent cycle, so
nothing is available there (``Node.cyclic``).

[pure]
"""

from capacity.amount import add, clip, subtract
from capacity.model import FlavorResource
from capacity.quota_node import Node
from capacity.quota_shape import ROOT
from capacity.quota_tree import Tree

__all__ = [
    "Node",
    "Tree",
    "available",
    "borrowed",
    "can_borrow",
    "can_reserve",
    "excess",
    "local_available",
    "local_quota",
    "potential_available",
    "subtree_quota",
    "usage",
]


def local_quota(node: Node, pair: FlavorResource) -> int:
    """Return the quota that the node never lends to its parent, because of its lending limit."""
    column = node.tree.column(pair)
    return 0 if column is None else column.local(node.number)


def subtree_quota(node: Node, pair: FlavorResource) -> int:
    """Return a ClusterQueue's nominal, or a Cohort's plus all that its children lend to it."""
    column = node.tree.column(pair)
    return 0 if column is None else clip(column.subtree[node.number])


def usage(node: Node, pair: FlavorResource) -> int:
    """Return what counts against the node's subtree quota.

    For a ClusterQueue all that its workloads reserve; for a Cohort what its children reserve
    beyond their local quota.
    """
    column = node.tree.column(pair)
    return 0 if column is None else clip(column.usage[node.number])


def local_available(node: Node, pair: FlavorResource) -> int:
    """Return the unused part of the node's local quota."""
    return max(0, subtract(local_quota(node, pair), usage(node, pair)))


def available(node: Node, pair: FlavorResource) -> int:
    """Return what the node can still reserve without preemption; negative if over-committed."""
    column = node.tree.column(pair)
    return 0 if column is None or node.cyclic else column.available_at(node.number)


def can_reserve(node: Node, pair: FlavorResource) -> int:
    """Return what fits now without preemption: ``available``, but never below zero."""
    return max(0, available(node, pair))


def potential_available(node: Node, pair: FlavorResource) -> int:
    """Return the most the node could ever hold: its "maximum capacity", if nothing were used."""
    column = node.tree.column(pair)
    return 0 if column is None or node.cyclic else column.potential_at(node.number)


def excess(node: Node, pair: FlavorResource) -> int:
    """Return usage beyond the subtree quota: borrowed, or over quota where none can be."""
    return max(0, subtract(usage(node, pair), subtree_quota(node, pair)))


def borrowed(node: Node, pair: FlavorResource) -> int:
    """Return what the node holds of its cohort's quota; 0 without a parent, as Kueue reports it."""
    return 0 if node.tree.shape.parents[node.number] == ROOT else excess(node, pair)


def can_borrow(node: Node, pair: FlavorResource) -> int:
    """Return how much of ``can_reserve`` would be borrowed rather than the node's own."""
    own = max(0, subtract(subtree_quota(node, pair), usage(node, pair)))
    return max(0, subtract(can_reserve(node, pair), own))


def borrowing_with(node: Node, pair: FlavorResource, amount: int) -> bool:
    """Tell whether the node would borrow (or go over) if it reserved this much more."""
    return add(usage(node, pair), amount) > subtree_quota(node, pair)
