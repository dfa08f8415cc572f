"""Kueue's condition messages to values; what isn't known stays verbatim.

A list of reasons is split only where a known reason begins, because some contain commas.

[pure]
"""

import re
from dataclasses import replace

from capacity.causes import Kind, Message, PodSetRefusal, Refusal, least_severe, most_severe
from capacity.errors import UsageError
from capacity.message_patterns import (
    COPIED,
    NEXT_POD_SET,
    NEXT_REFUSAL,
    OF_AN_EVICTION,
    POD_SET,
    REFUSALS,
    SUFFIX,
    WHOLE,
)
from capacity.model import UNLIMITED, ClusterQueue, effective_resource_groups
from capacity.quantity import to_amount


def parse_message(text: str, queue: ClusterQueue | None = None) -> Message:
    """Return a QuotaReserved=False message as a value; its kind is UNKNOWN if it isn't known.

    The ClusterQueue tells which flavors are alternatives of each other; without it all are.
    """
    if text == COPIED:
        return Message(text, Kind.PENDING_EVALUATION, stale=True)
    if OF_AN_EVICTION.match(text):
        return Message(text, Kind.PENDING_EVALUATION, after_eviction=True)
    suffix = SUFFIX.search(text)
    body = text[: suffix.start()] if suffix else text
    if body.startswith(POD_SET):
        pod_sets = tuple(_pod_set(part) for part in NEXT_POD_SET.split(body))
        message = Message(text, _kind_of(pod_sets, queue), pod_sets)
    else:
        message = _whole(text, body)
    return message if suffix is None else _with_suffix(message, suffix)


def parse_refusal(text: str) -> Refusal:
    """Return one flavor's reason as a value; its kind is UNKNOWN if it isn't known."""
    for kind, pattern in REFUSALS:
        found = pattern.fullmatch(text)
        if found:
            return _refusal(kind, text, found.groupdict())
    return Refusal(Kind.UNKNOWN, text)


def _pod_set(part: str) -> PodSetRefusal:
    name, _, reasons = part.removeprefix(POD_SET).partition(": ")
    return PodSetRefusal(name, tuple(parse_refusal(text) for text in NEXT_REFUSAL.split(reasons)))


def _refusal(kind: Kind, text: str, parts: dict[str, str | None]) -> Refusal:
    resource = parts.get("resource")
    numbers = {
        name: _amount(resource, number)
        for name in ("needed", "considered", "requested", "capacity")
        if (number := parts.get(name)) is not None
    }
    return Refusal(kind, text, parts.get("flavor"), resource, detail=parts.get("detail"), **numbers)


def _amount(resource: str | None, text: str) -> int | None:
    if text == "<unlimited>":
        return UNLIMITED
    try:
        return to_amount(resource or "", text)
    except UsageError:
        return None


def _whole(text: str, body: str) -> Message:
    for kind, pattern in WHOLE:
        found = pattern.fullmatch(body)
        if found:
            return Message(text, kind, subject=found.groupdict().get("subject"))
    return Message(text, Kind.UNKNOWN)


def _with_suffix(message: Message, suffix: re.Match[str]) -> Message:
    what, count = suffix["what"], int(suffix["pending"] or suffix["failed"])
    return replace(
        message,
        kind=Kind.WAITING_FOR_PREEMPTED_WORKLOADS,
        preempting=count if what == "preemption" else 0,
        migrating=count if what == "migration" else 0,
        failed_preemptions=0 if what else count,
    )


def _kind_of(pod_sets: tuple[PodSetRefusal, ...], queue: ClusterQueue | None) -> Kind:
    """Return the kind as Kueue's resolveNoFitReason: any flavor of a group, but every group."""
    refusals = [refusal for pod_set in pod_sets for refusal in pod_set.refusals]
    if any(refusal.kind is Kind.UNKNOWN for refusal in refusals):
        return Kind.UNKNOWN
    worst = most_severe(_kind_of_pod_set(pod_set.refusals, queue) for pod_set in pod_sets)
    return worst or Kind.UNKNOWN


def _kind_of_pod_set(refusals: tuple[Refusal, ...], queue: ClusterQueue | None) -> Kind:
    by_flavor: dict[tuple[int, str | None], list[Kind]] = {}
    for refusal in refusals:
        by_flavor.setdefault((_group(refusal, queue), refusal.flavor), []).append(refusal.kind)
    by_group: dict[int, list[Kind]] = {}
    for (group, _), kinds in by_flavor.items():
        by_group.setdefault(group, []).append(most_severe(kinds) or Kind.UNKNOWN)
    best = [least_severe(kinds) or Kind.UNKNOWN for kinds in by_group.values()]
    return most_severe(best) or Kind.UNKNOWN


def _group(refusal: Refusal, queue: ClusterQueue | None) -> int:
    """Return the resource group whose flavors are alternatives; a missing resource is its own."""
    if refusal.flavor is None:
        return -1 if refusal.resource else 0
    for number, group in enumerate(effective_resource_groups(queue) if queue else ()):
        if any(flavor.name == refusal.flavor for flavor in group.flavors):
            return number
    return 0
