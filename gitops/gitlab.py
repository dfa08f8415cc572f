"""Merge requests on GitLab (the Forge protocol), over its REST API.

Upstream: https://docs.gitlab.com/api/merge_requests, .../commits, .../merge_request_approvals
"""

from collections.abc import Callable
from typing import Any

from gitops.forge import (
    STATUS_CONTEXT,
    ForgeConflict,
    ForgeDenied,
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
)
from gitops.gitlab_branches import NAME, GitlabBranches
from gitops.gitlab_reply import pull_of, reviews_of

PUBLIC = "https://gitlab.com"
# GitLab has no "failure"; the other two are its own words.
_STATES = {"pending": "pending", "success": "success", "failure": "failed"}
_RUNNING = frozenset({"ci_still_running", "ci_must_pass"})


class GitlabForge:
    """The merge requests of one project, as the user or the project whose token it is.

    ``url`` is the instance's address, ``project`` its GROUP/.../NAME, ``base`` the branch that
    merge requests go into.
    """

    def __init__(
        self, project: str, token: Callable[[], str], *, url: str = PUBLIC, base: str = "main"
    ) -> None:
        self._http = ForgeHttp(NAME, f"{url.rstrip('/')}/api/v4", token)
        self._project = f"/projects/{escaped(project)}"
        self._branches = GitlabBranches(self._http, self._project)
        self._base = base
        self._login = ""

    def open_pull_request(self, proposal: Proposal) -> PullRequest:
        """Make branch, commit and merge request; whatever of them exists already is kept."""
        own_branch(proposal.branch)
        existing = self.find(proposal.branch)
        if existing is not None:
            return existing
        self._branches.make(proposal)
        body = {
            "source_branch": proposal.branch,
            "target_branch": self._base,
            "title": proposal.title,
            "description": proposal.body,
            **self._decoration(proposal),
        }
        made = self._http.post(f"{self._project}/merge_requests", body, accept=(409,))
        if made.status == 409:
            found = self.find(proposal.branch)
            if found is None:
                raise ForgeDenied(f"{NAME} refuses it: {cleaned(made.words)}")
            return found
        return self.read(made.data["iid"])

    def find(self, branch: str) -> PullRequest | None:
        """Find the merge request of this branch in whatever state; None if there never was one."""
        query = {"state": "all", "source_branch": branch, "target_branch": self._base}
        found = self._http.pages(f"{self._project}/merge_requests", **query)
        own = [m["iid"] for m in found if m["source_project_id"] == m["target_project_id"]]
        return self.read(max(own)) if own else None

    def read(self, number: int) -> PullRequest:
        """Read the merge request with its approvals; raises ForgeMissing if there is none."""
        shown, path = self._shown(number), self._path(number)
        reviews = reviews_of(
            self._http.pages(f"{path}/notes", sort="asc"),
            self._http.get(f"{path}/approvals").data["approved_by"],
            self._http.get(f"{path}/reviewers").data,
            list(self._http.pages(f"{path}/versions")),
        )
        return pull_of(shown, self._branches.base_of(shown, self._base), reviews)

    def set_status(self, sha: str, state: StatusState, description_: str) -> None:
        """Set the commit status ``gpubot/approvals``; raises ForgeMissing without the commit.

        GitLab refuses to set a status to what it is, so it is looked at first.
        """
        path = f"{self._project}/repository/commits/{escaped(sha)}/statuses"
        wanted, text = _STATES[state], description(description_)
        for status in self._http.get(path, name=STATUS_CONTEXT).data:
            if (status["name"], status["status"]) == (STATUS_CONTEXT, wanted):
                return
        body = {"name": STATUS_CONTEXT, "state": wanted, "description": text}
        self._http.post(f"{self._project}/statuses/{escaped(sha)}", body)

    def comment(self, number: int, key: str, text: str) -> None:
        """Write a note unless one with this key is there."""
        path, mine = f"{self._path(number)}/notes", self._me()
        for note in self._http.pages(path, sort="asc"):
            if note["author"]["username"] == mine and has_marker(note["body"], key):
                return
        self._http.post(path, {"body": comment_body(key, text)})

    def merge(self, number: int, expected_head: str, message: str) -> PullRequest:
        """Merge if the head is still ``expected_head``; an already merged one is returned.

        While its pipeline runs, GitLab is asked to merge it by itself; it is returned open then.
        """
        pull = self.read(number)
        if pull.state == "merged":
            return pull
        if pull.state == "closed":
            raise not_open(number)
        if pull.head_sha != expected_head:
            raise moved(pull.branch)
        if pull.mergeable is False:
            raise disputed()
        waiting = self._shown(number).get("detailed_merge_status") in _RUNNING
        reply = self._merge(number, expected_head, message, by_itself=waiting)
        if reply.status == 409:
            raise moved(pull.branch)
        if reply.status >= 300:
            raise self._refused(number, reply)
        return self.read(number)

    def close(self, number: int) -> None:
        """Close it if it is open, and delete its branch if that is still there."""
        shown = self._shown(number)
        if shown["state"] == "opened":
            self._http.call("PUT", self._path(number), body={"state_event": "close"})
        own = shown["source_project_id"] == shown["target_project_id"]
        if own and BRANCH.fullmatch(shown["source_branch"]):
            path = f"{self._project}/repository/branches/{escaped(shown['source_branch'])}"
            self._http.call("DELETE", path, accept=(404,))

    def _merge(self, number: int, head: str, message: str, *, by_itself: bool) -> Reply:
        body: dict[str, Any] = {
            "sha": head,
            "merge_commit_message": message,
            "should_remove_source_branch": False,
        }
        if by_itself:  # The second name is what it was before 17.11.
            body |= {"auto_merge": True, "merge_when_pipeline_succeeds": True}
        path = f"{self._path(number)}/merge"
        return self._http.call("PUT", path, body=body, accept=(401, 405, 406, 409, 422))

    def _refused(self, number: int, reply: Reply) -> ForgeConflict | ForgeDenied:
        """Return why it wasn't merged; 401 here means the right to merge, not the token."""
        shown = self._shown(number)
        if shown.get("has_conflicts"):
            return disputed()
        why = shown.get("detailed_merge_status") or reply.words
        return ForgeDenied(
            f"{NAME} refuses to merge it: {cleaned(why)}",
            "Fix the right, the branch protection or the missing check; I try again by myself.",
            detail=f"HTTP {reply.status} {cleaned(reply.words)}",
        )

    def _decoration(self, proposal: Proposal) -> dict[str, Any]:
        """Return labels, and the ids of reviewers that GitLab knows."""
        found: dict[str, Any] = {}
        if proposal.labels:
            found["labels"] = ",".join(proposal.labels)
        people = [r for r in proposal.reviewers if "/" not in r]
        known = [self._http.get("/users", username=name).data for name in people]
        ids = [users[0]["id"] for users in known if users]
        return found | ({"reviewer_ids": ids} if ids else {})

    def _shown(self, number: int) -> dict[str, Any]:
        found: dict[str, Any] = self._http.get(self._path(number)).data
        return found

    def _path(self, number: int) -> str:
        return f"{self._project}/merge_requests/{int(number)}"

    def _me(self) -> str:
        if not self._login:
            self._login = self._http.get("/user").data["username"]
        return self._login
