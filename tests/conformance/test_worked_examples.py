"""The two worked examples, asked of the real controller: each figure to the unit."""

from collections.abc import Mapping
from decimal import Decimal

import pytest

from capacity.model import ClusterQueue, Cohort, FlavorQuotas, FlavorResource, Quota, ResourceGroup
from capacity.quota import can_reserve, potential_available
from tests.cluster.kueue import Kueue
from tests.conformance.forest import GPU, RandomTree
from tests.conformance.live import Live
from tests.conformance.test_trees import Probe, ask, check_status, install, ours, remove

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(600)]
PAIR = FlavorResource("f0", GPU)


def given(quota: Quota) -> tuple[ResourceGroup, ...]:
    return (ResourceGroup((GPU,), (FlavorQuotas("f0", {GPU: quota}),)),)


def holds(**gpus: int) -> dict[str, list[dict[FlavorResource, int]]]:
    return {name: [{PAIR: number}] for name, number in gpus.items()}


ORG = RandomTree(
    [
        ClusterQueue("vision", "research", given(Quota(16, 8, 4))),
        ClusterQueue("nlp", "research", given(Quota(16))),
        ClusterQueue("prod", "org", given(Quota(24, None, 12))),
    ],
    [
        Cohort("org", None, given(Quota(0))),
        Cohort("research", "org", given(Quota(8, 16, 24)), fair_weight=Decimal(2)),
    ],
    holds(vision=14, nlp=30, prod=10),
)
ML = RandomTree(
    [
        ClusterQueue("research", "ml", given(Quota(32, 16))),
        ClusterQueue("vision", "ml", given(Quota(24, None, 16))),
        ClusterQueue("serving", "ml", given(Quota(40, None, 24))),
    ],
    [Cohort("ml", None, ())],
    holds(research=44, vision=10, serving=30),
)


@pytest.mark.parametrize(
    ("example", "now", "ever"),
    [
        (ORG, {"vision": 8, "nlp": 8, "prod": 10}, {"vision": 24, "nlp": 40, "prod": 48}),
        (
            ML,
            {"research": 4, "vision": 12, "serving": 12},
            {"research": 48, "vision": 80, "serving": 88},
        ),
    ],
    ids=["org", "ml"],
)
def test_the_controller_gives_the_last_unit_and_refuses_one_more(
    fair_kueue: Kueue, example: RandomTree, now: Mapping[str, int], ever: Mapping[str, int]
) -> None:
    client = Live(fair_kueue.control_plane.api)
    install(client, [example])
    try:
        tree = ours([example])
        nodes = {name: tree.cluster_queue(name) for name in now}
        assert {name: can_reserve(node, PAIR) for name, node in nodes.items()} == now
        assert {name: potential_available(node, PAIR) for name, node in nodes.items()} == ever
        check_status(client, tree, [example])
        check_shares(client, example)
        refused = [
            Probe(f"{name}-{value}", name, PAIR, value, now[name], ever[name])
            for name in now
            for value in (now[name] + 1, ever[name], ever[name] + 1)
        ]
        ask(client, refused)
        for name in now:
            ask(client, [Probe(f"{name}-fits", name, PAIR, now[name], now[name], ever[name])])
    finally:
        remove(client)


def check_shares(client: Live, example: RandomTree) -> None:
    """The org tree's shares are known figures: nlp 350, research 56, the others 0."""
    if example is not ORG:
        return
    found = {
        name: item["status"]["fairSharing"]["weightedShare"]
        for kind in ("ClusterQueue", "Cohort")
        for name, item in client.read(kind).items()
        if name != "org"
    }
    assert found == {"vision": 0, "nlp": 350, "prod": 0, "research": 56}
