"""Workloads as a large cluster has them: several kilobytes each, and no two alike."""

import random
import uuid
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec

QUEUES = 1_000
GPU = "nvidia.com/gpu"
_T0 = datetime(2026, 11, 1, tzinfo=UTC)


def workloads(count: int, seed: int = 1) -> Iterator[tuple[tuple[str, str], bytes]]:
    """Yield ((namespace, name), JSON); half of them wait, half hold quota."""
    dice = random.Random(seed)
    for number in range(count):
        body = _workload(number, dice)
        meta = body["metadata"]
        yield (meta["namespace"], meta["name"]), msgspec.json.encode(body)


def cluster_queues() -> Iterator[tuple[tuple[str, str], bytes]]:
    for number in range(QUEUES):
        yield ("", f"queue-{number:04}"), msgspec.json.encode(_cluster_queue(number))


def local_queues() -> Iterator[tuple[tuple[str, str], bytes]]:
    for number in range(QUEUES):
        name = f"queue-{number:04}"
        body = {
            "metadata": {"name": name, "namespace": f"team-{number:04}", "resourceVersion": "1"},
            "spec": {"clusterQueue": name},
        }
        yield (f"team-{number:04}", name), msgspec.json.encode(body)


def _cluster_queue(number: int) -> dict[str, Any]:
    flavors = [
        {"name": f"flavor-{n}", "resources": [{"name": GPU, "nominalQuota": str(8 + number % 64)}]}
        for n in range(8)
    ]
    held = [
        {
            "name": f"flavor-{n}",
            "resources": [{"name": GPU, "total": str(number % 9), "borrowed": "0"}],
        }
        for n in range(8)
    ]
    return {
        "metadata": {"name": f"queue-{number:04}", "resourceVersion": "1"},
        "spec": {
            "cohortName": f"cohort-{number % 20}",
            "resourceGroups": [{"coveredResources": [GPU], "flavors": flavors}],
        },
        "status": {"flavorsReservation": held, "flavorsUsage": held},
    }


def _workload(number: int, dice: random.Random) -> dict[str, Any]:
    uid, job = (str(uuid.UUID(int=dice.getrandbits(128))) for _ in range(2))
    queue, pods = f"queue-{number % QUEUES:04}", 1 + number % 4
    name = f"train-{dice.choice('abcdefgh')}-{number}"
    began = _T0 + timedelta(seconds=dice.randrange(2_500_000))
    return {
        "apiVersion": "kueue.x-k8s.io/v1beta2",
        "kind": "Workload",
        "metadata": {
            "name": f"job-{name}-{uid[:5]}",
            "namespace": f"team-{number % QUEUES:04}",
            "uid": uid,
            "resourceVersion": str(number + 2),
            "creationTimestamp": _stamp(began),
            "finalizers": ["kueue.x-k8s.io/resource-in-use"],
            "labels": {"kueue.x-k8s.io/job-uid": job, "team": f"team-{number % QUEUES:04}"},
            "ownerReferences": [
                {
                    "apiVersion": "batch/v1",
                    "kind": "Job",
                    "name": name,
                    "uid": job,
                    "controller": True,
                    "blockOwnerDeletion": True,
                }
            ],
            "managedFields": [
                {
                    "manager": "kueue",
                    "operation": "Update",
                    "apiVersion": "kueue.x-k8s.io/v1beta2",
                    "time": _stamp(began),
                    "fieldsV1": {f"f:field{n}": {} for n in range(24)},
                }
            ],
        },
        "spec": {
            "active": True,
            "priority": number % 3 * 100,
            "queueName": queue,
            "podSets": [{"name": "main", "count": pods, "template": _template(number)}],
        },
        "status": _status(number, queue, pods, began, dice),
    }


def _template(number: int) -> dict[str, Any]:
    resources = {GPU: "8", "cpu": "16", "memory": "128Gi"}
    container = {
        "name": "main",
        "image": f"registry.example.com/team/train:{number}",
        "command": ["python", "-m", "train", "--config", f"configs/run-{number}.yaml"],
        "env": [{"name": f"SETTING_{n}", "value": f"value-{n}-{number}"} for n in range(12)],
        "resources": {"requests": resources, "limits": resources},
        "volumeMounts": [{"name": "data", "mountPath": "/data"}],
        "terminationMessagePath": "/dev/termination-log",
        "terminationMessagePolicy": "File",
    }
    return {
        "metadata": {"labels": {"batch.kubernetes.io/job-name": f"train-{number}"}},
        "spec": {
            "containers": [container],
            "nodeSelector": {"nvidia.com/gpu.product": "NVIDIA-H100-80GB-HBM3"},
            "tolerations": [{"key": GPU, "operator": "Exists"}],
            "restartPolicy": "Never",
            "volumes": [{"name": "data", "persistentVolumeClaim": {"claimName": f"c-{number}"}}],
            "schedulerName": "default-scheduler",
        },
    }


def _status(
    number: int, queue: str, pods: int, began: datetime, dice: random.Random
) -> dict[str, Any]:
    total = {GPU: str(8 * pods), "cpu": str(16 * pods), "memory": f"{128 * pods}Gi"}
    if number % 2:
        placed = {
            "name": "main",
            "count": pods,
            "flavors": dict.fromkeys(total, f"flavor-{number % 8}"),
            "resourceUsage": total,
        }
        at = began + timedelta(seconds=dice.randrange(9_000))
        return {
            "admission": {"clusterQueue": queue, "podSetAssignments": [placed]},
            "conditions": [
                _condition("QuotaReserved", "True", f"Quota reserved in ClusterQueue {queue}", at),
                _condition("Admitted", "True", "The workload is admitted", at),
                _condition("PodsReady", "True", "All pods are ready", at + timedelta(seconds=40)),
            ],
        }
    told = (
        "couldn't assign flavors to pod set main: insufficient unused quota for "
        f"{GPU} in flavor flavor-{number % 8}, {dice.randrange(1, 64)} more needed"
    )
    return {
        "conditions": [
            _condition("QuotaReserved", "False", told, began),
            _condition("Admitted", "False", "The workload has no reservation", began),
        ],
        "resourceRequests": [{"name": "main", "resources": total}],
    }


def _condition(type_: str, status: str, message: str, at: datetime) -> dict[str, Any]:
    reason = type_ if status == "True" else "Pending"
    return {
        "type": type_,
        "status": status,
        "reason": reason,
        "message": message,
        "lastTransitionTime": _stamp(at),
        "observedGeneration": 1,
    }


def _stamp(at: datetime) -> str:
    return at.strftime("%Y-%m-%dT%H:%M:%SZ")
