"""Pull requests on Gitea or Forgejo (the Forge protocol), over its REST API.

Upstream: https://docs.gitea.com/api, and /swagger.v1.json of every instance.
"""

import time
from collections.abc import Callable
from typing import Any

from gitops.forge import (
    STATUS_CONTEXT,
    ForgeDenied,
    ForgeDown,
    Proposal,
    PullRequest,
    StatusState,
)
from gitops.forge_errors import cleaned
from gitops.forge_http import ForgeHttp, Reply, escaped
from gitops.forge_text import (
    BRANCH,
    comment_body,
    description,
    disputed,
    has_marker,
    moved,
    not_open,
    own_branch,
    title_and_rest,
)
from gitops.gitea_branches import NAME, GiteaBranches
from gitops.gitea_reply import pull_of, reviews_of

# Gitea looks at a pull request in the background, and refuses to merge it meanwhile.
_MERGE_WAITS = (0.3, 0.5, 1.0, 2.0, 2.0)
_GONE = (404,)


class GiteaForge:
    """The pull requests of one repository, as the user whose token it is.

    ``url`` is the instance's address, ``repository`` its OWNER/NAME, ``base`` the branch that pull
    requests are merged into.
    """

    def __init__(
        self,
        url: str,
        repository: str,
        token: str,
        *,
        base: str = "main",
        pause: Callable[[float], None] = time.sleep,
    ) -> None:
        owner, _, name = repository.partition("/")
        self._http = ForgeHttp(
            NAME,
            f"{url.rstrip('/')}/api/v1",
            lambda: token,
            scheme="token",
            page_size="limit",
        )
        self._repo = f"/repos/{escaped(owner)}/{escaped(name)}"
        self._branches = GiteaBranches(self._http, self._repo)
        self._base = base
        self._pause = pause
        self._login = ""

    def open_pull_request(self, proposal: Proposal) -> PullRequest:
        """Make branch, commit and pull request; whatever of them exists already is kept."""
        own_branch(proposal.branch)
        existing = self.find(proposal.branch)
        if existing is not None:
            return existing
        self._branches.make(proposal)
        body = {
            "head": proposal.branch,
            "base": self._base,
            "title": proposal.title,
            "body": proposal.body,
        }
        made = self._http.post(f"{self._repo}/pulls", body, accept=(409,))
        if made.status == 409:
            found = self.find(proposal.branch)
            if found is None:
                raise ForgeDenied(f"{NAME} refuses it: {cleaned(made.words)}")
            return found
        self._decorate(made.data["number"], proposal)
        return self.read(made.data["number"])

    def find(self, branch: str) -> PullRequest | None:
        """Find the pull request of this branch in whatever state; None if there never was one."""
        path = f"{self._repo}/pulls/{escaped(self._base)}/{escaped(branch)}"
        found = self._http.get(path, accept=_GONE)
        return None if found.status in _GONE else self._shown(found.data)

    def read(self, number: int) -> PullRequest:
        """Read the pull request with its reviews; raises ForgeMissing if there is none."""
        return self._shown(self._http.get(f"{self._repo}/pulls/{int(number)}").data)

    def set_status(self, sha: str, state: StatusState, description_: str) -> None:
        """Set the commit status ``gpubot/approvals``; raises ForgeMissing without the commit."""
        body = {"context": STATUS_CONTEXT, "state": state, "description": description(description_)}
        try:
            self._http.post(f"{self._repo}/statuses/{escaped(sha)}", body)
        except ForgeDown:
            # For a commit that isn't there Gitea answers 500, as if it were broken.
            self._branches.commit(sha)
            raise

    def comment(self, number: int, key: str, text: str) -> None:
        """Write a comment unless one with this key is there."""
        path = f"{self._repo}/issues/{int(number)}/comments"
        comments = self._http.get(path).data or []
        mine = self._me()
        if any(c["user"]["login"] == mine and has_marker(c["body"], key) for c in comments):
            return
        self._http.post(path, {"body": comment_body(key, text)})

    def merge(self, number: int, expected_head: str, message: str) -> PullRequest:
        """Merge if the head is still ``expected_head``; an already merged one is returned."""
        for wait in (*_MERGE_WAITS, None):
            pull = self.read(number)
            if pull.state == "merged":
                return pull
            if pull.state == "closed":
                raise not_open(number)
            if pull.head_sha != expected_head:
                raise moved(pull.branch)
            if pull.mergeable is False:
                raise disputed()
            reply = self._merge(number, expected_head, message)
            if reply.status < 300:
                return self.read(number)
            if reply.status == 409:
                raise moved(pull.branch) if "out of date" in reply.words else disputed()
            if "already merged" not in reply.words and "try again" not in reply.words.lower():
                raise ForgeDenied(
                    f"{NAME} refuses to merge it: {cleaned(reply.words)}",
                    "Fix the branch protection or the missing check; I try again by myself.",
                )
            if wait is not None:
                self._pause(wait)
        raise ForgeDown(NAME, retry_after=5, detail="it hasn't checked the pull request yet")

    def close(self, number: int) -> None:
        """Close it if it is open, and delete its branch if that is still there."""
        pull = self.read(number)
        if pull.state == "open":
            # 412: it was merged this very moment.
            path = f"{self._repo}/pulls/{int(number)}"
            self._http.call("PATCH", path, body={"state": "closed"}, accept=(412,))
        if BRANCH.fullmatch(pull.branch):
            path = f"{self._repo}/branches/{escaped(pull.branch)}"
            self._http.call("DELETE", path, accept=_GONE)

    def _merge(self, number: int, head: str, message: str) -> Reply:
        title, rest = title_and_rest(message)
        body = {
            "do": "merge",
            "head_commit_id": head,
            # Up to 1.25, and in Forgejo, these two are spelt like the fields of a Go structure.
            "merge_title_field": title,
            "merge_message_field": rest,
            "MergeTitleField": title,
            "MergeMessageField": rest,
        }
        return self._http.post(
            f"{self._repo}/pulls/{int(number)}/merge", body, accept=(404, 405, 409)
        )

    def _decorate(self, number: int, proposal: Proposal) -> None:
        """Ask for labels and reviews; one that Gitea doesn't know must not hold up the rest."""
        if proposal.labels:
            path = f"{self._repo}/issues/{int(number)}/labels"
            self._http.post(path, {"labels": list(proposal.labels)}, accept=(403, 404, 422))
        for reviewer in proposal.reviewers:
            who, _, team = reviewer.partition("/")
            body = {"team_reviewers": [team]} if team else {"reviewers": [who]}
            path = f"{self._repo}/pulls/{int(number)}/requested_reviewers"
            self._http.post(path, body, accept=(403, 404, 422))

    def _shown(self, pull: dict[str, Any]) -> PullRequest:
        reviews = reviews_of(self._http.pages(f"{self._repo}/pulls/{pull['number']}/reviews"))
        return pull_of(pull, reviews, self._mergeable(pull))

    def _mergeable(self, pull: dict[str, Any]) -> bool | None:
        """Tell a conflict from "not looked at yet", which Gitea calls not mergeable too."""
        if pull["state"] != "open":
            return None
        if pull["mergeable"]:
            return True
        base, tip = pull["merge_base"], self._branches.tip(self._base)
        if base == tip:
            return None
        files = self._http.pages(f"{self._repo}/pulls/{pull['number']}/files")
        if all(
            self._branches.blob(f["filename"], base) == self._branches.blob(f["filename"], tip)
            for f in files
        ):
            return None
        self._pause(1.0)
        again = self._http.get(f"{self._repo}/pulls/{pull['number']}").data
        return bool(again["mergeable"])

    def _me(self) -> str:
        if not self._login:
            self._login = self._http.get("/user").data["login"]
        return self._login
