"""One (flavor, resource) over all cohort trees: quota, usage and what is left, per node.

A column holds flat lists indexed by node number (see quota_shape), because a thousand queues are
passed over at once. Formulas as in Kueue's pkg/cache/scheduler/resource_node.go.

[pure]
"""

from collections.abc import Mapping, Sequence

from capacity.amount import LARGE, add, clip, subtract
from capacity.model import Amounts, FlavorResource, Quota
from capacity.quota_shape import ROOT, Shape

NOTHING = Quota(nominal=0)
"""The quota of a node that doesn't list the pair."""


class Column:
    """Quota and usage of one (flavor, resource) in every node.

    ``subtree`` and ``usage`` are exact sums, clipped on reading. Kept up to date with them:
    ``stored`` and ``used``, which the node adds to its parent's two sums; ``spare``, what is free
    before the parent is asked (at a root: all that is free, negative when over-committed); and
    ``room``, the most that the borrowing limit lets it take from the parent (None: no limit).
    """

    __slots__ = ("large", "quota", "room", "shape", "spare", "stored", "subtree", "usage", "used")

    def __init__(self, shape: Shape, quota: list[Quota | None], usage: list[int]) -> None:
        count = len(shape.names)
        self.shape = shape
        self.quota = quota
        self.subtree = [0 if given is None else given.nominal for given in quota]
        self.usage = usage
        self.stored = [0] * count
        self.used = [0] * count
        self.spare = [0] * count
        self.room: list[int | None] = [None] * count
        self.large = any(map(_is_large, quota)) or any(amount >= LARGE for amount in usage)
        self._settle_all()

    def copy(self) -> "Column":
        """Return a column that can be changed without changing this one."""
        twin = Column.__new__(Column)
        twin.shape = self.shape
        twin.large = self.large
        for name in ("quota", "subtree", "usage", "stored", "used", "spare", "room"):
            setattr(twin, name, getattr(self, name).copy())
        return twin

    def put(self, number: int, quota: Quota | None, usage: int) -> None:
        """Set a node's own quota and usage; costs its path to the root."""
        before = self.quota[number] or NOTHING
        self.quota[number] = quota
        self.subtree[number] += (quota or NOTHING).nominal - before.nominal
        self.usage[number] = usage
        self.large = self.large or _is_large(quota) or usage >= LARGE
        self._rise(number)

    def local(self, number: int) -> int:
        """Return the quota that the node never lends to its parent."""
        return _local(clip(self.subtree[number]), self.quota[number])

    def available(self) -> list[int]:
        """Return the signed availability of every node, by number."""
        if self.large:
            return self._large_available()
        values: list[int] = []
        push = values.append
        for up, spare, room in zip(self.shape.up, self.spare, self.room, strict=True):
            if up == ROOT:
                push(spare)
                continue
            above = values[up]
            push(spare + (above if room is None or above < room else room))
        return values

    def _large_available(self) -> list[int]:
        values: list[int] = []
        for up, spare, room in zip(self.shape.up, self.spare, self.room, strict=True):
            values.append(spare if up == ROOT else add(spare, _least(values[up], room)))
        return values

    def available_at(self, number: int) -> int:
        """Return one node's signed availability."""
        value = 0
        for at in reversed(self.shape.path(number)):
            if self.shape.up[at] == ROOT:
                value = self.spare[at]
            else:
                value = add(self.spare[at], _least(value, self.room[at]))
        return value

    def potential(self) -> list[int]:
        """Return what every node could hold at most if nothing were used, by number."""
        if self.large:
            return self._large_potential()
        values: list[int] = []
        push = values.append
        for up, own, stored, quota in zip(
            self.shape.up, self.subtree, self.stored, self.quota, strict=True
        ):
            if up == ROOT:
                push(own)
                continue
            most = own - stored + values[up]
            if quota is not None and quota.borrowing_limit is not None:
                most = min(most, own + quota.borrowing_limit)
            push(most)
        return values

    def _large_potential(self) -> list[int]:
        values: list[int] = []
        for number, up in enumerate(self.shape.up):
            values.append(self._potential(number, 0 if up == ROOT else values[up]))
        return values

    def potential_at(self, number: int) -> int:
        """Return what one node could hold at most if nothing were used."""
        value = 0
        for at in reversed(self.shape.path(number)):
            value = self._potential(at, value)
        return value

    def _potential(self, number: int, above: int) -> int:
        subtree = clip(self.subtree[number])
        if self.shape.up[number] == ROOT:
            return subtree
        quota = self.quota[number]
        most = add(_local(subtree, quota), above)
        if quota is None or quota.borrowing_limit is None:
            return most
        return min(add(subtree, quota.borrowing_limit), most)

    def _settle_all(self) -> None:
        for number in range(len(self.quota) - 1, -1, -1):
            self._settle(number)
            up = self.shape.up[number]
            if up != ROOT:
                self.subtree[up] += self.stored[number]
                self.usage[up] += self.used[number]

    def _rise(self, number: int) -> None:
        while True:
            stored, used = self.stored[number], self.used[number]
            self._settle(number)
            stored, used = self.stored[number] - stored, self.used[number] - used
            number = self.shape.up[number]
            if number == ROOT or (stored == 0 and used == 0):
                return
            self.subtree[number] += stored
            self.usage[number] += used

    def _settle(self, number: int) -> None:
        if self.large:
            self._settle_large(number)
            return
        quota, subtree, usage = self.quota[number], self.subtree[number], self.usage[number]
        local = 0
        if quota is not None and quota.lending_limit is not None:
            local = max(0, subtree - quota.lending_limit)
        stored = self.stored[number] = subtree - local
        used = self.used[number] = usage - local if usage > local else 0
        if self.shape.up[number] == ROOT:
            self.spare[number] = subtree - usage
            return
        self.spare[number] = local - usage if local > usage else 0
        if quota is not None and quota.borrowing_limit is not None:
            self.room[number] = stored - used + quota.borrowing_limit
        else:
            self.room[number] = None

    def _settle_large(self, number: int) -> None:
        subtree, usage = clip(self.subtree[number]), clip(self.usage[number])
        quota = self.quota[number]
        local = _local(subtree, quota)
        stored = self.stored[number] = subtract(subtree, local)
        used = self.used[number] = max(0, subtract(usage, local))
        if self.shape.up[number] == ROOT:
            self.spare[number] = subtract(subtree, usage)
            return
        self.spare[number] = max(0, subtract(local, usage))
        if quota is None or quota.borrowing_limit is None:
            self.room[number] = None
        else:
            self.room[number] = add(subtract(stored, used), quota.borrowing_limit)


def columns_of(
    shape: Shape, quota: Sequence[Mapping[FlavorResource, Quota]], usage: Sequence[Amounts]
) -> dict[FlavorResource, Column]:
    """Return the columns from each node's own quota and each ClusterQueue's usage."""
    count, first = len(shape.names), shape.cohorts
    cells: dict[FlavorResource, tuple[list[Quota | None], list[int]]] = {}
    for number, listed in enumerate(quota):
        for pair, given in listed.items():
            if pair not in cells:
                cells[pair] = ([None] * count, [0] * count)
            cells[pair][0][number] = given
    for number, amounts in enumerate(usage, start=first):
        for pair, amount in amounts.items():
            if pair not in cells:
                cells[pair] = ([None] * count, [0] * count)
            cells[pair][1][number] = amount
    return {pair: Column(shape, listed, held) for pair, (listed, held) in cells.items()}


def _local(subtree: int, quota: Quota | None) -> int:
    if quota is None or quota.lending_limit is None:
        return 0
    return max(0, subtract(subtree, quota.lending_limit))


def _least(above: int, room: int | None) -> int:
    return above if room is None else min(above, room)


def _is_large(quota: Quota | None) -> bool:
    if quota is None:
        return False
    limits = (quota.nominal, quota.borrowing_limit or 0, quota.lending_limit or 0)
    return max(limits) >= LARGE
