"""The lint: what Kueue would refuse, and what is accepted but not meant, before it is merged.

Rules are numbered as in Kueue's behaviour (K1 to K28) and the platform's invariants (P1, P2).
Errors block a change, warnings show; what was so before the change never blocks.

[pure]
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from capacity.model import Fleet
from gitops import (
    lint_rules_change,
    lint_rules_groups,
    lint_rules_others,
    lint_rules_platform,
    lint_rules_queue,
    lint_rules_tree,
)
from gitops.change import build_change
from gitops.index import Index
from gitops.index_entry import Manifest
from gitops.lint_finding import Finding, Report, Rule
from gitops.lint_situation import Platform, Situation, State
from gitops.request import Draft

__all__ = ["Finding", "Platform", "lint", "lint_draft"]

_OBJECT_RULES: dict[str, tuple[Rule, ...]] = {
    "ClusterQueue": (*lint_rules_groups.RULES, *lint_rules_queue.CLUSTER_QUEUE),
    "Cohort": (*lint_rules_groups.RULES, *lint_rules_queue.COHORT),
    "LocalQueue": lint_rules_queue.LOCAL_QUEUE,
    "ResourceFlavor": (lint_rules_others.flavor,),
    "Topology": (lint_rules_others.topology,),
}


def lint(
    after: Sequence[Manifest],
    before: Sequence[Manifest] | None = None,
    fleet: Fleet | None = None,
    platform: Platform | None = None,
) -> tuple[Finding, ...]:
    """Return what is to be said about one cluster's objects, errors first.

    With ``before``, what was so already is marked as known, objects that didn't change are not
    looked at again, and the change itself is judged. ``fleet`` adds what is live.
    """
    platform = platform or Platform()
    state = State(after)
    if before is None:
        return _sorted(_of_state(state, fleet, platform, after))
    old = State(before)
    pairs = [(manifest, old.same(manifest)) for manifest in after]
    changed = [new for new, was in pairs if was is None or was.data != new.data]
    was = [was for manifest in changed if (was := old.same(manifest)) is not None]
    known = {finding.key for finding in _of_state(old, fleet, platform, was, update=True)}
    fresh = [manifest for manifest in changed if old.same(manifest) is None]
    altered = [manifest for manifest in changed if old.same(manifest) is not None]
    every = [finding for manifest in fresh for finding in lint_object(manifest)]
    every += _of_state(state, fleet, platform, altered, update=True)
    found = [replace(finding, known=finding.key in known) for finding in every]
    found += _of_change(Situation(old, state, fleet, platform), changed)
    return _sorted(found)


def lint_draft(
    index: Index, draft: Draft, fleet: Fleet | None, platform: Platform | None = None
) -> tuple[Finding, ...]:
    """Return what is new with a draft's change; raises what ``build_change`` raises."""
    change = build_change(index, draft)
    cluster = change.places[0].cluster
    before = index.manifests(cluster)
    after = index.with_files(change.files).manifests(cluster)
    return tuple(f for f in lint(after, before, fleet, platform) if not f.known)


def lint_object(manifest: Manifest, *, update: bool = False) -> tuple[Finding, ...]:
    """Return what one object alone has to be told; ``update`` when it exists already."""
    report = Report(manifest, update)
    for rule in _OBJECT_RULES.get(manifest.kind, ()):
        rule(report)
    return tuple(report.findings)


def _of_state(
    state: State,
    fleet: Fleet | None,
    platform: Platform,
    looked_at: Sequence[Manifest],
    *,
    update: bool = False,
) -> Iterator[Finding]:
    for manifest in looked_at:
        yield from lint_object(manifest, update=update)
    for rule in lint_rules_tree.RULES:
        yield from rule(state, fleet)
    for invariant in lint_rules_platform.RULES:
        yield from invariant(state, platform)


def _of_change(situation: Situation, changed: Sequence[Manifest]) -> Iterator[Finding]:
    for manifest in changed:
        before = situation.before.same(manifest)
        if before is not None:
            report = Report(manifest)
            lint_rules_others.immutable(report, before)
            yield from report.findings
    for rule in lint_rules_change.RULES:
        yield from rule(situation)


def _sorted(found: Sequence[Finding] | Iterator[Finding]) -> tuple[Finding, ...]:
    return tuple(sorted(found, key=lambda finding: (not finding.blocks, finding.severity)))
