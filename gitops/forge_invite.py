"""A forge whose pull requests ask the owners of the changed files to look at them.

[pure]
"""

from dataclasses import dataclass, replace

from gitops.forge import Forge, Proposal, PullRequest, StatusState
from gitops.owners import reviewers_of
from gitops.ports import Source


@dataclass(frozen=True, slots=True)
class InvitingForge:
    """The same forge; what it opens has labels, and reviewers by CODEOWNERS or OWNERS at the base.

    They are invitations only: who counts is the policy's word. What a proposal names itself stays.
    """

    forge: Forge
    source: Source
    labels: tuple[str, ...] = ()

    def open_pull_request(self, proposal: Proposal) -> PullRequest:
        found = reviewers_of(proposal.files, lambda path: self.source.read(path, proposal.base_sha))
        invited = replace(
            proposal,
            labels=proposal.labels or self.labels,
            reviewers=proposal.reviewers or found,
        )
        return self.forge.open_pull_request(invited)

    def find(self, branch: str) -> PullRequest | None:
        return self.forge.find(branch)

    def read(self, number: int) -> PullRequest:
        return self.forge.read(number)

    def set_status(self, sha: str, state: StatusState, description: str) -> None:
        self.forge.set_status(sha, state, description)

    def comment(self, number: int, key: str, text: str) -> None:
        self.forge.comment(number, key, text)

    def merge(self, number: int, expected_head: str, message: str) -> PullRequest:
        return self.forge.merge(number, expected_head, message)

    def close(self, number: int) -> None:
        self.forge.close(number)
