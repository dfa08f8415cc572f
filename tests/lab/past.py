"""What the lab's queues went through in the last two weeks: finished Workloads, written back in time.

The API server dates an object when it is made; so the status is patched, and tells by its Requeued
condition since when the job waited. Made before the LocalQueues are there, so that Kueue admits none.
"""

from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from typing import Any

from bot.playground.cluster.cards import GpuNode, PodRun, all_nodes
from bot.playground.cluster.history import past, remembered
from bot.playground.cluster.job import Job
from bot.playground.cluster.workload_json import stamp, workload_json
from tests.cluster.control_plane import ControlPlane
from tests.cluster.objects import KUEUE_API

SEED = 7
WHOLE = 7
CHECKED = ("research",)  # by the seed repository


def finished_jobs(now: datetime) -> list[Job]:
    """Past jobs as the playground's: on some nodes of whole ones, on the others of less."""
    nodes = all_nodes()
    whole = [_running(node, now) for node in nodes[:WHOLE]]
    return remembered(past(nodes, whole, now, SEED), nodes, CHECKED, start=now, seed=SEED)


def _running(node: GpuNode, now: datetime) -> PodRun:
    return PodRun("research", "now-0", "now", "research", node.name, node.gpus, now, None, "", 0)


def remember(control_plane: ControlPlane, now: datetime) -> None:
    """Write all of them, a few at a time."""
    with ThreadPoolExecutor(8) as pool:
        for written in [pool.submit(_write, control_plane, job) for job in finished_jobs(now)]:
            written.result()


def _write(control_plane: ControlPlane, job: Job) -> None:
    body = workload_json(job)
    status: dict[str, Any] = body.pop("status")
    for made_by_the_server in ("uid", "creationTimestamp", "ownerReferences"):
        body["metadata"].pop(made_by_the_server)
    body["metadata"]["name"] = job.spec.name
    path = f"/apis/{KUEUE_API}/namespaces/{job.spec.queue}/workloads"
    control_plane.api.post(path, body)
    requeued = {
        "type": "Requeued",
        "status": "True",
        "reason": "QueuedAgain",
        "message": "Waited before the lab was started",
        "lastTransitionTime": stamp(job.created),
    }
    status["conditions"].append(requeued)
    control_plane.api.patch(f"{path}/{job.spec.name}/status", {"status": status})
