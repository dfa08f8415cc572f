"""Every question about objects that a real controller wrote is answered, within Slack's limits."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from bot.blocks import render, size
from bot.json_ import to_json
from capacity.decode import cluster_queue, cohort, local_queue, resource_flavor, workload
from capacity.model import Fleet
from commands.page import plain
from commands.parse import parse
from commands.table import run
from tests.builders import ANA, FakeWorld, ListedWorkloads, a_fleet

pytestmark = pytest.mark.shared
FILES = ("01-base-gate-on", "02-after-reclaim", "03-stop-and-cut")


def fleet_of(path: Path) -> Fleet:
    items = json.loads(path.read_text(encoding="utf-8"))["items"]
    of_kind = {
        kind: [decode(json.dumps(i).encode()) for i in items if i["kind"] == kind]
        for kind, decode in (
            ("ClusterQueue", cluster_queue),
            ("Cohort", cohort),
            ("LocalQueue", local_queue),
            ("ResourceFlavor", resource_flavor),
            ("Workload", workload),
        )
    }
    local = {(q.namespace, q.name): q for q in of_kind["LocalQueue"]}
    return replace(
        a_fleet(queues=()),
        cluster_queues={q.name: q for q in of_kind["ClusterQueue"]},
        cohorts={c.name: c for c in of_kind["Cohort"]},
        local_queues=local,
        flavors={f.name: f for f in of_kind["ResourceFlavor"]},
        workloads=ListedWorkloads(
            tuple(of_kind["Workload"]), {key: lq.cluster_queue for key, lq in local.items()}
        ),
    )


@pytest.mark.parametrize("name", FILES)
def test_every_question_about_real_objects_is_answered(shared: Path, name: str):
    fleet = fleet_of(shared / "fixtures" / "kueue" / f"{name}.json")
    world = FakeWorld(fleet)
    texts = [f"quota {q}" for q in fleet.cluster_queues]
    texts += [f"quota {c}" for c in fleet.cohorts]
    texts += [f"queue {q}" for q in fleet.cluster_queues]
    texts += [f"fit 2x4 --queue {q}" for q in fleet.cluster_queues]
    texts += [f"why {w.namespace}/{w.job}" for w in fleet.workloads]
    assert len(texts) > 10
    for text in texts:
        answer, page = run(parse(text, ANA), world)
        assert plain(page.headline).strip()
        assert size(render(page).blocks) <= 13_200
        to_json(answer)
