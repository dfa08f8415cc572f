"""[pure] The Home tab: what waits for you, what you wait for, how your team stands, and help."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from bot.blocks import render
from bot.cards import buttons, standing, waiting, withdraw
from bot.starts import Awaited
from bot.wishes import wish
from commands.page import Action, Bold, Bullets, Line, Page, Paragraph, Person, Time
from commands.starts import dont_tell_me, tell_me
from gitops.ports import View
from gitops.request import TERMINAL, VOTABLE

MOST_BLOCKS = 100
MOST_REQUESTS = 8
HELP = Page(
    (Bold("Help"),),
    (
        Paragraph(
            ("Ask anywhere: /gpu quota, /gpu queue, /gpu usage, each with a queue or team.",)
        ),
        Paragraph(("Need more? /gpu-request shows what would happen before you send it.",)),
        Paragraph(("Every change is a pull request; who must approve is in gpubot/policy.yaml.",)),
    ),
    (Action("All commands", "ask", "help"), Action("Request a change", "request", "", "primary")),
)


@dataclass(frozen=True, slots=True)
class Standing:
    """What one person's Home shows; ``team`` are the answers' first lines, ready to be shown."""

    person: str
    requests: Sequence[View]
    team: Sequence[tuple[Line, str]] = ()
    awaited: Sequence[Awaited] = ()
    trouble: Line = ()


def home(standing_: Standing, who: Callable[[str], str | None]) -> dict[str, Any]:
    """Return the Home view, never above Slack's hundred blocks; what was left out is counted."""
    sections = [*_waiting(standing_), *_mine(standing_), *_awaited(standing_)]
    sections += [*_team(standing_), HELP]
    if standing_.trouble:
        sections.insert(0, Page(standing_.trouble))
    blocks: list[dict[str, Any]] = []
    for page in sections:
        made = render(page, who=who, view=True).blocks
        if len(blocks) + len(made) + 1 > MOST_BLOCKS:
            break
        blocks += [*made, *([] if page is HELP else [{"type": "divider"}])]
    return {"type": "home", "blocks": blocks}


def _waiting(shown: Standing) -> Iterable[Page]:
    mine = [
        view
        for view in shown.requests
        if view.request.state in VOTABLE
        and any(shown.person in need.candidates for need in view.verdict.waiting_for())
    ]
    yield _title("Waiting for you", len(mine), "Nothing waits for your decision.")
    for view in mine[:MOST_REQUESTS]:
        request = view.request
        said: Line = (Bold(f"Request {request.id}: {wish(request.draft)}"), " · by ")
        why = (Paragraph((f"“{request.draft.reason}”",)),) if request.draft.reason else ()
        parts = (*why, Paragraph(waiting(view)))
        yield Page((*said, Person(request.draft.requester)), parts, buttons(request))


def _mine(shown: Standing) -> Iterable[Page]:
    mine = [
        view
        for view in shown.requests
        if view.request.draft.requester == shown.person and view.request.state not in TERMINAL
    ]
    yield _title("Your requests", len(mine), "You have no open request.")
    for view in mine[:MOST_REQUESTS]:
        request = view.request
        actions = (Action("Details", "details", request.button_value), *withdraw(request))
        headline: Line = (Bold(f"Request {request.id}: {wish(request.draft)}"),)
        yield Page(headline, (Paragraph(standing(view)),), actions)


def _awaited(shown: Standing) -> Iterable[Page]:
    """Yield the jobs of which this person is told; all of them, so that each can be stopped."""
    if not shown.awaited:
        return
    items: tuple[Line, ...] = tuple(
        (Bold(a.name), " · asked ", Time(a.asked_at), " · until ", Time(a.until))
        for a in shown.awaited
    )
    stops = tuple(
        dont_tell_me(tell_me(a.uid, f"why {a.name}").value, f"Stop: {a.name}")
        for a in shown.awaited
    )
    title = f"You'll be told when these start ({len(items)})"
    yield Page((Bold(title),), (Bullets(items),), stops)


def _team(shown: Standing) -> Iterable[Page]:
    if not shown.team:
        return
    yield Page((Bold("Your team"),))
    for line, question in shown.team:
        yield Page(line, (), (Action("Show", "ask", question),))


def _title(title: str, count: int, none: str) -> Page:
    if not count:
        return Page((Bold(title),), (Paragraph((none,)),))
    more = f" ({count})" if count <= MOST_REQUESTS else f" (the first {MOST_REQUESTS} of {count})"
    return Page((Bold(title + more),))
