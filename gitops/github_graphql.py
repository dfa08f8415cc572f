"""The four things that only GitHub's GraphQL API offers, each as one call.

Upstream: https://docs.github.com/graphql/reference/mutations
"""

from base64 import b64encode
from collections.abc import Iterator
from typing import Any

from gitops.forge import ForgeDown, Proposal
from gitops.forge_errors import refusal
from gitops.forge_http import ForgeHttp
from gitops.forge_text import title_and_rest
from gitops.github_access import NAME

COMMIT = """mutation Commit($input: CreateCommitOnBranchInput!) {
  createCommitOnBranch(input: $input) { commit { oid } }
}"""
AUTO_MERGE = """mutation AutoMerge($input: EnablePullRequestAutoMergeInput!) {
  enablePullRequestAutoMerge(input: $input) { pullRequest { number } }
}"""
COMMENTS = """query Comments($owner: String!, $name: String!, $number: Int!, $after: String) {
  repository(owner: $owner, name: $name) {
    pullRequest(number: $number) {
      comments(first: 100, after: $after) {
        nodes { body viewerDidAuthor }
        pageInfo { hasNextPage endCursor }
      }
    }
  }
}"""
# GraphQL answers 200 also to what REST would refuse; these are the same things by other names.
_STATUSES = {"NOT_FOUND": 404, "FORBIDDEN": 403, "INSUFFICIENT_SCOPES": 403, "RATE_LIMITED": 429}


class GithubGraphql:
    """GraphQL calls about one repository."""

    def __init__(self, http: ForgeHttp, owner: str, name: str) -> None:
        self._http = http
        self._owner = owner
        self._name = name

    def commit(self, proposal: Proposal) -> bool:
        """Put one signed commit on the branch if it still is at the base; False if it moved."""
        headline, body = title_and_rest(proposal.message)
        additions = [
            {"path": path, "contents": b64encode(data).decode()}
            for path, data in proposal.files.items()
            if data is not None
        ]
        deletions = [{"path": path} for path, data in proposal.files.items() if data is None]
        wanted = {
            "branch": {
                "repositoryNameWithOwner": f"{self._owner}/{self._name}",
                "branchName": proposal.branch,
            },
            "expectedHeadOid": proposal.base_sha,
            "message": {"headline": headline, "body": body},
            "fileChanges": {"additions": additions, "deletions": deletions},
        }
        return self._ask(COMMIT, {"input": wanted}, accept="STALE_DATA") is not None

    def auto_merge(self, pull_id: str, head: str, message: str) -> None:
        """Have GitHub merge this very head by itself once all other requirements are met."""
        headline, body = title_and_rest(message)
        wanted = {
            "pullRequestId": pull_id,
            "expectedHeadOid": head,
            "mergeMethod": "MERGE",
            "commitHeadline": headline,
            "commitBody": body,
        }
        self._ask(AUTO_MERGE, {"input": wanted})

    def own_comments(self, number: int) -> Iterator[str]:
        """Yield the bodies of what the bot itself has written."""
        after = None
        while True:
            where = {"owner": self._owner, "name": self._name, "number": number, "after": after}
            data = self._ask(COMMENTS, where)
            comments = data["repository"]["pullRequest"]["comments"]
            yield from (c["body"] for c in comments["nodes"] if c["viewerDidAuthor"])
            if not comments["pageInfo"]["hasNextPage"]:
                return
            after = comments["pageInfo"]["endCursor"]

    def _ask(self, query: str, variables: dict[str, Any], accept: str = "") -> Any:
        reply = self._http.post("/graphql", {"query": query, "variables": variables})
        errors = reply.data.get("errors") if isinstance(reply.data, dict) else [{}]
        if not errors:
            return reply.data["data"]
        kind, words = errors[0].get("type", ""), errors[0].get("message", "")
        if accept and kind == accept:
            return None
        what = query.partition("(")[0]
        if "something went wrong" in words.lower() or not words:
            raise ForgeDown(NAME, detail=f"{what}: {words[:200]}")
        raise refusal(NAME, _STATUSES.get(kind, 422), {}, words, what)
