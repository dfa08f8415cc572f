"""GitHub's pull requests and reviews, as values.

[pure]
"""

from collections.abc import Iterable, Mapping
from typing import Any

from gitops.forge import PullRequest, PullState, Review, ReviewState
from gitops.forge_errors import at

_STATES: Mapping[str, ReviewState] = {
    "APPROVED": "approved",
    "CHANGES_REQUESTED": "rejected",
    "COMMENTED": "commented",
    "DISMISSED": "dismissed",
}


def pull_of(pull: Mapping[str, Any], base_sha: str, reviews: tuple[Review, ...]) -> PullRequest:
    """Return a pull request; "mergeable" is None while GitHub computes it, as it says itself."""
    state: PullState = "merged" if pull["merged"] else pull["state"]
    return PullRequest(
        number=pull["number"],
        url=pull["html_url"],
        branch=pull["head"]["ref"],
        head_sha=pull["head"]["sha"],
        base_sha=base_sha,
        state=state,
        mergeable=pull["mergeable"] if state == "open" else None,
        # Of an open one this is a trial merge, which is on no branch.
        merge_sha=pull["merge_commit_sha"] if pull["merged"] else None,
        merged_by=(pull["merged_by"] or {}).get("login", ""),
        reviews=reviews,
    )


def reviews_of(entries: Iterable[Mapping[str, Any]]) -> tuple[Review, ...]:
    """Return the reviews that were sent off; of an account that is gone nobody is left to count."""
    return tuple(
        Review(
            id=str(entry["id"]),
            by=entry["user"]["login"],
            state=_STATES[entry["state"]],
            head_sha=entry["commit_id"] or "",
            at=at(entry["submitted_at"]),
            text=entry["body"] or "",
        )
        for entry in entries
        if entry["user"] and entry["state"] in _STATES and entry.get("submitted_at")
    )
