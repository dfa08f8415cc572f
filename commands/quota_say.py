"""The sentences about one queue's quota: what can start, what stops it, who may take what back.

[pure]
"""

from collections.abc import Sequence

from commands.page import Bold, Line
from commands.quota_figures import PairFigures, Stop
from commands.quota_queue import QueueQuota
from commands.words import card, is_gpu, listing, number

_SHOWN_IN_HEADLINE = 3


def headline(queue: QueueQuota) -> Line:
    """Return the answer in a sentence: what can start now, and what stops it there."""
    if queue.blocked is not None:
        return _blocked(queue)
    if not queue.pairs:
        return (Bold(f"{queue.queue} can start nothing: it has no quota at all."),)
    shown = main_pairs(queue)[:_SHOWN_IN_HEADLINE]
    first = shown[0]
    reason = why(first, queue)
    if len(shown) > 1:
        reason = f"On {card(first.pair)}, {reason[0].lower()}{reason[1:]}"
    return (Bold(f"{queue.queue} can start {can_start(shown)} now."), f" {reason}")


def main_pairs(queue: QueueQuota) -> tuple[PairFigures, ...]:
    """Return the figures a person asks about: the GPUs, or all if the queue has none."""
    gpus = tuple(f for f in queue.pairs if is_gpu(f.pair.resource))
    return gpus or queue.pairs


def can_start(shown: Sequence[PairFigures]) -> str:
    """Return "4 more H100", "no more H100, but 24 A100" or "4 more H100 and 24 A100"."""
    some = [f for f in shown if f.can_reserve > 0]
    none = [f for f in shown if f.can_reserve == 0]
    more = listing([_more(f, first=i == 0) for i, f in enumerate(some)])
    if not none:
        return more
    nothing = f"no more {listing([card(f.pair) for f in none], 'or')}"
    return f"{more}, but {nothing}" if some else nothing


def why(f: PairFigures, queue: QueueQuota) -> str:
    """Return the sentence on what stops the queue from reserving more of this pair."""
    if f.over:
        return _over(f)
    if f.cohort_free is not None and f.cohort_free < 0:
        over = number(f.pair.resource, -f.cohort_free)
        where = f.stop.node if f.stop.kind == "cohort" else queue.cohort
        return f"Cohort {where} holds {over} more than it has, so nothing is free to borrow."
    match f.stop:
        case Stop(kind="own quota"):
            return _own_quota(f)
        case Stop(kind="borrowing limit", node=node, limit=limit):
            return _borrowing_limit(f, queue, node, limit or 0)
        case Stop(node=node):
            return _cohort(f, node)


def preemption(queue: QueueQuota) -> Line:
    """Return who may take back what the queue borrows; empty when it borrows nothing."""
    first = next(iter(queue.pairs), None)
    if first is None or not first.borrowed:
        return ()
    able = [r for r in queue.reclaimers if r.policy != "Never"]
    policies = "; ".join(f"{r.queue}: {_policy(r.policy)}" for r in queue.reclaimers[:6])
    if not able:
        return (f"Nobody may take the borrowed {card(first.pair)} back by force ({policies}).",)
    most = number(first.pair.resource, min(first.borrowed, sum(r.nominal for r in able)))
    owners = listing([r.queue for r in able], "or")
    need = "needs" if len(able) == 1 else "need"
    return (
        (
            f"If {owners} {need} its own {card(first.pair)} back, up "
            f"to {most} of {queue.queue}'s can be stopped and queued again ({policies})."
        ),
    )


def lending(queue: QueueQuota) -> Line:
    """Return who has the queue's own units, as far as the arithmetic says; empty if nobody can."""
    first = next(iter(queue.pairs), None)
    if first is None or not first.lent.most:
        return ()
    resource = first.pair.resource
    with_whom = listing(
        [f"{b.queue} borrows {number(resource, b.amount)}" for b in queue.borrowers]
    )
    least, most = number(resource, first.lent.least), number(resource, first.lent.most)
    if not first.lent.least:
        count = f"Up to {most} of its own may be with other queues"
    elif least == most:
        count = f"{least} of its own are with other queues"
    else:
        count = f"At least {least} and at most {most} of its own are with other queues"
    unknown = "Kueue doesn't record whose GPUs a borrower holds."
    return (f"{count} ({with_whom}). {unknown} {_take_back(queue)}",)


def _more(f: PairFigures, *, first: bool) -> str:
    resource = f.pair.resource
    return f"{number(resource, f.can_reserve)}{' more' if first else ''} {card(f.pair)}"


def _blocked(queue: QueueQuota) -> Line:
    blocked = queue.blocked
    assert blocked is not None
    if blocked.kind == "cycle":
        return (
            Bold(f"{queue.queue} can start nothing: its cohorts form a loop."),
            (
                f" Cohort {blocked.detail} is its own ancestor; Kueue switches off every queue in "
                "it until that is mended."
            ),
        )
    if blocked.kind == "inactive":
        return (
            Bold(f"{queue.queue} can start nothing: Kueue has switched it off."),
            f" Kueue says: {blocked.detail}",
        )
    running = (
        "Its running jobs are stopped too (stop policy HoldAndDrain)."
        if blocked.detail == "HoldAndDrain"
        else f"Jobs that run go on (stop policy {blocked.detail})."
    )
    lends = f" What it doesn't use is still lent to cohort {queue.cohort}." if queue.cohort else ""
    return (Bold(f"{queue.queue} is stopped: nothing new starts there."), f" {running}{lends}")


def _over(f: PairFigures) -> str:
    held, allowed = (number(f.pair.resource, n) for n in (f.reserved, f.reserved - f.over))
    over = number(f.pair.resource, f.over)
    return (
        f"It holds {held} but may hold {allowed} now: {over} over. Kueue stops nothing for that by "
        "itself, but nothing new starts until jobs end."
    )


def _own_quota(f: PairFigures) -> str:
    own = number(f.pair.resource, f.nominal)
    if not f.can_reserve:
        return f"All {own} of its own are reserved, and it is in no cohort to borrow from."
    return f"That is what is left of its own {own}; it is in no cohort, so it can't borrow."


def _borrowing_limit(f: PairFigures, queue: QueueQuota, node: str, limit: int) -> str:
    resource = f.pair.resource
    free = number(resource, max(0, f.cohort_free or 0))
    said = number(resource, limit)
    if node != queue.queue:
        return f"The borrowing limit ({said}) of cohort {node} stops it there."
    if limit == 0:
        return f"It may not borrow (borrowing limit 0); {free} are free in cohort {queue.cohort}."
    return f"Its borrowing limit ({said}) stops it there; {free} are free in cohort {queue.cohort}."


def _cohort(f: PairFigures, root: str) -> str:
    resource = f.pair.resource
    if not f.can_reserve:
        return f"Nothing is free in cohort {root}."
    base = f"That is all that is free for it in cohort {root}"
    if f.lent.least:
        unused = number(resource, f.nominal - f.reserved)
        return f"{base}: of {unused} unused ones of its own, {f.lent.least} are lent out."
    if f.can_borrow:
        part = "all" if f.can_borrow == f.can_reserve else number(resource, f.can_borrow)
        return f"{base}; {part} of it would be borrowed."
    return f"{base}."


def _take_back(queue: QueueQuota) -> str:
    if queue.reclaim == "Never":
        return f"{queue.queue} takes none back by force (reclaim Never): it waits until jobs end."
    whose = "any borrower's jobs" if queue.reclaim == "Any" else "borrowers' jobs of lower priority"
    return f"When {queue.queue} needs its own, Kueue may stop {whose} (reclaim {queue.reclaim})."


def _policy(policy: str) -> str:
    return policy if policy == "Never" else f"reclaim {policy}"
