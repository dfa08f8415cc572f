"""Rules 16 to 18 and 27: what is wrong with the tree as it will be.

[pure]
"""

from collections import Counter
from collections.abc import Iterator

from capacity.model import UNLIMITED, Fleet
from gitops.lint_finding import Finding, cohort_key, mapping
from gitops.lint_situation import State


def missing_flavors(state: State, fleet: Fleet | None) -> Iterator[Finding]:
    """Rule 16: a flavor without a ResourceFlavor makes its queue inactive.

    Nothing is said when no ResourceFlavor is known at all: then they are kept elsewhere.
    """
    known = {m.name for m in state.manifests if m.kind == "ResourceFlavor"}
    known |= set(fleet.flavors) if fleet is not None else set()
    if not known:
        return
    for queue in state.declared.cluster_queues:
        flavors = {flavor.name for group in queue.resource_groups for flavor in group.flavors}
        for name in sorted(flavors - known):
            message = f"references missing ResourceFlavor {name}, so it would be inactive"
            yield state.finding("K16", "warning", "ClusterQueue", queue.name, message)


def cycles(state: State, _fleet: Fleet | None) -> Iterator[Finding]:
    """Rule 17: a cycle of parents makes every queue beneath inactive."""
    for cohort in state.declared.cohorts:
        if state.tree.cyclic(cohort.name):
            message = "is in a cycle of parents: every ClusterQueue under it would be inactive"
            yield state.finding("K17", "error", "Cohort", cohort.name, message)


def implicit_cohorts(state: State, fleet: Fleet | None) -> Iterator[Finding]:
    """Rule 18: a cohort that no Cohort object names is legal, and may be a typing error."""
    known = {cohort.name for cohort in state.declared.cohorts}
    known |= set(fleet.cohorts) if fleet is not None else set()
    parents = [
        (m.kind, m.name, str(parent))
        for m in state.manifests
        if m.kind in {"ClusterQueue", "Cohort"}
        and (parent := mapping(m.data.get("spec")).get(cohort_key(m)))
    ]
    children = Counter(parent for _, _, parent in parents)
    for kind, name, parent in parents:
        if parent not in known and (known or children[parent] == 1):
            message = f"no Cohort is called {parent}; it would be a new tree of its own"
            yield state.finding("K18", "warning", kind, name, message)


def unlimited(state: State, _fleet: Fleet | None) -> Iterator[Finding]:
    """Rule 27: quota too large for 64 bits counts as unlimited."""
    for name in state.queues:
        for pair, quota in state.quotas(name).items():
            if quota.nominal >= UNLIMITED:
                message = f"so much {pair.flavor} {pair.resource} counts as unlimited"
                yield state.finding("K27", "warning", "ClusterQueue", name, message)


RULES = (missing_flavors, cycles, implicit_cohorts, unlimited)
