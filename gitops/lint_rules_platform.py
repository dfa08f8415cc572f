"""The platform's own invariants: promises against what exists, and minimums.

[pure]
"""

from collections.abc import Iterator

from capacity.model import FlavorResource, quotas
from capacity.quantity import to_text
from gitops.lint_finding import Finding, Severity
from gitops.lint_situation import Platform, State


def overcommitted(state: State, platform: Platform) -> Iterator[Finding]:
    """P1: all own quota of a flavor together is at most what physically exists."""
    for pair, capacity in platform.capacity.items():
        promised = _promised(state, pair)
        if promised > capacity:
            texts = [to_text(pair.resource, amount) for amount in (promised, capacity)]
            message = (
                f"{texts[0]} {pair.resource} of {pair.flavor} would be promised, "
                f"but only {texts[1]} exist"
            )
            severity: Severity = "error" if platform.overcommit_blocks else "warning"
            yield Finding("P1", severity, "The queues together", "", message)


def below_minimum(state: State, platform: Platform) -> Iterator[Finding]:
    """P2: a queue keeps the nominal quota that it was guaranteed."""
    for (name, pair), minimum in platform.minimum.items():
        quota = state.quotas(name).get(pair)
        if quota is not None and quota.nominal < minimum:
            texts = [to_text(pair.resource, amount) for amount in (minimum, quota.nominal)]
            message = f"is guaranteed {texts[0]} {pair.resource} of {pair.flavor}, not {texts[1]}"
            yield state.finding("P2", "error", "ClusterQueue", name, message)


RULES = (overcommitted, below_minimum)


def _promised(state: State, pair: FlavorResource) -> int:
    """Return the nominal quota of all queues and cohorts together; a cohort's own is added."""
    held = [quotas(queue).get(pair) for queue in state.declared.cluster_queues]
    held += [quotas(cohort).get(pair) for cohort in state.declared.cohorts]
    return sum(quota.nominal for quota in held if quota is not None)
