"""Branches, commits and files of a repository on Gitea, as far as a pull request needs them."""

from base64 import b64encode
from typing import Any

from gitops.forge import ForgeDown, ForgeMissing, Proposal
from gitops.forge_http import ForgeHttp, escaped
from gitops.forge_text import ours, taken

NAME = "Gitea"
_GONE = (404,)


class GiteaBranches:
    """One repository, by its path in the API."""

    def __init__(self, http: ForgeHttp, repo: str) -> None:
        self._http = http
        self._repo = repo

    def make(self, proposal: Proposal) -> None:
        """Make the branch at the base commit and put one commit on it, unless it is there.

        A crash in between leaves a branch without a commit, which is gone on with.
        """
        body = {"new_branch_name": proposal.branch, "old_ref_name": proposal.base_sha}
        try:
            self._http.post(f"{self._repo}/branches", body, accept=(409,))
        except ForgeDown:
            self.commit(proposal.base_sha)  # 500 also means that this isn't there
            raise
        if self.tip(proposal.branch) != proposal.base_sha:
            self._check(proposal)
            return
        files = [self._operation(proposal, path, data) for path, data in proposal.files.items()]
        change = {"branch": proposal.branch, "message": proposal.message, "files": files}
        made = self._http.post(f"{self._repo}/contents", change, accept=(409, 422))
        if made.status >= 300:
            self._check(proposal)

    def _operation(self, proposal: Proposal, path: str, data: bytes | None) -> dict[str, str]:
        there = self.blob(path, proposal.base_sha)
        operation: dict[str, str] = {"path": path}
        if there is not None:
            operation["sha"] = there
        if data is None:
            return {**operation, "operation": "delete"}
        operation["operation"] = "create" if there is None else "update"
        return {**operation, "content": b64encode(data).decode()}

    def _check(self, proposal: Proposal) -> None:
        """Accept a branch that holds exactly the proposal; raises ForgeConflict."""
        tip = self.tip(proposal.branch)
        commit = self.commit(tip)
        paths = [file["filename"] for file in commit.get("files") or []]
        if len(paths) > len(proposal.files):
            raise taken(proposal.branch)
        blobs = {path: self.blob(path, tip) for path in paths}
        parents = [parent["sha"] for parent in commit["parents"]]
        ours(proposal, parents, commit["commit"]["message"], blobs)

    def blob(self, path: str, commit: str) -> str | None:
        where = "/".join(escaped(part) for part in path.split("/"))
        found = self._http.get(f"{self._repo}/contents/{where}", accept=_GONE, ref=commit)
        return None if found.status in _GONE else str(found.data["sha"])

    def tip(self, branch: str) -> str:
        found = self._http.get(f"{self._repo}/branches/{escaped(branch)}")
        return str(found.data["commit"]["id"])

    def commit(self, sha: str) -> dict[str, Any]:
        path = f"{self._repo}/git/commits/{escaped(sha)}"
        found: dict[str, Any] = self._http.get(path, stat="false", verification="false").data
        if found is None:
            raise ForgeMissing(f"{NAME} has no commit {sha[:10]}.")
        return found
