"""Builders of model values: the world that golden answers are about, and small parts of it.

``a_fleet()`` is cohort ``ml`` with queues research, vision and serving on h100 (44, 10 and 30
reserved) and 24 unreserved a100. Everything is plain values; ``FakeWorld`` is commands' World.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from capacity.delivery import Deliveries
from capacity.errors import SourceDown
from capacity.model import (
    Admission,
    AdmissionCheckState,
    Amounts,
    ClusterQueue,
    Cohort,
    Condition,
    FlavorQuotas,
    FlavorResource,
    Fleet,
    LocalQueue,
    Owner,
    PodSet,
    PodSetAssignment,
    Preemption,
    Quota,
    ResourceFlavor,
    ResourceGroup,
    Workload,
    WorkloadPriorityClass,
)
from commands.command import Asker
from commands.history import Recorded
from gitops.index import Index
from gitops.people import People, PersonEntry, Team
from gitops.prices import Prices

NOW = datetime(2026, 12, 1, 14, 3, 14, tzinfo=UTC)
AS_OF = datetime(2026, 12, 1, 14, 3, 12, tzinfo=UTC)
GPU = "nvidia.com/gpu"
H100 = FlavorResource("h100", GPU)
A100 = FlavorResource("a100", GPU)
ON_H100 = {"gpu.example.com/card": "h100"}
ANA = Asker("ana", ("research",), "Europe/Berlin")
OTTO = Asker()


@dataclass(frozen=True)
class ListedWorkloads:
    """A hand-written Workloads over a list."""

    items: tuple[Workload, ...] = ()
    queue_of: Mapping[tuple[str, str], str] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.items)

    def __iter__(self) -> Iterator[Workload]:
        return iter(self.items)

    def reserving(self, cluster_queue: str) -> Collection[Workload]:
        return [
            w
            for w in self.items
            if w.status in ("QuotaReserved", "Admitted")
            and w.admission
            and w.admission.cluster_queue == cluster_queue
        ]

    def pending(self, cluster_queue: str) -> Collection[Workload]:
        return [
            w
            for w in self.items
            if w.status == "Pending"
            and self.queue_of.get((w.namespace, w.queue_name)) == cluster_queue
        ]

    def finished(self, cluster_queue: str) -> Collection[Workload]:
        return [
            w
            for w in self.items
            if w.status == "Finished" and w.admission and w.admission.cluster_queue == cluster_queue
        ]

    def named(self, name: str) -> Collection[Workload]:
        return [w for w in self.items if name in (w.name, w.job)]

    def names(self) -> Collection[str]:
        return {n for w in self.items for n in (w.name, w.job)}


def ago(*, hours: float = 0, minutes: float = 0, seconds: float = 0) -> datetime:
    """Return a moment before NOW."""
    return NOW - timedelta(hours=hours, minutes=minutes, seconds=seconds)


def condition(
    type_: str,
    status: str = "True",
    reason: str = "",
    message: str = "",
    at: datetime = AS_OF,
) -> Condition:
    return Condition(type_, status, reason or type_, message, at)


def groups(
    quotas: Mapping[FlavorResource, Quota | tuple[int | None, ...]],
) -> tuple[ResourceGroup, ...]:
    """Build resource groups from {FlavorResource: Quota or (nominal, borrowing, lending)}."""
    flavors: dict[str, dict[str, Quota]] = {}
    for (flavor, resource), q in quotas.items():
        flavors.setdefault(flavor, {})[resource] = q if isinstance(q, Quota) else Quota(*q)  # type: ignore[arg-type]
    if not flavors:
        return ()
    resources = tuple(dict.fromkeys(fr.resource for fr in quotas))
    return (ResourceGroup(resources, tuple(FlavorQuotas(n, r) for n, r in flavors.items())),)


def a_cluster_queue(
    name: str,
    quotas: Mapping[FlavorResource, Quota | tuple[int | None, ...]] | None = None,
    *,
    cohort: str | None = "ml",
    reserved: Amounts | None = None,
    admitted: Amounts | None = None,
    **changes: Any,
) -> ClusterQueue:
    """Build an active ClusterQueue; ``admitted`` is ``reserved`` unless given."""
    reserved = reserved or {}
    queue = ClusterQueue(
        name,
        cohort=cohort,
        resource_groups=groups(quotas if quotas is not None else {H100: (8,)}),
        conditions=(condition("Active", reason="Ready", message="Can admit new workloads"),),
        reserved=reserved,
        admitted=reserved if admitted is None else admitted,
    )
    return replace(queue, **changes)


def a_workload(
    job: str,
    pods: int = 1,
    gpus: int = 1,
    *,
    queue: str = "research",
    flavor: str | None = None,
    state: str = "Pending",
    created: datetime | None = None,
    since: datetime | None = None,
    ended: datetime | None = None,
    kind: str = "Job",
    **changes: Any,
) -> Workload:
    """Build a Workload of ``pods`` x ``gpus`` in LocalQueue queue/queue.

    ``state`` is Kueue's word: Pending, QuotaReserved, Admitted or Finished; the last three hold
    quota of ``flavor`` (h100 unless given), reserved at ``since``.
    """
    created = created or ago(minutes=10)
    since = since or created + timedelta(minutes=1)
    conditions: list[Condition] = []
    admission = None
    if state != "Pending":
        admission = Admission(
            queue,
            (PodSetAssignment("main", pods, {GPU: flavor or "h100"}, {GPU: pods * gpus}),),
        )
        conditions.append(condition("QuotaReserved", at=since))
    if state in ("Admitted", "Finished"):
        conditions.append(condition("Admitted", at=since))
    if state == "Finished":
        ended = ended or since + timedelta(hours=2)
        conditions.append(condition("Finished", reason="Succeeded", at=ended))
    workload = Workload(
        uid=f"uid-{queue}-{job}",
        namespace=queue,
        name=f"{kind.lower()}-{job}-1a2b3",
        queue_name=queue,
        created=created,
        pod_sets=(PodSet("main", pods, {GPU: gpus, "cpu": gpus * 8000}),),
        owner=Owner(kind, job, f"job-{queue}-{job}"),
        admission=admission,
        conditions=tuple(conditions),
    )
    return replace(workload, **changes)


def waiting_condition(message: str, reason: str = "Pending", at: datetime = AS_OF) -> Condition:
    return condition("QuotaReserved", "False", reason, message, at)


LLM_FT_7_MESSAGE = (
    "couldn't assign flavors to pod set main: insufficient unused quota for nvidia.com/gpu in "
    "flavor h100, 12 more needed, flavor a100 doesn't match node affinity"
)


def waiting_workloads() -> tuple[Workload, ...]:
    """The five that wait in research."""
    return (
        a_workload(
            "llm-ft-7",
            2,
            8,
            kind="JobSet",
            created=ago(minutes=41),
            conditions=(waiting_condition(LLM_FT_7_MESSAGE),),
            requeue_count=3,
            pod_sets=(PodSet("main", 2, {GPU: 8}, node_selector=ON_H100),),
        ),
        a_workload("eval-3", created=ago(minutes=12)),
        a_workload("eval-4", created=ago(minutes=11)),
        a_workload("ablation-1", 1, 8, created=ago(minutes=9)),
        a_workload("ablation-2", 1, 8, created=ago(minutes=5)),
    )


def running_workloads() -> tuple[Workload, ...]:
    """What holds the 44 + 10 + 30 H100: 42 admitted and 2 reserved only in research."""
    long = ago(hours=20)
    return (
        a_workload("llm-pretrain", 4, 8, kind="JobSet", state="Admitted", created=long),
        a_workload("eval-1", 1, 8, state="Admitted", created=ago(hours=5)),
        a_workload("eval-2", 1, 2, state="Admitted", created=ago(hours=2)),
        a_workload(
            "sweep-2",
            1,
            2,
            state="QuotaReserved",
            created=ago(minutes=3),
            admission_checks=(AdmissionCheckState("provision", "Pending", "nodes are prepared"),),
        ),
        a_workload("detector", 1, 8, queue="vision", state="Admitted", created=long),
        a_workload("labels", 1, 2, queue="vision", state="Admitted", created=ago(hours=1)),
        a_workload("chat", 3, 8, queue="serving", state="Admitted", created=long),
        a_workload("embed", 3, 2, queue="serving", state="Admitted", created=long),
    )


def finished_workloads(
    count: int = 38, queue: str = "research", pods: int = 2, gpus: int = 8
) -> tuple[Workload, ...]:
    """Finished gangs of the last 14 days that waited 10 to 130 minutes and ran 1 to 28 hours."""
    found = []
    for i in range(count):
        created = ago(hours=8 * (i + 1))
        waited = timedelta(minutes=10 + (i * 37) % 120)
        ran = min(timedelta(hours=1 + (i * 5) % 28), NOW - created - waited)
        found.append(
            a_workload(
                f"past-{i}",
                pods,
                gpus,
                queue=queue,
                state="Finished",
                created=created,
                since=created + waited,
                ended=created + waited + ran,
            )
        )
    return tuple(found)


def the_queues() -> tuple[ClusterQueue, ...]:
    """Build research, vision and serving: 44, 10 and 30 H100 reserved; 4, 12 and 12 available."""
    return (
        a_cluster_queue(
            "research",
            {H100: (32, 16), A100: (8,)},
            reserved={H100: 44, A100: 0},
            admitted={H100: 42, A100: 0},
            queueing_strategy="StrictFIFO",
            pending_workloads=5,
            reserving_workloads=4,
            admitted_workloads=3,
        ),
        a_cluster_queue(
            "vision",
            {H100: (24, None, 16), A100: (8,)},
            reserved={H100: 10, A100: 0},
            reserving_workloads=2,
            admitted_workloads=2,
        ),
        a_cluster_queue(
            "serving",
            {H100: (40, None, 24), A100: (8,)},
            reserved={H100: 30, A100: 0},
            preemption=Preemption(reclaim_within_cohort="Any"),
            reserving_workloads=2,
            admitted_workloads=2,
        ),
    )


def a_fleet(
    *,
    queues: Iterable[ClusterQueue] | None = None,
    cohorts: Iterable[Cohort] = (),
    workloads: Iterable[Workload] | None = None,
    **changes: Any,
) -> Fleet:
    """Build the whole world, or one of the given queues and workloads."""
    found = tuple(the_queues() if queues is None else queues)
    if workloads is None:
        workloads = (
            (*waiting_workloads(), *running_workloads(), *finished_workloads())
            if queues is None
            else ()
        )
    local = {(q.name, q.name): LocalQueue(q.name, q.name, q.name) for q in found}
    fleet = Fleet(
        cluster="prod-eu",
        as_of=AS_OF,
        cluster_queues={q.name: q for q in found},
        cohorts={c.name: c for c in cohorts},
        local_queues=local,
        flavors={
            "h100": ResourceFlavor("h100", {"gpu.example.com/card": "h100"}),
            "a100": ResourceFlavor("a100", {"gpu.example.com/card": "a100"}),
        },
        priority_classes={
            "high": WorkloadPriorityClass("high", 1000),
            "low": WorkloadPriorityClass("low", -100),
        },
        workloads=ListedWorkloads(
            tuple(workloads), {key: lq.cluster_queue for key, lq in local.items()}
        ),
        source="Kueue, cluster prod-eu",
    )
    return replace(fleet, **changes)


def some_people() -> People:
    """The people of the playground: ana asks, rae, li, tom and vera own, kim and pat run it."""
    ids = {
        "ana": "U0ANA",
        "rae": "U0RAE",
        "li": "U0LI",
        "tom": "U0TOM",
        "vera": "U0VERA",
        "kim": "U0KIM",
        "pat": "U0PAT",
    }
    team = {
        "research": (("ana",), ("rae",), "C0RESEARCH"),
        "vision": ((), ("vera",), ""),
        "serving": ((), ("li", "tom"), ""),
    }
    return People(
        people={p: PersonEntry(p, p.capitalize(), slack) for p, slack in ids.items()},
        teams={
            name: Team(name, members, owners, (name,), (name,), channel)
            for name, (members, owners, channel) in team.items()
        },
        groups={"platform": ("kim", "pat")},
    )


@dataclass
class FakeWorld:
    """A World of given values; ``down`` makes the cluster unreadable."""

    the_fleet: Fleet = field(default_factory=a_fleet)
    the_people: People = field(default_factory=some_people)
    orders: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    down: SourceDown | None = None
    at: datetime = NOW
    the_meter: Any = None
    the_prices: Prices | None = None
    the_index: Index | None = None
    the_deliveries: Deliveries = field(default_factory=Deliveries)
    the_past: Recorded = field(default_factory=Recorded)

    def now(self) -> datetime:
        return self.at

    def fleet(self) -> Fleet:
        if self.down:
            raise self.down
        return self.the_fleet

    def people(self) -> People:
        return self.the_people

    def pending_order(self, cluster_queue: str) -> tuple[str, ...] | None:
        return self.orders.get(cluster_queue)

    def past(self, cluster_queues: Collection[str]) -> Recorded:
        return self.the_past

    def meter(self) -> Any:
        if self.the_meter is None:
            raise SourceDown("Prometheus", None)
        return self.the_meter

    def prices(self) -> Prices | None:
        return self.the_prices

    def repository_index(self) -> Index:
        if self.the_index is None:
            raise SourceDown("the GitOps repository", None)
        return self.the_index

    def deliveries(self) -> Deliveries:
        return self.the_deliveries
