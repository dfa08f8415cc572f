"""The forest of cohort trees with every quota and all usage, kept up to date in place.

[pure]
"""

from collections.abc import Iterable, Iterator, Mapping
from copy import copy
from difflib import get_close_matches

from capacity.errors import UnknownName
from capacity.model import Amounts, ClusterQueue, Cohort, FlavorResource, Fleet, Quota, quotas
from capacity.quota_column import Column, columns_of
from capacity.quota_node import Node
from capacity.quota_shape import ROOT, Shape, shape_of

NO_QUOTA: Mapping[FlavorResource, Quota] = {}


class Tree:
    """All cohort trees of a cluster, for arithmetic.

    Usage of a ClusterQueue starts as its ``reserved`` amounts. A change of its usage or quota
    costs its path to the root; a change of who stands under whom rebuilds the forest. ``copy``
    is cheap: a copy and its source share what neither has changed since. Not thread-safe: give
    each thread its copy.
    """

    _shape: Shape
    _quotas: list[Mapping[FlavorResource, Quota]]
    _columns: dict[FlavorResource, Column]
    _own: set[FlavorResource]

    def __init__(
        self,
        cluster_queues: Mapping[str, ClusterQueue],
        cohorts: Mapping[str, Cohort],
        usage: Mapping[str, Amounts],
    ) -> None:
        self._queues = dict(cluster_queues)
        self._cohorts = dict(cohorts)
        self._rebuild(usage)

    @classmethod
    def build(
        cls,
        cluster_queues: Iterable[ClusterQueue],
        cohorts: Iterable[Cohort] = (),
        stray: Mapping[str, Amounts] | None = None,
    ) -> "Tree":
        """Return the forest of these objects; a cohort without an object is an implicit root.

        ``stray`` is usage by ClusterQueue on pairs that it no longer lists: Kueue still counts it
        against the cohort, but no longer reports it in the queue's status.
        """
        queues = {queue.name: queue for queue in cluster_queues}
        extra = stray or {}
        usage = {name: {**extra.get(name, {}), **queue.reserved} for name, queue in queues.items()}
        return cls(queues, {cohort.name: cohort for cohort in cohorts}, usage)

    @classmethod
    def of(cls, fleet: Fleet) -> "Tree":
        """Return the forest of a whole read of the cluster."""
        return cls.build(fleet.cluster_queues.values(), fleet.cohorts.values())

    @property
    def shape(self) -> Shape:
        """Who stands under whom."""
        return self._shape

    @property
    def pairs(self) -> tuple[FlavorResource, ...]:
        """Every (flavor, resource) that has, or had since the last rebuild, quota or usage."""
        return tuple(self._columns)

    def copy(self) -> "Tree":
        """Return a forest that can be changed without changing this one."""
        self._part()
        twin = copy(self)
        self._part()
        return twin

    def column(self, pair: FlavorResource) -> Column | None:
        """Return the figures of one (flavor, resource); None if nothing mentions it."""
        return self._columns.get(pair)

    def object(self, number: int) -> ClusterQueue | Cohort | None:
        """Return the object of a node; None for an implicit cohort."""
        name = self._shape.names[number]
        return self._cohorts.get(name) if number < self._shape.cohorts else self._queues[name]

    def quotas(self, number: int) -> Mapping[FlavorResource, Quota]:
        """Return a node's own quota in force, in order of preference."""
        return self._quotas[number]

    def cluster_queue(self, name: str) -> Node:
        """Return the node of a ClusterQueue; raises UnknownName with the nearest names."""
        return Node(self, _find("ClusterQueue", name, self._shape.queue_numbers))

    def cohort(self, name: str) -> Node:
        """Return the node of a Cohort, real or implicit; raises UnknownName."""
        return Node(self, _find("Cohort", name, self._shape.cohort_numbers))

    def cluster_queues(self) -> Iterator[Node]:
        """Yield every ClusterQueue."""
        return (Node(self, number) for number in self._shape.queue_numbers.values())

    def cohorts(self) -> Iterator[Node]:
        """Yield every Cohort, real or implicit, parents first."""
        return (Node(self, number) for number in self._shape.cohort_numbers.values())

    def roots(self) -> tuple[Node, ...]:
        """Return the tops of the trees: Cohorts without parent, ClusterQueues without cohort."""
        parents = self._shape.parents
        return tuple(Node(self, number) for number, above in enumerate(parents) if above == ROOT)

    def cyclic(self, name: str) -> bool:
        """Tell whether a ClusterQueue (else a Cohort) of this name is in or under a parent cycle.

        Kueue deactivates every ClusterQueue there until the cycle is removed.
        """
        numbers = self._shape.queue_numbers
        number = numbers[name] if name in numbers else self.cohort(name).number
        return number in self._shape.cyclic

    def availability(self) -> dict[str, dict[FlavorResource, int]]:
        """Return every ClusterQueue's signed availability on the pairs it lists, all at once."""
        return self._by_queue({pair: column.available() for pair, column in self._columns.items()})

    def potentials(self) -> dict[str, dict[FlavorResource, int]]:
        """Return the most every ClusterQueue could ever hold on the pairs it lists."""
        return self._by_queue({pair: column.potential() for pair, column in self._columns.items()})

    def usage_of(self, number: int) -> dict[FlavorResource, int]:
        """Return a node's usage where it isn't zero."""
        return {
            pair: column.usage[number]
            for pair, column in self._columns.items()
            if column.usage[number]
        }

    def add_usage(self, cluster_queue: str, amounts: Amounts) -> None:
        """Reserve amounts in a ClusterQueue, as a workload does that gets quota."""
        number = self.cluster_queue(cluster_queue).number
        for pair, amount in amounts.items():
            column = self._owned(pair)
            column.put(number, column.quota[number], column.usage[number] + amount)

    def remove_usage(self, cluster_queue: str, amounts: Amounts) -> None:
        """Free amounts in a ClusterQueue; the exact inverse of ``add_usage``."""
        self.add_usage(cluster_queue, {pair: -amount for pair, amount in amounts.items()})

    def put_cluster_queue(self, queue: ClusterQueue, stray: Amounts | None = None) -> None:
        """Add a ClusterQueue, or take over its new quota, usage (and stray usage) and cohort."""
        known = self._queues.get(queue.name)
        self._queues[queue.name] = queue
        usage = {**(stray or {}), **queue.reserved}
        if known is None or known.cohort != queue.cohort:
            self._rebuild({**self._usages(), queue.name: usage})
        else:
            self._put(self._shape.queue_numbers[queue.name], quotas(queue), usage)

    def remove_cluster_queue(self, name: str) -> None:
        """Take a ClusterQueue out, with its quota and usage."""
        self.cluster_queue(name)
        del self._queues[name]
        self._rebuild(self._usages())

    def put_cohort(self, cohort: Cohort) -> None:
        """Add a Cohort object, or take over its new quota and parent."""
        known = self._cohorts.get(cohort.name)
        self._cohorts[cohort.name] = cohort
        if known is None or known.parent != cohort.parent:
            self._rebuild(self._usages())
        else:
            self._put(self._shape.cohort_numbers[cohort.name], quotas(cohort), None)

    def remove_cohort(self, name: str) -> None:
        """Take a Cohort object out; while it has children it stays as an implicit root."""
        self.cohort(name)
        self._cohorts.pop(name, None)
        self._rebuild(self._usages())

    def _part(self) -> None:
        self._queues = self._queues.copy()
        self._cohorts = self._cohorts.copy()
        self._quotas = self._quotas.copy()
        self._columns = self._columns.copy()
        self._own = set()

    def _put(
        self, number: int, quota: Mapping[FlavorResource, Quota], usage: Amounts | None
    ) -> None:
        touched = dict.fromkeys((*self._quotas[number], *quota))
        if usage is not None:
            touched |= dict.fromkeys((*usage, *self.usage_of(number)))
        self._quotas[number] = quota
        for pair in touched:
            self._put_pair(number, pair, quota.get(pair), usage)

    def _put_pair(
        self, number: int, pair: FlavorResource, quota: Quota | None, usage: Amounts | None
    ) -> None:
        column = self._columns.get(pair)
        held = 0 if column is None else column.usage[number]
        wanted = held if usage is None else usage.get(pair, 0)
        if column is None or column.quota[number] != quota or held != wanted:
            self._owned(pair).put(number, quota, wanted)

    def _owned(self, pair: FlavorResource) -> Column:
        if pair not in self._own:
            column = self._columns.get(pair)
            count = len(self._shape.names)
            self._columns[pair] = (
                column.copy() if column else Column(self._shape, [None] * count, [0] * count)
            )
            self._own.add(pair)
        return self._columns[pair]

    def _usages(self) -> dict[str, Amounts]:
        numbers = self._shape.queue_numbers
        return {name: self.usage_of(numbers[name]) for name in self._queues if name in numbers}

    def _rebuild(self, usage: Mapping[str, Amounts]) -> None:
        self._shape = shape_of(
            {name: queue.cohort for name, queue in self._queues.items()},
            {name: cohort.parent for name, cohort in self._cohorts.items()},
        )
        objects = [self.object(number) for number in range(len(self._shape.names))]
        self._quotas = [quotas(held) if held is not None else NO_QUOTA for held in objects]
        amounts = [usage.get(name, {}) for name in self._queues]
        self._columns = columns_of(self._shape, self._quotas, amounts)
        self._own = set(self._columns)

    def _by_queue(
        self, values: Mapping[FlavorResource, list[int]]
    ) -> dict[str, dict[FlavorResource, int]]:
        first = self._shape.cohorts
        figures: list[dict[FlavorResource, int]] = [{} for _ in self._queues]
        for pair, column in values.items():
            listed = self._columns[pair].quota[first:]
            for figure, quota, value in zip(figures, listed, column[first:], strict=True):
                if quota is not None:
                    figure[pair] = value
        for number in self._shape.cyclic:
            if number >= first:
                figures[number - first] = dict.fromkeys(figures[number - first], 0)
        return dict(zip(self._shape.names[first:], figures, strict=True))


def _find(kind: str, name: str, numbers: Mapping[str, int]) -> int:
    number = numbers.get(name)
    if number is None:
        raise UnknownName(kind, name, tuple(get_close_matches(name, numbers)))
    return number
