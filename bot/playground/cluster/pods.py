"""Pods on cards: which run where, since when, and which ran before."""

from dataclasses import replace
from datetime import datetime

from bot.playground.cluster.cards import Cards, Place, PodRun, all_nodes
from bot.playground.cluster.job import Job


class Pods:
    """Places the pods of admitted jobs, all of a job or none, and remembers every run."""

    def __init__(self) -> None:
        self.nodes = all_nodes()
        self._cards = Cards(self.nodes)
        self._places: dict[str, list[Place]] = {}
        self._running: dict[str, list[PodRun]] = {}
        self._ended: list[PodRun] = []

    def start(self, job: Job, at: datetime) -> bool:
        """Put all pods of a job on cards; False if there are not enough together."""
        places = self._cards.place(job.flavor or "", job.spec.pods, job.spec.gpus)
        if places is None:
            return False
        self._places[job.uid] = places
        again = f"{job.round}-" if job.round > 1 else ""
        self._running[job.uid] = [
            PodRun(
                namespace=job.spec.queue,
                pod=f"{job.spec.name}-{again}{index}",
                job=job.spec.name,
                queue=job.spec.queue,
                node=node.name,
                gpus=gpus,
                start=at,
                end=None,
                behaviour=job.spec.behaviour,
                seed=job.number * 100 + index,
            )
            for index, (node, gpus) in enumerate(places)
        ]
        return True

    def end(self, job: Job, at: datetime) -> None:
        """Take a job's pods off their cards."""
        self._cards.release(self._places.pop(job.uid, []))
        self._ended += [replace(run, end=at) for run in self._running.pop(job.uid, [])]

    def runs(self) -> list[PodRun]:
        """Return every run so far, the ended ones first."""
        return self._ended + [run for runs in self._running.values() for run in runs]
