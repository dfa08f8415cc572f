"""The part of the forest that one question is about: whole trees, and no other [pure]."""

from collections.abc import Iterable, Mapping

from capacity.model import ClusterQueue, Cohort, Fleet
from capacity.quota_tree import Tree


def tree_around(fleet: Fleet, names: Iterable[str]) -> Tree:
    """Return the trees that these ClusterQueues stand in, as ``Tree.of`` would hold them.

    Quota never crosses a root, so figures are the same, and an answer about one cohort costs the
    same however many there are. Names that the fleet doesn't hold are left out.
    """
    found = (fleet.cluster_queues.get(name) for name in names)
    roots = {_root_of(queue, fleet.cohorts) for queue in found if queue}
    return Tree.build(
        (q for q in fleet.cluster_queues.values() if _root_of(q, fleet.cohorts) in roots),
        (c for c in fleet.cohorts.values() if _top(c.name, fleet.cohorts) in roots),
    )


def _root_of(queue: ClusterQueue, cohorts: Mapping[str, Cohort]) -> tuple[str, str]:
    return _top(queue.cohort, cohorts) if queue.cohort else ("ClusterQueue", queue.name)


def _top(name: str, cohorts: Mapping[str, Cohort]) -> tuple[str, str]:
    """Return the root above a cohort; all members of a parent cycle share its first name."""
    seen: list[str] = []
    while name not in seen:
        seen.append(name)
        cohort = cohorts.get(name)
        if cohort is None or not cohort.parent:
            return "Cohort", name
        name = cohort.parent
    return "Cohort", min(seen[seen.index(name) :])
