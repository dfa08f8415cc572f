"""What happened to a workload: its last preemption and eviction, from its conditions.

Kueue keeps both as history, with "Previously: " before the message, once quota is reserved again.

[pure]
"""

import re

from capacity.causes import Evicted, Preempted
from capacity.model import Condition, Fleet, Workload

_PAST = "Previously: "
_PREEMPTED = re.compile(
    r"Preempted to accommodate a workload \(UID: (?P<uid>[^,)]+)(?:, JobUID: (?P<job>[^)]+))?\)"
    r"(?: due to (?P<because>[^;]+))?"
    r"(?:; preemptor path: (?P<by>[^;]+))?(?:; preemptee path: (?P<preemptee>[^;]+))?.*",
    re.DOTALL,
)
_DUE_TO = "DeactivatedDueTo"
_CAUSES = {
    "exceeding the maximum number of re-queuing retries": "RequeuingLimitExceeded",
    "exceeding the maximum execution time": "MaximumExecutionTimeExceeded",
    "AdmissionCheck in Rejected state": "AdmissionCheck",
    "AdmissionChecks in Rejected state": "AdmissionCheck",
}


def preemption_of(workload: Workload, fleet: Fleet) -> Preempted | None:
    """Return the story of a workload's last preemption; None if it has never been preempted."""
    condition = workload.condition("Preempted")
    if condition is None:
        return None
    found = _PREEMPTED.match(_text(condition))
    parts = found.groupdict() if found else {}
    uid = _known(parts.get("uid"))
    by_path = _path(parts.get("by"))
    return Preempted(
        at=condition.last_transition,
        current=condition.status == "True",
        reason=condition.reason,
        because=_known(parts.get("because")) or "",
        by_uid=uid,
        by_job_uid=_known(parts.get("job")),
        by_path=by_path,
        from_path=_path(parts.get("preemptee")),
        text=condition.message,
        by=_workload(fleet, uid, by_path[-1]) if uid and by_path else None,
    )


def eviction_of(workload: Workload) -> Evicted | None:
    """Return why a workload lost its quota the last time; None if it never has."""
    condition = workload.condition("Evicted")
    if condition is None:
        return None
    reason, text = condition.reason, _text(condition)
    cause = next((cause for phrase, cause in _CAUSES.items() if phrase in text), None)
    if reason.startswith(_DUE_TO):
        reason, cause = "Deactivated", reason.removeprefix(_DUE_TO)
    return Evicted(
        at=condition.last_transition,
        current=condition.status == "True",
        reason=reason,
        cause=cause if reason == "Deactivated" else None,
        text=condition.message,
    )


def _text(condition: Condition) -> str:
    return condition.message.removeprefix(_PAST)


def _known(part: str | None) -> str | None:
    return None if part in (None, "", "UNKNOWN") else part


def _path(text: str | None) -> tuple[str, ...]:
    return tuple(part for part in (_known(text) or "").split("/") if part)


def _workload(fleet: Fleet, uid: str, cluster_queue: str) -> Workload | None:
    for held in (fleet.workloads.reserving(cluster_queue), fleet.workloads.pending(cluster_queue)):
        for workload in held:
            if workload.uid == uid:
                return workload
    return None
