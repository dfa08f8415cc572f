"""The reader against an API server on the wire: what it shows, how fresh, and after which faults."""

import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any

import pytest

from bot.playground.cluster.apiserver import ApiServer
from bot.playground.cluster.objects import ObjectStore
from capacity.errors import SourceDown
from capacity.kueue import ClusterConfig, ClusterReader, Pace
from capacity.model import FlavorResource, Fleet
from tests.capacity.kueue_objects import GPU, cluster_queue, local_queue, named, workload

H100 = FlavorResource("h100", GPU)
QUICK = Pace(
    page=3,
    pulse=0.1,
    pulse_timeout=0.5,
    first_retry=0.05,
    longest_retry=0.2,
    list_timeout=2.0,
    silence=1.0,
    patience=2.0,
    visibility=0.3,
)


def wait_for(check: Callable[[], bool], what: str, seconds: float = 8.0) -> None:
    end = time.monotonic() + seconds
    while not check():
        assert time.monotonic() < end, f"waited {seconds} s for {what}"
        time.sleep(0.02)


@pytest.fixture
def store() -> ObjectStore:
    made = ObjectStore()
    made.put("clusterqueues", cluster_queue("research", "32", "4"))
    made.put("clusterqueues", cluster_queue("vision", "24"))
    made.put("cohorts", named("Cohort", "ml", spec={}))
    made.put("localqueues", local_queue("research", "research"))
    made.put("resourceflavors", named("ResourceFlavor", "h100", spec={"nodeLabels": {"g": "h"}}))
    made.put("workloadpriorityclasses", named("WorkloadPriorityClass", "high", value=100))
    for number in range(7):
        made.put("workloads", workload(f"w{number}"))
    return made


@pytest.fixture
def server(store: ObjectStore) -> Iterator[ApiServer]:
    made = ApiServer(store, token="secret", bookmark_seconds=0.2)
    made.start()
    yield made
    made.stop()


@pytest.fixture
def connect(server: ApiServer) -> Iterator[Callable[..., ClusterReader]]:
    made: list[ClusterReader] = []

    def connect_(pace: Pace = QUICK, **more: Any) -> ClusterReader:
        config = ClusterConfig("prod-eu", server=server.url, **({"token": "secret"} | more))
        made.append(ClusterReader(config, pace=pace))
        made[-1].start()
        return made[-1]

    yield connect_
    for reader in made:
        reader.stop()


@pytest.fixture
def reader(connect: Callable[..., ClusterReader]) -> ClusterReader:
    return connect()


def pending(fleet: Fleet, queue: str = "research") -> set[str]:
    return {w.name for w in fleet.workloads.pending(queue)}


def gaps(reader: ClusterReader) -> str:
    return "; ".join(gap.missing for gap in reader.fleet().gaps)


def test_the_first_fleet_is_whole(reader: ClusterReader) -> None:
    fleet = reader.fleet()
    assert set(fleet.cluster_queues) == {"research", "vision"}
    assert fleet.cluster_queues["research"].reserved == {H100: 4}
    assert set(fleet.cohorts) == {"ml"}
    assert set(fleet.local_queues) == {("team", "research")}
    assert fleet.flavors["h100"].node_labels == {"g": "h"}
    assert fleet.priority_classes["high"].value == 100
    assert pending(fleet) == {f"w{n}" for n in range(7)}
    assert (fleet.cluster, fleet.source, fleet.gaps) == ("prod-eu", "Kueue, cluster prod-eu", ())
    assert not fleet.fair_sharing


def test_changes_show_up_and_old_fleets_stay_as_they_were(
    reader: ClusterReader, store: ObjectStore
) -> None:
    before = reader.fleet()
    store.put("clusterqueues", cluster_queue("research", "40", "4"))
    store.put("workloads", workload("w9"))
    store.delete("workloads", "team", "w0")
    wait_for(lambda: "w0" not in pending(reader.fleet()), "the deletion")
    after = reader.fleet()
    quota = after.cluster_queues["research"].resource_groups[0].flavors[0].resources[GPU]
    assert quota.nominal == 40
    assert "w9" in pending(after)
    assert "w0" in pending(before)
    assert "w9" not in pending(before)
    assert [w.name for w in after.workloads.named("job-w9")] == ["w9"]


def test_fair_sharing_is_seen_by_the_share_that_kueue_writes(
    reader: ClusterReader, store: ObjectStore
) -> None:
    shared = cluster_queue("research")
    shared["status"]["fairSharing"] = {"weightedShare": 0}
    store.put("clusterqueues", shared)
    wait_for(lambda: reader.fleet().fair_sharing, "the share")


def test_nothing_read_is_a_source_that_is_down(server: ApiServer) -> None:
    server.stop()
    reader = ClusterReader(ClusterConfig("prod-eu", server=server.url), pace=QUICK)
    reader.start()
    began = time.monotonic()
    with pytest.raises(SourceDown) as down:
        reader.fleet()
    assert time.monotonic() - began < 2.5
    assert "refused" in down.value.detail.lower()
    assert down.value.since is None
    reader.stop()


def test_a_stopped_api_server_leaves_the_last_fleet_with_a_gap_and_comes_back(
    reader: ClusterReader, server: ApiServer, store: ObjectStore
) -> None:
    reader.fleet()
    server.stop()
    wait_for(lambda: bool(reader.fleet().gaps), "the gap")
    stale = reader.fleet()
    assert pending(stale) == {f"w{n}" for n in range(7)}
    wait_for(lambda: gaps(reader) == "changes since then to anything", "one gap for all kinds")
    assert not reader.fleet().every_workload
    gap = reader.fleet().gaps[0]
    assert gap.source == "Kueue, cluster prod-eu"
    assert gap.since is not None
    assert gap.since <= datetime.now(UTC)
    frozen = reader.last_seen
    time.sleep(0.3)
    assert reader.last_seen == frozen
    assert reader.healthy_since is None
    store.put("workloads", workload("meanwhile"))
    server.start()
    wait_for(lambda: not reader.fleet().gaps, "recovery")
    wait_for(lambda: reader.fleet().every_workload, "a whole list")
    wait_for(lambda: "meanwhile" in pending(reader.fleet()), "what happened meanwhile")
    assert reader.healthy_since is not None


def test_a_quiet_cluster_is_fresh(reader: ClusterReader) -> None:
    reader.fleet()
    time.sleep(0.6)
    age = datetime.now(UTC) - reader.fleet().as_of
    assert age.total_seconds() < 0.5


def test_a_forgotten_version_means_a_new_list(
    reader: ClusterReader, server: ApiServer, store: ObjectStore
) -> None:
    reader.fleet()
    server.stop()
    store.delete("workloads", "team", "w1")
    store.delete("clusterqueues", "", "vision")
    store.put("workloads", workload("late"))
    server.forget()
    server.start()
    wait_for(lambda: "late" in pending(reader.fleet()), "the new list")
    wait_for(lambda: "vision" not in reader.fleet().cluster_queues, "the deleted queue")
    wait_for(lambda: "w1" not in pending(reader.fleet()), "the deleted workload")
    wait_for(lambda: not reader.fleet().gaps, "no gap")


def test_a_cluster_restored_from_a_backup_is_read_anew(
    reader: ClusterReader, server: ApiServer, store: ObjectStore
) -> None:
    for number in range(20):
        store.put("workloads", workload(f"lost{number}"))
    wait_for(lambda: "lost19" in pending(reader.fleet()), "the last one")
    server.stop()
    backup = ObjectStore()
    backup.put("clusterqueues", cluster_queue("research"))
    restored = ApiServer(
        backup, port=int(server.url.rpartition(":")[2]), token="secret", bookmark_seconds=0.2
    )
    restored.start()
    wait_for(lambda: len(reader.fleet().workloads) == 0, "the older state")
    wait_for(lambda: set(reader.fleet().cluster_queues) == {"research"}, "its queues")
    wait_for(lambda: not reader.fleet().gaps, "no gap")
    restored.stop()


def test_cut_connections_lose_nothing(
    reader: ClusterReader, server: ApiServer, store: ObjectStore
) -> None:
    reader.fleet()
    for number in range(20):
        store.put("workloads", workload(f"burst{number}"))
        if number % 5 == 0:
            server.break_connections()
    wanted = {f"burst{n}" for n in range(20)}
    wait_for(lambda: wanted <= pending(reader.fleet()), "every workload")


def test_a_silent_watch_is_opened_again(
    reader: ClusterReader, server: ApiServer, store: ObjectStore
) -> None:
    reader.fleet()
    server.faults.mute = True
    store.put("workloads", workload("unheard"))
    time.sleep(0.3)
    server.faults.mute = False
    wait_for(lambda: "unheard" in pending(reader.fleet()), "the new watch")


def test_errors_of_the_server_are_waited_out(
    connect: Callable[..., ClusterReader], server: ApiServer
) -> None:
    server.faults.fail, server.faults.failures = 500, 12
    reader = connect()
    wait_for(lambda: server.faults.failures == 0, "the failures")
    wait_for(lambda: reader.healthy_since is not None, "recovery")
    assert not reader.fleet().gaps


def test_a_slow_server_does_not_hold_up_the_caller(
    connect: Callable[..., ClusterReader], server: ApiServer
) -> None:
    server.faults.hang = True
    reader = connect()
    began = time.monotonic()
    with pytest.raises(SourceDown):
        reader.fleet()
    assert time.monotonic() - began < 4.0


def test_a_server_that_hangs_later_is_noticed(reader: ClusterReader, server: ApiServer) -> None:
    reader.fleet()
    server.faults.hang = True
    began = time.monotonic()
    wait_for(lambda: bool(reader.fleet().gaps), "the gap")
    assert time.monotonic() - began < 3.0


def test_a_missing_kind_is_a_gap(store: ObjectStore) -> None:
    server = ApiServer(store, without=("cohorts",))
    server.start()
    reader = ClusterReader(ClusterConfig("old", server=server.url), pace=QUICK)
    reader.start()
    fleet = reader.fleet()
    assert fleet.cohorts == {}
    assert set(fleet.cluster_queues) == {"research", "vision"}
    assert [g.missing for g in fleet.gaps] == ["cohorts (the cluster has no such kind)"]
    server.without.clear()
    wait_for(lambda: bool(reader.fleet().cohorts), "the kind that came later")
    wait_for(lambda: not reader.fleet().gaps, "no gap")
    reader.stop()
    server.stop()


def test_a_cluster_without_kueue_is_down_and_says_why(store: ObjectStore) -> None:
    server = ApiServer(store, without=tuple(r.plural for r in ApiServer(store).resources))
    server.start()
    reader = ClusterReader(ClusterConfig("bare", server=server.url), pace=QUICK)
    reader.start()
    with pytest.raises(SourceDown) as down:
        reader.fleet()
    assert down.value.detail == "Kueue's API is not installed"
    reader.stop()
    server.stop()


def test_an_older_kueue_is_read_as_v1beta1() -> None:
    store = ObjectStore()
    old = cluster_queue("research")
    old["apiVersion"] = "kueue.x-k8s.io/v1beta1"
    old["spec"]["cohort"] = old["spec"].pop("cohortName")
    store.put("clusterqueues", old)
    server = ApiServer(store, versions=("v1beta1",))
    server.start()
    reader = ClusterReader(ClusterConfig("old", server=server.url), pace=QUICK)
    reader.start()
    assert reader.fleet().cluster_queues["research"].cohort == "ml"
    reader.stop()
    server.stop()


def test_a_right_that_is_lacking_is_named(
    connect: Callable[..., ClusterReader], server: ApiServer
) -> None:
    server.faults.forbidden = frozenset({"workloads"})
    reader = connect()
    fleet = reader.fleet()
    assert set(fleet.cluster_queues) == {"research", "vision"}
    assert len(fleet.workloads) == 0
    assert "cannot list workloads" in gaps(reader)
    server.faults.forbidden = frozenset()
    wait_for(lambda: len(reader.fleet().workloads) == 7, "the right")


def test_a_wrong_token_is_told_apart_from_a_dead_server(
    connect: Callable[..., ClusterReader],
) -> None:
    reader = connect(token="wrong")
    with pytest.raises(SourceDown) as down:
        reader.fleet()
    assert "401" in down.value.detail


def test_an_object_of_a_strange_shape_is_named_and_the_rest_is_read(
    reader: ClusterReader, store: ObjectStore
) -> None:
    reader.fleet()
    odd = cluster_queue("odd")
    odd["spec"]["resourceGroups"] = "none"
    store.put("clusterqueues", odd)
    wait_for(lambda: "odd" in gaps(reader), "the odd one")
    assert set(reader.fleet().cluster_queues) == {"research", "vision"}
    store.put("clusterqueues", cluster_queue("odd"))
    wait_for(lambda: not reader.fleet().gaps, "the repaired one")
    assert "odd" in reader.fleet().cluster_queues


def test_stopping_ends_every_thread_at_once(connect: Callable[..., ClusterReader]) -> None:
    reader = connect(pace=Pace())
    reader.fleet()
    began = time.monotonic()
    reader.stop()
    assert time.monotonic() - began < 1.5
    assert not [t for t in (reader._served, *reader._watches) if t.is_alive()]
    assert pending(reader.fleet())


def item(name: str, position: int) -> dict[str, Any]:
    meta = {"name": name, "namespace": "team"}
    return {"metadata": meta, "priority": 0, "positionInClusterQueue": position}


def test_kueues_own_order_is_asked_for(reader: ClusterReader, server: ApiServer) -> None:
    reader.fleet()
    queues = {"research": [item("w2", 1), item("w5", 0), item("not-seen-yet", 2)]}
    server.pending = queues.get
    assert reader.pending_order("research") == ("uid-w5", "uid-w2")
    assert reader.pending_order("nowhere") is None


def test_the_order_is_read_from_kueue_itself_where_it_is_not_aggregated(
    connect: Callable[..., ClusterReader], store: ObjectStore
) -> None:
    kueue = ApiServer(store, token="secret", pending={"research": [item("w1", 0)]}.get)
    kueue.start()
    reader = connect(visibility_url=kueue.url)
    reader.fleet()
    assert reader.pending_order("research") == ("uid-w1",)
    kueue.stop()
    assert reader.pending_order("research") is None


def test_without_the_visibility_api_there_is_no_order(reader: ClusterReader) -> None:
    assert reader.pending_order("research") is None


def test_a_visibility_api_that_hangs_costs_little_and_is_left_alone_for_a_while(
    reader: ClusterReader, server: ApiServer
) -> None:
    reader.fleet()
    server.faults.hang = True
    began = time.monotonic()
    assert reader.pending_order("research") is None
    assert time.monotonic() - began < 1.0
    began = time.monotonic()
    assert reader.pending_order("research") is None
    assert time.monotonic() - began < 0.1
