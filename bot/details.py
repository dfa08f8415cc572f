"""[pure] A request in full for one reader: what the policy asks, who decided what, the diff."""

from bot.cards import diff, footer, standing, trouble, web_address, withdraw
from bot.wishes import wish
from commands.page import (
    Action,
    Bold,
    Bullets,
    Facts,
    Line,
    Page,
    Paragraph,
    Part,
    Person,
    Quote,
    Table,
    Time,
)
from gitops.needs import Need
from gitops.ports import View
from gitops.request import VOTABLE, Vote

WHOLE = 60


def details(view: View, reader: str) -> Page:
    """Return everything about a request; ``reader`` is a person's id, for what they may do."""
    request = view.request
    return Page(
        headline=(Bold(f"Request {request.id}: {wish(request.draft)}"),),
        parts=(
            Paragraph(standing(view)),
            *((Quote(request.draft.reason, "Why"),) if request.draft.reason else ()),
            Facts(_clocks(view)),
            *_needs(view),
            *_votes(request.votes, view),
            *((Bullets(tuple((note,) for note in request.notes)),) if request.notes else ()),
            *diff(request.diff, WHOLE),
            Paragraph(_you(view, reader)),
        ),
        actions=_actions(view, reader),
        footer=footer(view),
        notices=trouble(request),
    )


def _clocks(view: View) -> tuple[tuple[str, Line], ...]:
    request = view.request
    asked: Line = (Person(request.draft.requester), " · ", Time(request.submitted_at))
    pairs: list[tuple[str, Line]] = [("Asked by", asked)]
    if request.state in VOTABLE:
        pairs.append(("Closes unanswered", (Time(request.approve_by),)))
    if request.draft.until:
        pairs.append(("Wished until", (Time(request.draft.until),)))
    if request.merged_at:
        pairs.append(("Merged", (Time(request.merged_at),)))
    return tuple(pairs)


def _needs(view: View) -> tuple[Part, ...]:
    verdict = view.verdict
    if verdict.need is None:
        return (Paragraph((Bold("Policy: "), verdict.why or "nobody has to approve")),)
    lines = _tree(verdict.need, 0)
    return (Paragraph((Bold("What the policy asks"),)), Bullets(tuple(lines)))


def _tree(need: Need, depth: int) -> list[Line]:
    mark = "✓ met" if need.met else "open"
    indent = "└ " * min(depth, 1)
    if need.op != "people":
        lines: list[Line] = [(f"{indent}{mark}: {need.text}",)]
        return lines + [line for child in need.children for line in _tree(child, depth + 1)]
    people: Line = ()
    for person in need.met_by if need.met else need.candidates:
        people = (*people, ", " if people else ": ", Person(person))
    return [(f"{indent}{mark}: ", Bold(need.text), *people)]


def _votes(votes: tuple[Vote, ...], view: View) -> tuple[Table, ...]:
    if not votes:
        return ()
    rows: list[tuple[Line, ...]] = []
    for vote in votes:
        stands = view.request.content.is_what(vote.content)
        words = vote.choice if stands else f"{vote.choice}, no longer counts"
        who: Line = (Person(vote.person), f" ({vote.role})")
        rows.append((who, (words,), (Time(vote.at),), (vote.reason or "-",)))
    return (Table(("Who", "Decision", "When", "Reason"), tuple(rows), "Decisions"),)


def _you(view: View, reader: str) -> Line:
    if reader and reader == view.request.draft.requester:
        return ("You asked for this, so you can't approve it.",)
    roles = view.verdict.roles_of(reader) if reader else ()
    if not roles:
        return ("You have no role in this decision.",)
    return ("You can decide as ", Bold(" and ".join(roles)), ".")


def _actions(view: View, reader: str) -> tuple[Action, ...]:
    request = view.request
    value = request.button_value
    mine = withdraw(request) if reader == request.draft.requester else ()
    votes: tuple[Action, ...] = ()
    if request.state in VOTABLE and view.verdict.roles_of(reader):
        votes = (
            Action("Approve", "approve", value, "primary"),
            Action("Reject…", "reject", value, "danger"),
        )
    url = web_address(request)
    opened = (Action("Open pull request", "open", url=url),) if url else ()
    return (*votes, *mine, *opened)
