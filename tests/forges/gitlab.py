"""GitLab as far as the adapter uses it: stateful, with replies as recorded by GitLab's own client."""

import base64
import copy
from dataclasses import dataclass, field
from typing import Any

from gitops.forge_text import blob_sha
from tests.forges import gitlab_published
from tests.forges.commits import Commits
from tests.forges.openapi import Description
from tests.forges.validating import Call, Forge, Reply

PROJECT = "/projects/acme%2Fgpu%2Ffleet"
MERGE = f"{PROJECT}/merge_requests"
N = r"(\d+)"
SHA = "([0-9a-f]+)"


def message(status: int, words: Any, **headers: str) -> Reply:
    return Reply(status, {"message": words}, headers)


@dataclass
class Gitlab:
    """One project; tests change its state by hand as people would. Time goes by in minutes."""

    description: Description
    git: Commits
    pulls: dict[int, dict[str, Any]] = field(default_factory=dict)
    notes: dict[int, list[dict[str, Any]]] = field(default_factory=dict)
    versions: dict[int, list[dict[str, Any]]] = field(default_factory=dict)
    approved: dict[int, list[str]] = field(default_factory=dict)
    reviewers: dict[int, dict[str, str]] = field(default_factory=dict)
    statuses: dict[str, list[dict[str, str]]] = field(default_factory=dict)
    merges: list[dict[str, Any]] = field(default_factory=list)
    status_of_merge: str = ""
    minute: int = 0

    def forge(self) -> Forge:
        routes: Any = [
            ("GET", "/user", lambda _: Reply(200, self.user("gpubot"))),
            ("GET", "/users", self.users),
            ("GET", MERGE, self.find),
            ("POST", MERGE, self.create),
            ("GET", f"{MERGE}/{N}", lambda _, n: self.read(int(n))),
            ("PUT", f"{MERGE}/{N}", self.close),
            ("PUT", f"{MERGE}/{N}/merge", self.merge),
            ("GET", f"{MERGE}/{N}/notes", lambda c, n: self.page(c, self.notes[int(n)])),
            ("POST", f"{MERGE}/{N}/notes", self.note),
            ("GET", f"{MERGE}/{N}/approvals", self.approvals),
            ("GET", f"{MERGE}/{N}/reviewers", self.reviewers_of),
            ("GET", f"{MERGE}/{N}/versions", lambda c, n: self.page(c, self.versions_of(int(n)))),
            ("POST", f"{PROJECT}/repository/commits", self.commit),
            ("GET", f"{PROJECT}/repository/commits/{SHA}", self.get_commit),
            ("GET", f"{PROJECT}/repository/commits/{SHA}/diff", self.diff),
            ("GET", f"{PROJECT}/repository/commits/{SHA}/statuses", self.get_statuses),
            ("POST", f"{PROJECT}/statuses/{SHA}", self.status),
            ("GET", f"{PROJECT}/repository/files/([^/]+)", self.file),
            ("GET", f"{PROJECT}/repository/branches/([^/]+)", self.branch),
            ("DELETE", f"{PROJECT}/repository/branches/([^/]+)", self.delete_branch),
            ("GET", f"{PROJECT}/repository/merge_base", self.merge_base),
        ]
        refusals = (400, 401, 403, 404, 405, 406, 409, 422)
        names = [
            f"{m.upper()} {p}"
            for p, item in self.description.document["paths"].items()
            for m in item
        ]
        # The client's types say what a success is; a refusal is a message everywhere.
        unchecked = frozenset(f"{status} {name}" for status in refusals for name in names)
        return Forge(routes, self.description, "/api/v4", unchecked)

    def now(self) -> str:
        self.minute += 1
        return f"2026-12-01T{10 + self.minute // 60:02}:{self.minute % 60:02}:00.000Z"

    def user(self, name: str) -> dict[str, Any]:
        ids = {"gpubot": 1, "kim": 2, "li": 3, "ana": 4}
        return {"id": ids[name], "username": name, "name": name, "state": "active"}

    def users(self, call: Call) -> Reply:
        known = call.query["username"] in ("kim", "li", "ana")
        return Reply(200, [self.user(call.query["username"])] if known else [])

    def page(self, call: Call, entries: list[Any]) -> Reply:
        size, number = int(call.query["per_page"]), int(call.query["page"])
        return Reply(200, entries[size * (number - 1) : size * number])

    def find(self, call: Call) -> Reply:
        branch = call.query["source_branch"]
        found = [n for n, pull in self.pulls.items() if pull["source_branch"] == branch]
        return self.page(call, [self.read(n).body for n in found])

    def create(self, call: Call) -> Reply:
        branch = call.body["source_branch"]
        for number, pull in self.pulls.items():
            if (pull["source_branch"], pull["state"]) == (branch, "opened"):
                words = (
                    f"Another open merge request already exists for this source branch: !{number}"
                )
                return message(409, [words])
        number = len(self.pulls) + 1
        self.pulls[number] = dict(call.body) | {"state": "opened"}
        self.notes[number], self.versions[number] = [], []
        self.approved[number], self.reviewers[number] = [], {}
        return Reply(201, self.read(number).body)

    def read(self, number: int) -> Reply:
        if number not in self.pulls:
            return message(404, "404 Not found")
        kept = self.pulls[number]
        branch = kept["source_branch"]
        head = kept["head"] = self.git.branches.get(branch, kept.get("head", ""))
        is_open = kept["state"] == "opened"
        conflict = is_open and self.git.conflicts(branch)
        base = self.git.base(head, self.git.branches["main"]) if is_open else kept.get("base")
        kept["base"] = base
        shown = copy.deepcopy(gitlab_published.example("get_merge_request"))
        for dropped in ("work_in_progress", "merge_status", "reference", "first_contribution"):
            shown.pop(dropped)
        shown |= {
            "iid": number,
            "web_url": f"https://gitlab.example/acme/gpu/fleet/-/merge_requests/{number}",
            "source_branch": branch,
            "state": kept["state"],
            "sha": head,
            "source_project_id": 1,
            "target_project_id": 1,
            "has_conflicts": conflict,
            "detailed_merge_status": self.status_of_merge
            or ("conflict" if conflict else "mergeable"),
            "merge_commit_sha": kept.get("merge_sha"),
            "merge_user": kept.get("by"),
            "diff_refs": {"base_sha": base, "head_sha": head, "start_sha": base},
        }
        if self.status_of_merge == "preparing":
            shown["diff_refs"] = None
        return Reply(200, shown)

    def versions_of(self, number: int) -> list[dict[str, Any]]:
        """Newest first, as GitLab lists them; a push that nobody looked at until now is one too."""
        head = self.read(number).body["sha"]
        known = self.versions[number]
        if not known or known[0]["head_commit_sha"] != head:
            entry = {"id": len(known) + 1, "head_commit_sha": head, "created_at": self.now()}
            known.insert(0, entry)
        return known

    def say(self, number: int, by: str, words: str) -> None:
        """Let a person act; GitLab writes a system note about it."""
        self.versions_of(number)
        entry = {"id": self.minute, "body": words, "author": self.user(by), "system": True}
        self.notes[number].append(entry | {"created_at": self.now()})

    def approve(self, number: int, by: str) -> None:
        self.approved[number].append(by)
        self.say(number, by, "approved this merge request")

    def approvals(self, _: Call, number: str) -> Reply:
        given = [{"user": self.user(name)} for name in self.approved[int(number)]]
        return Reply(200, {"iid": int(number), "approved_by": given})

    def reviewers_of(self, _: Call, number: str) -> Reply:
        known = self.reviewers[int(number)]
        return Reply(200, [{"user": self.user(name), "state": s} for name, s in known.items()])

    def note(self, call: Call, number: str) -> Reply:
        entry = {"id": 900 + self.minute, "body": call.body["body"], "author": self.user("gpubot")}
        self.notes[int(number)].append(entry | {"system": False, "created_at": self.now()})
        return Reply(201, self.notes[int(number)][-1])

    def close(self, call: Call, number: str) -> Reply:
        assert call.body == {"state_event": "close"}
        self.read(int(number))
        self.pulls[int(number)]["state"] = "closed"
        return self.read(int(number))

    def merge(self, call: Call, number: str) -> Reply:
        self.merges.append(call.body)
        shown = self.read(int(number)).body
        if call.body["sha"] != shown["sha"]:
            return message(409, "SHA does not match HEAD of source branch")
        if call.body.get("auto_merge"):
            return Reply(200, shown)
        if shown["detailed_merge_status"] != "mergeable":
            return message(405, "405 Method Not Allowed")
        self.merge_by_hand(int(number), "gpubot", call.body["merge_commit_message"])
        return self.read(int(number))

    def merge_by_hand(self, number: int, by: str, text: str = "Merge") -> None:
        pull, head = self.pulls[number], self.read(number).body["sha"]
        tip = self.git.branches["main"]
        files = self.git.changed(self.git.base(head, tip), head)
        sha = self.git.commit("main", files, text, tip, head)
        pull |= {"state": "merged", "merge_sha": sha, "by": self.user(by)}

    def commit(self, call: Call) -> Reply:
        branch, start = call.body["branch"], call.body["start_sha"]
        if branch in self.git.branches:
            words = f"A branch called '{branch}' already exists."
            return message(400, f"{words} Switch to that branch in order to make changes")
        if start not in self.git.trees:
            return message(400, "Cannot find start_sha")
        files: dict[str, bytes | None] = {}
        for action in call.body["actions"]:
            path, there = action["file_path"], action["file_path"] in self.git.trees[start]
            if (action["action"] == "create") == there:
                return message(
                    400, "A file with this name already exists" if there else "No such file"
                )
            files[path] = None
            if action["action"] != "delete":
                assert action["encoding"] == "base64"
                files[path] = base64.b64decode(action["content"])
        sha = self.git.commit(branch, files, call.body["commit_message"], start)
        return Reply(201, self._commit(sha))

    def _commit(self, sha: str) -> dict[str, Any]:
        said = {"id": sha, "message": self.git.messages[sha]}
        return said | {"parent_ids": list(self.git.parents[sha])}

    def get_commit(self, _: Call, sha: str) -> Reply:
        return Reply(200, self._commit(sha))

    def diff(self, call: Call, sha: str) -> Reply:
        entries = [
            {
                "old_path": file["filename"],
                "new_path": file["filename"],
                "new_file": file["status"] == "added",
                "deleted_file": file["status"] == "removed",
                "renamed_file": False,
            }
            for file in self.git.files(sha)
        ]
        return self.page(call, entries)

    def get_statuses(self, call: Call, sha: str) -> Reply:
        if sha not in self.git.trees:
            return message(404, "404 Commit Not Found")
        return Reply(200, self.statuses.get(sha, [])[-1:])

    def status(self, call: Call, sha: str) -> Reply:
        known = self.statuses.setdefault(sha, [])
        if known and known[-1]["status"] == call.body["state"]:
            return message(400, "Cannot transition status via :enqueue from :pending")
        known.append({"name": call.body["name"], "status": call.body["state"]})
        known[-1]["description"] = call.body["description"]
        return Reply(201, known[-1])

    def file(self, call: Call, path: str) -> Reply:
        data = self.git.trees.get(call.query["ref"], {}).get(path)
        if data is None:
            return message(404, "404 File Not Found")
        return Reply(200, {"file_path": path, "blob_id": blob_sha(data)})

    def branch(self, _: Call, branch: str) -> Reply:
        if branch not in self.git.branches:
            return message(404, "404 Branch Not Found")
        return Reply(200, {"name": branch, "commit": self._commit(self.git.branches[branch])})

    def delete_branch(self, _: Call, branch: str) -> Reply:
        if self.git.branches.pop(branch, None) is None:
            return message(404, "404 Branch Not Found")
        return Reply(204)

    def merge_base(self, call: Call) -> Reply:
        return Reply(
            200, self._commit(self.git.base(call.query["refs[]"], self.git.branches["main"]))
        )
