"""The playground's cluster as the bot and its page see it: over the wire and by its Python calls."""

import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest

from bot.playground.cluster import PlaygroundCluster, seed_manifests
from capacity.errors import UnknownName, UsageError
from capacity.kueue import ClusterReader
from capacity.model import FlavorResource

T0 = datetime(2026, 12, 1, 14, tzinfo=UTC)
GPU = "nvidia.com/gpu"
H100 = FlavorResource("h100", GPU)


class Branch:
    """A main branch that tests merge to."""

    def __init__(self) -> None:
        self.commit, files = seed_manifests()
        self.files = dict(files)
        self.down = False

    def __call__(self) -> tuple[str, dict[str, str]]:
        if self.down:
            raise OSError("no repository")
        return self.commit, dict(self.files)

    def merge(self, commit: str, old: str, new: str) -> None:
        path = "clusters/prod/queues.yaml"
        assert old in self.files[path]
        self.files[path] = self.files[path].replace(old, new)
        self.commit = commit


def wait_for(check: Callable[[], bool], what: str, seconds: float = 8.0) -> None:
    end = time.monotonic() + seconds
    while not check():
        assert time.monotonic() < end, f"waited {seconds} s for {what}"
        time.sleep(0.02)


@pytest.fixture
def branch() -> Branch:
    return Branch()


@pytest.fixture
def cluster(branch: Branch) -> Iterator[PlaygroundCluster]:
    made = PlaygroundCluster(manifests=branch, start=T0, sync_delay=0.1)
    made.pause()
    made.start()
    yield made
    made.stop()


@pytest.fixture
def reader(cluster: PlaygroundCluster) -> Iterator[ClusterReader]:
    made = ClusterReader(cluster.config(), now=cluster.now)
    made.start()
    yield made
    made.stop()


def nominal(reader: ClusterReader) -> int:
    queue = reader.fleet().cluster_queues["research"]
    return queue.resource_groups[0].flavors[0].resources[GPU].nominal


def test_the_reader_reads_it_like_any_cluster(reader: ClusterReader) -> None:
    fleet = reader.fleet()
    assert fleet.gaps == ()
    assert {n: q.reserved[H100] for n, q in fleet.cluster_queues.items()} == {
        "research": 44,
        "vision": 10,
        "serving": 30,
    }
    assert len(fleet.workloads.pending("research")) == 5
    assert fleet.as_of - T0 < timedelta(seconds=1)
    assert fleet.priority_classes["high"].value == 1000
    order = reader.pending_order("research") or ()
    jobs = {w.uid: w.job for w in fleet.workloads}
    assert [jobs[uid] for uid in order][:2] == ["llm-ft-7", "eval-3"]


def test_a_merge_goes_live_also_while_time_stands_still(
    cluster: PlaygroundCluster, reader: ClusterReader, branch: Branch
) -> None:
    assert nominal(reader) == 32
    branch.merge("c1", "nominalQuota: 32 ", "nominalQuota: 40 ")
    wait_for(lambda: nominal(reader) == 40, "the new quota")
    assert cluster.sync_status().commit == "c1"
    bar = cluster.picture().bars[0].queues[0]
    assert (bar.queue, bar.nominal, bar.borrowed, bar.can_reserve) == ("research", 40, 4, 12)
    gang = next(iter(reader.fleet().workloads.named("llm-ft-7")))
    wait_for(
        lambda: "4 more needed" in str(next(iter(reader.fleet().workloads.named(gang.job)))),
        "the new reason",
    )
    assert reader.fleet().cluster_queues["research"].generation == 2


def test_a_merge_of_twelve_starts_the_gang(
    cluster: PlaygroundCluster, reader: ClusterReader, branch: Branch
) -> None:
    branch.merge("c1", "nominalQuota: 32 ", "nominalQuota: 44 ")

    def status() -> str:
        return next(iter(reader.fleet().workloads.named("llm-ft-7"))).status

    wait_for(lambda: status() == "QuotaReserved", "the reservation")
    cluster.resume()
    cluster.set_speed(600)
    wait_for(lambda: status() == "Admitted", "the start")


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ('lendingLimit: "16"', 'lendingLimit: "25"', "must be less than or equal"),
        ("nominalQuota: 32 ", "nominalQuota: -1 ", "greater than or equal to 0"),
        ("nominalQuota: 32 ", "nominalQuota: lots ", "not a quantity"),
        ("apiVersion: kueue", "apiVersion: [kueue", "queues.yaml"),
    ],
)
def test_what_kueue_would_refuse_is_not_applied_and_told(
    cluster: PlaygroundCluster, branch: Branch, old: str, new: str, told: str
) -> None:
    branch.merge("bad", old, new)
    wait_for(lambda: told in cluster.sync_status().error, "the refusal")
    assert cluster.sync_status().commit == "seed"
    assert told in cluster.picture().sync_error
    branch.merge("good", new, old)
    wait_for(lambda: cluster.sync_status().commit == "good", "the repair")
    assert cluster.sync_status().error == ""


def test_a_repository_that_is_down_is_told_and_waited_for(
    cluster: PlaygroundCluster, branch: Branch
) -> None:
    branch.down = True
    wait_for(lambda: cluster.sync_status().error == "no repository", "the trouble")
    branch.down = False
    branch.commit = "c2"
    wait_for(lambda: cluster.sync_status().commit == "c2", "the next sync")


def test_the_picture_shows_whose_is_what(cluster: PlaygroundCluster) -> None:
    picture = cluster.picture()
    bar = picture.bars[0]
    assert (bar.cohort, bar.flavor, bar.nominal, bar.reserved, bar.free) == (
        "ml",
        "h100",
        96,
        84,
        12,
    )
    research, vision, serving = bar.queues
    assert (research.own, research.borrowed, research.can_reserve) == (32, 12, 4)
    assert (research.waiting, research.waiting_jobs) == (34, 5)
    assert (vision.own, vision.lent, vision.can_reserve) == (10, 2, 12)
    assert (serving.own, serving.lent, serving.can_reserve) == (30, 0, 12)
    assert picture.paused
    assert [b.flavor for b in picture.bars] == ["h100", "a100"]
    assert picture.bars[1].free == 24


def test_a_visitors_job_is_admitted(cluster: PlaygroundCluster, reader: ClusterReader) -> None:
    name = cluster.submit_job("vision", 8)
    wait_for(lambda: bool(reader.fleet().workloads.named(name)), "the job")
    assert next(iter(reader.fleet().workloads.named(name))).status == "Admitted"
    assert cluster.picture().bars[0].queues[1].own == 18
    assert cluster.picture().events[0].text == f"{name} (vision) starts on 8 h100"


def test_a_visitors_job_that_can_not_be_is_refused(cluster: PlaygroundCluster) -> None:
    with pytest.raises(UnknownName):
        cluster.submit_job("reserch", 1)
    with pytest.raises(UsageError):
        cluster.submit_job("research", 9)


def test_pods_never_share_a_card_in_four_weeks_of_past(cluster: PlaygroundCluster) -> None:
    runs = cluster.pods(T0 - timedelta(days=28), T0)
    by_card: dict[str, list[tuple[datetime, datetime]]] = {}
    for run in runs:
        for gpu in run.gpus:
            by_card.setdefault(gpu.uuid, []).append((run.start, run.end or T0))
    assert len(by_card) == 120
    for spans in by_card.values():
        spans.sort()
        assert all(a[1] <= b[0] for a, b in pairwise(spans))
    held = sum((r.end or T0) > T0 - timedelta(days=7) for r in runs)
    assert held > 100
    assert {r.behaviour for r in runs} == {"training", "serving", "eval", "notebook", "stuck"}


def test_what_runs_now_sits_on_cards_of_its_flavor(cluster: PlaygroundCluster) -> None:
    now = cluster.pods(T0, T0 + timedelta(seconds=1))
    assert sum(len(run.gpus) for run in now) == 42 + 10 + 30
    assert {run.job for run in now} >= {"llm-pretrain", "chat", "detector"}
    nodes = {node.name: node for node in cluster.nodes()}
    assert len(nodes) == 15
    assert all(nodes[run.node].flavor == "h100" for run in now)


def test_the_same_seed_tells_the_same_story() -> None:
    def story(seed: int) -> list[str]:
        cluster = PlaygroundCluster(start=T0, seed=seed)
        cluster.pause()
        with cluster._lock:
            cluster._world.advance(T0 + timedelta(hours=12))
        return [happening.text for happening in cluster._world.happenings]

    assert story(7) == story(7)
    assert story(7) != story(8)


def test_days_of_simulated_time_keep_their_size() -> None:
    cluster = PlaygroundCluster(start=T0)
    cluster.pause()
    began = time.monotonic()
    cluster._world.advance(T0 + timedelta(days=5))
    cluster._publish()
    assert time.monotonic() - began < 20
    assert len(cluster._world.jobs) < 300
    assert all(len(cluster._world.pending(q)) <= 12 for q in ("research", "vision", "serving"))
