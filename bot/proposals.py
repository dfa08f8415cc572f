"""The GitOps side for the flow: drafts to changes, lint and what-if, by one index per commit."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from capacity.changes import QuotaChange
from capacity.model import FlavorResource, Fleet
from capacity.outcome import Outcome
from capacity.quantity import to_amount
from capacity.simulate import simulate
from gitops.change import Change, build_change
from gitops.indexer import Indexer
from gitops.lint import Finding, lint_draft
from gitops.rendered import Programs, Renderer
from gitops.repository import Repository
from gitops.request import Draft


@dataclass(frozen=True, slots=True)
class Proposals:
    """Builds and lints changes of one repository."""

    repository: Repository
    indexer: Indexer
    programs: Programs = field(default_factory=Programs.on_path)

    def build(self, draft: Draft, commit: str) -> Change:
        """Build the edits of a draft at a commit (``gitops.ports.BuildChange``)."""
        prove = Renderer(self.repository, self.programs).prove
        return build_change(self.indexer.at(commit), draft, prove)

    def lint(self, draft: Draft, fleet: Fleet) -> tuple[Finding, ...]:
        """Return what is new with a draft at the tip of main (``gitops.ports.Lint``)."""
        return lint_draft(self.indexer.at(self.repository.head()), draft, fleet)


def what_if(draft: Draft, fleet: Fleet) -> Outcome:
    """Try the draft on the cohort's tree (``gitops.ports.WhatIf``)."""
    return simulate(fleet, changes_of(draft))


def changes_of(draft: Draft) -> Sequence[QuotaChange]:
    """Return a draft as the quota change that it is."""
    amount = None if draft.new is None else to_amount(draft.resource, draft.new)
    pair = FlavorResource(draft.flavor, draft.resource)
    return (QuotaChange(draft.cluster_queue, pair, draft.kind, amount),)
