"""Rules 19 to 24 and 28: what a change does to queues and to the work in them.

[pure]
"""

from collections.abc import Iterator

from capacity.model import ClusterQueue, FlavorResource
from capacity.quantity import to_text
from gitops.lint_finding import Finding, Severity
from gitops.lint_situation import Situation

_AUTOMATION = "MultiKueueManagerQuotaAutomation"


def below_reservation(situation: Situation) -> Iterator[Finding]:
    """Rule 19: own quota below what jobs hold evicts nobody, but may be reclaimed from them."""
    for live, name in _live(situation):
        before = situation.before.quotas(name)
        for pair, quota in situation.after.quotas(name).items():
            reserved = live.reserved.get(pair, 0)
            lowered = pair in before and quota.nominal < before[pair].nominal
            if lowered and reserved > quota.nominal:
                held, own = to_text(pair.resource, reserved), to_text(pair.resource, quota.nominal)
                message = (
                    f"holds {held} {pair.resource} of {pair.flavor}, more than its own {own} then: "
                    "nothing is evicted, but what is above can be reclaimed"
                )
                yield situation.after.finding("K19", "warning", "ClusterQueue", name, message)


def limits_without_effect(situation: Situation) -> Iterator[Finding]:
    """Rule 20: a borrowing limit above what the tree can lend changes nothing."""
    old, new = situation.before.potentials, situation.after.potentials
    for name, pair, before, after in _changed_limits(situation):
        raised = before is not None and (after is None or after > before)
        if raised and old[name][pair] == new[name][pair]:
            message = (
                f"the higher borrowingLimit of {pair.flavor} has no effect: "
                "the cohort can't lend more"
            )
            yield situation.after.finding("K20", "warning", "ClusterQueue", name, message)


def others_shrink(situation: Situation) -> Iterator[Finding]:
    """Rule 21: what other queues can ever have becomes less."""
    old, new = situation.before.potentials, situation.after.potentials
    for name, queue in situation.after.queues.items():
        if situation.before.queues.get(name) != queue:
            continue
        for pair in situation.after.quotas(name):
            before, after = old[name][pair], new[name][pair]
            if after < before:
                texts = [to_text(pair.resource, amount) for amount in (before, after)]
                message = (
                    f"the most {pair.flavor} {pair.resource} that it can ever have falls from "
                    f"{texts[0]} to {texts[1]}"
                )
                yield situation.after.finding("K21", "warning", "ClusterQueue", name, message)


def removed_in_use(situation: Situation) -> Iterator[Finding]:
    """Rule 22: removing quota that jobs hold, or a queue that has jobs."""
    for live, name in _live(situation):
        if name in situation.before.queues and name not in situation.after.queues:
            if live.reserving_workloads or live.reserved:
                message = "is removed while jobs hold its quota: it stays until they end"
                yield situation.before.finding("K22", "warning", "ClusterQueue", name, message)
            continue
        gone = set(situation.before.quotas(name)) - set(situation.after.quotas(name))
        for pair in sorted(gone):
            if live.reserved.get(pair, 0):
                message = (
                    f"{pair.resource} of {pair.flavor} is removed while jobs hold it: what they "
                    "hold is no longer counted"
                )
                yield situation.after.finding("K22", "warning", "ClusterQueue", name, message)


def preference_order(situation: Situation) -> Iterator[Finding]:
    """Rule 23: the order of flavors is the order of preference."""
    for name, queue in situation.after.queues.items():
        before = situation.before.queues.get(name)
        if before is None:
            continue
        old, new = _flavors(before), _flavors(queue)
        kept = [flavor for flavor in old if flavor in new]
        if old != new and (kept != [f for f in new if f in old] or len(kept) < len(old)):
            message = f"prefers its flavors in another order: {', '.join(old)} -> {', '.join(new)}"
            yield situation.after.finding("K23", "warning", "ClusterQueue", name, message)


def not_in_force(situation: Situation) -> Iterator[Finding]:
    """Rule 24: a queue whose quota something in the cluster sets."""
    for live, name in _live(situation):
        if situation.before.quotas(name) == situation.after.quotas(name):
            continue
        automated = any(c.type == _AUTOMATION and c.status == "True" for c in live.conditions)
        if live.effective_resource_groups is not None or automated:
            what = _AUTOMATION if automated else "status.effectiveQuota"
            message = f"its quota is set by {what} in the cluster: the change would not be in force"
            yield situation.after.finding("K24", "warning", "ClusterQueue", name, message)


def draining(situation: Situation) -> Iterator[Finding]:
    """Rule 28: HoldAndDrain evicts running work, so it is asked for explicitly."""
    for name, queue in situation.after.queues.items():
        before = situation.before.queues.get(name)
        drains = queue.stop_policy == "HoldAndDrain"
        if drains and (before is None or before.stop_policy != "HoldAndDrain"):
            severity: Severity = "warning" if situation.platform.drain_confirmed else "error"
            message = "stopPolicy HoldAndDrain evicts its running work; confirm that this is meant"
            yield situation.after.finding("K28", severity, "ClusterQueue", name, message)


RULES = (
    below_reservation,
    limits_without_effect,
    others_shrink,
    removed_in_use,
    preference_order,
    not_in_force,
    draining,
)


def _live(situation: Situation) -> Iterator[tuple[ClusterQueue, str]]:
    if situation.fleet is not None:
        for name, queue in situation.fleet.cluster_queues.items():
            if name in situation.after.queues or name in situation.before.queues:
                yield queue, name


def _changed_limits(
    situation: Situation,
) -> Iterator[tuple[str, FlavorResource, int | None, int | None]]:
    for name in situation.after.queues:
        before = situation.before.quotas(name)
        for pair, quota in situation.after.quotas(name).items():
            old = before.get(pair)
            if old is not None and old.nominal == quota.nominal:
                yield name, pair, old.borrowing_limit, quota.borrowing_limit


def _flavors(queue: ClusterQueue) -> list[str]:
    return [flavor.name for group in queue.resource_groups for flavor in group.flavors]
