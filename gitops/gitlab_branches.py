"""Branches, commits and files of a project on GitLab, as far as a merge request needs them."""

from base64 import b64encode
from typing import Any

from gitops.forge import ForgeDenied, Proposal
from gitops.forge_errors import cleaned
from gitops.forge_http import ForgeHttp, escaped
from gitops.forge_text import ours, taken

NAME = "GitLab"


class GitlabBranches:
    """One project, by its path in the API."""

    def __init__(self, http: ForgeHttp, project: str) -> None:
        self._http = http
        self._project = project

    def make(self, proposal: Proposal) -> None:
        """Make branch and commit in one call from the base commit, unless they are there."""
        actions = [self._action(proposal, path, data) for path, data in proposal.files.items()]
        body = {
            "branch": proposal.branch,
            "start_sha": proposal.base_sha,
            "commit_message": proposal.message,
            "actions": actions,
        }
        path = f"{self._project}/repository/commits"
        made = self._http.post(path, body, accept=(400, 409))
        if made.status < 300:
            return
        tip = self.tip(proposal.branch)
        if tip is None:
            raise ForgeDenied(f"{NAME} refuses the commit: {cleaned(made.words)}")
        self._check(proposal, tip)

    def _action(self, proposal: Proposal, path: str, data: bytes | None) -> dict[str, str]:
        if data is None:
            return {"action": "delete", "file_path": path}
        there = self.blob(path, proposal.base_sha) is not None
        return {
            "action": "update" if there else "create",
            "file_path": path,
            "content": b64encode(data).decode(),
            "encoding": "base64",
        }

    def _check(self, proposal: Proposal, tip: str) -> None:
        """Accept a branch that holds exactly the proposal; raises ForgeConflict."""
        path = f"{self._project}/repository/commits/{tip}"
        commit = self._http.get(path).data
        diffs = list(self._http.pages(f"{path}/diff"))
        paths = {p for d in diffs for p in (d["old_path"], d["new_path"])}
        if len(paths) > len(proposal.files):
            raise taken(proposal.branch)
        blobs = {name: self.blob(name, tip) for name in paths}
        ours(proposal, commit["parent_ids"], commit["message"], blobs)

    def base_of(self, shown: dict[str, Any], target: str) -> str:
        base = (shown.get("diff_refs") or {}).get("base_sha")
        if not base:  # not worked out yet, right after it was made
            refs = {"refs[]": [target, shown["sha"]]}
            base = self._http.get(f"{self._project}/repository/merge_base", **refs).data["id"]
        return str(base)

    def blob(self, path: str, commit: str) -> str | None:
        where = f"{self._project}/repository/files/{escaped(path)}"
        found = self._http.get(where, accept=(404,), ref=commit)
        return None if found.status == 404 else str(found.data["blob_id"])

    def tip(self, branch: str) -> str | None:
        path = f"{self._project}/repository/branches/{escaped(branch)}"
        found = self._http.get(path, accept=(404,))
        return None if found.status == 404 else str(found.data["commit"]["id"])
