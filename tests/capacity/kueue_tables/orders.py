"""Who goes first (pkg/cache/queue/cluster_queue_test.go, pkg/workload/workload_test.go)."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta

from capacity.model import Condition, Workload
from capacity.order import RequeueBy
from tests.capacity.kueue_tables import Table

FILE = "pkg/cache/queue/cluster_queue_test.go"
T0 = datetime(2026, 12, 1, 9, tzinfo=UTC)
BY_USE = "UsageBasedAdmissionFairSharing"


def wl(name: str, seconds: int = 0, *conditions: Condition, queue: str = "", priority: int = 0):
    """Return a workload that was created so many seconds after T0; its uid is its name."""
    created = T0 + timedelta(seconds=seconds)
    made = Workload(name, "default", name, queue or "lq", created, (), conditions=conditions)
    return replace(made, priority=priority)


def evicted(seconds: int, reason: str, status: str = "True") -> Condition:
    return Condition("Evicted", status, reason, "by test", T0 + timedelta(seconds=seconds))


@dataclass(frozen=True)
class Case:
    """Workloads in the order in which they are to be taken."""

    order: tuple[Workload, ...]
    requeue_by: RequeueBy = "Eviction"


TIMED_OUT = evicted(2, "PodsReadyTimeout")
STRICT = {
    "the older has the higher priority": Case((wl("w1", priority=1), wl("w2", 1, priority=-1))),
    "equal priority, the older goes first": Case((wl("w1"), wl("w2", 1))),
    "an eviction for pods that weren't ready sends to the back": Case(
        (wl("w2", 1), wl("w1", 0, TIMED_OUT))
    ),
    "but not where Kueue is to requeue by creation": Case(
        (wl("w1", 0, TIMED_OUT), wl("w2", 1)), "Creation"
    ),
    "the younger has the higher priority": Case((wl("w2", 1, priority=1), wl("w1", priority=-1))),
}


@dataclass(frozen=True)
class Used:
    """Which workload goes first, where local queues have consumed (cpu in cores) so much."""

    first: str
    workloads: tuple[Workload, ...]
    consumed: Mapping[str, Mapping[str, int]]
    weights: Mapping[str, str] = field(default_factory=dict)
    resource_weights: Mapping[str, float] = field(default_factory=dict)
    mode: str = BY_USE


HIGH_LOW = (wl("a-high", queue="a", priority=2), wl("b-low", queue="b", priority=1))
ONE_QUEUE = (wl("low", queue="a", priority=1), wl("high", queue="a", priority=2))
BY_USAGE = {
    "less use goes before higher priority": Used(
        "b-low", HIGH_LOW, {"a": {"cpu": 2}, "b": {"cpu": 1}}
    ),
    "use counts by the weights of resources": Used(
        "b-low",
        HIGH_LOW,
        {"a": {"cpu": 1, "gpu": 10}, "b": {"cpu": 1000, "gpu": 1}},
        resource_weights={"cpu": 0, "gpu": 1},
    ),
    "use counts by the weights of the queues": Used(
        "b-low", HIGH_LOW, {"a": {"cpu": 10}, "b": {"cpu": 6}}, {"a": "1", "b": "2"}
    ),
    "equal use, priority decides": Used("high", ONE_QUEUE, {"a": {"cpu": 10}}),
    "without sharing by use, priority decides": Used(
        "high", ONE_QUEUE, {"a": {}}, mode="NoAdmissionFairSharing"
    ),
    "without its configuration, priority decides": Used(
        "high", ONE_QUEUE, {}, mode="NoAdmissionFairSharing"
    ),
}

HOUR = 3600
TIMESTAMPS = {
    "no condition": ((), 0, 0),
    "evicted by preemption": ((evicted(HOUR, "Preempted"),), 0, 0),
    "evicted because pods weren't ready": ((evicted(HOUR, "PodsReadyTimeout"),), HOUR, 0),
    "after the eviction": ((evicted(HOUR, "PodsReadyTimeout", "False"),), 0, 0),
}
"""Conditions, and the time in seconds after T0 when requeued by eviction and by creation."""


def backoff(name: str) -> Workload:
    held = Condition("Requeued", "False", "", "", T0)
    return replace(wl(name, 0, held), requeue_count=1, requeue_at=T0 + timedelta(hours=1))


SAME = {
    "all can be tried": ("uid-1", "uid-2", "uid-3"),
    "some are in backoff": ("uid-1", "uid-2", "uid-3", "uid-4"),
}
"""Workloads of the same age, in their order; uid-3 and uid-4 of the second are in backoff."""

STRICT_FIFO = Table("TestStrictFIFO", FILE, 5, (STRICT,))
FIFO = Table("TestFIFOClusterQueue", FILE, 1, by_hand=("a_queue_gives_the_oldest_first",))
BY_LOCAL_QUEUE = Table("TestFsAdmission", FILE, 6, (BY_USAGE,))
STABLE = Table("TestSnapshotDeterministicOrder", FILE, 2, (SAME,))
TIMESTAMP = Table("TestGetQueueOrderTimestamp", "pkg/workload/workload_test.go", 4, (TIMESTAMPS,))
TABLES = (STRICT_FIFO, FIFO, BY_LOCAL_QUEUE, STABLE, TIMESTAMP)
