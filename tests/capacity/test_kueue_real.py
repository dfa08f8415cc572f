"""The reader on a real API server and the real Kueue: it shows what the controller's own fields say."""

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any

import pytest

from capacity.errors import SourceDown
from capacity.kueue import ACCESS, AccessRule, ClusterConfig, ClusterReader, Pace
from capacity.kueue_kinds import CLUSTER_QUEUES, KINDS
from capacity.model import FlavorResource, Workload
from capacity.quota import Tree, borrowed, can_reserve, potential_available
from tests.cluster.kueue import Kueue
from tests.cluster.objects import (
    GPU,
    cluster_queue,
    cohort,
    flavor,
    job,
    local_queue,
    namespace,
    priority_class,
    quota,
)
from tests.cluster.users import GPUBOT

pytestmark = pytest.mark.cluster
H100 = FlavorResource("h100", GPU)


def wait_for(check: Callable[[], bool], what: str, seconds: float = 20.0) -> None:
    end = time.monotonic() + seconds
    while not check():
        assert time.monotonic() < end, f"waited {seconds} s for {what}"
        time.sleep(0.05)


@pytest.fixture
def reader(kueue_cluster: Kueue) -> Iterator[ClusterReader]:
    config = ClusterConfig("test", kubeconfig=str(kueue_cluster.control_plane.kubeconfig()))
    made = ClusterReader(config, pace=Pace(page=3, pulse=0.5, longest_retry=1.0))
    made.start()
    yield made
    made.stop()


@pytest.fixture
def world(kueue_cluster: Kueue) -> Kueue:
    """Cohort ml as in the worked example: 44, 10 and 30 reserved, and a gang that waits."""
    plane = kueue_cluster.control_plane
    plane.apply(namespace("team"), flavor("h100"), cohort("ml"), priority_class("high", 100))
    plane.apply(
        cluster_queue(
            "research",
            {"h100": quota(32, borrowing=16)},
            cohort="ml",
            queueingStrategy="StrictFIFO",
        ),
        cluster_queue("vision", {"h100": quota(24, lending=16)}, cohort="ml"),
        cluster_queue("serving", {"h100": quota(40, lending=24)}, cohort="ml"),
        *(local_queue(q, "team", q) for q in ("research", "vision", "serving")),
    )
    plane.apply(
        job("pretrain", "team", "research", gpus=8, workers=5),
        job("ablation", "team", "research", gpus=4),
        job("detect", "team", "vision", gpus=10),
        job("api", "team", "serving", gpus=30),
    )
    return kueue_cluster


def reserved(reader: ClusterReader) -> dict[str, int]:
    queues = reader.fleet().cluster_queues
    return {name: queue.reserved.get(H100, 0) for name, queue in queues.items()}


def named(reader: ClusterReader, name: str) -> Workload | None:
    return next(iter(reader.fleet().workloads.named(name)), None)


def test_the_worked_example_is_read_and_computed_as_the_controller_has_it(
    world: Kueue, reader: ClusterReader
) -> None:
    wanted = {"research": 44, "vision": 10, "serving": 30}
    wait_for(lambda: reserved(reader) == wanted, "the reservations")
    world.control_plane.apply(
        job("llm-ft-7", "team", "research", gpus=8, workers=2, priority="high")
    )
    wait_for(lambda: named(reader, "llm-ft-7") is not None, "the gang")
    wait_for(lambda: reader.fleet().cluster_queues["research"].pending_workloads == 1, "the count")
    fleet = reader.fleet()
    assert fleet.gaps == ()
    tree = Tree.of(fleet)
    free = {name: can_reserve(tree.cluster_queue(name), H100) for name in wanted}
    assert free == {"research": 4, "vision": 12, "serving": 12}
    research = tree.cluster_queue("research")
    assert (
        borrowed(research, H100) == fleet.cluster_queues["research"].reported_borrowed[H100] == 12
    )
    assert potential_available(research, H100) == 48
    wait_for(lambda: "12 more needed" in str(named(reader, "llm-ft-7")), "Kueue's reason")
    gang = named(reader, "llm-ft-7")
    assert gang is not None
    assert (gang.priority, gang.priority_class, gang.status) == (100, "high", "Pending")
    assert (gang.pod_sets[0].count, gang.pod_sets[0].requests) == (2, {GPU: 8})
    assert [w.job for w in fleet.workloads.pending("research")] == ["llm-ft-7"]
    assert {w.job for w in fleet.workloads.reserving("research")} == {"pretrain", "ablation"}


def test_pending_order_is_what_the_visibility_api_says(world: Kueue, reader: ClusterReader) -> None:
    plane = world.control_plane
    plane.apply(job("first", "team", "research", gpus=8))
    plane.apply(job("second", "team", "research", gpus=8))
    plane.apply(job("urgent", "team", "research", gpus=8, priority="high"))
    wait_for(lambda: len(reader.fleet().workloads.pending("research")) == 3, "three that wait")
    wait_for(lambda: len(reader.pending_order("research") or ()) == 3, "their order")
    jobs = {w.uid: w.job for w in reader.fleet().workloads}
    order = [jobs[uid] for uid in reader.pending_order("research") or ()]
    assert order[0] == "urgent"
    assert set(order) == {"first", "second", "urgent"}
    assert reader.pending_order("nowhere") is None


def test_it_survives_a_restart_of_the_api_server(world: Kueue, reader: ClusterReader) -> None:
    wait_for(lambda: reserved(reader).get("research") == 44, "the reservations")
    plane = world.control_plane
    plane.api_server.stop()
    wait_for(lambda: bool(reader.fleet().gaps), "the gap")
    assert reserved(reader)["research"] == 44
    plane.api_server.start()
    wait_for(lambda: not reader.fleet().gaps, "recovery", 30)
    plane.kubectl("delete", "job", "ablation", "-n", "team")
    wait_for(lambda: reserved(reader)["research"] == 40, "the quota that came back", 30)


def role(rules: Iterable[AccessRule]) -> list[dict[str, Any]]:
    """The ClusterRole of these rules, bound to the bot's account."""
    api = "rbac.authorization.k8s.io"
    head: dict[str, Any] = {"apiVersion": f"{api}/v1", "metadata": {"name": "reader-test"}}
    listed = [
        {"apiGroups": [r.group], "resources": list(r.resources), "verbs": list(r.verbs)}
        for r in rules
    ]
    who = {"apiGroup": api, "kind": "User", "name": GPUBOT.name}
    what = {"apiGroup": api, "kind": "ClusterRole", "name": "reader-test"}
    return [
        {**head, "kind": "ClusterRole", "rules": listed},
        {**head, "kind": "ClusterRoleBinding", "subjects": [who], "roleRef": what},
    ]


@pytest.fixture
def account(kueue_cluster: Kueue) -> Iterator[Callable[[Iterable[AccessRule]], ClusterReader]]:
    """Readers with the bot's own account and exactly the given rights."""
    plane = kueue_cluster.control_plane
    made: list[ClusterReader] = []

    def reader_with(rules: Iterable[AccessRule]) -> ClusterReader:
        plane.apply(*role(rules))
        config = ClusterConfig("test", kubeconfig=str(plane.kubeconfig(GPUBOT.name)))
        made.append(ClusterReader(config, pace=Pace(pulse=0.5, longest_retry=0.5)))
        made[-1].start()
        return made[-1]

    yield reader_with
    for reader in made:
        reader.stop()
    plane.kubectl("delete", "clusterrole,clusterrolebinding", "reader-test", "--ignore-not-found")


def without(plural: str, verb: str) -> list[AccessRule]:
    """The rules less one verb on one resource."""
    rules = [AccessRule(r.group, (name,), r.verbs) for r in ACCESS for name in r.resources]
    less = [
        replace(rule, verbs=tuple(v for v in rule.verbs if v != verb))
        if rule.resources == (plural,)
        else rule
        for rule in rules
    ]
    return [rule for rule in less if rule.verbs]


def test_the_listed_rights_are_enough(
    world: Kueue, account: Callable[[Iterable[AccessRule]], ClusterReader]
) -> None:
    reader = account(ACCESS)
    wait_for(lambda: reader.healthy_since is not None, "every kind")
    wait_for(lambda: reserved(reader).get("research") == 44, "the reservations")
    assert reader.fleet().gaps == ()
    wait_for(lambda: reader.pending_order("research") == (), "the empty order")


@pytest.mark.parametrize(
    ("plural", "verb"),
    [
        (kind.plural, verb)
        for kind in KINDS
        for verb in ("list", "watch")
        if (kind, verb) != (CLUSTER_QUEUES, "list")  # the one without which there is no answer
    ],
)
def test_one_right_less_is_named(
    world: Kueue,
    account: Callable[[Iterable[AccessRule]], ClusterReader],
    plural: str,
    verb: str,
) -> None:
    reader = account(without(plural, verb))
    told = f'cannot {verb} resource "{plural}"'
    wait_for(lambda: told in " ".join(g.missing for g in reader.fleet().gaps), told)
    assert "research" in reader.fleet().cluster_queues


def test_without_the_right_to_look_at_the_order_there_is_none(
    world: Kueue, account: Callable[[Iterable[AccessRule]], ClusterReader]
) -> None:
    reader = account(without("clusterqueues/pendingworkloads", "get"))
    wait_for(lambda: reader.healthy_since is not None, "every kind")
    assert reader.pending_order("research") is None


def test_a_wrong_account_is_told_what_it_lacks(kueue_cluster: Kueue) -> None:
    plane = kueue_cluster.control_plane
    config = ClusterConfig("test", kubeconfig=str(plane.kubeconfig(GPUBOT.name)))
    reader = ClusterReader(config, pace=Pace(patience=3.0))
    reader.start()
    with pytest.raises(SourceDown) as down:
        reader.fleet()
    assert 'cannot list resource "clusterqueues"' in down.value.detail
    began = time.monotonic()
    reader.stop()
    assert time.monotonic() - began < 2.5
