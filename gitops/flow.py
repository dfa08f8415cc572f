"""The way of a change: preview, submit, decide, cancel, and one step at a time until it is live.

Every call reads the rights anew from the repository (``gitops.book``), decides by pure code, and
saves with compare-and-swap; the forge is only touched by ``tick``. Refusals are audited too.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from capacity.errors import Conflict, Denied, GpubotError, SourceDown, UnknownName
from capacity.model import Fleet
from gitops.audit import Entry
from gitops.book import Book, read_book
from gitops.delivering import Delivering
from gitops.events import Cancelled
from gitops.flow_decide import decide_on, ended_words
from gitops.flow_examine import Examiner, new_request
from gitops.flow_save import run, told
from gitops.flow_step import Stepper
from gitops.flow_text import as_said
from gitops.flow_tick import Ticker
from gitops.forge import Forge
from gitops.moves import Move, MoveKind
from gitops.people import Actor, PersonEntry
from gitops.policy import Verdict
from gitops.ports import (
    BuildChange,
    Lint,
    Outcome,
    Preview,
    RequestStore,
    Source,
    View,
    WhatIf,
)
from gitops.request import Choice, Draft, Request, State

_TRIES = 10
CANCELLABLE = frozenset(
    {
        State.SUBMITTED,
        State.OPEN,
        State.CONFLICTED,
        State.APPROVED,
        State.OVERDUE,
        State.DIFFERS,
    }
)


@dataclass(frozen=True, slots=True)
class Flow:
    """All that changes a request; safe to call from several threads and replicas.

    ``thread_of`` gives the address of a request's thread for the merge commit ("" if unknown),
    ``poll_every`` is how old the forge's state may get before it is read again. ``delivering``
    says how far the GitOps controller is with a merge, None where there is none.
    """

    store: RequestStore
    source: Source
    forge: Forge
    build_change: BuildChange
    lint: Lint
    what_if: WhatIf
    fleet: Callable[[], Fleet]
    cluster: str = ""
    thread_of: Callable[[int], str] = lambda _: ""
    poll_every: timedelta = timedelta(seconds=30)
    delivering: Callable[[Request], Delivering | None] = lambda _: None

    def preview(self, draft: Draft, by: Actor, now: datetime) -> Preview:
        """Look at a draft from all sides; a refusal is in the preview, not raised.

        Raises SourceDown when the repository or the cluster can't be read.
        """
        return self._examiner().examine(draft, by, now)[0]

    def submit(self, draft: Draft, by: Actor, key: str, now: datetime) -> Request:
        """Turn a draft into a request; the same key again returns the same request.

        Raises Denied, Refused, UsageError, Conflict (the value moved, the target has an open
        request, too many open ones) or SourceDown; then nothing was recorded but the refusal.
        """
        done = self.store.by_key(key)
        if done is not None:
            return done
        preview, book = self._examiner().examine(draft, by, now)
        if preview.refusal:
            self._refused("submit", None, by, book, preview.refusal, now)
            raise preview.refusal
        request = new_request(preview, book, self.fleet(), key, now)
        move = Move(MoveKind.SUBMITTED, now, request.draft.requester, text=request.draft.reason)
        try:
            return self.store.add(
                request, key, book.policy.open_per_person, told(request, [move], _account(by))
            )
        except Conflict as error:
            self._refused("submit", None, by, book, error, now)
            raise

    def decide(  # noqa: PLR0917  # what a button and its presser say, field by field
        self,
        request_id: int,
        version: int,
        choice: Choice,
        by: Actor,
        reason: str,
        key: str,
        now: datetime,
    ) -> Outcome:
        """Count one person's decision on the content that their button was about.

        Raises UnknownName, Denied, Conflict or UsageError; then nothing was recorded but the
        refusal. A decision that was counted before is an Outcome that isn't ``done``.
        """
        for _ in range(_TRIES):
            request = self._get(request_id)
            book = read_book(self.source)
            if self.store.by_key(key) is not None:
                return _again(request, book)
            try:
                decided, moves, verdict = decide_on(
                    request, book, version=version, choice=choice, by=by, reason=reason, now=now
                )
            except GpubotError as error:
                self._refused(choice, request, by, book, error, now)
                raise
            if not moves:
                return _again(request, book)
            if self.store.save(decided, request.revision, told(decided, moves), key):
                sentence = _counted(verdict, choice)
                return Outcome(self._get(request_id), True, sentence, verdict, tuple(moves))
        raise Conflict("Too many decisions at once; yours was not recorded.", "Try again.")

    def cancel(self, request_id: int, by: Actor, reason: str, key: str, now: datetime) -> Outcome:
        """Take a request back: its requester and the queue's owners may.

        One that is merged but overdue, or differs, is only no longer watched. Raises as decide.
        """
        for _ in range(_TRIES):
            request = self._get(request_id)
            book = read_book(self.source)
            if self.store.by_key(key) is not None:
                return _again(request, book)
            try:
                person = _canceller(request, book, by)
            except GpubotError as error:
                self._refused("cancel", request, by, book, error, now)
                raise
            ended, moves = run(request, [Cancelled(person.id, as_said(reason))], now)
            if self.store.save(ended, request.revision, told(ended, moves, _account(by)), key):
                return Outcome(self._get(request_id), True, "Withdrawn.", moves=tuple(moves))
        raise Conflict("Too many changes at once; it was not withdrawn.", "Try again.")

    def view(self, request_id: int, now: datetime) -> View:
        """Return a request with the policy's present verdict; raises UnknownName, SourceDown."""
        request = self._get(request_id)
        return View(request, read_book(self.source).verdict(request), now)

    def views(self, now: datetime) -> tuple[View, ...]:
        """Return all requests that are under way, oldest first."""
        book = read_book(self.source)
        return tuple(View(r, book.verdict(r), now) for r in self.store.unsettled())

    def tick(self, now: datetime) -> bool:
        """Bring every unsettled request one step further; tell if a tick right away would too."""
        try:
            book: Book | SourceDown = read_book(self.source)
        except SourceDown as down:
            book = down
        ticker = Ticker(self._stepper(), self.fleet, self.poll_every, self.delivering)
        waiting = self.store.unsettled()
        # Each second another one first: one that breaks must not hold up those behind it.
        first = int(now.timestamp()) % len(waiting) if waiting else 0
        more = [ticker.tick(one, book, now) for one in (*waiting[first:], *waiting[:first])]
        return any(more)

    def _examiner(self) -> Examiner:
        return Examiner(
            self.source, self.fleet, self.build_change, self.lint, self.what_if, self.cluster
        )

    def _stepper(self) -> Stepper:
        return Stepper(self.store, self.source, self.forge, self.build_change, self.thread_of)

    def _get(self, request_id: int) -> Request:
        found = self.store.get(request_id)
        if found is None:
            raise UnknownName("request", str(request_id))
        return found

    def _refused(  # noqa: PLR0917
        self,
        action: str,
        request: Request | None,
        by: Actor,
        book: Book,
        error: GpubotError,
        now: datetime,
    ) -> None:
        person = book.people.find(by)
        entry = Entry(
            at=now,
            action=action,
            account=_account(by),
            person=person.id if person else "",
            request=request.id if request else 0,
            outcome=error.sentence,
            version=request.version if request else 0,
            policy=book.policy.hash,
        )
        self.store.record([entry])


def _account(by: Actor) -> str:
    return f"{by.via}:{by.account}"


def _again(request: Request, book: Book) -> Outcome:
    sentence = f"Nothing was done twice: request {request.id} is {request.state.value}."
    return Outcome(request, False, sentence, book.verdict(request))


def _counted(verdict: Verdict, choice: Choice) -> str:
    if choice == "reject":
        return "Rejected; the requester is told why."
    if verdict.met:
        return "Approved; the policy is met."
    return f"Approved; it still needs {verdict.words()}."


def _canceller(request: Request, book: Book, by: Actor) -> PersonEntry:
    person = book.people.find(by)
    owners = book.people.owners_of_queue(request.draft.cluster_queue)
    if person is None or person.id not in (request.draft.requester, *owners):
        raise Denied(f"Only {request.draft.requester} or an owner of the queue can withdraw it.")
    if request.state not in CANCELLABLE:
        raise Conflict(f"Request {request.id} {ended_words(request)}; nothing was changed.")
    return person
