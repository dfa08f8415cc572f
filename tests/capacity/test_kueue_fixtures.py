"""What a real Kueue v0.19.2 said, read again: its messages, its figures, its order."""

import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from capacity import decode
from capacity.causes import GRANULAR, Kind
from capacity.explain import explain
from capacity.messages import parse_message
from capacity.model import Condition, Fleet
from capacity.quota import Tree, borrowed, subtree_quota
from capacity.share import dominant_resource_share, weighted_share
from capacity.stories import preemption_of
from tests.builders import ListedWorkloads, a_fleet, a_workload

NAMES = ("01-base-gate-on", "02-after-reclaim", "03-stop-and-cut")
AT = datetime(2026, 12, 1, tzinfo=UTC)
pytestmark = pytest.mark.shared


def items(shared: Path, name: str) -> list[dict[str, Any]]:
    path = shared / "fixtures" / "kueue" / f"{name}.json"
    if not path.exists():
        pytest.skip(f"no fixture {name}")
    return json.loads(path.read_text(encoding="utf-8"))["items"]


def read(shared: Path, name: str) -> Fleet:
    found: dict[str, list[Any]] = {}
    readers = {
        "ClusterQueue": decode.cluster_queue,
        "Cohort": decode.cohort,
        "LocalQueue": decode.local_queue,
        "ResourceFlavor": decode.resource_flavor,
        "Workload": decode.workload,
    }
    for item in items(shared, name):
        value = readers[item["kind"]](json.dumps(item).encode())
        found.setdefault(item["kind"], []).append(value)
    local = {(q.namespace, q.name): q for q in found["LocalQueue"]}
    homes = {key: q.cluster_queue for key, q in local.items()}
    return Fleet(
        cluster="fixture",
        as_of=AT,
        cluster_queues={q.name: q for q in found["ClusterQueue"]},
        cohorts={c.name: c for c in found["Cohort"]},
        local_queues=local,
        flavors={f.name: f for f in found["ResourceFlavor"]},
        priority_classes={},
        workloads=ListedWorkloads(tuple(found["Workload"]), homes),
    )


@pytest.mark.parametrize("name", NAMES)
def test_borrowed_and_weighted_share_are_what_the_controller_reported(shared: Path, name: str):
    fleet = read(shared, name)
    tree = Tree.of(fleet)
    for queue in fleet.cluster_queues.values():
        node = tree.cluster_queue(queue.name)
        assert {p: borrowed(node, p) for p in queue.reserved} == queue.reported_borrowed
        assert queue.weighted_share in (None, weighted_share(node))
    for cohort in fleet.cohorts.values():
        assert cohort.weighted_share in (None, weighted_share(tree.cohort(cohort.name)))


@pytest.mark.parametrize("name", NAMES)
def test_every_workload_has_the_cause_that_the_controller_named(shared: Path, name: str):
    fleet = read(shared, name)
    tree = Tree.of(fleet)
    for workload in fleet.workloads:
        found = explain(workload, fleet, tree)
        waits = workload.condition("QuotaReserved")
        assert found.kind is not Kind.UNKNOWN
        if waits is not None and waits.status == "False":
            assert found.kind == waits.reason
            assert parse_message(waits.message).kind == waits.reason


@pytest.mark.parametrize("name", NAMES)
def test_the_message_s_figures_are_the_arithmetic_s(shared: Path, name: str):
    fleet = read(shared, name)
    tree = Tree.of(fleet)
    for workload in fleet.workloads:
        found = explain(workload, fleet, tree)
        for refusal in found.message.refusals if found.message else ():
            need = next(n for n in found.needs if n.pair.flavor == refusal.flavor)
            if refusal.kind is Kind.EXCEEDS_MAX_QUOTA:
                assert (refusal.requested, refusal.capacity) == (need.wanted, need.potential)


def notes(shared: Path) -> Iterator[tuple[str, str]]:
    for name in NAMES:
        for event in items(shared, f"{name}-events"):
            yield event["reason"], event.get("note") or event.get("message") or ""


def test_every_pending_event_is_classified_as_its_reason_or_by_its_text(shared: Path):
    legacy = {"insufficient quota": Kind.EXCEEDS_MAX_QUOTA, "unused": Kind.WAITING_FOR_QUOTA}
    seen = set()
    for reason, note in notes(shared):
        if reason in GRANULAR:
            assert parse_message(note).kind == reason
        elif reason == "Pending":
            kind = next(kind for text, kind in legacy.items() if text in note)
            assert parse_message(note).kind is kind
        else:
            continue
        seen.add(reason)
    assert {"Pending", "ExceedsMaxQuota", "WaitingForQuota"} <= seen


def test_every_preemption_event_tells_its_story(shared: Path):
    told = [n for r, n in notes(shared) if r in ("Preempted", "EvictedDueToPreempted")]
    assert told
    for note in told:
        condition = Condition("Preempted", "True", "InCohortFairSharing", note, AT)
        story = preemption_of(a_workload("x", conditions=(condition,)), a_fleet())
        assert story is not None
        assert story.because == "Fair Sharing within the cohort"
        assert (story.by_path, story.from_path) == (("org", "prod"), ("org", "research", "nlp"))
        assert story.by_uid == "9bcc7539-70a9-4727-907a-235220d81164"


def test_the_preemptor_is_found_by_its_uid(shared: Path):
    fleet = read(shared, "02-after-reclaim")
    stories = [preemption_of(w, fleet) for w in fleet.workloads]
    (story,) = [s for s in stories if s is not None]
    assert story.by is not None
    assert story.by.job == "train"


def test_subtree_quota_and_precise_shares_are_those_of_the_controllers_metrics(shared: Path):
    path = shared / "fixtures" / "kueue" / "01-metrics.txt"
    if not path.exists():
        pytest.skip("no metrics fixture")
    tree = Tree.of(read(shared, "01-base-gate-on"))
    (pair,) = tree.pairs
    checked = 0
    for line in path.read_text(encoding="utf-8").splitlines():
        name, labels, value = _metric(line)
        if name == "kueue_cohort_subtree_quota":
            assert subtree_quota(tree.cohort(labels["cohort"]), pair) == value
        elif name == "kueue_cohort_weighted_share":
            assert dominant_resource_share(tree.cohort(labels["cohort"])).precise == value
        elif name == "kueue_cluster_queue_weighted_share":
            node = tree.cluster_queue(labels["cluster_queue"])
            assert dominant_resource_share(node).precise == value
        else:
            continue
        checked += 1
    assert checked >= 5


def _metric(line: str) -> tuple[str, dict[str, str], float]:
    found = re.fullmatch(r"(\w+)\{(.*)\} (\S+)", line)
    if not found:
        return "", {}, 0
    labels = dict(re.findall(r'(\w+)="([^"]*)"', found[2]))
    return found[1], labels, float(found[3])
