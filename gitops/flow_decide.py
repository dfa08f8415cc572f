"""One person's decision on one request: every right and state is checked anew, then it counts."""

from datetime import datetime

from capacity.errors import Conflict, Denied, UsageError
from gitops.book import Book
from gitops.events import Judged, PolicyChanged, Voted
from gitops.flow_save import run
from gitops.flow_text import as_said
from gitops.moves import Move
from gitops.people import Actor, PersonEntry
from gitops.policy import Verdict
from gitops.request import VOTABLE, Choice, Request, State, Vote


def decide_on(
    request: Request,
    book: Book,
    *,
    version: int,
    choice: Choice,
    by: Actor,
    reason: str,
    now: datetime,
) -> tuple[Request, list[Move], Verdict]:
    """Return the request with the decision counted; unchanged if this person said so before.

    Raises Denied (no such person, no right, one's own request), Conflict (ended, expired, changed
    since it was looked at) or UsageError (a rejection without a reason).
    """
    person = _person(book, by)
    request, _ = run(request, [PolicyChanged(book.policy.hash)], now)
    _still_open(request, now)
    if version != request.version:
        raise Conflict(
            f"Request {request.id} has changed since that card: nothing was recorded.",
            "Look at the new diff and decide again.",
        )
    verdict = book.verdict(request)
    role = _role(request, verdict, person)
    if any((v.person, v.choice) == (person.id, choice) for v in request.standing_votes):
        return request, [], verdict
    if choice == "reject" and not as_said(reason):
        raise UsageError("A rejection needs a reason.", "Say why, so that they know what to do.")
    vote = Vote(
        person.id,
        role,
        choice,
        as_said(reason),
        now,
        f"{by.via}:{by.account}",
        request.content,
    )
    request, moves = run(request, [Voted(vote)], now)
    verdict = book.verdict(request)
    request, more = run(request, [judged(request, book, verdict)], now)
    return request, moves + more, verdict


def judged(request: Request, book: Book, verdict: Verdict) -> Judged:
    """Return the verdict as an event about the request's present content."""
    return Judged(request.content, verdict.met, book.policy.merge_within)


def ended_words(request: Request) -> str:
    """Say how the request ended: "was rejected by li at 14:05 UTC"."""
    ending = request.ending
    by = f" by {ending.by}" if ending and ending.by else ""
    at = f" at {ending.at:%H:%M} UTC" if ending else ""
    state = "merged" if request.merge_sha else request.state.value
    return f"was {state}{by}{at}"


def _person(book: Book, by: Actor) -> PersonEntry:
    person = book.people.find(by)
    if person is None:
        raise Denied(
            "You can't decide this: I don't know you.",
            "Ask the platform team to add your account to gpubot/people.yaml.",
        )
    return person


def _still_open(request: Request, now: datetime) -> None:
    if request.state is State.MERGING:
        raise Conflict(f"Request {request.id} is being merged right now; nothing was recorded.")
    if request.state not in VOTABLE:
        raise Conflict(f"Request {request.id} {ended_words(request)}; nothing was recorded.")
    if now >= request.approve_by and request.state is not State.APPROVED:
        raise Conflict(f"Request {request.id} has expired; nothing was recorded.", "Ask anew.")


def _role(request: Request, verdict: Verdict, person: PersonEntry) -> str:
    if person.id == request.draft.requester:
        need = verdict.words() or "somebody else"
        raise Denied(f"You can't decide your own request: it needs {need}.")
    roles = verdict.roles_of(person.id)
    if not roles:
        why = verdict.why.rstrip(".") if not verdict.allowed else f"it needs {verdict.all_words()}"
        raise Denied(f"You can't decide this: {why}.", "Your role here: none that counts.")
    return " and ".join(roles)
