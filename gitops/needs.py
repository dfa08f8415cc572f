"""A tree of requirements and who meets them: nobody counts for two leaves.

To meet a tree is to choose one way through its "any" nodes and to find different people for all
places on that way: a bipartite matching, so no order of approving can spoil it. [pure]
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Literal

Op = Literal["people", "all", "any"]


@dataclass(frozen=True, slots=True)
class Need:
    """One requirement: ``count`` people of a role, or all or any of its children.

    ``roles`` are the people who may meet a leaf (never the requester) and the role each of them
    has; ``met_by`` those whose approval is counted for this leaf. ``text`` is a phrase for people:
    "an owner of serving", "2 of platform".
    """

    text: str
    met: bool = False
    op: Op = "people"
    count: int = 1
    roles: Mapping[str, str] = field(default_factory=dict)
    met_by: tuple[str, ...] = ()
    children: tuple["Need", ...] = ()

    @property
    def candidates(self) -> tuple[str, ...]:
        """The ids of the people who may meet this leaf."""
        return tuple(self.roles)


def leaves(need: Need | None) -> tuple[Need, ...]:
    """Return the leaves of a tree, left to right."""
    if need is None:
        return ()
    if need.op == "people":
        return (need,)
    return tuple(leaf for child in need.children for leaf in leaves(child))


def unmet(need: Need | None) -> tuple[Need, ...]:
    """Return the leaves that are not met and still matter, left to right."""
    if need is None or need.met:
        return ()
    if need.op == "people":
        return (need,)
    return tuple(leaf for child in need.children for leaf in unmet(child))


def fill(need: Need, approvers: Sequence[str]) -> Need:
    """Return the tree with these approvals counted in the way that meets the most of it."""
    seats = leaves(need)
    best: dict[int, list[str]] = {}
    fewest = None
    for way in _ways(need, iter(range(len(seats)))):
        places = [leaf for leaf in way for _ in range(seats[leaf].count)]
        found = _match(places, seats, approvers)
        missing = len(places) - sum(map(len, found.values()))
        if fewest is None or missing < fewest:
            fewest, best = missing, found
        if not missing:
            break
    return _mark(need, iter(range(len(seats))), best)


def _ways(need: Need, numbers: Iterator[int]) -> list[tuple[int, ...]]:
    if need.op == "people":
        return [(next(numbers),)]
    parts = [_ways(child, numbers) for child in need.children]
    if need.op == "any":
        return [way for part in parts for way in part]
    return [tuple(leaf for part in chosen for leaf in part) for chosen in product(*parts)]


def _match(
    places: Sequence[int], seats: Sequence[Need], approvers: Sequence[str]
) -> dict[int, list[str]]:
    """Seat as many approvers as can be (augmenting paths); return who sits at which leaf."""
    taken: dict[str, int] = {}

    def seat(place: int, tried: set[str]) -> bool:
        for person in approvers:
            if person in tried or person not in seats[places[place]].roles:
                continue
            tried.add(person)
            if person not in taken or seat(taken[person], tried):
                taken[person] = place
                return True
        return False

    for place in range(len(places)):
        seat(place, set())
    found: dict[int, list[str]] = {}
    for person in approvers:
        if person in taken:
            found.setdefault(places[taken[person]], []).append(person)
    return found


def _mark(need: Need, numbers: Iterator[int], found: Mapping[int, list[str]]) -> Need:
    if need.op == "people":
        met_by = tuple(found.get(next(numbers), ()))
        return replace(need, met_by=met_by, met=len(met_by) >= need.count)
    children = tuple(_mark(child, numbers, found) for child in need.children)
    reached = [child.met for child in children]
    return replace(need, children=children, met=all(reached) if need.op == "all" else any(reached))
