"""GitHub as far as the adapter uses it: stateful, with the replies of its published examples."""

import base64
import copy
from dataclasses import dataclass, field
from typing import Any

from tests.forges.commits import Commits
from tests.forges.openapi import Description
from tests.forges.validating import Call, Forge, Reply

REPO = "/repos/acme/fleet"
N = r"(\d+)"


def message(status: int, words: str, **headers: str) -> Reply:
    body = {"message": words, "documentation_url": "https://docs.github.com/rest", "status": "x"}
    return Reply(status, body | {"status": str(status)}, headers)


def invalid(words: str) -> Reply:
    errors = [{"resource": "PullRequest", "code": "custom", "message": words}]
    reply = message(422, "Validation Failed" if "exists" in words else words)
    return Reply(422, reply.body | {"errors": errors})


@dataclass
class Github:
    """One repository, ACME/FLEET; tests change its state by hand as people would."""

    description: Description
    git: Commits
    pulls: dict[int, dict[str, Any]] = field(default_factory=dict)
    reviews: dict[int, list[dict[str, Any]]] = field(default_factory=dict)
    comments: list[tuple[int, str, bool]] = field(default_factory=list)
    statuses: list[tuple[str, str, str, str]] = field(default_factory=list)
    labels: list[str] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)
    graphql: list[dict[str, Any]] = field(default_factory=list)
    auto_merges: list[dict[str, Any]] = field(default_factory=list)
    required: set[str] = field(default_factory=set)
    allow_auto_merge: bool = False

    def forge(self) -> Forge:
        branch = r"(gpubot/[^/]+|main)"
        routes: Any = [
            ("GET", f"{REPO}/pulls", self.find),
            ("POST", f"{REPO}/pulls", self.create),
            ("GET", f"{REPO}/pulls/{N}", lambda _, n: self.read(int(n))),
            ("PATCH", f"{REPO}/pulls/{N}", self.patch),
            ("PUT", f"{REPO}/pulls/{N}/merge", self.merge),
            ("GET", f"{REPO}/pulls/{N}/reviews", lambda _, n: Reply(200, self.reviews[int(n)])),
            ("POST", f"{REPO}/pulls/{N}/requested_reviewers", self.ask),
            ("POST", f"{REPO}/issues/{N}/labels", self.label),
            ("POST", f"{REPO}/issues/{N}/comments", self.comment),
            ("POST", f"{REPO}/statuses/([0-9a-f]+)", self.status),
            ("POST", f"{REPO}/git/refs", self.make_ref),
            ("GET", f"{REPO}/git/ref/heads/{branch}", self.get_ref),
            ("DELETE", f"{REPO}/git/refs/heads/{branch}", self.delete_ref),
            ("GET", f"{REPO}/commits/([0-9a-f]+)", self.get_commit),
            ("GET", f"{REPO}/compare/main\\.\\.\\.([0-9a-f]+)", self.compare),
            ("POST", "/api/graphql", self.ask_graphql),
        ]
        # GitHub gives these, its description leaves them out.
        left_out = frozenset({f"404 DELETE {'/repos/{owner}/{repo}/git/refs/{ref}'}"})
        return Forge(routes, self.description, "/api/v3", left_out)

    def example(self, name: str, index: int | None = None) -> Any:
        value = self.description.document["components"]["examples"][name]["value"]
        return copy.deepcopy(value if index is None else value[index])

    def find(self, call: Call) -> Reply:
        owner, _, branch = call.query["head"].partition(":")
        assert (owner, call.query["state"]) == ("acme", "all")
        found = [n for n, pull in self.pulls.items() if pull["branch"] == branch]
        simple = [self.example("pull-request-simple-items", 0) for _ in found]
        for number, one in zip(found, simple, strict=True):
            one["number"], one["head"]["ref"] = number, self.pulls[number]["branch"]
            one["requested_teams"] = []
        return Reply(200, simple)

    def create(self, call: Call) -> Reply:
        branch = call.body["head"]
        if any(p["branch"] == branch and p["state"] == "open" for p in self.pulls.values()):
            return invalid(f"A pull request already exists for acme:{branch}.")
        number = 1300 + len(self.pulls)
        self.pulls[number] = dict(call.body) | {"branch": branch, "state": "open", "by": ""}
        self.reviews[number] = []
        return Reply(201, self.read(number).body)

    def read(self, number: int) -> Reply:
        if number not in self.pulls:
            return message(404, "Not Found")
        kept = self.pulls[number]
        shown = self.example("pull-request")
        merged = kept["state"] == "merged"
        head = self.git.branches.get(kept["branch"], kept.get("head_sha", ""))
        kept["head_sha"] = head
        repo = shown["base"]["repo"]
        repo["allow_auto_merge"] = self.allow_auto_merge
        shown["head"] |= {"ref": kept["branch"], "sha": head, "repo": repo}
        shown["base"] |= {
            "ref": "main",
            "sha": kept.setdefault("base_sha", self.git.branches["main"]),
        }
        mergeable = not self.git.conflicts(kept["branch"]) if kept["state"] == "open" else None
        shown |= {
            "number": number,
            "html_url": f"https://github.example/acme/fleet/pull/{number}",
            "node_id": f"PR_{number}",
            "title": kept["title"],
            "body": kept["body"],
            "state": "open" if kept["state"] == "open" else "closed",
            "merged": merged,
            "merged_by": shown["user"] | {"login": kept["by"]} if merged else None,
            "merge_commit_sha": kept.get("merge_sha", "f" * 40),
            "mergeable": mergeable,
            "mergeable_state": "blocked" if self.missing(head) else "clean",
            "auto_merge": None,
            "requested_teams": [],
        }
        return Reply(200, shown)

    def missing(self, sha: str) -> set[str]:
        good = {
            context for at, state, context, _ in self.statuses if (at, state) == (sha, "success")
        }
        return self.required - good

    def patch(self, call: Call, number: str) -> Reply:
        self.pulls[int(number)]["state"] = call.body["state"]
        return self.read(int(number))

    def merge(self, call: Call, number: str) -> Reply:
        pull = self.pulls[int(number)]
        head = self.git.branches[pull["branch"]]
        if call.body["sha"] != head:
            return message(409, "Head branch was modified. Review and try the merge again.")
        if missing := self.missing(head):
            return message(405, f'Required status check "{min(missing)}" is expected.')
        if self.git.conflicts(pull["branch"]):
            return message(405, "Pull Request is not mergeable")
        text = f"{call.body['commit_title']}\n\n{call.body['commit_message']}"
        self.merge_by_hand(int(number), "gpubot[bot]", text)
        done = {"sha": pull["merge_sha"], "merged": True, "message": "Merged"}
        return Reply(200, done)

    def merge_by_hand(self, number: int, by: str, text: str = "Merge") -> None:
        pull = self.pulls[number]
        head, tip = self.git.branches[pull["branch"]], self.git.branches["main"]
        files = self.git.changed(self.git.base(head, tip), head)
        sha = self.git.commit("main", files, text, tip, head)
        pull |= {"state": "merged", "merge_sha": sha, "by": by}

    def ask(self, call: Call, number: str) -> Reply:
        name = (call.body.get("reviewers") or call.body.get("team_reviewers"))[0]
        if name == "nobody":
            return Reply(
                422, message(422, "Reviews may only be requested from collaborators.").body
            )
        self.asked.append(name)
        shown = self.example("pull-request-review-request")
        return Reply(201, shown | {"requested_teams": [], "number": int(number)})

    def label(self, call: Call, _number: str) -> Reply:
        self.labels += call.body["labels"]
        return Reply(200, self.example("label-items"))

    def comment(self, call: Call, number: str) -> Reply:
        self.comments.append((int(number), call.body["body"], True))
        return Reply(201, self.example("issue-comment") | {"body": call.body["body"]})

    def status(self, call: Call, sha: str) -> Reply:
        said = call.body
        if sha not in self.git.trees:
            return invalid(f"No commit found for SHA: {sha}")
        self.statuses.append((sha, said["state"], said["context"], said["description"]))
        return Reply(201, self.example("status") | {"state": said["state"]})

    def make_ref(self, call: Call) -> Reply:
        branch = call.body["ref"].removeprefix("refs/heads/")
        if branch in self.git.branches:
            return invalid("Reference already exists")
        if call.body["sha"] not in self.git.trees:
            return invalid("Object does not exist")
        self.git.branches[branch] = call.body["sha"]
        return Reply(201, self._ref(branch))

    def get_ref(self, _: Call, branch: str) -> Reply:
        known = branch in self.git.branches
        return Reply(200, self._ref(branch)) if known else message(404, "Not Found")

    def delete_ref(self, _: Call, branch: str) -> Reply:
        if self.git.branches.pop(branch, None) is None:
            return Reply(422, {"message": "Reference does not exist"})
        return Reply(204)

    def _ref(self, branch: str) -> Any:
        shown = self.example("git-ref")
        shown["ref"], shown["object"]["sha"] = f"refs/heads/{branch}", self.git.branches[branch]
        return shown

    def get_commit(self, _: Call, sha: str) -> Reply:
        shown = self.example("commit")
        url = shown["parents"][0]["url"]
        shown["parents"] = [{"sha": parent, "url": url} for parent in self.git.parents[sha]]
        shown["commit"]["message"], shown["sha"] = self.git.messages[sha], sha
        template = shown["files"][0] | {"contents_url": url}
        shown["files"] = [template | changed for changed in self.git.files(sha)]
        return Reply(200, shown)

    def compare(self, _: Call, head: str) -> Reply:
        shown = self.example("commit-comparison")
        shown["merge_base_commit"]["sha"] = self.git.base(head, self.git.branches["main"])
        return Reply(200, shown)

    def ask_graphql(self, call: Call) -> Reply:
        self.graphql.append(call.body)
        query, given = call.body["query"], call.body["variables"]
        if "createCommitOnBranch" in query:
            return self._commit(given["input"])
        if "enablePullRequestAutoMerge" in query:
            self.auto_merges.append(given["input"])
            number = int(given["input"]["pullRequestId"].removeprefix("PR_"))
            done = {"enablePullRequestAutoMerge": {"pullRequest": {"number": number}}}
            return Reply(200, {"data": done})
        nodes = [
            {"body": body, "viewerDidAuthor": own}
            for number, body, own in self.comments
            if number == given["number"]
        ]
        start = int(given["after"] or 0)
        page = {"hasNextPage": len(nodes) > start + 2, "endCursor": str(start + 2)}
        shown = {"comments": {"nodes": nodes[start : start + 2], "pageInfo": page}}
        return Reply(200, {"data": {"repository": {"pullRequest": shown}}})

    def _commit(self, given: dict[str, Any]) -> Reply:
        branch = given["branch"]["branchName"]
        if self.git.branches[branch] != given["expectedHeadOid"]:
            words = "Expected branch to point to another commit but it did not."
            error = {"type": "STALE_DATA", "path": ["createCommitOnBranch"], "message": words}
            return Reply(200, {"data": {"createCommitOnBranch": None}, "errors": [error]})
        changes = given["fileChanges"]
        files: dict[str, bytes | None] = {
            f["path"]: base64.b64decode(f["contents"]) for f in changes["additions"]
        }
        files |= {f["path"]: None for f in changes["deletions"]}
        said = given["message"]
        sha = self.git.commit(branch, files, f"{said['headline']}\n\n{said['body']}".strip())
        return Reply(200, {"data": {"createCommitOnBranch": {"commit": {"oid": sha}}}})
