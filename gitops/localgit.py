"""A forge that is nothing but a bare repository: branches, merges, and notes about both.

It keeps what it knows in the repository itself: ``refs/gpubot/pulls/N`` holds the note about a
pull request, ``refs/gpubot/statuses/SHA`` the one about a commit. No reference name is ever built
from text that a person wrote.
"""

import json
import re
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from gitops.forge import (
    STATUS_CONTEXT,
    ForgeConflict,
    ForgeDenied,
    ForgeDown,
    ForgeMissing,
    Proposal,
    PullRequest,
    Review,
    ReviewState,
    StatusState,
)
from gitops.localgit_record import Comment, Record, dump, load
from gitops.localgit_store import GitStore

BRANCH = re.compile(r"gpubot/[A-Za-z0-9][A-Za-z0-9_-]*")
_PULLS = "refs/gpubot/pulls/"
_HEADS = "refs/gpubot/heads/"
_STATUSES = "refs/gpubot/statuses/"
_TRIES = 8
_DESCRIPTION = 140


class LocalForge:
    """Pull requests of a bare repository on this machine (the Forge protocol).

    ``url`` is a pattern for the addresses shown to people, with ``{number}``. With ``protected``,
    a merge needs the status gpubot/approvals to be "success", as branch protection would ask.
    """

    def __init__(
        self,
        path: Path,
        *,
        base: str = "main",
        url: str = "",
        protected: bool = False,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._path = path
        self._base = f"refs/heads/{base}"
        self._url = url or f"{path.absolute().as_uri()}#pull-{{number}}"
        self._protected = protected
        self._clock = clock

    def open_pull_request(self, proposal: Proposal) -> PullRequest:
        """Make branch, commit and pull request; whatever of them exists already is kept."""
        if not BRANCH.fullmatch(proposal.branch):
            raise ForgeDenied(f"{proposal.branch!r} is no name for a branch of mine.")
        store = self._store()
        for _ in range(_TRIES):
            records = self.records()
            existing = next((r for r in records if r.branch == proposal.branch), None)
            if existing is not None:
                return self._shown(store, existing)
            self._branch(store, proposal)
            record = Record(
                number=max((record.number for record in records), default=0) + 1,
                branch=proposal.branch,
                title=proposal.title,
                body=proposal.body,
                labels=proposal.labels,
                reviewers=proposal.reviewers,
            )
            if store.put_note(f"{_PULLS}{record.number}", dump(record), None, self._clock()):
                return self._shown(store, record)
        raise ForgeDown("the repository", detail="pull request numbers keep being taken")

    def find(self, branch: str) -> PullRequest | None:
        """Find the pull request of this branch in whatever state; None if there never was one."""
        found = next((record for record in self.records() if record.branch == branch), None)
        return self.read(found.number) if found is not None else None

    def read(self, number: int) -> PullRequest:
        """Read the pull request with its reviews; raises ForgeMissing if there is none.

        One whose head the base branch holds already is merged, whoever did it.
        """
        store = self._store()
        pull = self._shown(store, self.record(number))
        if pull.state == "open" and pull.base_sha == pull.head_sha:
            base = store.tip(self._base) or ""
            merge = store.merge_of(base, pull.head_sha) or pull.head_sha
            self._end(store, pull, state="merged", merge_sha=merge)
            return self._shown(store, self.record(number))
        return pull

    def set_status(self, sha: str, state: StatusState, description: str) -> None:
        """Set the commit status ``gpubot/approvals``."""
        store = self._store()
        if not re.fullmatch(r"[0-9a-f]{40}", sha):
            raise ForgeMissing(f"{sha[:40]!r} is no commit.")
        said = {STATUS_CONTEXT: {"state": state, "description": description[:_DESCRIPTION]}}
        data = json.dumps(said, sort_keys=True).encode()
        for _ in range(_TRIES):
            held = store.note(f"{_STATUSES}{sha}")
            if held and held[0] == data:
                return
            version = held[1] if held else None
            if store.put_note(f"{_STATUSES}{sha}", data, version, self._clock()):
                return
        raise ForgeDown("the repository", detail="the status keeps changing")

    def status(self, sha: str) -> tuple[str, str]:
        """Return state and description of a commit's status; both "" when it has none."""
        held = self._store().note(f"{_STATUSES}{sha}")
        said = json.loads(held[0])[STATUS_CONTEXT] if held else {"state": "", "description": ""}
        return said["state"], said["description"]

    def comment(self, number: int, key: str, text: str) -> None:
        """Write a comment unless one with this key is there."""
        comment = Comment(key, text, self._clock())
        self._change(number, lambda record: record.with_comment(comment))

    def review(self, number: int, by: str, state: ReviewState, text: str = "") -> None:
        """Record a person's review of the present head, as a forge's web page would."""
        review = Review("", by, state, self.read(number).head_sha, self._clock(), text)
        self._change(number, lambda record: record.with_review(review))

    def merge(self, number: int, expected_head: str, message: str) -> PullRequest:
        """Merge if the head is still ``expected_head``; an already merged one is returned."""
        store = self._store()
        for _ in range(_TRIES):
            pull = self.read(number)
            if pull.state == "merged":
                return pull
            self._may_merge(pull, expected_head)
            base = store.tip(self._base)
            if base is None:
                raise ForgeMissing("The base branch is gone.")
            merged = store.merge(base, pull.head_sha, message, self._clock())
            if store.move(self._base, base, merged):
                self._end(store, pull, state="merged", merge_sha=merged, merged_by="gpubot")
                return self.read(number)
        raise ForgeDown("the repository", detail="the base branch keeps moving")

    def close(self, number: int) -> None:
        """Close it if it is open, and delete its branch if that is still there."""
        store = self._store()
        pull = self.read(number)
        if pull.state == "open":
            self._end(store, pull, state="closed")
        if BRANCH.fullmatch(pull.branch):
            store.delete(f"refs/heads/{pull.branch}")

    def record(self, number: int) -> Record:
        """Return what is kept about a pull request; raises ForgeMissing if there is none."""
        held = self._store().note(f"{_PULLS}{int(number)}")
        if held is None:
            raise ForgeMissing(f"There is no pull request {number}.")
        return load(held[0])

    def records(self) -> tuple[Record, ...]:
        """Return what is kept about every pull request, oldest first."""
        store = self._store()
        notes = [store.note(name) for name in store.names(_PULLS)]
        found = [load(note[0]) for note in notes if note]
        return tuple(sorted(found, key=lambda record: record.number))

    def _store(self) -> GitStore:
        return GitStore(self._path)

    def _branch(self, store: GitStore, proposal: Proposal) -> None:
        """Make the branch with its one commit; one of ours that is there already is kept."""
        reference = f"refs/heads/{proposal.branch}"
        commit = store.commit(proposal.base_sha, proposal.files, proposal.message, self._clock())
        if store.move(reference, None, commit):
            return
        there = store.tip(reference)
        if there is None or not store.same_tree(there, commit):
            raise ForgeConflict(
                "branch-taken",
                f"The branch {proposal.branch} holds something that is not this change.",
                "Delete the branch, or make the request again.",
            )

    def _may_merge(self, pull: PullRequest, expected_head: str) -> None:
        if pull.state == "closed":
            raise ForgeConflict("not-open", f"Pull request {pull.number} is closed.")
        if pull.head_sha != expected_head:
            raise ForgeConflict("head-moved", f"Somebody pushed to {pull.branch}.")
        if self._protected and self.status(pull.head_sha)[0] != "success":
            raise ForgeDenied(f"The base branch asks for the status {STATUS_CONTEXT}.")

    def _shown(self, store: GitStore, record: Record) -> PullRequest:
        head = store.tip(f"refs/heads/{record.branch}") if record.state == "open" else None
        gone = record.state == "open" and head is None
        head = head or record.head_sha
        base = store.tip(self._base) or ""
        open_ = record.state == "open" and not gone
        return PullRequest(
            number=record.number,
            url=self._url.format(number=record.number),
            branch=record.branch,
            head_sha=head,
            base_sha=record.base_sha or (store.common(base, head) if base and head else ""),
            state="closed" if gone else record.state,
            mergeable=not store.conflicts(base, head) if open_ and base else None,
            merge_sha=record.merge_sha,
            merged_by=record.merged_by,
            reviews=record.reviews,
        )

    def _end(self, store: GitStore, pull: PullRequest, **end: str) -> None:
        """Keep how it ended; the head stays reachable when the branch goes."""
        reference = f"{_HEADS}{pull.number}"
        store.move(reference, store.tip(reference), pull.head_sha)
        kept = {"head_sha": pull.head_sha, "base_sha": pull.base_sha, **end}
        self._change(pull.number, lambda record: replace(record, **kept))  # type: ignore[arg-type]

    def _change(self, number: int, change: Callable[[Record], Record]) -> None:
        store = self._store()
        reference = f"{_PULLS}{int(number)}"
        for _ in range(_TRIES):
            held = store.note(reference)
            if held is None:
                raise ForgeMissing(f"There is no pull request {number}.")
            record = load(held[0])
            changed = change(record)
            if changed == record:
                return
            if store.put_note(reference, dump(changed), held[1], self._clock()):
                return
        raise ForgeDown("the repository", detail="the pull request keeps changing")
