"""Which kinds the in-memory API server knows, and its discovery documents."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

KUEUE = "kueue.x-k8s.io"
VISIBILITY = "visibility.kueue.x-k8s.io"


@dataclass(frozen=True, slots=True)
class Resource:
    """A kind that is served: its plural, its Kind, and whether it lives in namespaces."""

    plural: str
    kind: str
    namespaced: bool = False


RESOURCES = (
    Resource("clusterqueues", "ClusterQueue"),
    Resource("cohorts", "Cohort"),
    Resource("localqueues", "LocalQueue", namespaced=True),
    Resource("resourceflavors", "ResourceFlavor"),
    Resource("workloadpriorityclasses", "WorkloadPriorityClass"),
    Resource("workloads", "Workload", namespaced=True),
)
BY_PLURAL = {resource.plural: resource for resource in RESOURCES}
BY_KIND = {resource.kind: resource for resource in RESOURCES}


def group(versions: Sequence[str], name: str = KUEUE) -> dict[str, Any]:
    """Return the APIGroup document; the first version is the preferred one."""
    offered = [{"groupVersion": f"{name}/{v}", "version": v} for v in versions]
    return {
        "kind": "APIGroup",
        "apiVersion": "v1",
        "name": name,
        "versions": offered,
        "preferredVersion": offered[0],
    }


def resource_list(version: str, resources: Sequence[Resource]) -> dict[str, Any]:
    """Return the APIResourceList document of Kueue's group."""
    return {
        "kind": "APIResourceList",
        "apiVersion": "v1",
        "groupVersion": f"{KUEUE}/{version}",
        "resources": [
            {
                "name": resource.plural,
                "singularName": resource.kind.lower(),
                "namespaced": resource.namespaced,
                "kind": resource.kind,
                "verbs": ["get", "list", "watch"],
            }
            for resource in resources
        ],
    }


def status(code: int, reason: str, message: str) -> dict[str, Any]:
    """Return the Status document that goes with an error."""
    return {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Failure",
        "message": message,
        "reason": reason,
        "code": code,
    }
