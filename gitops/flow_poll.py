"""What the forge shows now, as events: pushes, reviews, merges and closings by hand."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from gitops.book import Book
from gitops.events import (
    ClosedByHand,
    Event,
    Mergeable,
    Merged,
    NotMerged,
    Opened,
    Pushed,
    StepDone,
    Voted,
    Withdrawn,
)
from gitops.flow_save import run
from gitops.flow_text import as_said
from gitops.forge import PullRequest, Review
from gitops.ports import Source
from gitops.request import Choice, Request, State, Vote, hash_of

_CHOICES: dict[str, Choice] = {"approved": "approve", "rejected": "reject"}


def opened(request: Request, pull: PullRequest, source: Source) -> Opened:
    """Return the new (or found again) pull request, with what its branch really holds."""
    found = source.changed(pull.base_sha, pull.head_sha)
    edited = hash_of(found) != request.content.diff_hash
    diff = source.diff(pull.base_sha, pull.head_sha) if edited else request.diff
    return Opened(pull, hash_of(found), diff, edited)


@dataclass(frozen=True, slots=True)
class Seen:
    """A pull request as just read; ``pushed`` is about its head if that isn't the recorded one."""

    pull: PullRequest
    pushed: Pushed | None

    def events(
        self, request: Request, book: Book, now: datetime, *, step: str = "read"
    ) -> Iterator[Event]:
        """Return what is new about the request, pushes before everything else."""
        if self.pushed and request.content.head_sha not in (None, self.pushed.head_sha):
            yield self.pushed
            request, _ = run(request, [self.pushed], now)
        if self.pull.state == "merged":
            yield self._merged(request, book)
        elif self.pull.state == "closed":
            yield ClosedByHand()
        else:
            yield from _votes(request, book, self.pull.reviews, now)
            yield NotMerged()
            if self.pull.mergeable is not None:
                yield Mergeable(self.pull.mergeable)
        yield StepDone(step, polled_at=now)

    def _merged(self, request: Request, book: Book) -> Merged:
        person = book.people.by_forge(self.pull.merged_by) if self.pull.merged_by else None
        by_bot = request.state is State.MERGING and person is None
        sha = self.pull.merge_sha or self.pull.head_sha
        return Merged(sha, person.id if person else "", by_bot, book.policy.live_within)


def look(request: Request, pull: PullRequest, source: Source) -> Seen:
    """Read from the repository what a moved head holds; raises SourceDown when it can't be.

    A pull request whose branch was deleted may have no head any more: then nothing moved.
    """
    if pull.head_sha in ("", request.content.head_sha):
        return Seen(pull, None)
    # The merge base of a merged branch is the branch itself: what it changed is told by our base.
    base = pull.base_sha if pull.state == "open" else request.content.base_sha
    found = source.changed(base, pull.head_sha)
    edited = request.facts.edited or hash_of(found) != request.content.diff_hash
    pushed = Pushed(
        pull.head_sha, base, hash_of(found), source.diff(base, pull.head_sha), edited=edited
    )
    return Seen(pull, pushed)


def _votes(
    request: Request, book: Book, reviews: tuple[Review, ...], now: datetime
) -> Iterator[Event]:
    """Return the reviews of people who may decide, on exactly this head, each once."""
    verdict = book.verdict(request)
    latest = {r.by.casefold(): r for r in sorted(reviews, key=lambda r: r.at)}
    for review in latest.values():
        person = book.people.by_forge(review.by)
        if person is None or person.id == request.draft.requester:
            continue
        account = f"forge:{review.by}"
        if review.state == "dismissed":
            yield Withdrawn(person.id, account)
            continue
        choice = _CHOICES.get(review.state)
        known = any((v.account, v.at) == (account, review.at) for v in request.votes)
        roles = verdict.roles_of(person.id)
        if choice is None or known or not roles or review.head_sha != request.content.head_sha:
            continue
        role = " and ".join(roles)
        yield Voted(
            Vote(person.id, role, choice, as_said(review.text), review.at, account, request.content)
        )
