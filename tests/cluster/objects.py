"""Builders of the objects that tests apply: namespaces, Kueue's queues and flavors, Jobs with a queue."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tests.cluster.nodes import OUTCOME, RUN

KUEUE_API = "kueue.x-k8s.io/v1beta2"
QUEUE_LABEL = "kueue.x-k8s.io/queue-name"
PRIORITY_LABEL = "kueue.x-k8s.io/priority-class"
GPU = "nvidia.com/gpu"
Manifest = dict[str, Any]


def namespace(name: str, **labels: str) -> Manifest:
    """A namespace."""
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": labels}}


def flavor(name: str, node_labels: Mapping[str, str] | None = None) -> Manifest:
    """A resource flavor; nodes of the pool with its name unless other node labels are given."""
    spec = {
        "nodeLabels": dict(node_labels if node_labels is not None else {"gpubot.test/pool": name})
    }
    return {
        "apiVersion": KUEUE_API,
        "kind": "ResourceFlavor",
        "metadata": {"name": name},
        "spec": spec,
    }


def cohort(name: str, parent: str | None = None) -> Manifest:
    """A cohort, below another one if that is named."""
    spec = {"parentName": parent} if parent else {}
    return {"apiVersion": KUEUE_API, "kind": "Cohort", "metadata": {"name": name}, "spec": spec}


def quota(
    nominal: int | str, *, borrowing: int | None = None, lending: int | None = None
) -> Manifest:
    """The numbers of one resource in one flavor; a limit that isn't given is none."""
    limits = {"borrowingLimit": borrowing, "lendingLimit": lending}
    return {
        "nominalQuota": nominal,
        **{name: value for name, value in limits.items() if value is not None},
    }


def cluster_queue(
    name: str,
    flavors: Mapping[str, Manifest | int],
    *,
    cohort: str | None = None,
    resource: str = GPU,
    **spec: Any,
) -> Manifest:
    """A ClusterQueue for one resource in some flavors, in their order; further fields of its spec as keywords."""
    quotas = [
        {
            "name": flavor,
            "resources": [
                {"name": resource, **(value if isinstance(value, dict) else quota(value))}
            ],
        }
        for flavor, value in flavors.items()
    ]
    groups = [{"coveredResources": [resource], "flavors": quotas}]
    whole = {
        "namespaceSelector": {},
        "resourceGroups": groups,
        **({"cohortName": cohort} if cohort else {}),
        **spec,
    }
    return {
        "apiVersion": KUEUE_API,
        "kind": "ClusterQueue",
        "metadata": {"name": name},
        "spec": whole,
    }


def local_queue(name: str, namespace: str, cluster_queue: str) -> Manifest:
    """A LocalQueue that points to a ClusterQueue."""
    return {
        "apiVersion": KUEUE_API,
        "kind": "LocalQueue",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {"clusterQueue": cluster_queue},
    }


def priority_class(name: str, value: int) -> Manifest:
    """A WorkloadPriorityClass."""
    return {
        "apiVersion": KUEUE_API,
        "kind": "WorkloadPriorityClass",
        "metadata": {"name": name},
        "value": value,
    }


def job(
    name: str,
    namespace: str,
    queue: str,
    *,
    gpus: int = 1,
    workers: int = 1,
    resource: str = GPU,
    run: str | None = None,
    outcome: str | None = None,
    priority: str | None = None,
    annotations: Mapping[str, str] | None = None,
) -> Manifest:
    """A suspended Job for Kueue to admit: so many workers with so many GPUs each.

    It runs as long as `run` says (a Go duration) and ends as `outcome` says; more pod annotations can be given,
    such as the utilisation that our DCGM exporter shows.
    """
    notes = {
        **({RUN: run} if run else {}),
        **({OUTCOME: outcome} if outcome else {}),
        **(annotations or {}),
    }
    labels = {QUEUE_LABEL: queue, **({PRIORITY_LABEL: priority} if priority else {})}
    resources = {"requests": {resource: gpus}, "limits": {resource: gpus}}
    container = {"name": "main", "image": "trainer:test", "resources": resources}
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": name, "namespace": namespace, "labels": labels},
        "spec": {
            "suspend": True,
            "parallelism": workers,
            "completions": workers,
            "backoffLimit": 0,
            "template": {
                "metadata": {"annotations": notes, "labels": {QUEUE_LABEL: queue}},
                "spec": {"restartPolicy": "Never", "containers": [container]},
            },
        },
    }


def conditions(item: Mapping[str, Any]) -> dict[str, str]:
    """An object's conditions as type -> "True", "False" or "Unknown"."""
    return {
        entry["type"]: entry["status"] for entry in item.get("status", {}).get("conditions", ())
    }
