"""What would start a waiting job, each with its price: wait, shrink, another card, more quota.

[pure]
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from capacity.causes import Cause, Kind, Need
from capacity.changes import QuotaChange, apply_to
from capacity.model import UNLIMITED, ClusterQueue, FlavorResource, Fleet, Workload
from capacity.quota import Node, Tree, can_reserve, potential_available
from commands.history import Stretch
from commands.quota_figures import nominal_in_tree
from commands.reasons import main_need
from commands.why_wait import Release, release
from commands.words import amount, card, count, is_gpu, number

_QUOTA = (Kind.WAITING_FOR_QUOTA, Kind.PENDING_EVALUATION, Kind.EXCEEDS_MAX_QUOTA)


@dataclass(frozen=True, slots=True)
class Remedy:
    """One thing that would help: in words, with its price, and the button that goes there.

    ``verb`` is the button's action ("ask" or "request"; empty without button), ``value`` its value.
    """

    what: str
    price: str
    label: str = ""
    verb: str = ""
    value: str = ""


def remedies(
    workload: Workload,
    cause: Cause,
    fleet: Fleet,
    tree: Tree,
    *,
    past: Sequence[Stretch],
    now: datetime,
) -> tuple[Remedy, ...]:
    """Return what would help a job that waits for quota; nothing where quota isn't the cause."""
    need = main_need(cause.needs)
    queue = fleet.cluster_queues.get(cause.cluster_queue or "")
    if cause.kind not in _QUOTA or need is None or queue is None or not need.short:
        return ()
    node = tree.cluster_queue(queue.name)
    ever = need.potential >= need.wanted
    found = [
        _wait(release(node, need, fleet, past, now), need, node) if ever else None,
        _smaller(workload, need, queue),
        *(_other_card(workload, n, queue) for n in cause.needs if n.pair != need.pair),
        _request(node, need, tree, queue),
    ]
    return tuple(remedy for remedy in found if remedy is not None)


def _wait(when: Release | None, need: Need, node: Node) -> Remedy | None:
    short = amount(need.pair, need.short)
    where = node.name if node.parent is None else f"{node.name} or {node.root.name}"
    if when is None:
        return Remedy(f"wait until {short} more come free in {where}", "how long can't be said")
    words = f"likely in {when.words}, by past run times: {when.basis}; no promise"
    return Remedy(f"wait until {count(when.jobs, 'job')} of {where} {_ends(when.jobs)}", words)


def _ends(jobs: int) -> str:
    return "ends" if jobs == 1 else "end"


def _smaller(workload: Workload, need: Need, queue: ClusterQueue) -> Remedy | None:
    """Return the largest gang of the same kind of pods that fits now, for a job of equal pods."""
    sets = [p for p in workload.pod_sets if p.requests.get(need.pair.resource)]
    if len(sets) != 1 or not need.available or not is_gpu(need.pair.resource):
        return None
    each = sets[0].requests[need.pair.resource]
    pods = need.available // each
    fits = f"{pods} x {each}" if pods else f"1 x {need.available}"
    asked = f"fit {fits.replace(' ', '')} {need.pair.flavor} --queue {queue.name}"
    price = "it runs longer, and the job must allow another size"
    return Remedy(f"run it as {fits}, which fits now", price, f"Would {fits} fit?", "ask", asked)


def _other_card(workload: Workload, need: Need, queue: ClusterQueue) -> Remedy | None:
    if need.matches or need.short or not is_gpu(need.pair.resource):
        return None
    shapes = [p for p in workload.pod_sets if p.requests.get(need.pair.resource)]
    shape = (
        f"{shapes[0].count}x{shapes[0].requests[need.pair.resource]}" if len(shapes) == 1 else ""
    )
    name = card(need.pair)
    free = number(need.pair.resource, need.available)
    value = f"fit {shape or need.wanted} {need.pair.flavor} --queue {queue.name}"
    return Remedy(
        f"use {name}: {queue.name} can get {free} now",
        "the job's node selector or tolerations must allow it, and it must run there",
        f"Would it fit on {name}?",
        "ask",
        value,
    )


def _request(node: Node, need: Need, tree: Tree, queue: ClusterQueue) -> Remedy | None:
    """Return the smallest change of quota that would let it in; borrowing first, it is cheaper."""
    quota = node.quotas[need.pair]
    never = need.wanted - need.potential
    short = never if never > 0 else need.short
    more, label = amount(need.pair, short), f"Ask for {short} more"
    if quota.borrowing_limit is not None and node.parent is not None:
        limit = quota.borrowing_limit + short
        if _fits(need, tree, QuotaChange(queue.name, need.pair, "borrowing", limit)):
            said = f"raise {queue.name}'s borrowing limit by {short} to {limit}"
            others = f"others in {node.root.name} have {more} less to fall back on"
            value = f"{queue.name} {need.pair.flavor} borrowing {limit}"
            return Remedy(said, f"a reviewed request; {others}", label, "request", value)
    own = quota.nominal + short
    if own >= UNLIMITED or not _fits(
        need, tree, QuotaChange(queue.name, need.pair, "nominal", own)
    ):
        return None
    said = f"raise {queue.name}'s own quota by {short} to {own}"
    value = f"{queue.name} {need.pair.flavor} nominal {own}"
    return Remedy(said, _price(node, need.pair, short), label, "request", value)


def _price(node: Node, pair: FlavorResource, short: int) -> str:
    total = nominal_in_tree(node.root, pair)
    promised = number(pair.resource, total + short)
    return (
        f"a reviewed request; {node.root.name} would promise {promised} {card(pair)} instead of "
        f"{number(pair.resource, total)}"
    )


def _fits(need: Need, tree: Tree, change: QuotaChange) -> bool:
    """Tell whether the job would fit with this change: now, or ever if it never fits today."""
    changed = tree.copy()
    apply_to(changed, [change])
    node = changed.cluster_queue(change.target)
    figure = potential_available if need.potential < need.wanted else can_reserve
    return figure(node, need.pair) >= need.wanted
