"""Places in queues, as Kueue's visibility API tells them (pkg/visibility/storage)."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from capacity.model import Workload
from tests.capacity.kueue_tables import Table
from tests.capacity.kueue_tables.orders import wl

FILE = "pkg/visibility/storage/pending_workloads_{}_test.go"
Place = tuple[str, int, int]
"""A workload's name, its place in the ClusterQueue, and in its LocalQueue; the first is 0."""


@dataclass(frozen=True)
class Case:
    """Doors are LocalQueues ("namespace/name") by ClusterQueue; ``asked`` is one of either.

    ``places`` is None if nothing of that name exists.
    """

    asked: str
    places: tuple[Place, ...] | None
    workloads: tuple[Workload, ...] = ()
    doors: Mapping[str, tuple[str, ...]] = field(default_factory=lambda: {"cqA": ("ns/lqA",)})
    offset: int = 0
    limit: int = 1000


def job(name: str, seconds: int = 0, door: str = "ns/lqA", priority: int = 100) -> Workload:
    namespace, _, queue = door.partition("/")
    return replace(wl(name, seconds, queue=queue, priority=priority), namespace=namespace)


TWO = (job("a"), job("b", priority=50))
THREE = (job("a"), job("b", 1), job("c", 2))
PAIR = THREE[:2]
BOTH = {"cqA": ("ns/lqA", "ns/lqB")}
FOUR = (
    job("a-high"),
    job("a-low", priority=50),
    job("b-high", 1, "ns/lqB"),
    job("b-low", 1, "ns/lqB", 50),
)
APART = {"cqA": ("nsA/lqA",), "cqB": ("nsB/lqB",)}
FOUR_APART = (
    job("a-high", 0, "nsA/lqA"),
    job("a-low", 0, "nsA/lqA", 50),
    job("b-high", 1, "nsB/lqB"),
    job("b-low", 1, "nsB/lqB", 50),
)

CLUSTER_QUEUE = {
    "two workloads by priority": Case("cqA", (("a", 0, 0), ("b", 1, 1)), TWO),
    "two local queues": Case(
        "cqA", (("a-high", 0, 0), ("b-high", 1, 0), ("a-low", 2, 1), ("b-low", 3, 1)), FOUR, BOTH
    ),
    "only the first two": Case("cqA", (("a", 0, 0), ("b", 1, 1)), THREE, limit=2),
    "from the second on": Case("cqA", (("b", 1, 1), ("c", 2, 2)), THREE, offset=1),
    "only the second": Case("cqA", (("b", 1, 1),), THREE, offset=1, limit=1),
    "a limit below zero is zero": Case("cqA", (), PAIR, limit=-1),
    "a limit beyond all": Case("cqA", (("a", 0, 0), ("b", 1, 1)), PAIR, limit=2_000_000_000),
    "local queues of the same name in two namespaces": Case(
        "cqA",
        (("a", 0, 0), ("b", 1, 0)),
        (job("a"), job("b", 1, "other/lqA")),
        {"cqA": ("ns/lqA", "other/lqA")},
    ),
    "an empty queue": Case("cqA", (), doors={"cqA": ()}),
    "an unknown queue": Case("nonexistent", None, doors={}),
}

LOCAL_QUEUE = {
    "two workloads by priority": Case("ns/lqA", (("a", 0, 0), ("b", 1, 1)), TWO),
    "one of two local queues": Case("ns/lqA", (("a-high", 0, 0), ("a-low", 2, 1)), FOUR, BOTH),
    "the other of them": Case("ns/lqB", (("b-high", 1, 0), ("b-low", 3, 1)), FOUR, BOTH),
    "one of two cluster queues": Case(
        "nsA/lqA", (("a-high", 0, 0), ("a-low", 1, 1)), FOUR_APART, APART
    ),
    "the other cluster queue": Case(
        "nsB/lqB", (("b-high", 0, 0), ("b-low", 1, 1)), FOUR_APART, APART
    ),
    "only the first two": Case("ns/lqA", (("a", 0, 0), ("b", 1, 1)), THREE, limit=2),
    "from the second on": Case("ns/lqA", (("b", 1, 1), ("c", 2, 2)), THREE, offset=1),
    "only the second": Case("ns/lqA", (("b", 1, 1),), THREE, offset=1, limit=1),
    "a limit below zero is zero": Case("ns/lqA", (), PAIR, limit=-1),
    "a limit beyond all": Case("ns/lqA", (("a", 0, 0), ("b", 1, 1)), PAIR, limit=2_000_000_000),
    "an unknown queue": Case("ns/nonexistent", None, doors={}),
}

IN_CLUSTER_QUEUE = Table("TestPendingWorkloadsInCQ", FILE.format("cq"), 10, (CLUSTER_QUEUE,))
IN_LOCAL_QUEUE = Table("TestPendingWorkloadsInLQ", FILE.format("lq"), 11, (LOCAL_QUEUE,))
TABLES = (IN_CLUSTER_QUEUE, IN_LOCAL_QUEUE)
