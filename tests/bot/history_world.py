"""A cluster whose jobs wait, run, are stopped and go, with what really happened; and a database."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from bot.history import Recorder
from bot.history_book import Book
from bot.store_history import Kept
from capacity.errors import SourceDown
from capacity.kueue_workloads import WorkloadStore
from capacity.model import Condition, Fleet, LocalQueue, Workload
from commands.history import Stretch
from tests.builders import NOW, a_cluster_queue, a_fleet, a_workload

LOCAL = {("research", "research"): LocalQueue("research", "research", "research")}


def with_condition(workload: Workload, *new: Condition) -> tuple[Condition, ...]:
    types = {condition.type for condition in new}
    return (*(c for c in workload.conditions if c.type not in types), *new)


class Cluster:
    """What Kueue does to Workloads, with the conditions that it writes; ``truth`` knows every end."""

    def __init__(self) -> None:
        self.at = NOW
        self.truth: dict[tuple[str, datetime], Stretch] = {}
        self.store = WorkloadStore()
        self.jobs: dict[str, Workload] = {}
        self.whole = True
        self.count = 0

    def pass_time(self, seconds: float) -> None:
        self.at += timedelta(seconds=seconds)

    def submit(self, name: str = "") -> str:
        self.count += 1
        name = name or f"j{self.count}"
        job = a_workload(name, 2, 8, created=self.at, uid=f"uid-{name}-{self.count}")
        return self._put(job)

    def start(self, uid: str) -> None:
        """Give it quota and let it run."""
        job, old = self.jobs[uid], self.jobs[uid].condition("Requeued")
        running = a_workload(
            job.job, 2, 8, state="Admitted", created=job.created, since=self.at, uid=uid
        )
        kept = tuple(c for c in (old,) if c is not None)
        job = replace(running, conditions=(*running.conditions, *kept))
        self.truth[uid, self.at] = Stretch(
            uid, "research", "h100", 16, 2, 0, old.last_transition if old else job.created,
            self.at, self.at,
        )  # fmt: skip
        self._put(job)

    def finish(self, uid: str) -> None:
        self._end(uid, "finished", "Succeeded")
        job = self.jobs[uid]
        done = Condition("Finished", "True", "Succeeded", "", self.at)
        self._put(replace(job, conditions=with_condition(job, done)))

    def evict(self, uid: str) -> None:
        """Stop it and queue it again, all at once as the job integration does."""
        self._end(uid, "evicted", "Preempted")
        job = self.jobs[uid]
        new = (
            Condition("QuotaReserved", "False", "Pending", "Preempted to ...", self.at),
            Condition("Admitted", "False", "NoReservation", "", self.at),
            Condition("Evicted", "True", "Preempted", "Preempted to ...", self.at),
            Condition("Requeued", "True", "Preempted", "Preempted to ...", self.at),
        )
        self._put(replace(job, admission=None, conditions=with_condition(job, *new)))

    def delete(self, uid: str) -> None:
        job = self.jobs.pop(uid)
        if job.status == "Admitted":
            self._end(uid, "deleted", "")
        self.store.drop(job.namespace, job.name)

    def relist(self) -> None:
        """Read everything anew, as after a 410: equal objects, other ones."""
        for job in self.jobs.values():
            self.store.put(replace(job))

    def fleet(self) -> Fleet:
        return replace(
            a_fleet(queues=[a_cluster_queue("research")], workloads=()),
            as_of=self.at,
            workloads=self.store.snapshot(LOCAL),
            every_workload=self.whole,
        )

    def _end(self, uid: str, end: str, reason: str) -> None:
        key = next(k for k, s in self.truth.items() if k[0] == uid and not s.end)
        self.truth[key] = replace(self.truth[key], ended_at=self.at, end=end, reason=reason)

    def _put(self, job: Workload) -> str:
        self.jobs[job.uid] = job
        self.store.put(job)
        return job.uid


@dataclass
class MemoryStore:
    """The history's store by its rules: a key once, seen ends stay; ``down`` raises."""

    rows: dict[tuple[str, datetime], Stretch] = field(default_factory=dict)
    until: datetime | None = None
    down: bool = False
    writes: int = 0
    tidied: int = 0

    def read(self, cluster: str, since: datetime, most: int) -> Kept:
        self._check()
        rows = sorted(self.rows.values(), key=lambda s: s.began, reverse=True)
        latest = [s for s in rows if s.ended_at is None or s.ended_at >= since][:most]
        return Kept(tuple(latest), tuple(s for s in rows if not s.end), self.until)

    def record(self, cluster: str, stretches: Sequence[Stretch], until: datetime | None) -> None:
        self._check()
        assert len(stretches) <= 500
        self.writes += 1
        for stretch in stretches:
            old = self.rows.get(stretch.key)
            if old is None or old.end in ("", "lost"):
                self.rows[stretch.key] = stretch
        if until is not None:
            self.until = max(until, self.until or until)

    def prune(self, now: datetime) -> int:
        self._check()
        self.tidied += 1
        return 0

    def _check(self) -> None:
        if self.down:
            raise SourceDown("my database", None)


@dataclass
class Bot:
    """A recorder and its book; ``restart`` makes new ones on the same database."""

    cluster: Cluster
    store: MemoryStore = field(default_factory=MemoryStore)

    def __post_init__(self) -> None:
        self.restart()

    def restart(self) -> None:
        self.book = Book()
        self.recorder = Recorder(
            self.store,
            self.book,
            self.cluster.fleet,
            cluster="prod-eu",
            now=lambda: self.cluster.at,
        )

    def look(self) -> None:
        self.recorder.look()

    @property
    def written(self) -> list[Stretch]:
        return sorted(self.store.rows.values(), key=lambda s: (s.began, s.uid))

    @property
    def remembered(self) -> list[Stretch]:
        return sorted(self.book.past({"research"}).stretches, key=lambda s: (s.began, s.uid))
