"""Who stands under whom: the cohort trees' shape, without any amount.

Nodes are numbered so that a parent always comes before its children: Cohorts by depth, then the
ClusterQueues. A cohort that is named but has no Cohort object is an implicit one without quota.

[pure]
"""

from collections.abc import Mapping
from dataclasses import dataclass

ROOT = -1


@dataclass(frozen=True, slots=True)
class Shape:
    """Names and edges of a forest of cohort trees.

    ``up`` is the parent that amounts flow to; it is ROOT for a root and for every node in or
    under a parent cycle, where nothing flows. ``parents`` is what the objects declare.
    ``heights`` is the distance to the farthest leaf below: 0 for a ClusterQueue.
    """

    names: tuple[str, ...]
    cohorts: int
    parents: tuple[int, ...]
    up: tuple[int, ...]
    children: tuple[tuple[int, ...], ...]
    heights: tuple[int, ...]
    cyclic: frozenset[int]
    cohort_numbers: Mapping[str, int]
    queue_numbers: Mapping[str, int]

    def path(self, number: int) -> tuple[int, ...]:
        """Return the node and its ancestors, the root last; a cyclic node is alone."""
        path = [number]
        while (number := self.up[number]) != ROOT:
            path.append(number)
        return tuple(path)


def shape_of(queues: Mapping[str, str | None], cohorts: Mapping[str, str | None]) -> Shape:
    """Return the shape from each ClusterQueue's cohort and each Cohort's parent, by name."""
    parent_of = _with_implicit(queues, cohorts)
    depth = _depths(parent_of)
    ordered = sorted(parent_of, key=lambda name: (depth[name] is None, depth[name] or 0, name))
    numbers = {name: number for number, name in enumerate(ordered)}
    queue_numbers = {name: len(ordered) + at for at, name in enumerate(queues)}
    declared = [parent_of[name] for name in ordered] + list(queues.values())
    parents = tuple(numbers[name] if name else ROOT for name in declared)
    cyclic = _cyclic(ordered, depth, parents)
    up = tuple(ROOT if number in cyclic else parent for number, parent in enumerate(parents))
    return Shape(
        names=(*ordered, *queues),
        cohorts=len(ordered),
        parents=parents,
        up=up,
        children=_children(parents),
        heights=_heights(parents),
        cyclic=cyclic,
        cohort_numbers=numbers,
        queue_numbers=queue_numbers,
    )


def _with_implicit(
    queues: Mapping[str, str | None], cohorts: Mapping[str, str | None]
) -> dict[str, str | None]:
    named = [name for name in (*cohorts.values(), *queues.values()) if name]
    return {**dict.fromkeys(named), **cohorts}


def _depths(parent_of: Mapping[str, str | None]) -> dict[str, int | None]:
    """Return each cohort's distance from its root; None in or under a parent cycle."""
    depth: dict[str, int | None] = {}
    for start in parent_of:
        trail: list[str] = []
        name: str | None = start
        while name and name not in depth and name not in trail:
            trail.append(name)
            name = parent_of[name]
        base = -1 if not name else depth.get(name)
        for steps, passed in enumerate(reversed(trail), start=1):
            depth[passed] = None if base is None else base + steps
    return depth


def _cyclic(
    ordered: list[str], depth: Mapping[str, int | None], parents: tuple[int, ...]
) -> frozenset[int]:
    cohorts = {number for number, name in enumerate(ordered) if depth[name] is None}
    if not cohorts:
        return frozenset()
    return frozenset(
        number for number, parent in enumerate(parents) if number in cohorts or parent in cohorts
    )


def _children(parents: tuple[int, ...]) -> tuple[tuple[int, ...], ...]:
    found: list[list[int]] = [[] for _ in parents]
    for number, parent in enumerate(parents):
        if parent != ROOT:
            found[parent].append(number)
    return tuple(tuple(numbers) for numbers in found)


def _heights(parents: tuple[int, ...]) -> tuple[int, ...]:
    heights = [0] * len(parents)
    for number in range(len(parents) - 1, -1, -1):
        parent = parents[number]
        if parent != ROOT:
            heights[parent] = max(heights[parent], heights[number] + 1)
    return tuple(heights)
