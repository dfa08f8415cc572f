"""The lint against the real API server with Kueue's webhooks: both accept, or both refuse."""

import copy
from typing import Any

import pytest

from tests.cluster.web import RefusedError
from tests.gitops.lint_cases import CASES, Case

pytestmark = pytest.mark.cluster

PLURALS = {
    "ClusterQueue": "clusterqueues",
    "Cohort": "cohorts",
    "LocalQueue": "namespaces/default/localqueues",
    "ResourceFlavor": "resourceflavors",
    "Topology": "topologies",
}
# Enforced only with the alpha gate ConcurrentAdmission, which is off.
GATED = {"K14"}
DRY = "fieldValidation=Strict&dryRun=All"


def path(data: dict[str, Any]) -> str:
    return f"/apis/kueue.x-k8s.io/v1beta2/{PLURALS[data['kind']]}"


def refusal(api: Any, case: Case, number: int) -> str:
    """Try the case without leaving anything behind; return the server's words, "" if accepted."""
    data = copy.deepcopy(dict(case.object))
    if case.before is None:
        return tried(lambda: api.post(f"{path(data)}?{DRY}", data))
    old = copy.deepcopy(dict(case.before))
    old["metadata"]["name"] += f"-{number}"
    api.post(path(old), old)
    name = f"{path(old)}/{old['metadata']['name']}"
    try:
        for _ in range(20):  # a controller may write the object in between
            data["metadata"] = api.get(name)["metadata"]
            said = tried(lambda: api.put(f"{name}?{DRY}", data))
            if "the object has been modified" not in said:
                return said
        return said
    finally:
        api.delete(name)


def tried(call: Any) -> str:
    try:
        call()
    except RefusedError as error:
        return error.body
    return ""


def test_the_lint_and_kueue_agree_both_ways(kueue_cluster: Any) -> None:
    api = kueue_cluster.control_plane.api
    disagreements = []
    agreed = 0
    for number, case in enumerate(CASES):
        if case.rule in GATED:
            continue
        said = refusal(api, case, number)
        if bool(said) != bool(case.rule):
            disagreements.append(
                f"{case.id}: expected {case.rule or 'accepted'}, server: {said[:300] or 'accepted'}"
            )
        else:
            agreed += 1
    assert not disagreements, "\n".join(disagreements)
    assert agreed >= 60
