"""The local repository beside the chat: its newest commits with their diffs, and pull requests."""

from typing import Any

from gitops.localgit import LocalForge
from gitops.localgit_record import Record
from gitops.repository import Repository

Json = dict[str, Any]
COMMITS = 8
DIFF_LINES = 60


def git_view(repository: Repository, forge: LocalForge | None) -> Json:
    """Return the newest commits of the base branch, newest first, and all pull requests."""
    commits = [_commit(repository, entry) for entry in _main_line(repository)]
    records = forge.records() if forge else ()
    pulls = [_pull(repository, record) for record in reversed(records)]
    return {"branch": repository.base, "commits": commits, "pulls": pulls}


def _main_line(repository: Repository) -> list[Any]:
    """Return the newest commits of the base branch itself, without those that were merged in."""
    entries = {entry["sha"]: entry for entry in repository.log(3 * COMMITS)}
    found: list[Any] = []
    at = repository.tip(repository.base)
    while at in entries and len(found) < COMMITS:
        found.append(entries[at])
        at = next(iter(entries[at]["parents"]), None)
    return found


def _commit(repository: Repository, entry: Any) -> Json:
    parents = entry["parents"]
    diff = repository.diff(parents[0], entry["sha"]) if parents else ""
    shown = {"sha": entry["sha"], "subject": entry["subject"], "author": entry["author"]}
    return {**shown, "at": entry["at"].isoformat(), "first": not parents, "diff": lines(diff)}


def _pull(repository: Repository, record: Record) -> Json:
    head = record.head_sha or repository.tip(record.branch) or ""
    base = record.base_sha or repository.tip(repository.base) or ""
    diff = repository.diff(base, head) if head and base else ""
    return {
        "number": record.number,
        "title": record.title,
        "body": record.body,
        "state": record.state,
        "branch": record.branch,
        "head": head,
        "merged": record.merge_sha,
        "comments": [{"text": c.text, "at": c.at.isoformat()} for c in record.comments],
        "diff": lines(diff),
    }


def lines(diff: str) -> list[str]:
    """Return the lines of a unified diff that people read: files, hunks and changes."""
    headers = ("diff --git", "index ", "--- ", "old mode", "new mode", "new file mode")
    kept = [line for line in diff.splitlines() if not line.startswith(headers)]
    cut = kept[:DIFF_LINES]
    more = len(kept) - len(cut)
    return [*cut, f"... {more} more lines"] if more else cut
