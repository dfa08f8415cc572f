"""The history of jobs that the real Kueue admits, preempts, queues again and sees end."""

import time
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from bot.history import Recorder
from bot.history_book import Book
from bot.sources import utc_now
from bot.store import Store, open_store
from capacity.kueue import ClusterReader
from commands.history import WINDOW, Stretch
from tests.cluster.kueue import Kueue
from tests.cluster.objects import (
    KUEUE_API,
    cluster_queue,
    flavor,
    job,
    local_queue,
    namespace,
    priority_class,
)

pytestmark = pytest.mark.cluster
WORKLOADS = f"/apis/{KUEUE_API}/namespaces/team/workloads"


@pytest.fixture
def plane(kueue_cluster: Kueue) -> Any:
    plane = kueue_cluster.control_plane
    plane.apply(namespace("team"), flavor("h100"), priority_class("high", 100))
    preemption = {"withinClusterQueue": "LowerPriority"}
    plane.apply(
        cluster_queue("research", {"h100": 8}, preemption=preemption),
        local_queue("research", "team", "research"),
    )
    return plane


@pytest.fixture
def kept(tmp_path: Path) -> Iterator[Store]:
    opened = open_store(f"sqlite:///{tmp_path}/history.db")
    yield opened
    opened.close()


class Watcher:
    """A bot's history, which looks whenever it is asked what is written of a job."""

    def __init__(self, reader: ClusterReader, store: Store) -> None:
        self._store, self._jobs = store, dict[str, str]()
        self._reader = reader
        self._recorder = Recorder(store.history, Book(), reader.fleet, cluster="test", now=utc_now)

    def of(self, name: str) -> list[Stretch]:
        self._recorder.look()
        self._jobs.update((w.uid, w.job) for w in self._reader.fleet().workloads)
        every = self._store.history.read("test", utc_now() - WINDOW, 1_000).latest
        mine = [s for s in every if self._jobs.get(s.uid) == name]
        return sorted(mine, key=lambda s: s.began)

    def until(self, name: str, *ends: str) -> list[Stretch]:
        """Wait until the job's stretches ended like this."""
        return soon(lambda: [s.end for s in self.of(name)] == list(ends) and self.of(name), name)


def soon(look: Callable[[], Any], what: str, seconds: float = 40.0) -> Any:
    end = time.monotonic() + seconds
    while not (found := look()):
        assert time.monotonic() < end, f"waited {seconds} s for {what}"
        time.sleep(0.2)
    return found


def conditions(plane: Any, name: str) -> dict[str, Any]:
    for item in plane.api.get(WORKLOADS)["items"]:
        if item["metadata"]["ownerReferences"][0]["name"] == name:
            return {c["type"]: c for c in item["status"]["conditions"]}
    raise AssertionError(name)


def stamp(stretch_at: Any) -> str:
    return stretch_at.strftime("%Y-%m-%dT%H:%M:%SZ")


def test_each_wait_and_run_of_a_preempted_job_is_kept_once(
    plane: Any, reader: ClusterReader, kept: Store
) -> None:
    watcher = Watcher(reader, kept)
    plane.apply(job("low", "team", "research", gpus=8))
    (first,) = watcher.until("low", "")
    shown = conditions(plane, "low")
    assert stamp(first.began) == shown["QuotaReserved"]["lastTransitionTime"]
    assert (first.flavor, first.gpus, first.pods, first.queue) == ("h100", 8, 1, "research")
    time.sleep(1.1)  # Kubernetes tells time in whole seconds
    plane.apply(job("urgent", "team", "research", gpus=8, priority="high"))
    (evicted,) = watcher.until("low", "evicted")
    shown = conditions(plane, "low")
    assert evicted.reason == "Preempted"
    assert stamp(evicted.ended_at) == shown["QuotaReserved"]["lastTransitionTime"]
    assert first.began < evicted.ended_at
    time.sleep(1.1)
    plane.kubectl("delete", "job", "urgent", "-n", "team")
    _, again = watcher.until("low", "evicted", "")
    assert stamp(again.queued_since) == conditions(plane, "low")["Requeued"]["lastTransitionTime"]
    assert again.began - again.queued_since >= timedelta(seconds=1)
    (urgent,) = watcher.of("urgent")
    assert urgent.end in ("finished", "deleted")
    assert urgent.priority == 100
    assert urgent.ended_by_itself

    restarted = Watcher(reader, kept)
    assert restarted.until("low", "evicted", "") == [evicted, again]
    assert len(kept.history.read("test", utc_now() - WINDOW, 1_000).latest) == 3


def test_an_end_and_a_wait_that_is_given_up_are_kept(
    plane: Any, reader: ClusterReader, kept: Store
) -> None:
    watcher = Watcher(reader, kept)
    failing = job("failing", "team", "research", gpus=8)
    failing["spec"]["activeDeadlineSeconds"] = 3
    plane.apply(failing)
    watcher.until("failing", "")
    plane.apply(job("waits", "team", "research", gpus=8, priority=None))
    soon(lambda: watcher.of("waits") == [] and reader.fleet().workloads.named("waits"), "its wait")
    plane.kubectl("delete", "job", "waits", "-n", "team")
    (given_up,) = watcher.until("waits", "withdrawn")
    assert given_up.reserved_at is None
    (ended,) = watcher.until("failing", "finished")
    assert ended.reason == "Failed"
    assert stamp(ended.ended_at) == conditions(plane, "failing")["Finished"]["lastTransitionTime"]
