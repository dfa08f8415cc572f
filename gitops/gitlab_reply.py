"""GitLab's merge requests and approvals, as values.

GitLab's approvals don't say when they were given and for which commit; its system notes and the
merge request's versions do. An approval that can't be dated so has no head, and counts for none.
[pure]
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from gitops.forge import PullRequest, PullState, Review, ReviewState
from gitops.forge_errors import at

_SAID: Mapping[str, ReviewState] = {
    "approved this merge request": "approved",
    "unapproved this merge request": "dismissed",
    "requested changes": "rejected",
}
_STATES: Mapping[str, PullState] = {"merged": "merged", "closed": "closed"}
_UNKNOWN = frozenset({"unchecked", "checking", "preparing", "approvals_syncing"})
_CONFLICTS = frozenset({"conflict", "need_rebase"})

Json = Mapping[str, Any]


def pull_of(shown: Json, base_sha: str, reviews: tuple[Review, ...]) -> PullRequest:
    """Return a merge request; one that is "locked" is being merged, which may still fail."""
    state = _STATES.get(shown["state"], "open")
    merger = shown.get("merge_user") or shown.get("merged_by") or {}
    merged = shown.get("merge_commit_sha") or shown.get("squash_commit_sha") or shown["sha"]
    return PullRequest(
        number=shown["iid"],
        url=shown["web_url"],
        branch=shown["source_branch"],
        head_sha=shown["sha"],
        base_sha=base_sha,
        state=state,
        mergeable=mergeable(shown) if state == "open" else None,
        merge_sha=merged if state == "merged" else None,
        merged_by=merger.get("username", "") if state == "merged" else "",
        reviews=reviews,
    )


def mergeable(shown: Json) -> bool | None:
    """Tell whether it merges without a person; None while GitLab hasn't looked."""
    status = shown.get("detailed_merge_status", "")
    if status in _UNKNOWN:
        return None
    return not (shown.get("has_conflicts") or status in _CONFLICTS)


def reviews_of(
    notes: Iterable[Json], approved_by: Iterable[Json], reviewers: Iterable[Json], versions: Any
) -> tuple[Review, ...]:
    """Return each person's last word, as long as GitLab still stands by it.

    A project can void approvals after a push: then the note is there, and the approval is not.
    """
    approving = {entry["user"]["username"] for entry in approved_by}
    asking = {r["user"]["username"] for r in reviewers if r["state"] == "requested_changes"}
    last = {
        note["author"]["username"]: note
        for note in sorted(notes, key=lambda note: (note["created_at"], note["id"]))
        if note["system"] and note["body"] in _SAID
    }
    return tuple(
        Review(str(note["id"]), by, state, _head(versions, note), at(note["created_at"]))
        for by, note in last.items()
        for state in (_standing(_SAID[note["body"]], by in approving, by in asking),)
    )


def _standing(state: ReviewState, approves: bool, asks: bool) -> ReviewState:
    gone = (state == "approved" and not approves) or (state == "rejected" and not asks)
    return "dismissed" if gone else state


def _head(versions: Sequence[Json], note: Json) -> str:
    """Return the head that was there when the note was written."""
    before = [v for v in versions if at(v["created_at"]) <= at(note["created_at"])]
    newest = max(before, key=lambda v: (at(v["created_at"]), v["id"]), default=None)
    return newest["head_commit_sha"] if newest else ""
