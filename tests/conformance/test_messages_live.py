"""The real controller's words for each way to wait: every one has the cause that we expect."""

from collections.abc import Iterator
from datetime import UTC, datetime

import pytest

from capacity.causes import GRANULAR, Kind
from capacity.explain import explain
from capacity.kueue import ClusterConfig, ClusterReader, Pace
from capacity.messages import parse_message
from capacity.model import Fleet, Workload
from capacity.quota import Tree
from tests.cluster.kueue import Kueue
from tests.conformance import waits
from tests.conformance.live import ROOT, Live, condition, eventually

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(600)]
NAMED = {str(kind): kind for kind in GRANULAR}


@pytest.fixture(scope="module", params=["plain_kueue", "granular_kueue"])
def swept(request: pytest.FixtureRequest) -> Iterator[tuple[Fleet, bool]]:
    """The fleet once every workload of the sweep waits as it should, and whether reasons are granular."""
    kueue: Kueue = request.getfixturevalue(request.param)
    config = ClusterConfig("test", kubeconfig=str(kueue.control_plane.kubeconfig()))
    reader = ClusterReader(config, pace=Pace(pulse=0.5))
    reader.start()
    drive(kueue, reader)
    yield reader.fleet(), request.param == "granular_kueue"
    reader.stop()
    kueue.empty()


def now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def drive(kueue: Kueue, reader: ClusterReader) -> None:
    """Bring every workload to where it should stay; a wait in vain fails in the tests' words."""
    plane = kueue.control_plane
    plane.apply(*waits.world())
    checks = f"{ROOT}/admissionchecks/{waits.CHECK}/status"
    active = condition("Active", "Active", now())
    plane.api.patch(checks, {"status": {"conditions": [active]}})
    made = waits.workloads()
    plane.apply(*(made[name] for name in waits.BEFORE))

    def have_quota() -> bool:
        fleet = reader.fleet()
        return all(w and w.condition("QuotaReserved") for w in named(fleet, waits.BEFORE).values())

    eventually(have_quota, "the first to get quota")
    client = Live(plane.api)
    for name, state in (("retried", "Retry"), ("rejected", "Rejected")):
        answer = {"name": waits.CHECK, "state": state, "message": "no room"}
        answer["lastTransitionTime"] = now()
        client.patch_status(name, {"admissionChecks": [answer]})
    eventually(lambda: causes(reader.fleet())["slow"] is Kind.DEACTIVATED, "the time limit")
    stop = {"spec": {"stopPolicy": "HoldAndDrain"}}
    plane.api.patch(f"{ROOT}/clusterqueues/drained", stop)
    plane.apply(*(made[name] for name in made if name not in waits.BEFORE))
    try:
        eventually(lambda: causes(reader.fleet()) == waits.EXPECTED, "every cause", 20)
    except AssertionError:
        return


def named(fleet: Fleet, names: tuple[str, ...]) -> dict[str, Workload | None]:
    found = {w.name: w for w in fleet.workloads}
    return {name: found.get(name) for name in names}


def causes(fleet: Fleet) -> dict[str, Kind]:
    tree = Tree.of(fleet)
    return {w.name: explain(w, fleet, tree).kind for w in fleet.workloads}


def test_every_wait_has_the_cause_that_was_staged(swept: tuple[Fleet, bool]) -> None:
    fleet, _ = swept
    told = {w.name: [(c.type, c.reason, c.message) for c in w.conditions] for w in fleet.workloads}
    found = causes(fleet)
    wrong = {n: (found.get(n), told.get(n)) for n, k in waits.EXPECTED.items() if found.get(n) != k}
    assert wrong == {}


def test_no_text_of_the_controller_is_unknown(swept: tuple[Fleet, bool]) -> None:
    fleet, granular = swept
    said = {(w.name, c.reason, c.message) for w in fleet.workloads for c in refused(w)}
    assert len({message for _, _, message in said}) >= 15
    read = {each: parse_message(each[2]).kind for each in said}
    assert {each for each, kind in read.items() if kind is Kind.UNKNOWN} == set()
    if granular:  # Kueue's own word for the reason and our reading of its text are the same
        assert {e: k for e, k in read.items() if NAMED.get(e[1]) is not k} == {}


def refused(workload: Workload) -> list:
    return [c for c in workload.conditions if c.type == "QuotaReserved" and c.status == "False"]
