"""[pure] The request modal's form against the world: what can be chosen, and what it asks for."""

import re
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import get_args

from bot import modals
from bot.modals import Choices, Form
from capacity.errors import UnknownName
from capacity.model import ClusterQueue, FlavorResource, Fleet, Quota, quotas
from capacity.quantity import to_text
from commands.nearest import nearest
from commands.words import card, is_gpu
from gitops.flow_text import as_said
from gitops.request import Draft, Kind

NO_LIMIT = "no limit"
MOST = 2**31
WHOLE = re.compile(r"[0-9]{1,20}")
LATEST = timedelta(days=3_660)


class FieldErrors(Exception):  # a form's answer, told at the fields
    """What is wrong with the form, by field; the modal stays open and shows it there."""

    def __init__(self, errors: Mapping[str, str]) -> None:
        super().__init__("; ".join(errors.values()))
        self.errors = errors


def prefilled(text: str, channel: str) -> Form:
    """Read "queue flavor kind to", as buttons and people write it; every part is optional."""
    words = text.split()
    kinds = [word.casefold() for word in words if word.casefold() in get_args(Kind)]
    numbers = [word for word in words if word.isdigit()]
    names = [word for word in words if word.casefold() not in kinds and word not in numbers]
    return Form(
        queue=names[0] if names else "",
        card=names[1] if len(names) > 1 else "",
        what=next((kind for kind in get_args(Kind) if kind in kinds), "nominal"),
        to=numbers[0] if numbers else "",
        channel=channel,
    )


def settled(form: Form, fleet: Fleet, own: Sequence[str]) -> tuple[Form, Choices]:
    """Return the form with every choice made that has to be, and what could be chosen instead."""
    queues = [q for q in own if q in fleet.cluster_queues]
    queues += [q for q in fleet.cluster_queues if q not in queues]
    queue = form.queue if form.queue in queues else next(iter(queues), "")
    queues = list(dict.fromkeys([queue, *queues])) if queue else queues
    pairs = cards(fleet.cluster_queues.get(queue))
    chosen = _chosen(form.card, pairs) or next(iter(pairs), None)
    options = tuple((_value(pair), card(pair)) for pair in pairs)
    current = NO_LIMIT
    if chosen:
        current = now_in_force(fleet.cluster_queues[queue], chosen, form.what) or NO_LIMIT
    made = Form(
        queue=queue,
        card=_value(chosen) if chosen else "",
        what=form.what,
        to=form.to,
        until=form.until,
        why=form.why,
        seen=current,
        channel=form.channel,
    )
    return made, Choices(queues, options, current)


def known_card(form: Form, fleet: Fleet) -> None:
    """Raise UnknownName for a card that the queue hasn't: another must not stand in for it."""
    pairs = cards(fleet.cluster_queues.get(form.queue))
    if pairs and _chosen(form.card, pairs) is None:
        near = nearest(form.card, (pair.flavor for pair in pairs))
        raise UnknownName(f"card of {form.queue}", form.card, near)


def draft_of(form: Form, fleet: Fleet, *, zone: str, now: datetime, team: str) -> Draft:
    """Return what the form asks for, or raise FieldErrors; nothing in it is taken on trust."""
    queue = fleet.cluster_queues.get(form.queue)
    pair = _chosen(form.card, cards(queue))
    if queue is None or pair is None:
        field = modals.QUEUE if queue is None else modals.CARD
        raise FieldErrors({field: "There is no such thing any more; choose another."})
    old = now_in_force(queue, pair, form.what)
    errors = {
        modals.TO: _wrong_number(form, old),
        modals.UNTIL: _wrong_day(form.until, zone, now),
        modals.WHY: "" if as_said(form.why) else "Say why: the people who decide read it.",
    }
    if any(errors.values()):
        raise FieldErrors({field: words for field, words in errors.items() if words})
    return Draft(
        kind=form.what,
        cluster_queue=queue.name,
        flavor=pair.flavor,
        resource=pair.resource,
        old=old,
        new=str(int(form.to)),
        reason=form.why[: modals.REASON],
        until=modals.end_of(form.until, zone),
        team=team,
        cluster=fleet.cluster,
    )


def cards(queue: ClusterQueue | None) -> tuple[FlavorResource, ...]:
    """Return the GPUs of a queue: what the modal changes. Other resources are edited in Git."""
    if queue is None:
        return ()
    return tuple(pair for pair in quotas(queue) if is_gpu(pair.resource))


def now_in_force(queue: ClusterQueue, pair: FlavorResource, kind: Kind) -> str | None:
    """Return the present value as the spec has it; None is no limit."""
    quota = _spec(queue, pair)
    value = {
        "nominal": quota.nominal,
        "borrowing": quota.borrowing_limit,
        "lending": quota.lending_limit,
    }[kind]
    return None if value is None else to_text(pair.resource, value)


def _spec(queue: ClusterQueue, pair: FlavorResource) -> Quota:
    for group in queue.resource_groups:
        for flavor in group.flavors:
            if flavor.name == pair.flavor and pair.resource in flavor.resources:
                return flavor.resources[pair.resource]
    return Quota(0)


def _chosen(text: str, pairs: Sequence[FlavorResource]) -> FlavorResource | None:
    if not text:
        return pairs[0] if pairs else None
    wanted = text.casefold()
    return next((p for p in pairs if wanted in (_value(p).casefold(), p.flavor.casefold())), None)


def _value(pair: FlavorResource) -> str:
    return f"{pair.flavor} {pair.resource}"


def _wrong_number(form: Form, old: str | None) -> str:
    if not WHOLE.fullmatch(form.to) or int(form.to) > MOST:
        return "A whole number of cards, please."
    if form.seen and form.seen != (old or NO_LIMIT):
        return f"It was {form.seen} when you looked and is {old or NO_LIMIT} now. Look again."
    if old is not None and old == str(int(form.to)):
        return f"It is {old} already."
    return ""


def _wrong_day(day: str, zone: str, now: datetime) -> str:
    try:
        until = modals.end_of(day, zone)
    except (ValueError, OverflowError):
        return "Not a day."
    if until is None:
        return ""
    if until > now + LATEST:
        return "That is too far away: leave it empty if it is to stay."
    return "That day is over." if until <= now else ""
