"""Pull requests on GitHub and GitHub Enterprise Server (the Forge protocol).

Upstream: https://docs.github.com/rest, and the GraphQL mutation createCommitOnBranch, which makes
signed commits without a key of our own.
"""

from collections.abc import Callable
from typing import Any

from gitops.forge import (
    STATUS_CONTEXT,
    ForgeDenied,
    ForgeDown,
    ForgeMissing,
    Proposal,
    PullRequest,
    StatusState,
)
from gitops.forge_errors import cleaned
from gitops.forge_http import ForgeHttp, escaped
from gitops.forge_text import (
    BRANCH,
    comment_body,
    description,
    disputed,
    has_marker,
    moved,
    not_open,
    ours,
    own_branch,
    taken,
    title_and_rest,
)
from gitops.github_access import NAME, PUBLIC, api_of
from gitops.github_graphql import GithubGraphql
from gitops.github_reply import pull_of, reviews_of

_JSON = "application/vnd.github+json"


class GithubForge:
    """The pull requests of one repository, as the App or the user whose token it is.

    ``url`` is the web address (github.com, or that of an Enterprise Server), ``repository`` its
    OWNER/NAME, ``base`` the branch that pull requests are merged into.
    """

    def __init__(
        self, repository: str, token: Callable[[], str], *, url: str = PUBLIC, base: str = "main"
    ) -> None:
        self._owner, _, name = repository.partition("/")
        self._http = ForgeHttp(NAME, api_of(url), token, accept=_JSON)
        graphql = api_of(url).removesuffix("/v3")
        self._graphql = GithubGraphql(
            ForgeHttp(NAME, graphql, token, accept=_JSON), self._owner, name
        )
        self._repo = f"/repos/{escaped(self._owner)}/{escaped(name)}"
        self._base = base

    def open_pull_request(self, proposal: Proposal) -> PullRequest:
        """Make branch, commit and pull request; whatever of them exists already is kept."""
        own_branch(proposal.branch)
        existing = self.find(proposal.branch)
        if existing is not None:
            return existing
        self._make_branch(proposal)
        body = {
            "head": proposal.branch,
            "base": self._base,
            "title": proposal.title,
            "body": proposal.body,
        }
        made = self._http.post(f"{self._repo}/pulls", body, accept=(422,))
        if made.status == 422:
            found = self.find(proposal.branch)
            if found is None:
                raise ForgeDenied(f"{NAME} refuses it: {cleaned(str(made.data))}")
            return found
        self._decorate(made.data["number"], proposal)
        return self.read(made.data["number"])

    def find(self, branch: str) -> PullRequest | None:
        """Find the pull request of this branch in whatever state; None if there never was one."""
        query: dict[str, Any] = {
            "state": "all",
            "head": f"{self._owner}:{branch}",
            "base": self._base,
        }
        found = [
            pull["number"]
            for pull in self._http.get(f"{self._repo}/pulls", **query).data
            if pull["head"]["ref"] == branch
        ]
        return self.read(max(found)) if found else None

    def read(self, number: int) -> PullRequest:
        """Read the pull request with its reviews; raises ForgeMissing if there is none."""
        return self._shown(self._pull(number))

    def set_status(self, sha: str, state: StatusState, description_: str) -> None:
        """Set the commit status ``gpubot/approvals``; raises ForgeMissing without the commit."""
        body = {"context": STATUS_CONTEXT, "state": state, "description": description(description_)}
        made = self._http.post(f"{self._repo}/statuses/{escaped(sha)}", body, accept=(422,))
        if made.status == 422:
            if "no commit" in made.words.lower():
                raise ForgeMissing(f"{NAME} has no commit {sha[:10]}.")
            raise ForgeDenied(f"{NAME} refuses the status: {cleaned(made.words)}")

    def comment(self, number: int, key: str, text: str) -> None:
        """Write a comment unless one with this key is there."""
        if any(has_marker(body, key) for body in self._graphql.own_comments(int(number))):
            return
        body = {"body": comment_body(key, text)}
        self._http.post(f"{self._repo}/issues/{int(number)}/comments", body)

    def merge(self, number: int, expected_head: str, message: str) -> PullRequest:
        """Merge if the head is still ``expected_head``; an already merged one is returned.

        While other requirements are open (checks that still run), GitHub is asked to merge it by
        itself, where the repository allows that; the pull request returned is open then.
        """
        pull = self.read(number)
        if pull.state == "merged":
            return pull
        if pull.state == "closed":
            raise not_open(number)
        if pull.head_sha != expected_head:
            raise moved(pull.branch)
        title, rest = title_and_rest(message)
        body = {
            "sha": expected_head,
            "merge_method": "merge",
            "commit_title": title,
            "commit_message": rest,
        }
        path = f"{self._repo}/pulls/{int(number)}/merge"
        reply = self._http.call("PUT", path, body=body, accept=(405, 409, 422))
        if reply.status == 409:
            raise moved(pull.branch)
        if reply.status >= 300:
            self._not_yet(number, expected_head, message, reply.words)
        return self.read(number)

    def close(self, number: int) -> None:
        """Close it if it is open, and delete its branch if that is still there."""
        pull = self._pull(number)
        if pull["state"] == "open":
            path = f"{self._repo}/pulls/{int(number)}"
            self._http.call("PATCH", path, body={"state": "closed"})
        branch, there = pull["head"]["ref"], pull["head"]["repo"]
        if BRANCH.fullmatch(branch) and there and there["id"] == pull["base"]["repo"]["id"]:
            path = f"{self._repo}/git/refs/heads/{branch}"
            gone = self._http.call("DELETE", path, accept=(404, 409, 422))
            if gone.status != 204 and self._tip(branch) is not None:
                raise ForgeDenied(f"{NAME} keeps the branch {branch}: {cleaned(gone.words)}")

    def _not_yet(self, number: int, head: str, message: str, words: str) -> None:
        """Do what a refused merge asks for, or raise why it can't be done."""
        if "base branch was modified" in words.lower():
            raise ForgeDown(NAME, retry_after=1, detail=words)
        pull = self._pull(number)
        if pull["merged"] or pull.get("auto_merge"):
            return
        if pull["mergeable"] is False:
            raise disputed()
        if pull["mergeable_state"] == "blocked" and pull["base"]["repo"].get("allow_auto_merge"):
            self._graphql.auto_merge(pull["node_id"], head, message)
            return
        raise ForgeDenied(
            f"{NAME} refuses to merge it: {cleaned(words)}",
            "Fix the branch protection or the missing check; I try again by myself.",
        )

    def _make_branch(self, proposal: Proposal) -> None:
        """Make the branch at the base commit and put one commit on it, unless it is there."""
        body = {"ref": f"refs/heads/{proposal.branch}", "sha": proposal.base_sha}
        made = self._http.post(f"{self._repo}/git/refs", body, accept=(422,))
        tip = proposal.base_sha if made.status == 201 else self._tip(proposal.branch)
        if tip is None:
            raise ForgeMissing(f"{NAME} has no commit {proposal.base_sha[:10]}.")
        if tip != proposal.base_sha or not self._graphql.commit(proposal):
            self._check(proposal)

    def _check(self, proposal: Proposal) -> None:
        """Accept a branch that holds exactly the proposal; raises ForgeConflict."""
        tip = self._tip(proposal.branch)
        if tip is None:
            raise taken(proposal.branch)
        commit = self._http.get(f"{self._repo}/commits/{tip}").data
        blobs = {
            file["filename"]: None if file["status"] == "removed" else file["sha"]
            for file in commit["files"]
        }
        blobs |= {f["previous_filename"]: None for f in commit["files"] if f["status"] == "renamed"}
        parents = [parent["sha"] for parent in commit["parents"]]
        ours(proposal, parents, commit["commit"]["message"], blobs)

    def _decorate(self, number: int, proposal: Proposal) -> None:
        """Ask for labels and reviews; one that GitHub doesn't know must not hold up the rest."""
        if proposal.labels:
            path = f"{self._repo}/issues/{int(number)}/labels"
            self._http.post(path, {"labels": list(proposal.labels)}, accept=(403, 404, 422))
        for reviewer in proposal.reviewers:
            who, _, team = reviewer.partition("/")
            body = {"team_reviewers": [team]} if team else {"reviewers": [who]}
            path = f"{self._repo}/pulls/{int(number)}/requested_reviewers"
            self._http.post(path, body, accept=(403, 404, 422))

    def _shown(self, pull: dict[str, Any]) -> PullRequest:
        path = f"{self._repo}/pulls/{pull['number']}/reviews"
        base = pull["base"]["sha"]
        if pull["state"] == "open":
            between = f"{escaped(pull['base']['ref'])}...{pull['head']['sha']}"
            compared = self._http.get(f"{self._repo}/compare/{between}").data
            base = compared["merge_base_commit"]["sha"]
        return pull_of(pull, base, reviews_of(self._http.pages(path)))

    def _pull(self, number: int) -> dict[str, Any]:
        found: dict[str, Any] = self._http.get(f"{self._repo}/pulls/{int(number)}").data
        return found

    def _tip(self, branch: str) -> str | None:
        found = self._http.get(f"{self._repo}/git/ref/heads/{branch}", accept=(404,))
        return None if found.status == 404 else str(found.data["object"]["sha"])
