"""What counts as a start, as ended or as stopped again, on the real Kueue's own conditions."""

import json
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from bot.starts import LASTS, Awaited, News, Turn, judge
from capacity.kueue import ClusterReader
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


@pytest.fixture
def plane(kueue_cluster: Kueue) -> Any:
    plane = kueue_cluster.control_plane
    plane.apply(namespace("team"), flavor("h100"), priority_class("high", 100))
    plane.apply(
        cluster_queue("research", {"h100": 8}, preemption={"withinClusterQueue": "LowerPriority"}),
        local_queue("research", "team", "research"),
        {
            "apiVersion": KUEUE_API,
            "kind": "AdmissionCheck",
            "metadata": {"name": "nobody"},
            "spec": {"controllerName": "example.com/nobody"},
        },
        cluster_queue(
            "checked",
            {"h100": 8},
            admissionChecksStrategy={"admissionChecks": [{"name": "nobody"}]},
        ),
        local_queue("checked", "team", "checked"),
    )
    active = {"type": "Active", "status": "True", "reason": "Active", "message": "for the test"}
    now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    status = {"status": {"conditions": [{**active, "lastTransitionTime": now}]}}
    check = ("admissioncheck", "nobody", "--subresource=status", "--type=merge")
    plane.kubectl("patch", *check, "-p", json.dumps(status))
    return plane


class Waiting:
    """Somebody who waits for a job, and looks at it again and again."""

    def __init__(self, reader: ClusterReader, name: str, started: datetime | None = None) -> None:
        self._reader = reader
        workload = soon(lambda: next(iter(reader.fleet().workloads.named(name)), None), name)
        asked = datetime.now(UTC) - timedelta(minutes=10)
        self.wish = Awaited(
            1, "U0ANA", "test", "team", name, workload.uid, asked, asked + LASTS, started
        )

    def news(self) -> News | None:
        return judge(self.wish, self._reader.fleet(), datetime.now(UTC))

    def hears(self, turn: Turn) -> News:
        news = soon(self.news, str(turn))
        assert news.turn is turn, news
        return news


def soon(look: Callable[[], Any], what: str, seconds: float = 30.0) -> Any:
    end = time.monotonic() + seconds
    while not (found := look()):
        assert time.monotonic() < end, f"waited {seconds} s for {what}"
        time.sleep(0.1)
    return found


def workload_of(plane: Any, uid: str) -> str:
    rows = plane.kubectl(
        "get",
        "workloads",
        "-n",
        "team",
        "-o",
        "jsonpath={range .items[*]}{.metadata.uid} {.metadata.name}{'\\n'}{end}",
    )
    return next(line.split()[1] for line in rows.splitlines() if line.startswith(uid))


def test_a_job_that_waits_starts_and_is_stopped_again(plane: Any, reader: ClusterReader) -> None:
    plane.apply(job("first", "team", "research", gpus=8))
    first = Waiting(reader, "first")
    first.hears(Turn.STARTED)
    plane.apply(job("second", "team", "research", gpus=8))
    second = Waiting(reader, "second")
    time.sleep(2)
    assert second.news() is None
    plane.kubectl("delete", "job", "first", "-n", "team")
    soon(lambda: (n := first.news()) and n.turn is not Turn.STARTED, "the end")
    soon(lambda: (n := first.news()) and n.turn is Turn.GONE, "its Workload to go, too")
    started = second.hears(Turn.STARTED)
    assert (started.holds, started.queue) == ("8 H100", "research")
    assert started.at is not None
    time.sleep(1.1)  # Kubernetes tells time in whole seconds
    plane.apply(job("urgent", "team", "research", gpus=8, priority="high"))
    again = Waiting(reader, "second", started.at)
    stopped = again.hears(Turn.STOPPED)
    assert stopped.why == "other jobs needed its GPUs (preemption)"
    assert stopped.waits
    assert second.news() is None, "who asks for the next start hears of none yet"


def test_a_reservation_alone_is_no_start(plane: Any, reader: ClusterReader) -> None:
    plane.apply(job("checked", "team", "checked", gpus=8))
    waiting = Waiting(reader, "checked")
    soon(
        lambda: any(w.is_true("QuotaReserved") for w in reader.fleet().workloads.named("checked")),
        "quota",
    )
    assert waiting.news() is None


def test_a_job_that_is_switched_off_wont_start(plane: Any, reader: ClusterReader) -> None:
    plane.apply(job("holder", "team", "research", gpus=8))
    Waiting(reader, "holder").hears(Turn.STARTED)
    plane.apply(job("off", "team", "research", gpus=8))
    waiting = Waiting(reader, "off")
    name = workload_of(plane, waiting.wish.uid)
    plane.kubectl(
        "patch", "workload", name, "-n", "team", "--type=merge", "-p", '{"spec":{"active":false}}'
    )
    waiting.hears(Turn.SWITCHED_OFF)


def test_a_job_that_fails_is_told_with_its_reason(plane: Any, reader: ClusterReader) -> None:
    failing = job("failing", "team", "research", gpus=8)
    failing["spec"]["activeDeadlineSeconds"] = 2
    plane.apply(failing)
    waiting = Waiting(reader, "failing")
    started = waiting.hears(Turn.STARTED)
    soon(lambda: (n := waiting.news()) is not None and n.turn is Turn.FINISHED, "the failure")
    after = Waiting(reader, "failing", started.at).hears(Turn.FINISHED)
    assert after.reason == "Failed"
    assert "deadline" in after.said
    before = waiting.hears(Turn.FINISHED)
    assert before.admitted_at == started.at
