"""A job in the simulated cluster, from submission to its end, with the conditions Kueue writes."""

import uuid
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import Enum

from capacity.model import FlavorResource

GPU = "nvidia.com/gpu"
PRODUCTS = {"h100": "NVIDIA-H100-80GB-HBM3", "a100": "NVIDIA-A100-SXM4-80GB"}
NOT_READY = "Not all pods are ready or succeeded"
_LEAST_LEFT = timedelta(minutes=10)
_NAMES = uuid.UUID("6f1c1f5e-7d0a-4c1e-9a51-0d1b5a3c2e10")


class State(Enum):
    """Where a job is: it holds quota from RESERVED to STOPPING, and cards when it runs."""

    WAITING = "waiting"
    RESERVED = "reserved"
    ADMITTED = "admitted"
    STARTING = "starting"
    RUNNING = "running"
    STOPPING = "stopping"
    FINISHED = "finished"

    @property
    def holds(self) -> bool:
        """Tell whether a job in this state holds quota."""
        return self not in (State.WAITING, State.FINISHED)

    @property
    def admitted(self) -> bool:
        """Tell whether a job in this state is past its admission checks."""
        return self.holds and self is not State.RESERVED


@dataclass(slots=True)
class Spec:
    """What was submitted: so many pods with so many GPUs each, all or none.

    ``on`` is the flavor that its node selector names, None for any. ``runs`` is how long it runs
    once its pods are ready; ``check`` how long its admission check takes.
    """

    queue: str
    name: str
    pods: int
    gpus: int
    runs: timedelta
    kind: str = "Job"
    on: str | None = None
    priority: int = 0
    priority_class: str | None = None
    behaviour: str = "training"
    check: timedelta = timedelta(seconds=90)

    @property
    def total(self) -> int:
        """GPUs of all pods."""
        return self.pods * self.gpus


@dataclass(slots=True)
class Condition:
    """A status condition as it will stand in the object."""

    status: str
    reason: str
    message: str
    at: datetime


@dataclass(slots=True)
class Job:
    """A submitted job and what has become of it. Owned by the world, behind its lock.

    ``version`` counts changes of its conditions, ``round`` reservations and evictions. ``uid`` is
    the Workload's, ``job_uid`` its Job's, the same in every run of a scenario; ``workload_name`` is
    kind, name and a hash, as Kueue makes it.
    """

    spec: Spec
    created: datetime
    number: int
    state: State = State.WAITING
    flavor: str | None = None
    reserved_at: datetime | None = None
    left: timedelta = timedelta(0)
    running_since: datetime | None = None
    conditions: dict[str, Condition] = field(default_factory=dict)
    check_state: str = ""
    evictions: int = 0
    round: int = 0
    version: int = 0

    uid: str = field(init=False)
    job_uid: str = field(init=False)
    workload_name: str = field(init=False)

    def __post_init__(self) -> None:
        self.left = self.spec.runs
        self.uid = str(uuid.uuid5(_NAMES, f"workload/{self.number}"))
        self.job_uid = str(uuid.uuid5(_NAMES, f"job/{self.number}"))
        self.workload_name = f"{self.spec.kind.lower()}-{self.spec.name}-{self.uid[:5]}"

    @property
    def pair(self) -> FlavorResource:
        """The (flavor, resource) that it holds."""
        return FlavorResource(self.flavor or "", GPU)

    @property
    def holds(self) -> bool:
        """Tell whether it holds quota."""
        return self.state.holds

    def note(self, type_: str, status: str, reason: str, message: str, at: datetime) -> None:
        """Set a condition; its time moves only when its status changes."""
        old = self.conditions.get(type_)
        since = old.at if old and old.status == status else at
        new = Condition(status, reason, message, since)
        self.version += new != old
        self.conditions[type_] = new

    def forget_eviction(self, at: datetime) -> None:
        """Turn the eviction's conditions into history, as Kueue does on a new reservation."""
        for type_ in ("Evicted", "Preempted"):
            old = self.conditions.get(type_)
            if old and old.status == "True":
                told = f"Previously: {old.message}"
                self.note(type_, "False", "QuotaReserved", told, at)

    def mark_reserved(self, queue: str, flavor: str, at: datetime) -> None:
        """Take a quota reservation."""
        self.state, self.flavor, self.reserved_at = State.RESERVED, flavor, at
        self.round += 1
        told = f"Quota reserved in ClusterQueue {queue}"
        self.note("QuotaReserved", "True", "QuotaReserved", told, at)
        self.forget_eviction(at)

    def mark_checking(self, at: datetime) -> None:
        """Begin to wait for the admission check."""
        self.check_state = "Pending"
        told = "The workload has not all checks ready"
        self.note("Admitted", "False", "UnsatisfiedAdmissionChecks", told, at)

    def mark_admitted(self, at: datetime) -> None:
        """May start its pods."""
        self.state = State.ADMITTED
        self.check_state = self.check_state and "Ready"
        self.note("Admitted", "True", "Admitted", "The workload is admitted", at)
        self.note("PodsReady", "False", "WaitForStart", NOT_READY, at)

    def mark_running(self, at: datetime) -> None:
        """All its pods run."""
        self.state, self.running_since = State.RUNNING, at
        told = "All pods reached readiness and the workload is running"
        self.note("PodsReady", "True", "Started", told, at)

    def mark_finished(self, at: datetime) -> None:
        """All its pods are done."""
        self.state = State.FINISHED
        self.note("Finished", "True", "Succeeded", "Job finished successfully", at)

    def mark_waiting(self, told: str, at: datetime) -> None:
        """It doesn't fit; ``told`` says why."""
        self.note("QuotaReserved", "False", "Pending", told, at)
        self.note("Admitted", "False", "NoReservation", "The workload has no reservation", at)

    def mark_preempted(self, reason: str, told: str, at: datetime) -> None:
        """Is told to stop; it holds its quota until its pods are gone, and keeps its checkpoint."""
        ran = at - self.running_since if self.running_since else timedelta(0)
        self.left = max(_LEAST_LEFT, self.left - ran)
        self.state = State.STOPPING
        self.evictions += 1
        self.round += 1
        self.note("Evicted", "True", "Preempted", told, at)
        self.note("Preempted", "True", reason, told, at)

    def mark_stopped(self, at: datetime) -> None:
        """Its pods are gone and its quota is given back; it waits again, at its old place."""
        told = self.conditions["Evicted"].message
        self.state, self.flavor, self.running_since, self.check_state = (
            State.WAITING,
            None,
            None,
            "",
        )
        self.mark_waiting(told, at)
        self.note("PodsReady", "False", "WaitForStart", NOT_READY, at)
        self.note("Requeued", "True", "Preempted", told, at)
