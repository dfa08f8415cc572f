"""Why a workload waits, in a few plain words for a row and in a sentence for an answer.

[pure]
"""

from collections.abc import Sequence

from capacity.causes import Cause, Kind, Need
from commands.words import amount, card, count, is_gpu, number

_SHORT: dict[Kind, str] = {
    Kind.DEACTIVATED: "switched off",
    Kind.ON_HOLD: "on hold",
    Kind.MISCONFIGURED: "misconfigured",
    Kind.NO_MATCHING_FLAVOR: "no kind of node fits it",
    Kind.SUSPENDED: "its queue is stopped",
    Kind.ADMISSION_GATED: "held by a gate",
    Kind.WAITING_FOR_PODS_READY: "others' pods start first",
    Kind.TOPOLOGY_PLACEMENT_FAILED: "no place close together",
    Kind.UNKNOWN: "ask /gpu why",
    Kind.UNSATISFIED_ADMISSION_CHECKS: "checks aren't done",
    Kind.PENDING_DELAYED_TOPOLOGY: "its place is being found",
    Kind.EVICTING: "is being stopped",
    Kind.STARTING: "its pods start",
    Kind.RECOVERING: "its pods recover",
    Kind.RUNNING: "runs",
    Kind.FINISHED: "finished",
}


def main_need(needs: Sequence[Need]) -> Need | None:
    """Return what stands between a workload and quota: the flavor where it lacks least.

    A flavor where it can fit some day goes before one where it never can. GPUs count first; if
    they fit somewhere, whatever else is short everywhere.
    """
    fitting = [n for n in needs if n.matches] or list(needs)
    gpus = [n for n in fitting if is_gpu(n.pair.resource)]
    best = min(
        gpus or fitting,
        key=lambda n: (n.wanted - min(n.wanted, n.potential), n.short),
        default=None,
    )
    if best is None or best.short:
        return best
    others = [n for n in fitting if n.pair.resource != best.pair.resource]
    for resource in dict.fromkeys(n.pair.resource for n in others):
        least = min((n for n in others if n.pair.resource == resource), key=lambda n: n.short)
        if least.short:
            return least
    return best


def cards_of(needs: Sequence[Need]) -> str:
    """Return the one kind of GPU it can run on, or "GPUs" when there are several or none."""
    cards = {card(n.pair) for n in needs if n.matches and is_gpu(n.pair.resource)}
    return cards.pop() if len(cards) == 1 else "GPUs"


def short_reason(cause: Cause, behind: str = "") -> str:
    """Return a few words for a row; ``behind`` is the job that a strict queue lets go first."""
    if cause.requeue is not None and cause.requeue.waiting and cause.requeue.at is not None:
        return f"next try {cause.requeue.at:%H:%M} UTC"
    need = main_need(cause.needs)
    match cause.kind:
        case Kind.EXCEEDS_MAX_QUOTA:
            return _never(cause)
        case Kind.WAITING_FOR_PREEMPTED_WORKLOADS:
            stopping = cause.message.preempting if cause.message else 0
            return f"{count(stopping, 'job')} must stop first" if stopping else "others stop first"
        case Kind.WAITING_FOR_QUOTA | Kind.PENDING_EVALUATION:
            if behind:
                return f"behind {behind}"
            if need is not None and need.short:
                return f"needs {_short(need)} more"
            return "not tried yet"
    return _SHORT[cause.kind]


def needs_sentence(need: Need, queue: str) -> str:
    """Return "it needs 16 H100 at once and research can get 4 now"."""
    now = number(need.pair.resource, need.available)
    wanted = amount(need.pair, need.wanted)
    if not need.short:
        return f"{queue} can get {now} {card(need.pair)} now, enough for it"
    can = f"can get {now} now" if need.available else "can get none now"
    return f"it needs {wanted} at once and {queue} {can}"


def _short(need: Need) -> str:
    words = number(need.pair.resource, need.short)
    return words if is_gpu(need.pair.resource) else f"{words} {card(need.pair)}"


def _never(cause: Cause) -> str:
    most = max((n.potential for n in cause.needs if is_gpu(n.pair.resource)), default=None)
    return "too big, ever" if most is None else f"too big: at most {most} ever"
