"""[pure] What is said in a request's thread: one line for each thing that happened.

A line names who did what and when, and mentions only the people who have to act next or who asked.
A move whose news the card itself is (the submission) has no line.
"""

from collections.abc import Callable, Mapping

from bot.cards import SHORT, diff, missing
from bot.wishes import amount, outcome
from commands.page import Bold, Code, Line, Page, Person, Quote, Time
from gitops.moves import Move, MoveKind
from gitops.ports import View

Say = Callable[[View, Move], Page]


def notice(view: View, move: Move) -> Page | None:
    """Return the thread's line for a move; None when there is nothing to add to the card."""
    say = SAY.get(move.kind)
    return say(view, move) if say else None


def _opened(view: View, move: Move) -> Page:
    pull = view.request.pull
    number = f" #{pull.number}" if pull else ""
    return Page((f"Pull request{number} opened, checks running", *_at(move)))


def _voted(view: View, move: Move) -> Page:
    need = view.verdict.need
    left = ("; still waiting for ", *missing(need)) if need and not need.met else ()
    said: Line = (_person(move), " approved", _role(move), *_at(move), *left)
    return Page(said, _quote(move))


def _withdrawn(view: View, move: Move) -> Page:
    del view
    return Page((_person(move), " took the approval back", *_at(move)))


def _approved(view: View, move: Move) -> Page:
    del view
    return Page((Bold("The policy is met"), "; it is merged when the checks are green", *_at(move)))


def _unapproved(view: View, move: Move) -> Page:
    need = view.verdict.need
    left = (" Missing again: ", *missing(need)) if need and not need.met else ()
    return Page(("The policy is no longer met; it is not merged", *_at(move), ".", *left))


def _void(view: View, move: Move) -> Page:
    moved: Line = ()
    if move.old and move.new:
        moved = (" (", Code(move.old[:SHORT]), " → ", Code(move.new[:SHORT]), ")")
    voters = dict.fromkeys(vote.person for vote in view.request.votes if vote.choice == "approve")
    again: Line = ()
    for i, person in enumerate(voters):
        again = (*again, " Please look again: " if i == 0 else ", ", Person(person))
    return Page((move.text, *moved, *again, *_at(move)), diff(view.request.diff))


def _conflicted(view: View, move: Move) -> Page:
    return Page(
        (
            Bold("In conflict"),
            ": main changed the same lines meanwhile. ",
            _requester(view),
            ", solve it in the pull request, or withdraw and ask anew",
            *_at(move),
        )
    )


def _unconflicted(view: View, move: Move) -> Page:
    del view
    return Page(("The conflict is solved", *_at(move)))


def _merged(view: View, move: Move) -> Page:
    del view
    by = Person(move.by) if move.by else "Gpubot"
    return Page(("Merged ", Code(move.new[:SHORT]), " by ", by, *_at(move)))


def _merged_by_hand(view: View, move: Move) -> Page:
    del view
    by = Person(move.by) if move.by else "somebody on the forge"
    said: Line = ("Merged ", Code(move.new[:SHORT]), " by hand by ", by, *_at(move), ". ")
    return Page((*said, Bold(move.text)) if move.text else said)


def _applied(view: View, move: Move) -> Page:
    del view
    return Page((f"{move.text} applied ", Code(move.new[:SHORT]), *_at(move)))


def _stuck(view: View, move: Move) -> Page:
    said: Line = (Bold(f"{move.new} can't bring it into the cluster"), *_at(move), ". ")
    return Page((*said, *_asked(view)), (Quote(move.text, move.old),))


def _live(view: View, move: Move) -> Page:
    draft = view.request.draft
    where = f" in {draft.cluster}" if draft.cluster else ""
    at = (Bold(f"Live{where} at "), Time(move.at, clock=True))
    return Page((*at, Bold(f": {outcome(draft)}"), " ", *_asked(view)))


def _due(view: View, move: Move) -> Page:
    said: Line = (Bold("The agreed time is over"), *_at(move), ". It is not taken back by itself: ")
    back = f"ask for {amount(view.request.draft.old)} again when you are done. "
    return Page((*said, back, *_asked(view)))


def _overdue(view: View, move: Move) -> Page:
    sha = (view.request.merge_sha or "")[:SHORT]
    said: Line = ("Merged ", Code(sha), ", but the cluster still shows the old value", *_at(move))
    return Page((*said, ". Is the sync paused? I keep looking. ", *_asked(view)))


def _differs(view: View, move: Move) -> Page:
    wished = amount(move.old or None)
    said = f"The cluster shows {move.new}, not the {wished} that was "
    if view.request.facts.edited:
        said += "asked for"
        why = ". The pull request was edited by hand: its diff is what was merged. "
        return Page((Bold(said), *_at(move), why, *_asked(view)))
    said += "merged"
    return Page((Bold(said), *_at(move), ". Somebody changed it by another way? ", *_asked(view)))


def _rejected(view: View, move: Move) -> Page:
    rejected = (_person(move), Bold(" rejected"), _role(move))
    said: Line = (*rejected, *_at(move), ". ", _requester(view))
    return Page((*said, ": talk to them, or ask for something else."), _quote(move))


def _cancelled(view: View, move: Move) -> Page:
    del view
    return Page((_person(move), " withdrew the request", *_at(move)), _quote(move))


def _expired(view: View, move: Move) -> Page:
    why = move.text or "It was not answered in time."
    return Page(
        (Bold("Expired"), f": {why} ", _requester(view), ", ask again if you still need it.")
    )


def _closed(view: View, move: Move) -> Page:
    by: Line = (" by ", _person(move)) if move.by else (" on the forge",)
    return Page(("Closed", *by, *_at(move), ". ", *_asked(view)), _quote(move))


def _trouble(view: View, move: Move) -> Page:
    found = view.request.trouble
    then: Line = ()
    if found:
        then = (" I try again ", Time(found.retry_at, clock=True), f". {found.next_step}")
    return Page((move.text, " The request and its approvals are kept.", *then))


def _recovered(view: View, move: Move) -> Page:
    del view
    return Page(("That works again", *_at(move)))


SAY: Mapping[MoveKind, Say] = {
    MoveKind.OPENED: _opened,
    MoveKind.VOTED: _voted,
    MoveKind.WITHDRAWN: _withdrawn,
    MoveKind.APPROVED: _approved,
    MoveKind.UNAPPROVED: _unapproved,
    MoveKind.VOTES_VOID: _void,
    MoveKind.CONFLICTED: _conflicted,
    MoveKind.UNCONFLICTED: _unconflicted,
    MoveKind.MERGED: _merged,
    MoveKind.MERGED_BY_HAND: _merged_by_hand,
    MoveKind.APPLIED: _applied,
    MoveKind.STUCK: _stuck,
    MoveKind.LIVE: _live,
    MoveKind.DUE: _due,
    MoveKind.OVERDUE: _overdue,
    MoveKind.DIFFERS: _differs,
    MoveKind.REJECTED: _rejected,
    MoveKind.CANCELLED: _cancelled,
    MoveKind.EXPIRED: _expired,
    MoveKind.CLOSED: _closed,
    MoveKind.TROUBLE: _trouble,
    MoveKind.RECOVERED: _recovered,
}


def _person(move: Move) -> Person | str:
    return Person(move.by) if move.by else "Somebody"


def _role(move: Move) -> str:
    """Say in which role: "as owner of serving", "for platform"."""
    if not move.role:
        return ""
    return f" as {move.role}" if move.role.startswith("owner") else f" for {move.role}"


def _requester(view: View) -> Person:
    return Person(view.request.draft.requester)


def _asked(view: View) -> Line:
    return (_requester(view),)


def _quote(move: Move) -> tuple[Quote, ...]:
    return (Quote(move.text),) if move.text else ()


def _at(move: Move) -> Line:
    return (" · ", Time(move.at, clock=True))
