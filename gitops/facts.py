"""What the policy looks at, taken from a draft and the fleet.

[pure]
"""

from datetime import datetime

from capacity.model import ClusterQueue, FlavorResource, Fleet, quotas
from capacity.quantity import to_amount
from gitops.request import Draft, Facts


def facts_of(draft: Draft, fleet: Fleet, now: datetime) -> Facts:
    """Return the facts of a draft that starts now.

    Lenders are the other ClusterQueues under the same root cohort that have this flavor and lend
    it (no lendingLimit of 0), borrowers those that may borrow it (no borrowingLimit of 0).
    """
    old = None if draft.old is None else to_amount(draft.resource, draft.old)
    new = None if draft.new is None else to_amount(draft.resource, draft.new)
    wanted = FlavorResource(draft.flavor, draft.resource)
    others = [(queue.name, quotas(queue).get(wanted)) for queue in _relatives(draft, fleet)]
    return Facts(
        raises=new is None or (old is not None and new > old),
        delta=None if old is None or new is None else new - old,
        percent=_percent(old, new),
        lenders=tuple(n for n, q in others if q and q.nominal > 0 and q.lending_limit != 0),
        borrowers=tuple(n for n, q in others if q and q.borrowing_limit != 0),
        lasts=None if draft.until is None else draft.until - now,
    )


def _percent(old: int | None, new: int | None) -> int | None:
    """Return the size of the change in percent of the old value, rounded up; None is infinite."""
    if not old or new is None:
        return None
    return -(-abs(new - old) * 100 // old)


def _relatives(draft: Draft, fleet: Fleet) -> list[ClusterQueue]:
    queue = fleet.cluster_queues.get(draft.cluster_queue)
    if queue is None or queue.cohort is None:
        return []
    root = _root(fleet, queue.cohort)
    return [
        other
        for name, other in sorted(fleet.cluster_queues.items())
        if name != queue.name and other.cohort is not None and _root(fleet, other.cohort) == root
    ]


def _root(fleet: Fleet, cohort: str) -> str:
    """Return the topmost cohort; a cycle, which Kueue refuses to use, ends where it is noticed."""
    seen = {cohort}
    while (found := fleet.cohorts.get(cohort)) and found.parent and found.parent not in seen:
        cohort = found.parent
        seen.add(cohort)
    return cohort
