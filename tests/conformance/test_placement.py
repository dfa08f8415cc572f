"""Random taints, tolerations, selectors and affinity: the flavors that Kueue gives are ours."""

import json
import random
from datetime import UTC, datetime

import pytest

from capacity import decode
from capacity.assign import assign
from capacity.fit_mode import Board
from capacity.model import ClusterQueue, FlavorQuotas, Quota, ResourceGroup, Workload
from capacity.quota import Tree
from tests.cluster.kueue import Kueue
from tests.conformance import live
from tests.conformance.live import Live, eventually, how_many

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(600)]
JOBS = how_many("GPUBOT_CONFORMANCE_PLACEMENTS", few=60, in_ci=200)
FLAVORS = tuple(f"place-{at}" for at in range(6))
NOW = datetime.now(UTC)


def a_flavor(rng: random.Random, name: str) -> live.Manifest:
    labels = {key: rng.choice("ab") for key in ("type", "zone") if rng.random() < 0.7}
    if rng.random() < 0.5:
        labels["cards"] = rng.choice("48")
    taints = [
        {"key": key, "value": rng.choice("xy"), "effect": rng.choice(("NoSchedule", "NoExecute"))}
        for key in ("spot", "gpu")
        if rng.random() < 0.4
    ]
    if rng.random() < 0.3:
        taints.append({"key": "soft", "effect": "PreferNoSchedule"})
    own = [{"key": "spot", "operator": "Exists"}] if rng.random() < 0.2 else []
    spec = {"nodeLabels": labels, "nodeTaints": taints, "tolerations": own}
    return {**live.API, "kind": "ResourceFlavor", "metadata": {"name": name}, "spec": spec}


def a_toleration(rng: random.Random) -> live.Manifest:
    if rng.random() < 0.2:
        return {"operator": "Exists"}
    key = rng.choice(("spot", "gpu"))
    if rng.random() < 0.4:
        return {"key": key, "operator": "Exists", "effect": rng.choice(("NoSchedule", "NoExecute"))}
    return {"key": key, "operator": "Equal", "value": rng.choice("xy")}


def a_requirement(rng: random.Random) -> live.Manifest:
    operator = rng.choice(("In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"))
    if operator in ("Gt", "Lt"):
        return {"key": "cards", "operator": operator, "values": [rng.choice("268")]}
    key = rng.choice(("type", "zone", "elsewhere"))
    values = {"In": ["a"], "NotIn": ["a", "c"]}.get(operator)
    return {"key": key, "operator": operator, **({"values": values} if values else {})}


def a_job(rng: random.Random, name: str) -> live.Manifest:
    made = live.workload(name, name, [(1, {"cpu": "1"})])
    spec = made["spec"]["podSets"][0]["template"]["spec"]
    spec["tolerations"] = [a_toleration(rng) for _ in range(rng.randrange(3))]
    if rng.random() < 0.4:
        spec["nodeSelector"] = {rng.choice(("type", "zone", "elsewhere")): rng.choice("ab")}
    if rng.random() < 0.6:
        terms = [
            {"matchExpressions": [a_requirement(rng) for _ in range(rng.choice((1, 1, 2)))]}
            for _ in range(rng.choice((1, 2)))
        ]
        required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}
        spec["affinity"] = {"nodeAffinity": required}
    return made


def a_queue(rng: random.Random, name: str) -> ClusterQueue:
    names = rng.sample(FLAVORS, 3)
    flavors = tuple(FlavorQuotas(each, {"cpu": Quota(4_000)}) for each in names)
    return ClusterQueue(name, None, (ResourceGroup(("cpu",), flavors),))


def given(workload: Workload) -> dict[str, dict[str, str]]:
    placed = workload.admission.assignments if workload.admission else ()
    return {each.name: dict(each.flavors) for each in placed}


def test_pods_go_to_the_flavors_that_kueue_lets_them(plain_kueue: Kueue):
    client, rng = Live(plain_kueue.control_plane.api), random.Random(7)
    client.create(a_flavor(rng, name) for name in FLAVORS)
    queues = [a_queue(rng, f"place-{at}") for at in range(JOBS)]
    client.create(live.cluster_queue(queue) for queue in queues)
    client.create(live.local_queue(queue.name) for queue in queues)
    client.create([a_job(rng, queue.name) for queue in queues])
    names = {queue.name for queue in queues}

    def all_seen() -> bool:
        found = client.workloads()
        return all(found[name].condition("QuotaReserved") for name in names)

    eventually(all_seen, "Kueue to try every job", 60)
    found = client.workloads()
    flavors = {
        name: decode.resource_flavor(json.dumps(item).encode())
        for name, item in client.read("ResourceFlavor").items()
    }
    board = Board(Tree.build(queues), lambda _: [], flavors)
    fresh = {q.name: _without_status(found[q.name]) for q in queues}
    ours = {q.name: dict(assign(board, q, fresh[q.name], NOW).flavors) for q in queues}
    theirs = {name: given(found[name]) for name in names}
    client.delete("Workload", names)
    client.delete("LocalQueue", names)
    client.delete("ClusterQueue", names)
    assert {n: {p: dict(f) for p, f in each.items()} for n, each in ours.items()} == theirs
    refused = sum(not each for each in theirs.values())
    assert JOBS // 20 < refused < JOBS // 2


def _without_status(workload: Workload) -> Workload:
    """What Kueue said is not to be our hint."""
    return Workload(
        workload.uid,
        workload.namespace,
        workload.name,
        workload.queue_name,
        workload.created,
        workload.pod_sets,
    )
