"""Gitea's pull requests and reviews, as values.

[pure]
"""

from collections.abc import Iterable, Mapping
from typing import Any

from gitops.forge import PullRequest, PullState, Review, ReviewState
from gitops.forge_errors import at

_STATES: Mapping[str, ReviewState] = {
    "APPROVED": "approved",
    "REQUEST_CHANGES": "rejected",
    "COMMENT": "commented",
}


def pull_of(
    pull: Mapping[str, Any], reviews: tuple[Review, ...], mergeable: bool | None
) -> PullRequest:
    """Return a pull request; once its branch is gone the label still tells its name."""
    state: PullState = "merged" if pull["merged"] else pull["state"]
    return PullRequest(
        number=pull["number"],
        url=pull["html_url"],
        branch=pull["head"]["label"],
        head_sha=pull["head"]["sha"],
        base_sha=pull["merge_base"],
        state=state,
        mergeable=mergeable,
        merge_sha=pull["merge_commit_sha"] if pull["merged"] else None,
        merged_by=(pull["merged_by"] or {}).get("login", "") if pull["merged"] else "",
        reviews=reviews,
    )


def reviews_of(entries: Iterable[Mapping[str, Any]]) -> tuple[Review, ...]:
    """Return the reviews that people have sent off; a team's requested one is nobody's."""
    return tuple(
        Review(
            id=str(entry["id"]),
            by=entry["user"]["login"],
            state="dismissed" if entry["dismissed"] else _STATES[entry["state"]],
            head_sha=entry["commit_id"],
            at=at(entry["submitted_at"]),
            text=entry["body"] or "",
        )
        for entry in entries
        if entry.get("user") and entry["state"] in _STATES
    )
