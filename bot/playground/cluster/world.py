"""The simulated cluster: jobs wait, get quota, run on cards, finish, and make way for others.

Nothing here knows real time: ``advance`` plays everything up to a moment. One lock of the owner
guards it all.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from bot.playground.cluster.admit import Assessment, assess, heads, in_turn, rank, victims
from bot.playground.cluster.agenda import Agenda
from bot.playground.cluster.job import Job, Spec, State
from bot.playground.cluster.pods import Pods
from bot.playground.cluster.rules import Rules
from capacity.model import Amounts, ClusterQueue, FlavorResource
from capacity.quota import Tree

PODS_START = timedelta(seconds=60)
PODS_STOP = timedelta(seconds=30)
FINISHED_KEPT = 200


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
        return job

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

    def holding(self) -> list[Job]:
        """Return the jobs that hold quota."""
        return [job for job in self.jobs if job.holds]

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
        """Run cycles until nobody else can start."""
        tree, tried = self.tree(), set[str]()
        while candidates := heads(self.waiting(), tried):
            for found in in_turn(assess(job, queue, tree) for queue, job in candidates):
                again = assess(found.job, found.queue, tree)
                if again.flavor:
                    self.reserve(found.job, found.queue, again.flavor, at)
                    tree.add_usage(found.queue.name, {found.job.pair: found.job.spec.total})
                else:
                    tried.add(found.job.uid)
                    self._leave(again, tree, at)

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

    def _leave(self, found: Assessment, tree: Tree, at: datetime) -> None:
        """Note why a job doesn't start, and make room for it if its queue may take back."""
        stopping, told = victims(found, tree, self.holding()), found.message
        if stopping:
            told += f". Pending the preemption of {len(stopping)} workload(s)"
        for job in stopping:
            if job.state is not State.STOPPING:
                self._preempt(job, found, tree, at)
        found.job.mark_waiting(told, at)

    def _preempt(self, job: Job, found: Assessment, tree: Tree, at: datetime) -> None:
        winner, own = found.job, job.spec.queue == found.queue.name
        why = "prioritization in the ClusterQueue" if own else "reclamation within the cohort"
        told = (
            f"Preempted to accommodate a workload (UID: {winner.uid}, JobUID: {winner.job_uid}) "
            f"due to {why}; preemptor path: {_path(tree, found.queue.name)}; "
            f"preemptee path: {_path(tree, job.spec.queue)}"
        )
        job.mark_preempted("InClusterQueue" if own else "InCohortReclamation", told, at)
        taken = f"{job.spec.total} {job.flavor}"
        self._tell(at, job, f"is stopped: {found.queue.name} takes {taken} for {winner.spec.name}")
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
