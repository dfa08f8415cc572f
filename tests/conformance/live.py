"""Kueue's objects on the real API server, written and read many at a time."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from capacity import decode
from capacity.model import ClusterQueue, Cohort, Quota, ResourceGroup, Workload
from capacity.quantity import to_text
from tests.cluster.web import Api, RefusedError

ROOT = "/apis/kueue.x-k8s.io/v1beta2"
NAMESPACE = "default"
API = {"apiVersion": "kueue.x-k8s.io/v1beta2"}
FLAVOR_LABEL = "gpubot.test/flavor"
Manifest = dict[str, Any]
Holder = tuple[str, str, Mapping[str, tuple[str, str]]]
"""A workload's name, the ClusterQueue that it holds quota of, and {resource: (flavor, text)}."""
LARGEST = "9223372036854775807"


def how_many(variable: str, *, few: int, in_ci: int) -> int:
    """Return how much to try: what the environment says, else many in CI and few elsewhere."""
    whole = os.environ.get("GPUBOT_REQUIRE_ALL") == "1"
    return int(os.environ.get(variable, in_ci if whole else few))


def flavor(name: str) -> Manifest:
    labels = {FLAVOR_LABEL: name}
    return {
        **API,
        "kind": "ResourceFlavor",
        "metadata": {"name": name},
        "spec": {"nodeLabels": labels},
    }


def text(resource: str, amount: int) -> str:
    written = to_text(resource, amount)
    return LARGEST if written == "unlimited" else written


def groups(found: Iterable[ResourceGroup]) -> list[Manifest]:
    return [
        {
            "coveredResources": list(group.covered_resources),
            "flavors": [
                {
                    "name": each.name,
                    "resources": [
                        {"name": name, **_quota(name, each.resources[name])}
                        for name in group.covered_resources
                    ],
                }
                for each in group.flavors
            ],
        }
        for group in found
    ]


def _quota(resource: str, quota: Quota) -> Manifest:
    limits = {"borrowingLimit": quota.borrowing_limit, "lendingLimit": quota.lending_limit}
    return {
        "nominalQuota": text(resource, quota.nominal),
        **{k: text(resource, v) for k, v in limits.items() if v is not None},
    }


def cohort(value: Cohort) -> Manifest:
    spec: Manifest = {"resourceGroups": groups(value.resource_groups)}
    if value.parent:
        spec["parentName"] = value.parent
    spec["fairSharing"] = {"weight": str(value.fair_weight)}
    return {**API, "kind": "Cohort", "metadata": {"name": value.name}, "spec": spec}


def cluster_queue(value: ClusterQueue) -> Manifest:
    rules, tries = value.preemption, value.flavor_fungibility
    borrow: Manifest = {"policy": rules.borrow_within_cohort}
    if rules.max_priority_threshold is not None:
        borrow["maxPriorityThreshold"] = rules.max_priority_threshold
    fungibility = {
        "whenCanBorrow": tries.when_can_borrow,
        "whenCanPreempt": tries.when_can_preempt,
        **({"preference": tries.preference} if tries.preference else {}),
    }
    spec: Manifest = {
        "namespaceSelector": {},
        "resourceGroups": groups(value.resource_groups),
        "queueingStrategy": value.queueing_strategy,
        "preemption": {
            "reclaimWithinCohort": rules.reclaim_within_cohort,
            "withinClusterQueue": rules.within_cluster_queue,
            "borrowWithinCohort": borrow,
        },
        "flavorFungibility": fungibility,
        "stopPolicy": value.stop_policy,
        "fairSharing": {"weight": str(value.fair_weight)},
    }
    if value.cohort:
        spec["cohortName"] = value.cohort
    return {**API, "kind": "ClusterQueue", "metadata": {"name": value.name}, "spec": spec}


def local_queue(queue: str) -> Manifest:
    meta = {"name": queue, "namespace": NAMESPACE}
    return {**API, "kind": "LocalQueue", "metadata": meta, "spec": {"clusterQueue": queue}}


def workload(
    name: str,
    queue: str,
    pod_sets: Iterable[tuple[int, Mapping[str, str]]],
    *,
    priority: int = 0,
    flavor_name: str | None = None,
) -> Manifest:
    """Pod sets are (count, requests per pod); ``flavor_name`` binds all of them to a flavor."""
    selector = {"nodeSelector": {FLAVOR_LABEL: flavor_name}} if flavor_name else {}
    return {
        **API,
        "kind": "Workload",
        "metadata": {"name": name, "namespace": NAMESPACE},
        "spec": {
            "queueName": queue,
            "priority": priority,
            "podSets": [
                {
                    "name": f"p{at}",
                    "count": count,
                    "template": {
                        "spec": {
                            "restartPolicy": "Never",
                            "containers": [
                                {"name": "c", "image": "x", "resources": {"requests": dict(asked)}}
                            ],
                            **selector,
                        }
                    },
                }
                for at, (count, asked) in enumerate(pod_sets)
            ],
        },
    }


def condition(
    type_: str, reason: str, at: str, status: str = "True", message: str = "x"
) -> Manifest:
    return {
        "type": type_,
        "status": status,
        "reason": reason,
        "message": message,
        "lastTransitionTime": at,
    }


@dataclass(frozen=True)
class Live:
    """The API server, called eight requests at a time."""

    api: Api

    def each(self, work: Callable[[Any], Any], items: Iterable[Any]) -> list[Any]:
        with ThreadPoolExecutor(8) as pool:
            return list(pool.map(work, items))

    def create(self, manifests: Iterable[Manifest]) -> None:
        self.each(lambda m: self.api.post(_path(m["kind"]), m), manifests)

    def read(self, kind: str) -> dict[str, Manifest]:
        return {item["metadata"]["name"]: item for item in self.api.get(_path(kind))["items"]}

    def workloads(self) -> dict[str, Workload]:
        return {
            name: decode.workload(json.dumps(item).encode())
            for name, item in self.read("Workload").items()
        }

    def patch_status(self, name: str, status: Manifest) -> None:
        self.api.patch(f"{_path('Workload')}/{name}/status", {"status": status})

    def hold_all(self, holders: Iterable[Holder], at: str | Mapping[str, str]) -> None:
        """Give workloads their quota once Kueue has said that their LocalQueue doesn't exist.

        Kueue writes that into the same conditions, so both at once could undo each other.
        """
        known = list(holders)

        def all_seen() -> bool:
            seen = self.workloads()
            return all(seen[name].condition("QuotaReserved") for name, _, _ in known)

        eventually(all_seen, "Kueue to see the holders", 60)
        times = dict.fromkeys((name for name, _, _ in known), at) if isinstance(at, str) else at
        self.each(lambda holder: self.hold(*holder, times[holder[0]]), known)

    def hold(self, name: str, queue: str, held: Mapping[str, tuple[str, str]], at: str) -> None:
        """Give a workload of one pod its quota by hand: {resource: (flavor, text)}."""
        given = {
            "name": "p0",
            "count": 1,
            "flavors": {resource: chosen for resource, (chosen, _) in held.items()},
            "resourceUsage": {resource: amount for resource, (_, amount) in held.items()},
        }
        self.patch_status(
            name,
            {
                "admission": {"clusterQueue": queue, "podSetAssignments": [given]},
                "conditions": [
                    condition("QuotaReserved", "QuotaReserved", at),
                    condition("Admitted", "Admitted", at),
                ],
            },
        )

    def touch(self, kind: str) -> None:
        """Make Kueue write every status again: it doesn't for each change of a neighbour."""
        note = {"metadata": {"annotations": {"gpubot.test/touched": str(time.time())}}}
        self.each(lambda name: self.api.patch(f"{_path(kind)}/{name}", note), self.read(kind))

    def delete(self, kind: str, names: Iterable[str], seconds: float = 60) -> None:
        """Delete and wait until nothing of it is left."""
        wanted = set(names)
        self.each(lambda name: self._delete_one(kind, name), wanted)
        eventually(lambda: not wanted & set(self.read(kind)), f"{kind} deleted", seconds)

    def _delete_one(self, kind: str, name: str) -> None:
        try:
            self.api.delete(f"{_path(kind)}/{name}")
        except RefusedError as refused:
            if refused.status != 404:
                raise


def eventually(check: Callable[[], bool], what: str, seconds: float = 30) -> None:
    end = time.monotonic() + seconds
    while not check():
        if time.monotonic() > end:
            raise AssertionError(f"waited {seconds} s for {what}")
        time.sleep(0.3)


def _path(kind: str) -> str:
    plural = {
        "ResourceFlavor": "resourceflavors",
        "Cohort": "cohorts",
        "ClusterQueue": "clusterqueues",
        "LocalQueue": f"namespaces/{NAMESPACE}/localqueues",
        "Workload": f"namespaces/{NAMESPACE}/workloads",
    }
    return f"{ROOT}/{plural[kind]}"
