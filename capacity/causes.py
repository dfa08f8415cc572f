"""Why a workload is where it is, as values: causes, refusals, preemptions, evictions.

Words are Kueue's own condition reasons where it has one; the order of severity is KEP-10852's.

[pure]
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from capacity.model import AdmissionCheckState, FlavorResource, Workload


class Kind(StrEnum):
    """What a workload waits for, or that it doesn't; the most severe first.

    Kueue's granular reasons come first, in order of severity; below them are states after the
    quota is reserved. UNKNOWN is a message that nothing here recognises: show it verbatim.
    """

    DEACTIVATED = "Deactivated"
    ON_HOLD = "OnHold"
    MISCONFIGURED = "Misconfigured"
    NO_MATCHING_FLAVOR = "NoMatchingFlavor"
    SUSPENDED = "Suspended"
    ADMISSION_GATED = "AdmissionGated"
    WAITING_FOR_PODS_READY = "WaitingForPodsReady"
    EXCEEDS_MAX_QUOTA = "ExceedsMaxQuota"
    WAITING_FOR_QUOTA = "WaitingForQuota"
    TOPOLOGY_PLACEMENT_FAILED = "TopologyPlacementFailed"
    WAITING_FOR_PREEMPTED_WORKLOADS = "WaitingForPreemptedWorkloads"
    PENDING_EVALUATION = "PendingEvaluation"
    UNKNOWN = "Unknown"
    UNSATISFIED_ADMISSION_CHECKS = "UnsatisfiedAdmissionChecks"
    PENDING_DELAYED_TOPOLOGY = "PendingDelayedTopologyRequests"
    EVICTING = "Evicting"
    STARTING = "WaitForStart"
    RECOVERING = "WaitForRecovery"
    RUNNING = "Admitted"
    FINISHED = "Finished"


_SEVERITY = {kind: rank for rank, kind in enumerate(Kind)}
GRANULAR = frozenset(list(Kind)[: _SEVERITY[Kind.UNKNOWN]])
"""The reasons that Kueue itself writes when UnadmittedWorkloadsObservability is on."""


def most_severe(kinds: Iterable[Kind]) -> Kind | None:
    """Return the most severe of some kinds: all of them must be solved; None for no kinds."""
    return min(kinds, key=_SEVERITY.__getitem__, default=None)


def least_severe(kinds: Iterable[Kind]) -> Kind | None:
    """Return the least severe of some kinds: any of them being solved is enough."""
    return max(kinds, key=_SEVERITY.__getitem__, default=None)


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why one flavor can't take a pod set now.

    ``text`` is Kueue's own. ``needed`` is how much more quota it waits for; ``considered``,
    ``requested`` and ``capacity`` belong to a request that can never fit: the first two together
    exceed the third.
    """

    kind: Kind
    text: str
    flavor: str | None = None
    resource: str | None = None
    needed: int | None = None
    considered: int | None = None
    requested: int | None = None
    capacity: int | None = None
    detail: str | None = None


@dataclass(frozen=True, slots=True)
class PodSetRefusal:
    """All flavors' refusals of one pod set."""

    pod_set: str
    refusals: tuple[Refusal, ...]


@dataclass(frozen=True, slots=True)
class Message:
    """A condition's message, parsed as far as it is known.

    ``kind`` is UNKNOWN when the text isn't recognised. ``subject`` is the queue, gate or flavor it
    is about. ``preempting`` workloads are being stopped for this one; stopping
    ``failed_preemptions`` of them failed and is tried again. ``after_eviction`` marks a text that
    tells of the last eviction, left until the scheduler looks again. ``stale`` marks a verdict
    copied from an equal workload.
    """

    text: str
    kind: Kind
    pod_sets: tuple[PodSetRefusal, ...] = ()
    subject: str | None = None
    preempting: int = 0
    migrating: int = 0
    failed_preemptions: int = 0
    after_eviction: bool = False
    stale: bool = False

    @property
    def refusals(self) -> tuple[Refusal, ...]:
        """The refusals of all pod sets."""
        return tuple(refusal for pod_set in self.pod_sets for refusal in pod_set.refusals)


@dataclass(frozen=True, slots=True)
class Preempted:
    """Who took a workload's quota, why, and from where to where.

    ``current`` is False for history: it got quota again since. ``reason`` is Kueue's
    (InCohortReclamation ...), ``because`` its words for it. Paths start at the root cohort and
    end with the ClusterQueue; a part that Kueue didn't know is None or empty. ``by`` is the
    preemptor, while it exists.
    """

    at: datetime
    current: bool
    reason: str
    because: str
    by_uid: str | None
    by_job_uid: str | None
    by_path: tuple[str, ...]
    from_path: tuple[str, ...]
    text: str
    by: Workload | None = None


@dataclass(frozen=True, slots=True)
class Evicted:
    """Why a workload lost its quota the last time.

    ``cause`` is what led to a deactivation (RequeuingLimitExceeded, MaximumExecutionTimeExceeded,
    AdmissionCheck), None otherwise. ``current`` is False for history.
    """

    at: datetime
    current: bool
    reason: str
    cause: str | None
    text: str


@dataclass(frozen=True, slots=True)
class Requeue:
    """Tries so far, and until when Kueue waits with the next; ``waiting`` is backoff right now."""

    count: int
    at: datetime | None
    waiting: bool
    reason: str | None


@dataclass(frozen=True, slots=True)
class Gang:
    """Whether all pods of an admitted workload are ready, and since when."""

    ready: bool
    reason: str
    since: datetime
    text: str


@dataclass(frozen=True, slots=True)
class Need:
    """What a workload asks of one flavor at once, and what the queue could give.

    ``wanted`` is the sum over all pod sets, as if all went to this flavor. ``available`` is what
    fits now (never below zero), ``potential`` the most ever. ``own_lent`` is the queue's own
    unused quota that it can't reserve now because others borrowed it: only preemption brings that
    back. ``matches`` is False if a pod set's node selector contradicts the flavor's labels.
    """

    pair: FlavorResource
    wanted: int
    available: int
    potential: int
    own_lent: int
    matches: bool

    @property
    def short(self) -> int:
        """How much more it needs than is available."""
        return max(0, self.wanted - self.available)


@dataclass(frozen=True, slots=True)
class Cause:
    """Why a workload waits, or what it does instead of waiting.

    ``reason`` and ``message`` are Kueue's condition, ``since`` when it turned so (None: no
    condition yet). ``granular`` tells whether Kueue gave the kind itself, rather than we by its
    message. ``checks`` are admission checks that aren't ready.
    """

    kind: Kind
    status: str
    cluster_queue: str | None
    reason: str | None
    message: Message | None
    granular: bool
    since: datetime | None
    needs: tuple[Need, ...]
    requeue: Requeue | None
    checks: tuple[AdmissionCheckState, ...]
    gang: Gang | None
    evicted: Evicted | None
    preempted: Preempted | None

    def need(self, pair: FlavorResource) -> Need | None:
        """Return what it asks of one (flavor, resource), if anything."""
        return next((need for need in self.needs if need.pair == pair), None)
