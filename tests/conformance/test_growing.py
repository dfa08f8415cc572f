"""A job that grows asks for the rest only, on its own flavor: by the real controller, and by us."""

import json
from datetime import UTC, datetime

import pytest

from capacity import decode
from capacity.assign import Assignment, assign
from capacity.causes import Kind
from capacity.fit_mode import Board, Mode
from capacity.messages import parse_message
from capacity.model import ClusterQueue, FlavorQuotas, FlavorResource, Quota, ResourceGroup
from capacity.quota import Tree
from tests.builders import ListedWorkloads
from tests.cluster.kueue import Kueue
from tests.conformance import live
from tests.conformance.live import NAMESPACE, Live, eventually

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(300)]
ELASTIC = {"kueue.x-k8s.io/elastic-job": "true"}
REPLACES = "kueue.x-k8s.io/workload-slice-replacement-for"


def a_queue(name: str, first: int) -> ClusterQueue:
    """So many cores of the first flavor, and plenty of the second."""
    flavors = (
        FlavorQuotas("grow-a", {"cpu": Quota(first * 1000)}),
        FlavorQuotas("grow-b", {"cpu": Quota(100_000)}),
    )
    return ClusterQueue(name, None, (ResourceGroup(("cpu",), flavors),))


def a_job(name: str, queue: str, pods: int, replaces: str = "") -> live.Manifest:
    made = live.workload(name, queue, [(pods, {"cpu": "1"})])
    more = {REPLACES: f"{NAMESPACE}/{replaces}"} if replaces else {}
    return {**made, "metadata": {**made["metadata"], "annotations": ELASTIC | more}}


def ours(client: Live, queue: ClusterQueue, held: int, name: str) -> Assignment:
    """What we would give a growing job while the one that it replaces still holds its quota."""
    workloads = client.workloads()
    flavors = {
        each: decode.resource_flavor(json.dumps(item).encode())
        for each, item in client.read("ResourceFlavor").items()
    }
    tree = Tree.build([queue])
    tree.add_usage(queue.name, {FlavorResource("grow-a", "cpu"): held})
    running = ListedWorkloads(tuple(w for each, w in workloads.items() if each != name))
    board = Board(tree, running.reserving, flavors)
    asked = decode.workload(json.dumps(a_job(name, queue.name, 4, f"{queue.name}-old")).encode())
    return assign(board, queue, asked, datetime.now(UTC))


def test_a_job_that_grows_stays_on_its_flavor(plain_kueue: Kueue):
    client = Live(plain_kueue.control_plane.api)
    client.create(live.flavor(name) for name in ("grow-a", "grow-b"))
    queues = {size: a_queue(f"grow-{size}", size) for size in (3, 4)}
    client.create(live.cluster_queue(queue) for queue in queues.values())
    client.create(live.local_queue(queue.name) for queue in queues.values())
    client.create(a_job(f"{q.name}-old", q.name, 2) for q in queues.values())
    olds = [f"{q.name}-old" for q in queues.values()]
    eventually(lambda: all(client.workloads()[name].admission for name in olds), "old ones run")

    fits = ours(client, queues[4], 2000, "grow-4-new")
    waits = ours(client, queues[3], 2000, "grow-3-new")
    assert (fits.mode, fits.usage) == (Mode.FIT, {FlavorResource("grow-a", "cpu"): 2000})
    assert waits.mode is Mode.NO_CANDIDATES

    client.create(a_job(f"{q.name}-new", q.name, 4, f"{q.name}-old") for q in queues.values())
    news = [f"{q.name}-new" for q in queues.values()]

    def tried() -> bool:
        return all(client.workloads()[name].condition("QuotaReserved") for name in news)

    eventually(tried, "new ones were tried")
    found = client.workloads()
    given = found["grow-4-new"].admission
    assert given is not None
    assert dict(given.assignments[0].flavors) == {"cpu": "grow-a"}
    held = found["grow-3-new"].condition("QuotaReserved")
    assert held is not None
    refusals = {r.flavor: r for r in parse_message(held.message).refusals}
    assert (held.status, refusals["grow-a"].needed) == ("False", 1000)
    assert refusals["grow-b"].kind is Kind.NO_MATCHING_FLAVOR
    client.delete("Workload", [*olds, *news])
    client.delete("LocalQueue", [q.name for q in queues.values()])
    client.delete("ClusterQueue", [q.name for q in queues.values()])
