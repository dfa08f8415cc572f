"""How a job lost its GPUs: who took them, by which rule, and when.

[pure]
"""

from capacity.causes import Evicted, Preempted
from commands.page import Bold, Line, Time
from commands.why_data import WhyAnswer
from commands.words import count

_RULES = {
    "InClusterQueue": "a job that goes first in its own queue needed them",
    "InCohortReclamation": "{by} took back GPUs it had lent (reclaim within cohort)",
    "InCohortFairSharing": "{by} had the smaller share of the cohort (fair sharing)",
    "InCohortReclaimWhileBorrowing": "{by} needed room for a more important job",
}
_EVICTED = {
    "Preempted": "other jobs needed its GPUs",
    "PodsReadyTimeout": "not all its pods became ready in time",
    "AdmissionCheck": "an admission check took its admission back",
    "ClusterQueueStopped": "its ClusterQueue was stopped",
    "LocalQueueStopped": "its LocalQueue was stopped",
    "NodeFailures": "a node failed",
    "FlavorMigration": "it moved to another kind of node",
    "Deactivated": "it was switched off",
}


def story(answer: WhyAnswer) -> Line:
    """Return how the job was last preempted; empty if it never was."""
    preempted = answer.cause.preempted
    if preempted is None:
        return ()
    size = f" ({answer.gang} {answer.card})" if answer.gpus else ""
    return (
        Bold(f"{answer.job}{size} was stopped "),
        Time(preempted.at),
        Bold(f" because {_rule(preempted)}{_for_whom(preempted)}."),
    )


def eviction(answer: WhyAnswer) -> Line:
    """Return why the job was last stopped, if not by preemption; empty if it never was."""
    evicted = answer.cause.evicted
    if evicted is None or evicted.reason in ("Preempted", "Deactivated"):
        return ()
    return ("It was last stopped ", Time(evicted.at), f": {reason_of(evicted)}.")


def past_evictions(answer: WhyAnswer) -> str:
    """Return how often it was stopped so far, and why; empty if never."""
    told = [(_plain(reason), count(times, "time")) for reason, times in answer.evictions if times]
    evicted = answer.cause.evicted
    if evicted and eviction(answer) and [why for why, _ in told] == [reason_of(evicted)]:
        return f"Stopped so far: {told[0][1]}."
    said = [f"{times} because {why}" for why, times in told]
    return f"Stopped so far: {'; '.join(said)}." if said else ""


def _plain(reason: str) -> str:
    """Return a reason of Kueue's statistics in plain words; its own word where it is a new one."""
    return _EVICTED.get(reason.partition("DueTo")[0], reason)


def _rule(preempted: Preempted) -> str:
    by = preempted.by_path[-1] if preempted.by_path else "another queue"
    known = _RULES.get(preempted.reason)
    return known.format(by=by) if known else f"{by} needed room ({preempted.reason})"


def _for_whom(preempted: Preempted) -> str:
    if preempted.by is None:
        return ""
    priority = preempted.by.priority_class or str(preempted.by.priority)
    return f", for job {preempted.by.job}, priority {priority}"


def reason_of(evicted: Evicted) -> str:
    """Return why it was stopped, in plain words; Kueue's own word where it is a new one."""
    return _plain(evicted.reason)
