"""A job's Workload as JSON, with the fields and spelling of the real API."""

from datetime import datetime
from typing import Any

from bot.playground.cluster.job import GPU, PRODUCTS, Job, Spec, State


def workload_json(job: Job) -> dict[str, Any]:
    """Return the Workload as the API server holds it."""
    spec = job.spec
    meta = {
        "name": job.workload_name,
        "namespace": spec.queue,
        "uid": job.uid,
        "creationTimestamp": stamp(job.created),
        "labels": {"kueue.x-k8s.io/job-uid": job.job_uid},
        "ownerReferences": [
            {
                "apiVersion": "jobset.x-k8s.io/v1alpha2" if spec.kind == "JobSet" else "batch/v1",
                "kind": spec.kind,
                "name": spec.name,
                "uid": job.job_uid,
                "controller": True,
            }
        ],
    }
    return {
        "apiVersion": "kueue.x-k8s.io/v1beta2",
        "kind": "Workload",
        "metadata": meta,
        "spec": _spec(job.spec),
        "status": _status(job),
    }


def _spec(spec: Spec) -> dict[str, Any]:
    pod: dict[str, Any] = {
        "restartPolicy": "Never",
        "containers": [
            {
                "name": "main",
                "image": f"registry.example.com/{spec.queue}/{spec.name}:latest",
                "resources": {
                    "requests": {GPU: str(spec.gpus)},
                    "limits": {GPU: str(spec.gpus)},
                },
            }
        ],
    }
    if spec.on:
        pod["nodeSelector"] = {"nvidia.com/gpu.product": PRODUCTS[spec.on]}
    pod_set = {"name": "main", "count": spec.pods, "template": {"spec": pod}}
    found: dict[str, Any] = {"active": True, "queueName": spec.queue, "podSets": [pod_set]}
    found["priority"] = spec.priority
    if spec.priority_class:
        found["priorityClassRef"] = {
            "group": "kueue.x-k8s.io",
            "kind": "WorkloadPriorityClass",
            "name": spec.priority_class,
        }
    return found


def _status(job: Job) -> dict[str, Any]:
    total = {GPU: str(job.spec.total)}
    found: dict[str, Any] = {
        "conditions": [
            {
                "type": type_,
                "status": c.status,
                "reason": c.reason,
                "message": c.message,
                "lastTransitionTime": stamp(c.at),
                "observedGeneration": 1,
            }
            for type_, c in job.conditions.items()
        ]
    }
    if job.holds or job.state is State.FINISHED:
        placed = {
            "name": "main",
            "count": job.spec.pods,
            "flavors": {GPU: job.flavor},
            "resourceUsage": total,
        }
        found["admission"] = {"clusterQueue": job.spec.queue, "podSetAssignments": [placed]}
    elif "QuotaReserved" in job.conditions:
        found["resourceRequests"] = [{"name": "main", "resources": total}]
    if job.check_state:
        found["admissionChecks"] = [_check(job)]
    if job.evictions:
        counted = {"reason": "Preempted", "underlyingCause": "", "count": job.evictions}
        found["schedulingStats"] = {"evictions": [counted]}
    return found


def _check(job: Job) -> dict[str, Any]:
    message = "" if job.check_state == "Ready" else "warming up nodes: pulling the image"
    return {
        "name": "node-warmup",
        "state": job.check_state,
        "message": message,
        "lastTransitionTime": stamp(job.reserved_at or job.created),
    }


def stamp(at: datetime) -> str:
    """Return a time as Kubernetes writes it: whole seconds, UTC."""
    return at.strftime("%Y-%m-%dT%H:%M:%SZ")
