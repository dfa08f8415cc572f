"""[pure] Whether a job that somebody waits for has started, or can't any more.

Started means admitted: Kueue's condition Admitted is true, so that quota is reserved and every
admission check is ready. A reservation alone isn't told, since a check may still take it back.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum

from capacity.explain import cluster_queue_of
from capacity.model import Fleet, Workload
from capacity.stories import eviction_of
from commands.history import queued_since
from commands.jobs import held_words
from commands.why_story import reason_of

LASTS = timedelta(days=14)
SOON = timedelta(hours=1)
MOST = 20
FRESH = timedelta(minutes=1)
# Longer than a watch may be silent before it counts as dead: a replica may not know of a job yet
# that another one has shown.
KNOWN_BY_ALL = timedelta(minutes=2)
FAILED = "Failed"


class Turn(StrEnum):
    """What became of the job; after STARTED it is looked at for ``SOON`` longer."""

    STARTED = "started"
    FINISHED = "finished"
    SWITCHED_OFF = "switched off"
    GONE = "gone"
    STOPPED = "stopped"
    EXPIRED = "expired"


@dataclass(frozen=True, slots=True)
class News:
    """One thing to tell, with what was seen at ``as_of``, so that it can be told later as well.

    ``at`` is when it happened by Kueue, ``admitted_at`` when the job got in, if it did. ``ready``
    is whether all its pods are, None where Kueue doesn't say. ``why`` is a reason in plain words,
    ``reason`` and ``said`` are Kueue's own. ``namesake``: another job of this name is there.
    """

    turn: Turn
    as_of: datetime
    source: str
    queue: str = ""
    at: datetime | None = None
    admitted_at: datetime | None = None
    holds: str = ""
    waited: timedelta | None = None
    ready: bool | None = None
    why: str = ""
    reason: str = ""
    said: str = ""
    namesake: bool = False
    waits: bool = False


@dataclass(frozen=True, slots=True)
class Awaited:
    """A person's wish to be told about one Workload, by its uid, until ``until``.

    ``started_at`` is set once the start was told; ``news`` is what is to be told and wasn't yet.
    """

    id: int
    account: str
    cluster: str
    namespace: str
    job: str
    uid: str
    asked_at: datetime
    until: datetime
    started_at: datetime | None = None
    news: News | None = None

    @property
    def name(self) -> str:
        """The job as commands take it: "namespace/job"."""
        return f"{self.namespace}/{self.job}"


def judge(awaited: Awaited, fleet: Fleet, now: datetime) -> News | None:
    """Return what is to be told about the job now; None while there is nothing new.

    That it is gone is only concluded from a fresh and complete list; whatever else was seen is
    true as of the moment it was seen.
    """
    here = fleet.cluster == awaited.cluster
    workload = _find(awaited, fleet) if here else None
    if awaited.started_at is not None:
        return _after(workload, awaited.started_at, fleet) if workload else None
    if workload is not None:
        news = _before(workload, fleet)
    else:
        sure = here and _is_whole(fleet, now) and now - awaited.asked_at >= KNOWN_BY_ALL
        news = _gone(awaited, fleet) if sure else None
    if news is None and now >= awaited.until:
        return replace(_seen(Turn.EXPIRED, workload, fleet), waits=workload is not None)
    return news


def over(awaited: Awaited, now: datetime) -> bool:
    """Tell whether its start was told and the time to look whether it lasts is over."""
    return awaited.started_at is not None and now >= awaited.until


def _find(awaited: Awaited, fleet: Fleet) -> Workload | None:
    return next((w for w in fleet.workloads.named(awaited.job) if w.uid == awaited.uid), None)


def _is_whole(fleet: Fleet, now: datetime) -> bool:
    return fleet.every_workload and now - fleet.as_of < FRESH


def _before(workload: Workload, fleet: Fleet) -> News | None:
    if workload.is_true("Finished"):
        return _finished(workload, fleet)
    if not workload.active:
        return replace(_seen(Turn.SWITCHED_OFF, workload, fleet), why=_why(workload))
    if _runs(workload):
        ready = workload.condition("PodsReady")
        return replace(
            _seen(Turn.STARTED, workload, fleet),
            at=_since(workload, "Admitted"),
            holds=held_words(workload),
            ready=None if ready is None else ready.status == "True",
        )
    return None


def _after(workload: Workload, started: datetime, fleet: Fleet) -> News | None:
    """Return whether a start didn't last: it failed, or lost its quota again.

    Only what happened after the start counts: another replica may be a little behind.
    """
    if workload.is_true("Finished"):
        news = _finished(workload, fleet)
        return news if news.reason == FAILED else None
    lost = max((at for at in _losses(workload) if at > started), default=None)
    if lost is None or (workload.active and _runs(workload)):
        return None
    stopped = _seen(Turn.STOPPED, workload, fleet)
    return replace(stopped, at=lost, why=_why(workload), waits=workload.active)


def _losses(workload: Workload) -> Iterator[datetime]:
    for type_, status in (("Evicted", "True"), ("Admitted", "False")):
        found = workload.condition(type_)
        if found is not None and found.status == status:
            yield found.last_transition


def _runs(workload: Workload) -> bool:
    return workload.is_true("Admitted") and not workload.is_true("Evicted")


def _finished(workload: Workload, fleet: Fleet) -> News:
    news = _seen(Turn.FINISHED, workload, fleet)
    finished = workload.condition("Finished")
    if finished is None:
        return news
    return replace(
        news,
        at=finished.last_transition,
        reason=finished.reason,
        said=finished.message if finished.reason == FAILED else "",
        namesake=_others(workload.namespace, workload.job, fleet),
    )


def _gone(awaited: Awaited, fleet: Fleet) -> News:
    namesake = _others(awaited.namespace, awaited.job, fleet)
    return replace(_seen(Turn.GONE, None, fleet), namesake=namesake)


def _others(namespace: str, job: str, fleet: Fleet) -> bool:
    """Tell whether there is an unfinished job of this name."""
    found = (w for w in fleet.workloads.named(job) if w.namespace == namespace)
    return any(not w.is_true("Finished") for w in found)


def _seen(turn: Turn, workload: Workload | None, fleet: Fleet) -> News:
    news = News(turn, fleet.as_of, fleet.source)
    if workload is None:
        return news
    admitted = _since(workload, "Admitted")
    waited = max(timedelta(0), admitted - queued_since(workload)) if admitted else None
    queue = cluster_queue_of(workload, fleet) or ""
    return replace(news, queue=queue, admitted_at=admitted, waited=waited)


def _since(workload: Workload, type_: str) -> datetime | None:
    found = workload.condition(type_)
    return found.last_transition if found is not None and found.status == "True" else None


def _why(workload: Workload) -> str:
    evicted = eviction_of(workload)
    if evicted is None or not evicted.current:
        return ""
    preempted = "other jobs needed its GPUs (preemption)"
    return preempted if evicted.reason == "Preempted" else reason_of(evicted)
