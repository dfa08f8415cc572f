"""One ClusterQueue or Cohort in its tree.

[pure]
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Literal

from capacity.model import ClusterQueue, Cohort, FlavorResource, Quota
from capacity.quota_shape import ROOT

if TYPE_CHECKING:
    from capacity.quota_tree import Tree

Kind = Literal["ClusterQueue", "Cohort"]


@dataclass(frozen=True, slots=True)
class Node:
    """A view of one node; it reads the tree as it is now, so take figures before a change."""

    tree: "Tree"
    number: int

    @property
    def name(self) -> str:
        """The object's name; a ClusterQueue and a Cohort may share one."""
        return self.tree.shape.names[self.number]

    @property
    def kind(self) -> Kind:
        """Whether it is a leaf (ClusterQueue) or holds others (Cohort)."""
        return "Cohort" if self.number < self.tree.shape.cohorts else "ClusterQueue"

    @property
    def source(self) -> ClusterQueue | Cohort | None:
        """The object it was built from; None for a cohort that is named but doesn't exist."""
        return self.tree.object(self.number)

    @property
    def parent(self) -> "Node | None":
        """The Cohort that it is directly in, as declared; None at the top."""
        above = self.tree.shape.parents[self.number]
        return None if above == ROOT else Node(self.tree, above)

    @property
    def root(self) -> "Node":
        """The top of its tree; itself when it has no parent or is in a parent cycle."""
        return Node(self.tree, self.tree.shape.path(self.number)[-1])

    @property
    def children(self) -> "tuple[Node, ...]":
        """Cohorts first, then ClusterQueues."""
        return tuple(Node(self.tree, below) for below in self.tree.shape.children[self.number])

    @property
    def height(self) -> int:
        """The distance to the farthest leaf below it; 0 for a ClusterQueue."""
        return self.tree.shape.heights[self.number]

    @property
    def quotas(self) -> Mapping[FlavorResource, Quota]:
        """Its own quota in force, in order of preference."""
        return self.tree.quotas(self.number)

    @property
    def fair_weight(self) -> Decimal:
        """Its weight for fair sharing; 1 unless set."""
        source = self.source
        return Decimal(1) if source is None else source.fair_weight

    @property
    def cyclic(self) -> bool:
        """Whether it is in or under a parent cycle, which deactivates it."""
        return self.number in self.tree.shape.cyclic

    def cluster_queues(self) -> "Iterator[Node]":
        """Yield every ClusterQueue at or below this node; a parent cycle is walked once."""
        seen = {self.number}
        rest = [self.number]
        while rest:
            number = rest.pop()
            if number >= self.tree.shape.cohorts:
                yield Node(self.tree, number)
            below = [child for child in self.tree.shape.children[number] if child not in seen]
            seen.update(below)
            rest.extend(reversed(below))
