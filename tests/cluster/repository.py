"""A repository on the forge, and the steps of a pull request."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from tests.cluster.web import Api

ADMIN = "forge-admin"


class Forge(Protocol):
    """What a repository asks of its forge."""

    url: str

    def token(self, user: str = ADMIN) -> str: ...

    def api_as(self, user: str = ADMIN) -> Api: ...


@dataclass(frozen=True, slots=True)
class Repository:
    """A repository on Gitea, with what a test does as the administrator unless it names somebody else."""

    forge: Forge
    owner: str
    name: str

    @property
    def path(self) -> str:
        """Its path in Gitea's API."""
        return f"/repos/{self.owner}/{self.name}"

    @property
    def clone_url(self) -> str:
        """For reading over HTTP without a password."""
        return f"{self.forge.url}/{self.owner}/{self.name}.git"

    def clone_url_as(self, user: str) -> str:
        """For reading and writing over HTTP as a user."""
        return self.clone_url.replace("://", f"://{user}:{self.forge.token(user)}@", 1)

    def head(self, branch: str = "main") -> str:
        """The commit id at the tip of a branch."""
        commit: str = self.forge.api_as().get(f"{self.path}/branches/{branch}")["commit"]["id"]
        return commit

    def read(self, file: str, ref: str = "main") -> str:
        """The text of a file at a branch or commit."""
        return self.forge.api_as().text(f"{self.path}/raw/{file}?ref={ref}")

    def commit(
        self,
        files: Mapping[str, str],
        message: str,
        *,
        branch: str | None = None,
        user: str = ADMIN,
    ) -> str:
        """Writes files in one commit, on a new branch from main if one is named, and returns the commit id."""
        api = self.forge.api_as(user)
        known = {
            entry["path"]: entry["sha"]
            for entry in api.get(f"{self.path}/git/trees/main?recursive=true")["tree"]
        }
        changes = [
            {
                "operation": "update" if file in known else "create",
                "path": file,
                "content": b64encode(text.encode()).decode(),
                **({"sha": known[file]} if file in known else {}),
            }
            for file, text in files.items()
        ]
        body = {
            "branch": "main",
            "message": message,
            "files": changes,
            **({"new_branch": branch} if branch else {}),
        }
        commit: str = api.post(f"{self.path}/contents", body)["commit"]["sha"]
        return commit

    def protect(
        self, branch: str = "main", *, statuses: Sequence[str] = (), approvals: int = 0
    ) -> None:
        """Protects a branch: no direct pushes, and these statuses and so many approvals before a merge."""
        body = {
            "rule_name": branch,
            "enable_push": False,
            "enable_status_check": bool(statuses),
            "status_check_contexts": list(statuses),
            "required_approvals": approvals,
            "dismiss_stale_approvals": True,
        }
        self.forge.api_as().post(f"{self.path}/branch_protections", body)

    def open_pull(self, branch: str, title: str, *, user: str = ADMIN) -> dict[str, Any]:
        """Opens a pull request from a branch to main."""
        pull: dict[str, Any] = self.forge.api_as(user).post(
            f"{self.path}/pulls", {"head": branch, "base": "main", "title": title}
        )
        return pull

    def set_status(self, commit: str, context: str, state: str, *, user: str = ADMIN) -> None:
        """Sets a commit status: pending, success, failure or error."""
        self.forge.api_as(user).post(
            f"{self.path}/statuses/{commit}", {"context": context, "state": state}
        )

    def merge(self, number: int, expected_head: str, *, user: str = ADMIN) -> None:
        """Merges a pull request if its branch still ends at the expected commit.

        Raises:
            RefusedError: with status 405 while a requirement is missing, 409 when the branch has moved.
        """
        body = {"Do": "merge", "head_commit_id": expected_head}
        self.forge.api_as(user).post(f"{self.path}/pulls/{number}/merge", body)

    def add_hook(
        self, url: str, secret: str, events: Sequence[str] = ("push", "pull_request", "status")
    ) -> None:
        """Adds a webhook to an address on loopback."""
        config = {"url": url, "content_type": "json", "secret": secret}
        body = {"type": "gitea", "active": True, "events": list(events), "config": config}
        self.forge.api_as().post(f"{self.path}/hooks", body)
