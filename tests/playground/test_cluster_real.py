"""The playground's manifests on the real API server: accepted, and stored as ours stores them."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from bot.playground.cluster.manifests import Rejected, objects
from bot.playground.cluster.playground import SEED, seed_manifests
from tests.cluster.kueue import Kueue
from tests.cluster.objects import namespace

pytestmark = pytest.mark.cluster
KUEUE = "/apis/kueue.x-k8s.io/v1beta2"


def documents(path: Path) -> list[dict[str, Any]]:
    return [d for d in yaml.safe_load_all(path.read_text("utf-8")) if d]


def place(plural: str, body: dict[str, Any]) -> str:
    meta = body["metadata"]
    inside = f"/namespaces/{meta['namespace']}" if "namespace" in meta else ""
    return f"{KUEUE}{inside}/{plural}/{meta['name']}"


@pytest.fixture
def seeded(kueue_cluster: Kueue) -> Kueue:
    plane = kueue_cluster.control_plane
    plane.apply(*(namespace(name) for name in ("research", "vision", "serving")))
    for name in ("flavors", "queues", "local-queues"):
        plane.apply(*documents(SEED / f"{name}.yaml"))
    return kueue_cluster


def test_the_seed_is_stored_as_the_real_one_stores_it(seeded: Kueue) -> None:
    for plural, ours in objects(seed_manifests()[1]):
        real = seeded.control_plane.api.get(place(plural, ours))
        assert real.get("spec", {}) == ours.get("spec", {})
        assert real.get("value") == ours.get("value")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('lendingLimit: "16"', 'lendingLimit: "25"'),
        ("nominalQuota: 32 ", "nominalQuota: -1 "),
        ("borrowingLimit: 16 ", "borrowingLimit: -1 "),
        ("nominalQuota: 32 ", "nominalQuota: lots "),
        ("  cohortName: ml\n  # One", "  # One"),
    ],
)
def test_what_ours_refuses_the_real_one_refuses(seeded: Kueue, old: str, new: str) -> None:
    path = "clusters/prod/queues.yaml"
    text = seed_manifests()[1][path]
    assert old in text
    changed = text.replace(old, new)
    with pytest.raises(Rejected):
        list(objects({path: changed}))
    with pytest.raises(Exception, match=r"denied|invalid|must|quantities"):
        seeded.control_plane.apply(*(d for d in yaml.safe_load_all(changed) if d))
