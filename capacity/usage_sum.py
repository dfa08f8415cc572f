"""Adding up what the server counted: slices by weight, held by the larger of two witnesses [pure].

Held is the larger of what a pod requested while Running and what DCGM saw it have; what of it has
no measurement is unknown, so requests never make anything idle.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from capacity.mig import Policy, weight
from capacity.usage import Hours, Ledger, PodHours, SpanFacts, Window

MIG_RESOURCE = re.compile(r"^nvidia_com_mig_(?P<slice>\d+g)_(?P<memory>\d+gb)")
Pod = tuple[str, str]


@dataclass(slots=True)
class _Account:
    """Card-minutes of one span by pod, while they are added up."""

    held: dict[Pod, float] = field(default_factory=lambda: defaultdict(float))
    busy: dict[Pod, float] = field(default_factory=lambda: defaultdict(float))
    measured: dict[Pod, float] = field(default_factory=lambda: defaultdict(float))
    requested: dict[Pod, float] = field(default_factory=lambda: defaultdict(float))
    models: dict[Pod, str] = field(default_factory=dict)
    unreadable: set[str] = field(default_factory=set)


def ledger(window: Window, facts: Iterable[SpanFacts], policy: Policy = "max") -> Ledger:
    """Add up what the server counted; slices weigh what ``capacity.mig.weight`` says.

    A profile that can't be read is left out and named in ``unreadable``.
    """
    spans = tuple(facts)
    pods: dict[Pod, Hours] = defaultdict(Hours)
    accounts = [_account(span, policy) for span in spans]
    days = []
    for span, account in zip(spans, accounts, strict=True):
        hours = {
            # In order, so that the same facts give the same figures to the last digit.
            pod: _hours(account, pod)
            for pod in sorted(account.held.keys() | account.requested.keys())
        }
        for pod, part in hours.items():
            pods[pod] += part
        days.append((span.span, sum(hours.values(), Hours())))
    models = {pod: model for account in accounts for pod, model in account.models.items()}
    minutes = sum(span.span.minutes for span in spans)
    return Ledger(
        window=window,
        total=sum(pods.values(), Hours()),
        pods=_largest_first(pods, models),
        days=tuple(days),
        exporter_coverage=min(1.0, sum(s.exporter_minutes for s in spans) / (minutes or 1)),
        card_hours=sum(span.card_minutes for span in spans) / 60,
        requested_hours=_requested_hours(spans, accounts),
        seen_hours=sum(sum(account.held.values()) for account in accounts) / 60,
        policy=policy,
        unreadable=tuple(sorted(set().union(*(account.unreadable for account in accounts)))),
        warnings=tuple(dict.fromkeys(w for span in spans for w in span.warnings)),
    )


def _account(facts: SpanFacts, policy: Policy) -> _Account:
    account = _Account()
    for rows, into in (
        (facts.held, account.held),
        (facts.busy, account.busy),
        (facts.measured, account.measured),
    ):
        for row in rows:
            pod = (row.namespace, row.pod)
            account.models[pod] = row.model
            into[pod] += row.minutes * _weight(row.profile, row.model, policy, account)
    for asked in facts.requested or ():
        pod = (asked.namespace, asked.pod)
        profile = _profile(asked.resource)
        if profile is not None:
            share = _weight(profile, account.models.get(pod, ""), policy, account)
            account.requested[pod] += asked.minutes * share
    return account


def _weight(profile: str, model: str, policy: Policy, account: _Account) -> float:
    try:
        return float(weight(profile, model, policy))
    except ValueError:
        account.unreadable.add(profile)
        return 0.0


def _profile(resource: str) -> str | None:
    """Return the MIG profile of a resource as kube-state-metrics spells it; "" for whole cards.

    None for a shared replica: what it weighs depends on who shares, which only DCGM sees.
    """
    if resource == "nvidia_com_gpu":
        return ""
    match = MIG_RESOURCE.match(resource)
    return f"{match['slice']}.{match['memory']}" if match else None


def _hours(account: _Account, pod: Pod) -> Hours:
    held = max(account.held.get(pod, 0.0), account.requested.get(pod, 0.0))
    measured = min(account.measured.get(pod, 0.0), held)
    busy = min(account.busy.get(pod, 0.0), measured)
    return Hours(held / 60, busy / 60, (measured - busy) / 60, (held - measured) / 60)


def _requested_hours(spans: tuple[SpanFacts, ...], accounts: list[_Account]) -> float | None:
    if any(span.requested is None for span in spans):
        return None
    return sum(sum(account.requested.values()) for account in accounts) / 60


def _largest_first(pods: Mapping[Pod, Hours], models: Mapping[Pod, str]) -> tuple[PodHours, ...]:
    ordered = sorted(pods.items(), key=lambda item: (-item[1].held, item[0]))
    return tuple(PodHours(ns, pod, models.get((ns, pod), ""), h) for (ns, pod), h in ordered)
