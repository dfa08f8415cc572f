"""Kubernetes objects as plain dicts, as small as the API allows."""

from typing import Any

GPU = "nvidia.com/gpu"
T0 = "2026-12-01T14:00:00Z"


def cluster_queue(name: str, nominal: str = "8", total: str = "0", cohort: str = "ml") -> Any:
    quota = {"name": "h100", "resources": [{"name": GPU, "nominalQuota": nominal}]}
    held = {"name": "h100", "resources": [{"name": GPU, "total": total, "borrowed": "0"}]}
    return {
        "apiVersion": "kueue.x-k8s.io/v1beta2",
        "kind": "ClusterQueue",
        "metadata": {"name": name, "uid": f"cq-{name}", "creationTimestamp": T0},
        "spec": {
            "cohortName": cohort,
            "resourceGroups": [{"coveredResources": [GPU], "flavors": [quota]}],
        },
        "status": {"flavorsReservation": [held], "flavorsUsage": [held]},
    }


def local_queue(name: str, queue: str, namespace: str = "team") -> Any:
    return {
        "apiVersion": "kueue.x-k8s.io/v1beta2",
        "kind": "LocalQueue",
        "metadata": {"name": name, "namespace": namespace, "creationTimestamp": T0},
        "spec": {"clusterQueue": queue},
    }


def named(kind: str, name: str, **more: Any) -> Any:
    meta = {"name": name, "creationTimestamp": T0}
    return {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": kind, "metadata": meta, **more}


def workload(name: str, queue: str = "research", namespace: str = "team", gpus: int = 1) -> Any:
    container = {"name": "main", "resources": {"requests": {GPU: str(gpus)}}}
    pods = {"name": "main", "count": 1, "template": {"spec": {"containers": [container]}}}
    return {
        "apiVersion": "kueue.x-k8s.io/v1beta2",
        "kind": "Workload",
        "metadata": {
            "name": name,
            "namespace": namespace,
            "uid": f"uid-{name}",
            "creationTimestamp": T0,
            "ownerReferences": [
                {"kind": "Job", "name": f"job-{name}", "uid": f"j-{name}", "controller": True}
            ],
        },
        "spec": {"queueName": queue, "podSets": [pods]},
    }
