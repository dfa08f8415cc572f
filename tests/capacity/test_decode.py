"""Kueue's JSON becomes the model's values, whichever of its API versions it comes in."""

import json
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import msgspec
import pytest

from capacity import decode
from capacity.errors import UsageError
from capacity.model import AdmissionCheckRule, FlavorResource, Owner, Quota
from capacity.placement import Requirement, Toleration

GOLDEN = Path(__file__).resolve().parent.parent / "golden" / "kueue"
H100 = FlavorResource("h100", "nvidia.com/gpu")


def golden(name: str) -> bytes:
    return (GOLDEN / f"{name}.json").read_bytes()


def workload_json(**spec: Any) -> dict[str, Any]:
    pod = spec.pop("pod", {"containers": [{"resources": {"requests": {"nvidia.com/gpu": "1"}}}]})
    status = spec.pop("status", {})
    count = spec.pop("count", 1)
    return {
        "metadata": {"name": "w", "namespace": "n", "uid": "u"},
        "spec": {
            "queueName": "q",
            "podSets": [{"name": "main", "count": count, "template": {"spec": pod}}],
            **spec,
        },
        "status": status,
    }


def requests_of(wire: dict[str, Any]) -> dict[str, int]:
    return dict(decode.workload(json.dumps(wire).encode()).pod_sets[0].requests)


@pytest.mark.parametrize("kind", ["clusterqueue", "workload"])
def test_both_api_versions_of_an_object_become_the_same_value(kind: str) -> None:
    read = {"clusterqueue": decode.cluster_queue, "workload": decode.workload}[kind]
    assert read(golden(f"{kind}-v1beta1")) == read(golden(f"{kind}-v1beta2"))


def test_a_cluster_queue_is_read_whole() -> None:
    queue = decode.cluster_queue(golden("clusterqueue-v1beta2"))
    gpus = queue.resource_groups[1]
    assert (queue.name, queue.cohort, queue.generation) == ("research", "ml", 7)
    assert gpus.flavors[0].resources == {"nvidia.com/gpu": Quota(32, 16, None)}
    assert gpus.flavors[1].resources == {"nvidia.com/gpu": Quota(8, None, 4)}
    assert queue.resource_groups[0].flavors[0].resources["cpu"] == Quota(12_500)
    assert queue.resource_groups[0].flavors[0].resources["memory"] == Quota(36 * 2**30, 0)
    assert queue.reserved[H100] == 44
    assert queue.reported_borrowed[H100] == 12
    assert queue.admitted == {H100: 42}
    assert queue.fair_weight == Decimal("1.5")
    assert queue.weighted_share == 167
    assert queue.stop_policy == "Hold"
    assert queue.admission_checks == (AdmissionCheckRule("capacity-check"),)
    assert queue.preemption.max_priority_threshold == 100
    assert queue.namespace_selector == {"matchLabels": {"team": "research"}}
    assert (queue.pending_workloads, queue.reserving_workloads, queue.admitted_workloads) == (
        5,
        6,
        5,
    )
    assert queue.conditions[0].reason == "Stopped"


def test_kubectls_copy_of_the_manifest_is_not_kept() -> None:
    queue = decode.cluster_queue(golden("clusterqueue-v1beta2"))
    assert list(queue.annotations) == ["argocd.argoproj.io/tracking-id"]


def test_an_effective_quota_stands_beside_the_spec() -> None:
    wire = json.loads(golden("clusterqueue-v1beta2"))
    groups = [
        {
            "coveredResources": ["nvidia.com/gpu"],
            "flavors": [
                {"name": "h100", "resources": [{"name": "nvidia.com/gpu", "nominalQuota": "20"}]}
            ],
        }
    ]
    wire["status"]["effectiveQuota"] = {"resourceGroups": groups}
    queue = decode.cluster_queue(json.dumps(wire).encode())
    assert queue.effective_resource_groups is not None
    assert queue.effective_resource_groups[0].flavors[0].resources["nvidia.com/gpu"].nominal == 20
    assert queue.resource_groups[1].flavors[0].resources["nvidia.com/gpu"].nominal == 32


def test_a_bare_cluster_queue_gets_kueues_defaults() -> None:
    queue = decode.cluster_queue(b'{"metadata": {"name": "bare"}}')
    assert queue.queueing_strategy == "BestEffortFIFO"
    assert queue.namespace_selector is None
    assert queue.cohort is None
    assert queue.fair_weight == 1
    assert queue.preemption.reclaim_within_cohort == "Never"


def test_a_workload_is_read_whole() -> None:
    found = decode.workload(golden("workload-v1beta2"))
    pods = found.pod_sets[0]
    assert found.job == "llm-ft-7"
    assert found.owner == Owner("JobSet", "llm-ft-7", "7f0a6f0b-53b3-4e37-8f2b-8d6f0c1f2b11")
    assert found.created == datetime(2026, 12, 1, 13, 22, 12, tzinfo=UTC)
    assert (found.priority, found.priority_class) == (100, "research-high")
    assert (found.requeue_count, found.max_execution_seconds) == (3, 86_400)
    assert found.requeue_at == datetime(2026, 12, 1, 14, 10, tzinfo=UTC)
    assert found.past_execution_seconds == 420
    assert found.admission_gated_by == "example.com/budget"
    assert found.reclaimable == {"worker": 1}
    assert found.evictions == (("Preempted", 2), ("DeactivatedDueToRequeuingLimitExceeded", 1))
    assert (found.admission_checks[0].state, found.admission_checks[0].retries) == ("Retry", 3)
    assert found.status == "Pending"
    assert (pods.count, pods.min_count, pods.topology) == (2, 1, "required cloud.example.com/rack")
    assert pods.node_selector == {"nvidia.com/gpu.product": "NVIDIA-H100-80GB-HBM3"}
    assert pods.requests == {"nvidia.com/gpu": 8, "cpu": 1_900, "memory": 128 * 2**30}


def test_where_pods_may_go_is_read() -> None:
    terms = [
        {"matchExpressions": [{"key": "zone", "operator": "In", "values": ["a", "b"]}]},
        {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n"]}]},
    ]
    required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}
    spec = {
        "containers": [],
        "tolerations": [{"key": "spot", "operator": "Exists", "tolerationSeconds": 5}],
        "affinity": {"nodeAffinity": required, "podAffinity": {}},
    }
    grouped = {"template": {"spec": spec}, "topologyRequest": {"podSetGroupName": "g"}}
    raw = {
        "metadata": {
            "name": "w",
            "annotations": {"kueue.x-k8s.io/workload-slice-replacement-for": "ns/old"},
        },
        "spec": {"podSets": [{"name": "a", **grouped}, {"name": "b"}]},
    }
    found = decode.workload(json.dumps(raw).encode())
    first, second = found.pod_sets
    assert first.tolerations == (Toleration("spot", "Exists"),)
    assert first.affinity == ((Requirement("zone", "In", ("a", "b")),), ())
    assert (first.group, first.topology, found.replaces) == ("g", None, "ns/old")
    assert (second.tolerations, second.affinity, second.group) == ((), (), None)


def test_kueues_own_figures_win_over_the_template() -> None:
    waiting = {"resourceRequests": [{"name": "main", "resources": {"example.com/credits": "160"}}]}
    assert requests_of(workload_json(count=2, status=waiting)) == {"example.com/credits": 80}
    placed = {
        "name": "main",
        "count": 2,
        "flavors": {"nvidia.com/gpu": "h100"},
        "resourceUsage": {"nvidia.com/gpu": "6"},
    }
    held = {"admission": {"clusterQueue": "q", "podSetAssignments": [placed]}}
    assert requests_of(workload_json(count=2, status=held)) == {"nvidia.com/gpu": 3}


def test_a_total_that_does_not_divide_leaves_the_template_to_tell() -> None:
    odd = {"resourceRequests": [{"name": "main", "resources": {"nvidia.com/gpu": "5"}}]}
    assert requests_of(workload_json(count=2, status=odd)) == {"nvidia.com/gpu": 1}


def test_limits_stand_in_for_missing_requests() -> None:
    pod = {"containers": [{"resources": {"limits": {"nvidia.com/gpu": 4, "cpu": "2"}}}]}
    assert requests_of(workload_json(pod=pod)) == {"nvidia.com/gpu": 4, "cpu": 2_000}


def test_pod_level_requests_replace_the_sum_of_the_containers() -> None:
    pod = {
        "containers": [{"resources": {"requests": {"cpu": "1", "nvidia.com/gpu": "1"}}}],
        "resources": {"requests": {"cpu": "3"}},
    }
    assert requests_of(workload_json(pod=pod)) == {"cpu": 3_000, "nvidia.com/gpu": 1}


def test_the_noted_owner_is_the_one_that_a_person_submitted() -> None:
    wire = workload_json()
    wire["metadata"]["ownerReferences"] = [
        {"kind": "Pod", "name": "serve-0", "uid": "p0", "controller": True},
        {"kind": "StatefulSet", "name": "serve", "uid": "s0"},
    ]
    wire["metadata"]["annotations"] = {
        "kueue.x-k8s.io/job-owner-name": "serve",
        "kueue.x-k8s.io/job-owner-gvk": "apps/v1, Kind=StatefulSet",
    }
    found = decode.workload(json.dumps(wire).encode())
    assert found.owner == Owner("StatefulSet", "serve", "s0")


def test_workloads_of_one_shape_share_their_parts() -> None:
    wire = json.dumps(workload_json(count=2)).encode()
    one, other = decode.workload(wire), decode.workload(wire)
    assert one.pod_sets is other.pod_sets
    assert one.queue_name is other.queue_name


def test_local_queues_cohorts_flavors_and_classes_are_read() -> None:
    queue = decode.local_queue(
        b'{"metadata":{"name":"a","namespace":"t"},"spec":{"clusterQueue":"c"},"status":'
        b'{"pendingWorkloads":2,"flavorUsage":[{"name":"h100","resources":[{"name":'
        b'"nvidia.com/gpu","total":"4"}]}],"fairSharing":{"weightedShare":0,'
        b'"admissionFairSharingStatus":{"consumedResources":{"cpu":"1500m"}}}}}'
    )
    assert (queue.cluster_queue, queue.pending_workloads) == ("c", 2)
    assert queue.admitted == {H100: 4}
    assert queue.consumed == {"cpu": 1_500}
    cohort = decode.cohort(b'{"metadata":{"name":"a"},"spec":{"parentName":"org"}}')
    assert cohort.parent == "org"
    flavor = decode.resource_flavor(
        b'{"metadata":{"name":"h100"},"spec":{"nodeLabels":{"gpu":"h100"},"topologyName":"t",'
        b'"nodeTaints":[{"key":"gpu","value":"h100","effect":"NoSchedule"},'
        b'{"key":"spot","effect":"NoSchedule"}],"tolerations":[{"key":"gpu","operator":"Exists"}]}}'
    )
    assert flavor.tolerations == (Toleration("gpu", "Exists"),)
    assert [*map(str, flavor.node_taints)] == ["gpu=h100:NoSchedule", "spot:NoSchedule"]
    assert (flavor.topology, flavor.node_labels) == ("t", {"gpu": "h100"})
    klass = decode.priority_class(b'{"metadata":{"name":"high"},"value":100,"description":"d"}')
    assert (klass.name, klass.value) == ("high", 100)


def test_a_page_names_what_it_can_not_read_and_keeps_the_rest() -> None:
    good = {"metadata": {"name": "good"}}
    odd = {"metadata": {"name": "odd"}, "spec": {"resourceGroups": "none"}}
    worse = {"metadata": {"name": "worse"}, "spec": {"fairSharing": {"weight": "heavy"}}}
    raw = {"metadata": {"resourceVersion": "9", "continue": "c"}, "items": [odd, good, worse]}
    page = decode.CLUSTER_QUEUE.page(json.dumps(raw).encode())
    meta = decode.list_meta(json.dumps(raw).encode())
    assert [q.name for q in page.values] == ["good"]
    assert [told.partition(":")[0] for told in page.unreadable] == ["odd", "worse"]
    assert (meta.resource_version, meta.continue_token) == ("9", "c")


def test_watch_events_are_told_apart() -> None:
    read = decode.COHORT.event
    added = read(b'{"type":"ADDED","object":{"metadata":{"name":"a","resourceVersion":"5"}}}')
    assert (added.type, added.resource_version) == ("ADDED", "5")
    assert added.value is not None
    assert added.value.name == "a"
    mark = read(b'{"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"8"}}}')
    assert (mark.type, mark.value, mark.resource_version) == ("BOOKMARK", None, "8")
    gone = read(b'{"type":"ERROR","object":{"kind":"Status","code":410,"message":"too old"}}')
    assert (gone.type, gone.code, gone.message) == ("ERROR", 410, "too old")


def test_a_cut_line_is_an_error_and_not_an_empty_event() -> None:
    with pytest.raises(msgspec.DecodeError):
        decode.COHORT.event(b'{"type":"ADDED","object":{"metadata":{"na')


def test_a_quantity_that_is_none_is_refused() -> None:
    with pytest.raises(UsageError):
        decode.cluster_queue(b'{"metadata":{"name":"a"},"spec":{"fairSharing":{"weight":"x"}}}')


@pytest.mark.shared
@pytest.mark.parametrize("name", ["01-base-gate-on", "02-after-reclaim", "03-stop-and-cut"])
def test_what_a_real_controller_wrote_is_read(shared: Path, name: str) -> None:
    dump = json.loads((shared / "fixtures" / "kueue" / f"{name}.json").read_bytes())
    readers: dict[str, decode.Decoder[Any]] = {
        "ClusterQueue": decode.CLUSTER_QUEUE,
        "Cohort": decode.COHORT,
        "LocalQueue": decode.LOCAL_QUEUE,
        "ResourceFlavor": decode.RESOURCE_FLAVOR,
        "Workload": decode.WORKLOAD,
    }
    found: dict[str, list[Any]] = {}
    for item in dump["items"]:
        value = readers[item["kind"]].one(json.dumps(item).encode())
        found.setdefault(item["kind"], []).append(value)
    for queue in found["ClusterQueue"]:
        held = [
            a.usage["nvidia.com/gpu"]
            for w in found["Workload"]
            if w.is_true("QuotaReserved") and w.admission.cluster_queue == queue.name
            for a in w.admission.assignments
        ]
        assert sum(held) == queue.reserved[H100]
        assert len(held) == queue.reserving_workloads
