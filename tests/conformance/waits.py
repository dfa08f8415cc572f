"""One workload for each way to wait that a bare Kueue can be driven into, and its expected cause."""

from typing import Any

from capacity.causes import Kind
from tests.cluster.objects import GPU, cluster_queue, flavor, local_queue, namespace
from tests.conformance.live import API, FLAVOR_LABEL, NAMESPACE, Manifest, workload

TAINT = {"key": "maintenance", "value": "yes", "effect": "NoSchedule"}
CHECK = "provisioning"
HOST = "kubernetes.io/hostname"
LOWER = {"preemption": {"withinClusterQueue": "LowerPriority"}}
BEFORE = ("holder", "low", "slow", "drained", "retried", "rejected", "checked", "guest")
"""Those that get quota first; the others come when these have it."""
EXPECTED = {
    "holder": Kind.RUNNING,
    "waits": Kind.WAITING_FOR_QUOTA,
    "both-wait": Kind.WAITING_FOR_QUOTA,
    "never": Kind.EXCEEDS_MAX_QUOTA,
    "two-sets-never": Kind.EXCEEDS_MAX_QUOTA,
    "affinity": Kind.NO_MATCHING_FLAVOR,
    "tainted": Kind.NO_MATCHING_FLAVOR,
    "uncovered": Kind.NO_MATCHING_FLAVOR,
    "no-flavor": Kind.SUSPENDED,
    "stopped-queue": Kind.SUSPENDED,
    "stopped-local": Kind.SUSPENDED,
    "no-local": Kind.MISCONFIGURED,
    "no-queue": Kind.MISCONFIGURED,
    "other-namespace": Kind.MISCONFIGURED,
    "above-limit": Kind.MISCONFIGURED,
    "out-of-range": Kind.MISCONFIGURED,
    "scattered": Kind.TOPOLOGY_PLACEMENT_FAILED,
    "no-level": Kind.NO_MATCHING_FLAVOR,
    "low": Kind.EVICTING,
    "high": Kind.WAITING_FOR_PREEMPTED_WORKLOADS,
    "guest": Kind.EVICTING,
    "owner": Kind.WAITING_FOR_PREEMPTED_WORKLOADS,
    "off": Kind.DEACTIVATED,
    "slow": Kind.DEACTIVATED,
    "drained": Kind.EVICTING,
    "checked": Kind.UNSATISFIED_ADMISSION_CHECKS,
    "retried": Kind.EVICTING,
    "rejected": Kind.DEACTIVATED,
}


def world() -> list[Manifest]:
    """Flavors, queues and the admission check that the workloads below need."""
    tainted = flavor("sweep-tainted", {FLAVOR_LABEL: "sweep-tainted"})
    tainted["spec"]["nodeTaints"] = [TAINT]
    racks = flavor("sweep-racks", {FLAVOR_LABEL: "sweep-racks"})
    racks["spec"]["topologyName"] = "racks"
    levels = {"levels": [{"nodeLabel": HOST}]}
    topology = {**API, "kind": "Topology", "metadata": {"name": "racks"}, "spec": levels}
    four = {"sweep": 4}
    reclaim: dict[str, Any] = {"preemption": {"reclaimWithinCohort": "Any"}}
    checked = {"admissionChecksStrategy": {"admissionChecks": [{"name": CHECK}]}}
    labelled = {"namespaceSelector": {"matchLabels": {"team": "nobody"}}}
    queues = [
        cluster_queue("plain", four),
        cluster_queue("tainted", {"sweep-tainted": 4}),
        cluster_queue("racks", {"sweep-racks": 8}),
        cluster_queue("lost", {"sweep-nowhere": 4}),
        cluster_queue("stopped", four, stopPolicy="Hold"),
        cluster_queue("picky", four, **labelled),
        cluster_queue("ranked", four, **LOWER),
        cluster_queue("drained", four),
        cluster_queue("checked", {"sweep": 12}, **checked),
        cluster_queue("owner", four, cohort="sweep", **reclaim),
        cluster_queue("guest", {"sweep": 0}, cohort="sweep"),
    ]
    locals_ = [local_queue(q["metadata"]["name"], NAMESPACE, q["metadata"]["name"]) for q in queues]
    halted = local_queue("halted", NAMESPACE, "plain")
    halted["spec"]["stopPolicy"] = "Hold"
    spec = {"controllerName": "gpubot.test/nobody"}
    check = {**API, "kind": "AdmissionCheck", "metadata": {"name": CHECK}, "spec": spec}
    nowhere = local_queue("nowhere", NAMESPACE, "no-such-queue")
    ranged = local_queue("plain", "ranged", "plain")
    limits = {"limits": [{"type": "Container", "max": {GPU: "1"}}]}
    meta = {"name": "most", "namespace": "ranged"}
    limit_range = {"apiVersion": "v1", "kind": "LimitRange", "metadata": meta, "spec": limits}
    given = [
        namespace("ranged"),
        flavor("sweep", {FLAVOR_LABEL: "sweep"}),
        tainted,
        topology,
        racks,
        check,
    ]
    return [*given, *queues, *locals_, halted, nowhere, limit_range, ranged]


def _one(name: str, queue: str, gpus: int = 2, **more: Any) -> Manifest:
    return workload(name, queue, [(1, {GPU: str(gpus)})], **more)


def _of_two(name: str, first: int, second: int) -> Manifest:
    return workload(name, "plain", [(1, {GPU: str(first)}), (1, {GPU: str(second)})])


def workloads() -> dict[str, Manifest]:
    """Every workload of the sweep, by name."""
    found = [
        _one("holder", "plain", 4),
        _one("waits", "plain", 2),
        _of_two("both-wait", 1, 2),
        _one("never", "plain", 9),
        _of_two("two-sets-never", 3, 7),
        _one("affinity", "plain", flavor_name="elsewhere"),
        _one("tainted", "tainted"),
        workload("uncovered", "plain", [(1, {"example.com/fpga": "1"})]),
        _one("no-flavor", "lost"),
        _one("stopped-queue", "stopped"),
        _one("stopped-local", "halted"),
        _one("no-local", "no-such-local"),
        _one("no-queue", "nowhere"),
        _one("other-namespace", "picky"),
        _one("low", "ranked", 4),
        _one("high", "ranked", 3, priority=9),
        _one("guest", "guest", 4),
        _one("owner", "owner", 3),
        _one("drained", "drained"),
        *(_one(name, "checked") for name in ("checked", "retried", "rejected")),
    ]
    off, slow = _one("off", "plain", 1), _one("slow", "drained", 1)
    off["spec"]["active"] = False
    slow["spec"]["maximumExecutionTimeSeconds"] = 1
    above, outside = _one("above-limit", "plain", 3), _one("out-of-range", "plain", 3)
    _container(above)["resources"]["limits"] = {GPU: "1"}
    outside["metadata"]["namespace"] = "ranged"
    placed = [_one(name, "racks") for name in ("scattered", "no-level")]
    for each, level in zip(placed, (HOST, "example.com/rack"), strict=True):
        each["spec"]["podSets"][0]["topologyRequest"] = {"required": level}
    return {w["metadata"]["name"]: w for w in (*found, off, slow, above, outside, *placed)}


def _container(manifest: Manifest) -> Manifest:
    first: Manifest = manifest["spec"]["podSets"][0]["template"]["spec"]["containers"][0]
    return first
