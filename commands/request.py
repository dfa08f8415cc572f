"""/gpu-request: where asking for more begins; the form itself opens from the page's button.

[pure]
"""

from dataclasses import dataclass
from datetime import datetime
from typing import get_args

from capacity.errors import Gap, UnknownName, UsageError
from capacity.model import ClusterQueue, FlavorResource, Quota, quotas
from commands.command import Ask, Command, World
from commands.footer import footer, gap_notices
from commands.nearest import nearest
from commands.page import Action, Bold, Facts, Page
from commands.scope import find, scope_of
from commands.words import card, is_gpu, number
from gitops.request import Kind

_NAMES = {"nominal": "own quota", "borrowing": "borrowing limit", "lending": "lending limit"}


@dataclass(frozen=True, slots=True)
class RequestAnswer:
    """What a request would start from: the queue's quota on one card, and the wished number."""

    queue: str
    pair: FlavorResource
    kind: str
    quota: Quota
    to: str
    asked_at: datetime
    as_of: datetime
    source: str
    gaps: tuple[Gap, ...]


def answer(ask: Ask, world: World) -> RequestAnswer:
    """Answer with the values in force, from "queue card kind number" (each may be missing)."""
    fleet = world.fleet()
    kinds = [w.casefold() for w in ask.args if w.casefold() in get_args(Kind)]
    numbers = [w for w in ask.args if w.isascii() and w.isdigit()]
    names = [w for w in ask.args if w.casefold() not in get_args(Kind) and w not in numbers]
    scope = (
        find(names[0], fleet, world.people(), cohorts=False)
        if names
        else scope_of(ask, fleet, world.people(), cohorts=False)
    )
    if not scope.queues:
        raise UsageError(f"{scope.name} has no queue in {fleet.cluster}.", "Name a queue.")
    queue = fleet.cluster_queues[scope.queues[0]]
    pair = _pair(names[1] if len(names) > 1 else "", queue)
    return RequestAnswer(
        queue=queue.name,
        pair=pair,
        kind=kinds[0] if kinds else "nominal",
        quota=quotas(queue)[pair],
        to=numbers[0] if numbers else "",
        asked_at=world.now(),
        as_of=fleet.as_of,
        source=fleet.source,
        gaps=fleet.gaps,
    )


def page(found: RequestAnswer) -> Page:
    """Show what is in force and the button that opens the form."""
    resource, quota = found.pair.resource, found.quota
    kind = _NAMES[found.kind]
    to = f", to {found.to}" if found.to else ""
    value = f"{found.queue} {found.pair.flavor} {found.kind} {found.to}".strip()
    return Page(
        headline=(Bold(f"Ask to change {found.queue}'s {kind} of {card(found.pair)}{to}."),),
        parts=(
            Facts(
                (
                    ("Own quota (nominal)", (number(resource, quota.nominal),)),
                    ("Borrows at most", (_limit(resource, quota.borrowing_limit),)),
                    ("Lends at most", (_limit(resource, quota.lending_limit),)),
                ),
                "In force now",
            ),
        ),
        actions=(Action("Open the form", "request", value, "primary"),),
        footer=footer(found, found.asked_at, "nothing changes before the approvals are there"),
        notices=gap_notices(found.gaps),
    )


def _pair(name: str, queue: ClusterQueue) -> FlavorResource:
    pairs = sorted(quotas(queue), key=lambda p: not is_gpu(p.resource))
    if not pairs:
        raise UsageError(f"{queue.name} has no quota at all.", "Ask the platform team for some.")
    if not name:
        return pairs[0]
    found = next((p for p in pairs if p.flavor.casefold() == name.casefold()), None)
    if found is None:
        flavors = tuple(dict.fromkeys(p.flavor for p in pairs))
        raise UnknownName(f"kind of card in {queue.name}", name, nearest(name, flavors))
    return found


def _limit(resource: str, limit: int | None) -> str:
    return "no limit" if limit is None else number(resource, limit)


COMMAND = Command(
    word="request",
    usage="/gpu-request [queue] [card] [nominal, borrowing or lending] [number]",
    summary="ask for more quota: a form, a review, and a pull request",
    examples=("/gpu-request", "/gpu-request research h100 nominal 40"),
    answer=answer,
    page=page,
)
