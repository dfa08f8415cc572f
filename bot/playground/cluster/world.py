"""The simulated cluster: jobs wait, get quota, run on cards, finish, and make way for others.

Nothing here knows real time: ``advance`` plays everything up to a moment. One lock of the owner
guards it all.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from bot.playground.cluster.admit import Scheduler, rank, why_not
from bot.playground.cluster.agenda import Agenda
from bot.playground.cluster.job import Job, Spec, State
from bot.playground.cluster.pods import Pods
from bot.playground.cluster.rules import Rules
from capacity.fit_mode import fits_now
from capacity.model import Amounts, ClusterQueue, FlavorResource
from capacity.preempt import Victim
from capacity.quota import Tree

PODS_START = timedelta(seconds=60)
PODS_STOP = timedelta(seconds=30)
FINISHED_KEPT = 200
_REASONS = {
    "InClusterQueue": "prioritization in the ClusterQueue",
    "InCohortReclamation": "reclamation within the cohort",
    "InCohortReclaimWhileBorrowing": "reclamation within the cohort while borrowing",
}


@dataclass(frozen=True, slots=True)
class Happening:
    """Something a visitor would want to know, in words."""

    at: datetime
    text: str


class World:
    """Jobs, their quota and their cards."""

    def __init__(self, rules: Rules, start: datetime) -> None:
        self.rules = rules
        self.now = start
        self.jobs: list[Job] = []
        self.pods = Pods()
        self.happenings: list[Happening] = []
        self.agenda = Agenda()
        self._scheduler = Scheduler()
        self._by_uid: dict[str, Job] = {}
        self._numbers = 0

    def advance(self, now: datetime) -> None:
        """Play everything that is due until a moment."""
        while entry := self.agenda.due(now):
            self.now, deed = max(self.now, entry[0]), entry[1]
            deed(self.now)
            self.schedule(self.now)
        self.now = max(self.now, now)

    def submit(self, spec: Spec, at: datetime) -> Job:
        """Take a new job into its queue; it is tried at the next cycle."""
        self._numbers += 1
        job = Job(spec, at, self._numbers)
        self.jobs.append(job)
        self._by_uid[job.uid] = job
        return job

    def remember(self, jobs: Sequence[Job]) -> None:
        """Take jobs that were over before the start; they are the first to be forgotten."""
        self.jobs[:0] = jobs
        self._by_uid.update((job.uid, job) for job in jobs)

    def waiting(self) -> list[tuple[ClusterQueue, Job]]:
        """Return the jobs that wait, with the queue they wait in."""
        found = (
            (self.rules.queue_of(job.spec.queue, job.spec.queue), job)
            for job in self.jobs
            if job.state is State.WAITING
        )
        return [(queue, job) for queue, job in found if queue]

    def pending(self, queue: str) -> list[Job]:
        """Return the jobs that wait in a queue, the next one first."""
        return sorted((job for q, job in self.waiting() if q.name == queue), key=rank)

    def held(self, states: Iterable[State]) -> dict[str, Amounts]:
        """Return the GPUs held by queue, by jobs in these states."""
        wanted, found = set(states), dict[str, dict[FlavorResource, int]]()
        for job in self.jobs:
            if job.state in wanted:
                amounts = found.setdefault(job.spec.queue, {})
                amounts[job.pair] = amounts.get(job.pair, 0) + job.spec.total
        return dict(found)

    def tree(self) -> Tree:
        """Return the cohort tree with what is reserved now."""
        return self.rules.tree(self.held(s for s in State if s.holds))

    def schedule(self, at: datetime) -> None:
        """Let everybody start who can, make room where that is allowed, tell the rest why not."""
        lines = self._lines()
        if not lines:
            return
        tree = self.tree()
        making_room = {}
        for start in self._scheduler.starts(self.rules, self.jobs, lines, tree, at):
            job = self._by_uid[start.workload.uid]
            if start.assignment.victims:
                making_room[job.uid] = start.assignment.victims
            elif fits_now(tree, start.cluster_queue, start.assignment.usage):
                tree.add_usage(start.cluster_queue, start.assignment.usage)
                queue = self.rules.cluster_queues[start.cluster_queue]
                self.reserve(job, queue, next(iter(start.assignment.usage)).flavor, at)
        for name, line in lines.items():
            self._tell_waiting(self.rules.cluster_queues[name], line, tree, making_room, at)

    def reserve(self, job: Job, queue: ClusterQueue, flavor: str, at: datetime) -> None:
        """Give quota to a job; it starts at once unless an admission check takes its time."""
        job.mark_reserved(queue.name, flavor, at)
        if queue.admission_checks:
            job.mark_checking(at)
            self._later(job, at + job.spec.check, self._admit)
        else:
            self._admit(job, at)

    def restore(self, job: Job, flavor: str, since: datetime, ends: datetime) -> None:
        """Let a job have been running since a moment."""
        job.mark_reserved(job.spec.queue, flavor, since)
        if self.rules.cluster_queues[job.spec.queue].admission_checks:
            job.mark_checking(since)
        job.mark_admitted(since)
        self.pods.start(job, since)
        job.mark_running(since + PODS_START)
        job.left = ends - since - PODS_START
        self._later(job, ends, self._finish)

    def _admit(self, job: Job, at: datetime) -> None:
        job.mark_admitted(at)
        self._tell(at, job, f"starts on {job.spec.total} {job.flavor}")
        self._start_pods(job, at)

    def _start_pods(self, job: Job, at: datetime) -> None:
        if self.pods.start(job, at):
            job.state = State.STARTING
            self._later(job, at + PODS_START, self._ready)

    def _ready(self, job: Job, at: datetime) -> None:
        job.mark_running(at)
        self._later(job, at + job.left, self._finish)

    def _finish(self, job: Job, at: datetime) -> None:
        job.mark_finished(at)
        self._tell(at, job, f"is done and gives {job.spec.total} {job.flavor} back")
        self._free(job, at)
        done = [j for j in self.jobs if j.state is State.FINISHED]
        for old in done[:-FINISHED_KEPT]:
            self.jobs.remove(old)
            del self._by_uid[old.uid]
            self._scheduler.forget(old)

    def _lines(self) -> dict[str, list[Job]]:
        """Return the waiting jobs in order, of the queues that admit at all."""
        names = [q.name for q in self.rules.cluster_queues.values() if q.stop_policy == "None"]
        found = {name: self.pending(name) for name in names}
        return {name: line for name, line in found.items() if line}

    def _tell_waiting(
        self,
        queue: ClusterQueue,
        line: list[Job],
        tree: Tree,
        making_room: Mapping[str, Sequence[Victim]],
        at: datetime,
    ) -> None:
        """Note why jobs don't start, as far as Kueue tries them: the first alone if it's strict."""
        left = [job for job in line if job.state is State.WAITING]
        strict = queue.queueing_strategy == "StrictFIFO"
        for job in left[:1] if strict else left:
            victims = making_room.get(job.uid, ())
            told = why_not(job, queue, tree)
            if victims:
                told += f". Pending the preemption of {len(victims)} workload(s)"
            for victim in victims:
                self._preempt(self._by_uid[victim.workload.uid], victim.reason, job, tree, at)
            job.mark_waiting(told, at)

    def _preempt(self, job: Job, reason: str, winner: Job, tree: Tree, at: datetime) -> None:
        if job.state is State.STOPPING:
            return
        told = (
            f"Preempted to accommodate a workload (UID: {winner.uid}, JobUID: {winner.job_uid}) "
            f"due to {_REASONS[reason]}; preemptor path: {_path(tree, winner.spec.queue)}; "
            f"preemptee path: {_path(tree, job.spec.queue)}"
        )
        job.mark_preempted(reason, told, at)
        taken = f"{job.spec.total} {job.flavor}"
        self._tell(at, job, f"is stopped: {winner.spec.queue} takes {taken} for {winner.spec.name}")
        self._later(job, at + PODS_STOP, self._stopped)

    def _stopped(self, job: Job, at: datetime) -> None:
        job.mark_stopped(at)
        self._free(job, at)

    def _free(self, job: Job, at: datetime) -> None:
        self.pods.end(job, at)
        for other in self.jobs:
            if other.state is State.ADMITTED:
                self._start_pods(other, at)

    def _later(self, job: Job, at: datetime, deed: Callable[[Job, datetime], None]) -> None:
        """Note a deed that no longer counts once the job has gone another way."""
        state, round_ = job.state, job.round

        def when_due(moment: datetime) -> None:
            if (job.state, job.round) == (state, round_):
                deed(job, moment)

        self.agenda.note(at, when_due)

    def _tell(self, at: datetime, job: Job, text: str) -> None:
        self.happenings.append(Happening(at, f"{job.spec.name} ({job.spec.queue}) {text}"))
        del self.happenings[:-100]


def _path(tree: Tree, queue: str) -> str:
    node = tree.cluster_queue(queue)
    names = [node.name]
    while node.parent:
        node = node.parent
        names.append(node.name)
    return "/" + "/".join(reversed(names))
