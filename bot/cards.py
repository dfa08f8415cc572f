"""[pure] A request's card: the one message in the channel that always shows how it stands now.

The card is made from the request and the policy's present verdict alone, so that it can be made
anew at any time and is the same wherever it is shown.
"""

from collections.abc import Callable, Mapping, Sequence

from bot.wishes import amount, outcome, wish
from commands.page import Action, Bold, Code, Diff, Line, Link, Page, Paragraph, Person, Quote, Time
from gitops.needs import Need
from gitops.ports import View
from gitops.request import TERMINAL, VOTABLE, Request, State

DIFF_LINES = 12
SHORT = 7


def card(view: View) -> Page:
    """Return the card: what is wanted, why, whom it waits for, the diff, and what to do."""
    request = view.request
    until = (" until ", Time(request.draft.until)) if request.draft.until else ()
    return Page(
        headline=(
            Bold(f"Request {request.id}: {wish(request.draft)}"),
            *until,
            " · by ",
            Person(request.draft.requester),
        ),
        parts=(
            *((Quote(request.draft.reason, "Why"),) if request.draft.reason else ()),
            Paragraph(standing(view)),
            *approvals(request),
            *diff(request.diff),
        ),
        actions=buttons(request),
        footer=footer(view),
        notices=(*edited(request), *trouble(request)),
    )


def standing(view: View) -> Line:
    """Say where the request stands and what it waits for."""
    request = view.request
    ending = request.ending
    by: Line = (Person(ending.by),) if ending and ending.by else ("the bot",)
    why: Line = (f": {ending.reason}",) if ending and ending.reason else ()
    sha = (request.merge_sha or "")[:SHORT]
    lines: Mapping[State, Callable[[], Line]] = {
        State.SUBMITTED: lambda: waiting(view),
        State.OPEN: lambda: waiting(view),
        State.CONFLICTED: lambda: (
            Bold("In conflict"),
            ": main changed the same lines. Solve it in the pull request, or withdraw this.",
        ),
        State.APPROVED: lambda: (Bold("Approved"), "; it is merged when the checks are green."),
        State.MERGING: lambda: (Bold("Approved"), "; merging."),
        State.MERGED: lambda: (Bold("Merged "), Code(sha), "; not yet seen in the cluster."),
        State.OVERDUE: lambda: (
            Bold("Merged "),
            Code(sha),
            ", but the cluster still shows the old value. Is the sync paused?",
        ),
        State.DIFFERS: lambda: (
            Bold("Merged "),
            Code(sha),
            f", but the cluster shows {request.observed}, not {amount(request.draft.new)}.",
        ),
        State.LIVE: lambda: (Bold(f"Live{_where(request)}"), f": {outcome(request.draft)}"),
        State.REJECTED: lambda: (Bold("Rejected"), " by ", *by, *why),
        State.CANCELLED: lambda: (Bold("Withdrawn"), " by ", *by, *why),
        State.EXPIRED: lambda: (Bold("Expired"), *why),
        State.CLOSED: lambda: (Bold("Closed"), *((" by ", *by) if ending else ()), *why),
    }
    return lines[request.state]()


def waiting(view: View) -> Line:
    """Name whose approval is missing, person by person, and until when it may come."""
    need = view.verdict.need
    closes: Line = (" · closes unanswered ", Time(view.request.approve_by))
    if need is None or need.met:
        why = view.verdict.why or "nobody"
        return ("Waiting for: ", why if not view.verdict.met else "the pull request", *closes)
    return ("Waiting for: ", *missing(need), *closes)


def missing(need: Need) -> Line:
    """Name the approvals that are not there yet, joined as the policy joins them."""
    if need.op == "people":
        return who_may(need)
    said: Line = ()
    for child in (c for c in need.children if not c.met):
        among = missing(child)
        among = ("(", *among, ")") if child.op not in {"people", need.op} else among
        said = (*said, *((f" {'and' if need.op == 'all' else 'or'} ",) if said else ()), *among)
    return said


def who_may(need: Need) -> Line:
    """Name one requirement and the people who can meet it."""
    if not need.candidates:
        return (Bold(need.text), " (nobody has this role)")
    people: Line = ()
    for i, person in enumerate(need.candidates):
        people = (*people, *((" or ",) if i else ()), Person(person))
    return (Bold(need.text), " (", *people, ")")


def approvals(request: Request) -> tuple[Paragraph, ...]:
    """Say who has approved this very content."""
    given = [v for v in request.standing_votes if v.choice == "approve"]
    if not given:
        return ()
    said: Line = ("Approved by ",)
    for i, vote in enumerate(given):
        said = (*said, *((", ",) if i else ()), Person(vote.person), f" ({vote.role})")
    return (Paragraph(said),)


def diff(text: str, most: int = DIFF_LINES) -> tuple[Diff, ...]:
    """Return the changed lines of a unified diff, file by file."""
    files: dict[str, list[str]] = {}
    path = ""
    for line in text.splitlines():
        if line.startswith("+++ "):
            path = line[4:].split("\t")[0].removeprefix("b/")
        elif line[:1] in {"+", "-"} and not line.startswith("--- "):
            files.setdefault(path, []).append(line)
    return tuple(
        Diff(name, (*lines[:most], *((f"… {len(lines) - most} more",) if lines[most:] else ())))
        for name, lines in ((name, outdented(lines)) for name, lines in files.items())
    )


def outdented(lines: Sequence[str]) -> list[str]:
    """Take off the indentation that all lines share: a phone shows only their beginnings."""
    shared = min((len(x[1:]) - len(x[1:].lstrip()) for x in lines if x[1:].strip()), default=0)
    return [f"{x[:1]} {x[1 + shared :]}" for x in lines]


def buttons(request: Request) -> tuple[Action, ...]:
    """Return the buttons that do something in this state; they carry ids, never a right."""
    value = request.button_value
    votes = (
        Action("Approve", "approve", value, "primary"),
        Action("Reject…", "reject", value, "danger"),
    )
    url = web_address(request)
    return (
        *(votes if request.state in VOTABLE else ()),
        Action("Details", "details", value),
        *((Action("Open pull request", "open", url=url),) if url else ()),
    )


def withdraw(request: Request) -> tuple[Action, ...]:
    """Return the button for its requester to take a request back, while that is possible."""
    if request.state in TERMINAL or request.merge_sha:
        return ()
    sure = "The pull request is closed; nothing changes in the cluster."
    return (Action("Withdraw", "cancel", request.button_value, "danger", confirm=sure),)


def web_address(request: Request) -> str:
    """Return the pull request's address if a browser can open it, else ""."""
    url = request.pull.url if request.pull else ""
    return url if url.startswith(("https://", "http://")) else ""


def footer(view: View) -> Line:
    """Say, small, where the pull request is, by which rule it is judged, and as of when."""
    said: Line = ()
    if pull := view.request.pull:
        url, name = web_address(view.request), f"Pull request #{pull.number}"
        said = (Link(name, url) if url else name, " · ")
    if view.verdict.rule:
        said = (*said, f"rule {view.verdict.rule}", " · ")
    return (*said, "as of ", Time(view.as_of, clock=True))


def trouble(request: Request) -> tuple[Line, ...]:
    """Say what fails at the moment, that nothing is lost, and when it is tried again."""
    found = request.trouble
    if found is None:
        return ()
    kept = " Request and approvals are kept; I try again "
    return ((found.sentence, kept, Time(found.retry_at, clock=True), f". {found.next_step}"),)


def edited(request: Request) -> tuple[Line, ...]:
    """Warn that the pull request is no longer what the title says."""
    if not request.facts.edited or request.state in TERMINAL:
        return ()
    return ((Bold("Edited by hand"), ": what counts is the diff, whatever the title says."),)


def _where(request: Request) -> str:
    return f" in {request.draft.cluster}" if request.draft.cluster else ""
