"""Has a merged change arrived? The wished value against what the cluster shows.

Merged is not live: only an observed ClusterQueue is. Values compare by amount, so "8000m" and "8"
are the same; the spec is looked at, because that is what Git sets. [pure]
"""

from dataclasses import dataclass
from datetime import datetime

from capacity.model import ClusterQueue, Fleet, Quota
from capacity.quantity import to_amount, to_text
from gitops.request import Draft

NO_LIMIT = "no limit"
NOT_SET = "not set"


@dataclass(frozen=True, slots=True)
class Waiting:
    """The old value is still there and there is time."""


@dataclass(frozen=True, slots=True)
class Live:
    """The new value was observed; ``at`` is the read's time, not the change's."""

    at: datetime


@dataclass(frozen=True, slots=True)
class Overdue:
    """The old value is still there after the time that a rollout may take."""

    since: datetime


@dataclass(frozen=True, slots=True)
class Differs:
    """The cluster shows neither the old nor the new value; ``value`` is spelt canonically."""

    value: str


Rollout = Waiting | Live | Overdue | Differs


def check(draft: Draft, fleet: Fleet, live_by: datetime, now: datetime) -> Rollout:
    """Compare the wished value with the fleet's; a fleet with gaps can't tell that it is late."""
    observed = observe(draft, fleet)
    if observed == spell(draft.resource, draft.new):
        return Live(fleet.as_of)
    if observed not in (spell(draft.resource, draft.old), NOT_SET):
        return Differs(observed)
    return Waiting() if now < live_by or fleet.gaps else Overdue(live_by)


def observe(draft: Draft, fleet: Fleet) -> str:
    """Return the draft's field as the cluster shows it: canonical, "no limit" or "not set"."""
    queue = fleet.cluster_queues.get(draft.cluster_queue)
    quota = _quota(queue, draft) if queue else None
    if quota is None:
        return NOT_SET
    amounts = {
        "nominal": quota.nominal,
        "borrowing": quota.borrowing_limit,
        "lending": quota.lending_limit,
    }
    amount = amounts[draft.kind]
    return NO_LIMIT if amount is None else to_text(draft.resource, amount)


def spell(resource: str, quantity: str | None) -> str:
    """Return a quantity's one spelling for comparison; None is "no limit"."""
    return NO_LIMIT if quantity is None else to_text(resource, to_amount(resource, quantity))


def _quota(queue: ClusterQueue, draft: Draft) -> Quota | None:
    return next(
        (
            flavor.resources[draft.resource]
            for group in queue.resource_groups
            for flavor in group.flavors
            if flavor.name == draft.flavor and draft.resource in flavor.resources
        ),
        None,
    )
