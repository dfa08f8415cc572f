"""How drift is shown: what differs field by field, then what is on one side only.

[pure]
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from capacity.delivery import Delivery
from commands.command import Answer
from commands.footer import footer, gap_notices
from commands.page import Action, Bold, Bullets, Code, Line, Page, Paragraph, Part, Quote, Table
from commands.words import count
from gitops.drift import Difference, Drift, Found, Subject

SHORT = 7
_MOST = 12


class Asked(Answer, Protocol):
    """An answer that knows when it was asked for."""

    @property
    def asked_at(self) -> datetime: ...


def page_of(
    answer: Asked, drift: Drift, deliveries: Sequence[Delivery], about: tuple[str, str, str]
) -> Page:
    """Show the drift of a queue or a whole cluster; ``about`` is queue, cluster and commit."""
    queue, cluster, commit = about
    return Page(
        headline=_headline(drift, queue, cluster),
        parts=(
            *_differences(drift.differences),
            *_listed(f"Live in {cluster}, but in no file", _subjects(drift.unmanaged)),
            *_listed("In Git, but not live", _found(drift.not_live)),
            *_listed("Can't be compared", _found(drift.unclear)),
            *_deliveries(deliveries, commit),
        ),
        actions=(Action("Whole cluster", "ask", "drift"),) if queue else (),
        footer=footer(answer, answer.asked_at, f"Git at {commit[:SHORT]}", *_guess(drift)),
        notices=gap_notices(answer.gaps),
    )


def _headline(drift: Drift, queue: str, cluster: str) -> Line:
    said = [
        *_told(len(drift.differences), "field differs", "fields differ"),
        *_told(len(drift.unmanaged), "object is in no file", "objects are in no file"),
        *_told(len(drift.not_live), "object is not live", "objects are not live"),
    ]
    where = f"{queue} in {cluster}" if queue else cluster
    if said:
        return (Bold(f"{where}: {', '.join(said)}."),)
    if drift.unclear:
        return (Bold(f"{where}: {count(len(drift.unclear), 'object')} can't be compared."),)
    if queue:
        return (Bold(f"Git and {cluster} agree about {queue}."),)
    return (Bold(f"Git and {cluster} agree on {count(drift.compared, 'object')}."),)


def _told(n: int, one: str, many: str) -> tuple[str, ...]:
    return (count(n, one, many),) if n else ()


def _differences(found: Sequence[Difference]) -> tuple[Part, ...]:
    if not found:
        return ()
    rows: tuple[tuple[Line, ...], ...] = tuple(
        ((f"{d.subject}: {d.field}",), (d.in_git,), (d.live,), (Code(d.place),))
        for d in found[:_MOST]
    )
    table = Table(("what", "Git", "live", "place"), rows, "What differs")
    more = len(found) - _MOST
    return (table, *((Paragraph((f"{more} more: ask about one queue.",)),) if more > 0 else ()))


def _subjects(found: Sequence[Subject]) -> list[Line]:
    return [(str(subject),) for subject in found]


def _found(found: Sequence[Found]) -> list[Line]:
    return [
        (str(f.subject), " · ", Code(f.place), *((f" · {f.why}",) if f.why else ())) for f in found
    ]


def _listed(title: str, lines: Sequence[Line]) -> tuple[Part, ...]:
    if not lines:
        return ()
    more = len(lines) - _MOST
    shown = (*lines[:_MOST], *(((f"and {more} more",),) if more > 0 else ()))
    return Paragraph((Bold(title),)), Bullets(shown)


def _deliveries(deliveries: Sequence[Delivery], commit: str) -> tuple[Part, ...]:
    parts: list[Part] = []
    for delivery in deliveries:
        parts.append(Paragraph(_standing(delivery, commit)))
        if delivery.message:
            parts.append(Quote(delivery.message, delivery.speaker))
    return tuple(parts)


def _standing(delivery: Delivery, commit: str) -> Line:
    who = f"{delivery.tool} ({delivery.name})"
    paused = f"; {delivery.paused}" if delivery.paused else ""
    if not delivery.applied:
        return (f"{who} has applied nothing yet{paused}.",)
    if delivery.applied == commit:
        return (f"{who} has applied this commit{paused}.",)
    behind = (f"{who} has applied ", Code(delivery.applied[:SHORT]))
    return (*behind, f", not yet this commit{paused}.")


def _guess(drift: Drift) -> tuple[str, ...]:
    return ("the files' cluster is guessed from folder names",) if drift.guessed else ()
