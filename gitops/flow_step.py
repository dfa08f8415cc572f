"""The next thing to do on the forge for one request, and doing it: at most one step at a time.

``next_step`` is pure: from the recorded state alone, so that a crash anywhere repeats a step, and
every step may be repeated without harm. Whatever fails is kept as the request's trouble and tried
again later; nothing is undone and nothing is lost.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

from capacity.errors import Conflict, GpubotError
from gitops.book import Book
from gitops.events import Event, Mergeable, MergeStarted, NotMerged, StepDone, StepFailed
from gitops.flow_poll import look, opened
from gitops.flow_save import save_events
from gitops.flow_text import comments_of, merge_message, status_of
from gitops.forge import Forge, ForgeConflict, ForgeDown, Proposal
from gitops.policy import Verdict
from gitops.ports import BuildChange, RequestStore, Source
from gitops.request import IN_GIT, TERMINAL, Request, State, hash_of

Step = Literal["open", "read", "status", "comment", "merge", "close", "find", "watch", "repository"]
Events = Callable[[Request], Iterable[Event]]
_FIRST_WAIT = 10
_LONGEST_WAIT = 300
WORDS: dict[str, str] = {
    "open": "The pull request couldn't be opened",
    "read": "The pull request couldn't be read",
    "status": "The commit status couldn't be set",
    "comment": "The comment couldn't be written",
    "merge": "The pull request couldn't be merged",
    "close": "The pull request couldn't be closed",
    "find": "The pull request couldn't be looked for",
    "watch": "The cluster couldn't be looked at",
    "repository": "The GitOps repository couldn't be read",
}


def next_step(
    request: Request, verdict: Verdict, book: Book, poll_every: timedelta, now: datetime
) -> Step | None:
    """Return the step that is due; None when there is nothing to do but wait."""
    if request.trouble and now < request.trouble.retry_at:
        return None
    if request.pull is None:
        if request.state is State.SUBMITTED:
            return "open"
        return None if request.chores.tidy else "find"
    over = request.state in TERMINAL or request.state in IN_GIT
    if over and request.chores.tidy:
        return None
    polled = request.chores.polled_at
    due = polled is None or now - polled >= poll_every
    if request.state is State.MERGING or (due and not over):
        return "read"
    if _status(request, verdict) not in ("", request.chores.status):
        return "status"
    if _comments(request, book, ""):
        return "comment"
    if over:
        return "close"
    return "merge" if request.state is State.APPROVED else None


@dataclass(frozen=True, slots=True)
class Stepper:
    """What it takes to do a step."""

    store: RequestStore
    source: Source
    forge: Forge
    build_change: BuildChange
    thread_of: Callable[[int], str]

    def do(self, step: Step, request: Request, book: Book, now: datetime) -> Request:
        """Do one step and record it; a failure is recorded too, with when to try again."""
        acts: dict[Step, Callable[[Request, Book, datetime], Events]] = {
            "open": self._open,
            "read": self._read,
            "status": self._status,
            "comment": self._comment,
            "merge": self._merge,
            "close": self._close,
            "find": self._find,
        }
        try:
            events = acts[step](request, book, now)
        except GpubotError as error:
            events = failed(step, request, error, now)
        return save_events(self.store, request, events, now)[0]

    def _open(self, request: Request, _book: Book, _now: datetime) -> Events:
        change = self.build_change(request.draft, request.content.base_sha)
        if hash_of(change.files) != request.content.diff_hash:
            raise Conflict("The edit came out differently than when it was asked for.")
        body = "\n\n".join((change.body, *(f"Note: {note}" for note in request.notes)))
        proposal = Proposal(
            branch=request.branch,
            base_sha=request.content.base_sha,
            files=change.files,
            title=f"{request.title} (request {request.id})",
            body=body,
            message=change.message,
        )
        found = opened(request, self.forge.open_pull_request(proposal), self.source)
        return lambda _: (found, StepDone("open"))

    def _read(self, request: Request, book: Book, now: datetime) -> Events:
        pull = self.forge.read(_number(request))
        seen = look(request, pull, self.source)
        return lambda newest: seen.events(newest, book, now)

    def _status(self, request: Request, book: Book, _now: datetime) -> Events:
        wanted = status_of(request, book.verdict(request))
        head = request.content.head_sha
        if wanted is None or head is None:
            return lambda _: ()
        self.forge.set_status(head, *wanted)
        done = StepDone("status", status=" ".join((head, *wanted)))
        return lambda _: (done,)

    def _comment(self, request: Request, book: Book, _now: datetime) -> Events:
        key, text = _comments(request, book, self.store.record(()))[0]
        self.forge.comment(_number(request), key, text)
        done = StepDone("comment", comment=key)
        return lambda _: (done,)

    def _merge(self, request: Request, book: Book, now: datetime) -> Events:
        """Record the intent, merge the head that was approved, and read what came of it."""
        started = save_events(self.store, request, lambda _: [MergeStarted()], now)[0]
        if started.state is not State.MERGING or started.content != request.content:
            return lambda _: ()
        message = merge_message(started, book.people, self.thread_of(request.id))
        try:
            pull = self.forge.merge(_number(request), request.content.head_sha or "", message)
        except ForgeConflict as error:
            pull = self.forge.read(_number(request))
            if error.reason == "merge-conflict" and pull.state == "open":
                return lambda _: (NotMerged(), Mergeable(yes=False))
        seen = look(started, pull, self.source)
        return lambda newest: seen.events(newest, book, now, step="merge")

    def _close(self, request: Request, book: Book, now: datetime) -> Events:
        pull = self.forge.read(_number(request))
        seen = look(request, pull, self.source)
        self.forge.close(_number(request))
        merged = [*seen.events(request, book, now)] if pull.state == "merged" else []
        return lambda _: (*merged, StepDone("close", tidy=True))

    def _find(self, request: Request, _book: Book, _now: datetime) -> Events:
        pull = self.forge.find(request.branch)
        if pull is None:
            return lambda _: (StepDone("find", tidy=True),)
        found = opened(request, pull, self.source)
        return lambda _: (found, StepDone("find"))


def failed(step: Step, request: Request, error: GpubotError, now: datetime) -> Events:
    """Return the failure as an event, with a wait that doubles up to five minutes."""
    known = request.trouble.attempts if request.trouble and request.trouble.step == step else 0
    wait = min(_LONGEST_WAIT, _FIRST_WAIT * 2 ** min(known, 10))
    if isinstance(error, ForgeDown) and error.retry_after is not None:
        wait = max(wait, int(error.retry_after) + 1)
    failed = StepFailed(
        step, f"{WORDS[step]}: {error.sentence}", error.next_step, now + timedelta(seconds=wait)
    )
    return lambda _: (failed,)


def _number(request: Request) -> int:
    if request.pull is None:
        raise Conflict(f"Request {request.id} has no pull request.")
    return request.pull.number


def _status(request: Request, verdict: Verdict) -> str:
    wanted = status_of(request, verdict)
    return " ".join((request.content.head_sha or "", *wanted)) if wanted else ""


def _comments(request: Request, book: Book, head: str) -> list[tuple[str, str]]:
    wanted = comments_of(request, book.people, head)
    return [(key, text) for key, text in wanted if key not in request.chores.comments]
