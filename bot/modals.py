"""[pure] The modals: a quota request with its live preview, a reason for a rejection.

A view comes back from the person's own machine, so what it says is read as a wish and every value
is checked again. Block ids of inputs whose meaning depends on an earlier choice carry that choice's
hash: Slack then forgets what was typed for the old one.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time
from typing import Any
from zoneinfo import ZoneInfo

from bot.blocks import render
from bot.modal_elements import Block, day, lines, number, plain, radio, select, words
from commands.page import Page
from gitops.request import Kind

View = dict[str, Any]
REASON = 1_000
QUEUE, CARD, WHAT, TO, UNTIL, WHY = "queue", "card", "what", "to", "until", "why"
WHATS: Mapping[Kind, str] = {
    "nominal": "Own quota (nominal)",
    "borrowing": "Borrowing limit",
    "lending": "Lending limit",
}


@dataclass(frozen=True, slots=True)
class Form:
    """What the modal holds now; "" is not chosen or typed. ``seen`` is the value shown as "from".

    ``card`` is "flavor resource".
    """

    queue: str = ""
    card: str = ""
    what: Kind = "nominal"
    to: str = ""
    until: str = ""
    why: str = ""
    seen: str = ""
    channel: str = ""


@dataclass(frozen=True, slots=True)
class Choices:
    """What can be chosen: queues (the person's own first), the cards of the chosen one."""

    queues: Sequence[str]
    cards: Sequence[tuple[str, str]]
    current: str


def loading(channel: str) -> View:
    """Return the modal to show at once, while the choices are looked up."""
    return _modal("request", "Request a change", [words("Looking up the queues…")], channel)


def request(form: Form, choices: Choices, preview: Page | None) -> View:
    """Return the request modal with the form's values and, below them, what would happen."""
    chosen = f"{form.queue} {form.card} {form.what}"
    where = select(QUEUE, "Queue", [(q, q) for q in choices.queues], form.queue)
    card = select(f"{CARD}-{_hash(form.queue)}", "Card", choices.cards, form.card)
    what = radio(WHAT, "What", WHATS, form.what)
    to = number(f"{TO}-{_hash(chosen)}", f"From {choices.current} to", form.to)
    blocks = [
        where,
        card,
        what,
        to,
        day(UNTIL, "Until", form.until),
        lines(WHY, "Why", form.why, REASON),
        {"type": "divider"},
    ]
    blocks += (
        render(preview, view=True).blocks
        if preview
        else [words("Type a number to see what happens.")]
    )
    note = json.dumps({"channel": form.channel, "seen": choices.current})
    return _modal("request", "Request a change", blocks, note) | _submit("Send request")


def reject(value: str, title: str, channel: str, thread: str) -> View:
    """Return the modal that asks why; ``value`` is the button's "REQUEST.VERSION"."""
    why = lines(
        WHY,
        "Why",
        "",
        REASON,
        "They read this in the thread, with what could be asked for instead.",
    )
    note = json.dumps({"value": value, "channel": channel, "thread": thread})
    return _modal("reject", "Reject", [words(title), why], note) | _submit("Reject")


def told(title: str, page: Page) -> View:
    """Return a modal that only says something."""
    return _modal("told", title, render(page, view=True).blocks, "")


def read(view: Mapping[str, Any]) -> Form:
    """Read the form from a view payload, whatever state it is in."""
    values: dict[str, Any] = {}
    for block, actions in (view.get("state", {}).get("values") or {}).items():
        for element in actions.values():
            values[block.partition("-")[0]] = _value(element)
    note = metadata(view)
    what: dict[str, Kind] = {kind: kind for kind in WHATS}
    return Form(
        queue=values.get(QUEUE, ""),
        card=values.get(CARD, ""),
        what=what.get(values.get(WHAT, ""), "nominal"),
        to=values.get(TO, ""),
        until=values.get(UNTIL, ""),
        why=values.get(WHY, ""),
        seen=str(note.get("seen", "")),
        channel=str(note.get("channel", "")),
    )


def block_of(view: Mapping[str, Any], name: str) -> str:
    """Return the id of the input that an error belongs to, as this view spells it."""
    blocks = view.get("blocks") or []
    ids = [str(b.get("block_id", "")) for b in blocks if b.get("type") == "input"]
    return next((i for i in ids if i.partition("-")[0] == name), name)


def metadata(view: Mapping[str, Any]) -> dict[str, Any]:
    """Return the note that the view carries: places and what was shown, never a right."""
    text = str(view.get("private_metadata") or "")
    try:
        note = json.loads(text) if text.startswith("{") else {"channel": text}
    except ValueError:
        return {}
    return note if isinstance(note, dict) else {}


def with_queue(form: Form, queue: str) -> Form:
    """Return the form with another queue."""
    return replace(form, queue=queue)


def with_reason(form: Form, why: str) -> Form:
    """Return the form with another reason."""
    return replace(form, why=why)


def end_of(day: str, zone: str) -> datetime | None:
    """Return the end of a chosen day in a zone, in UTC; None when none was chosen.

    Raises ValueError for what no date picker sends.
    """
    if not day:
        return None
    return datetime.combine(date.fromisoformat(day), time(23, 59), ZoneInfo(zone)).astimezone(UTC)


def _value(element: Mapping[str, Any]) -> str:
    chosen = element.get("selected_option") or {}
    found = chosen.get("value") or element.get("value") or element.get("selected_date") or ""
    return str(found).strip()


def _modal(callback: str, title: str, blocks: list[Block], note: str) -> View:
    return {
        "type": "modal",
        "callback_id": callback,
        "title": plain(title),
        "close": plain("Close"),
        "blocks": blocks,
        "private_metadata": note,
    }


def _submit(label: str) -> View:
    return {"submit": plain(label), "close": plain("Cancel")}


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:12]
