"""Objects that Kueue's API server and webhooks accept or refuse, as the lint must too.

``test_lint`` compares them with the lint, ``test_lint_conformance`` with the real thing.
"""

import copy
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from gitops.index import Manifest

V2 = "kueue.x-k8s.io/v1beta2"
GPU = "nvidia.com/gpu"


@dataclass(frozen=True)
class Case:
    """An object, and the rule that refuses it ("" when it is accepted); ``before`` for updates."""

    id: str
    object: Mapping[str, Any]
    rule: str = ""
    says: str = ""
    before: Mapping[str, Any] | None = None


def manifest(data: Mapping[str, Any], place: str = "queues.yaml:1") -> Manifest:
    metadata = data["metadata"]
    return Manifest(data["kind"], metadata["name"], metadata.get("namespace", ""), data, place, "")


def queue(name: str = "q", **spec: Any) -> dict[str, Any]:
    whole = {"namespaceSelector": {}, "cohortName": "ml", "resourceGroups": [group()], **spec}
    kept = {key: value for key, value in whole.items() if value is not ...}
    return {"apiVersion": V2, "kind": "ClusterQueue", "metadata": {"name": name}, "spec": kept}


def cohort(name: str = "c", **spec: Any) -> dict[str, Any]:
    return {"apiVersion": V2, "kind": "Cohort", "metadata": {"name": name}, "spec": spec}


def local(**spec: Any) -> dict[str, Any]:
    metadata = {"name": "main", "namespace": "default"}
    return {"apiVersion": V2, "kind": "LocalQueue", "metadata": metadata, "spec": spec}


def flavor(**spec: Any) -> dict[str, Any]:
    return {"apiVersion": V2, "kind": "ResourceFlavor", "metadata": {"name": "f"}, "spec": spec}


def topology(*levels: str) -> dict[str, Any]:
    spec = {"levels": [{"nodeLabel": level} for level in levels]}
    return {"apiVersion": V2, "kind": "Topology", "metadata": {"name": "t"}, "spec": spec}


def group(*flavors: Mapping[str, Any], covers: tuple[str, ...] = (GPU,)) -> dict[str, Any]:
    return {"coveredResources": list(covers), "flavors": list(flavors) or [quotas("h100")]}


def quotas(name: str, *resources: Mapping[str, Any]) -> dict[str, Any]:
    return {"name": name, "resources": list(resources) or [quota()]}


def quota(name: str = GPU, nominal: Any = 8, **limits: Any) -> dict[str, Any]:
    return {"name": name, "nominalQuota": nominal, **limits}


def one(resource: Mapping[str, Any], **spec: Any) -> dict[str, Any]:
    return queue(resourceGroups=[group(quotas("h100", resource))], **spec)


def changed(data: Mapping[str, Any], **spec: Any) -> dict[str, Any]:
    other = copy.deepcopy(dict(data))
    other["spec"].update(spec)
    return other


NAMES = [f"example.com/r{i}" for i in range(70)]
CHECKS = {"admissionChecks": [{"name": "c", "onFlavors": ["h100"]}]}
CONCURRENT = {"migration": {"mode": "TryPreferredFlavors"}}
TAINT = {"key": "gpu", "value": "x", "effect": "NoSchedule"}

CASES = (
    Case("a plain queue", queue()),
    Case("no groups", queue(resourceGroups=...)),
    Case("16 groups", queue(resourceGroups=[group(quotas(f"f{i}", quota(NAMES[i])), covers=(NAMES[i],)) for i in range(16)])),
    Case("17 groups", queue(resourceGroups=[group(quotas(f"f{i}", quota(NAMES[i])), covers=(NAMES[i],)) for i in range(17)]), "K1", "must have at most 16 items"),
    Case("64 resources", queue(resourceGroups=[group(quotas("f", *map(quota, NAMES[:64])), covers=tuple(NAMES[:64]))])),
    Case("65 resources", queue(resourceGroups=[group(quotas("f", *map(quota, NAMES[:65])), covers=tuple(NAMES[:65]))]), "K1", "must have at most 64 items"),
    Case("65 flavors", queue(resourceGroups=[group(*(quotas(f"f{i}") for i in range(65)))]), "K1", "must have at most 64 items"),
    Case("no flavors", queue(resourceGroups=[{"coveredResources": [GPU], "flavors": []}]), "K1", "should have at least 1 items"),
    Case("no covered resources", queue(resourceGroups=[{"coveredResources": [], "flavors": [quotas("h100")]}]), "K1", "should have at least 1 items"),
    Case("flavors missing", queue(resourceGroups=[{"coveredResources": [GPU]}]), "K1", "Required value"),
    Case("resources missing", queue(resourceGroups=[{"coveredResources": [GPU], "flavors": [{"name": "h100"}]}]), "K1", "Required value"),
    Case("too many combinations", queue(resourceGroups=[group(*(quotas(f"f{i}", *map(quota, NAMES[:20])) for i in range(26)), covers=tuple(NAMES[:20]))]), "K1", "must be ≤ 512, got 520"),
    Case("512 combinations", queue(resourceGroups=[group(*(quotas(f"f{i}", *map(quota, NAMES[:16])) for i in range(32)), covers=tuple(NAMES[:16]))])),
    Case("too many flavors in all", queue(resourceGroups=[group(*(quotas(f"f{i}-{j}", quota(NAMES[i])) for j in range(60)), covers=(NAMES[i],)) for i in range(5)]), "K1", "total number of flavors"),
    Case("too many resources in all", queue(resourceGroups=[group(quotas(f"f{i}", *(quota(f"x{i}.example.com/{j}") for j in range(60))), covers=tuple(f"x{i}.example.com/{j}" for j in range(60))) for i in range(5)]), "K1", "total number of covered resources"),
    Case("fewer resources than covered", queue(resourceGroups=[group(covers=(GPU, "cpu"))]), "K2", "the same number of resources"),
    Case("more resources than covered", queue(resourceGroups=[group(quotas("h100", quota(), quota("cpu")))]), "K2", "the same number of resources"),
    Case("resources in another order", queue(resourceGroups=[group(quotas("h100", quota("cpu"), quota()), covers=(GPU, "cpu"))]), "K2", "must match the name in coveredResources"),
    Case("another resource than covered", queue(resourceGroups=[group(quotas("h100", quota("cpu")))]), "K2", "must match the name in coveredResources"),
    Case("two groups", queue(resourceGroups=[group(), group(quotas("a", quota("cpu")), covers=("cpu",))])),
    Case("a resource in two groups", queue(resourceGroups=[group(), group(quotas("a"))]), "K3", f'Duplicate value: "{GPU}"'),
    Case("a flavor in two groups", queue(resourceGroups=[group(), group(quotas("h100", quota("cpu")), covers=("cpu",))]), "K3", 'Duplicate value: "h100"'),
    Case("a flavor twice in a group", queue(resourceGroups=[group(quotas("h100"), quotas("h100"))]), "K3", 'Duplicate value: "h100"'),
    Case("a resource covered twice", queue(resourceGroups=[group(quotas("h100", quota(), quota("cpu")), covers=(GPU, GPU))]), "K3", "Duplicate value"),
    Case("zero quota", one(quota(nominal=0, borrowingLimit=0, lendingLimit=0))),
    Case("quota as text", one(quota(nominal="8"))),
    Case("quota with a suffix", queue(resourceGroups=[group(quotas("f", quota("memory", "36Gi")), covers=("memory",))])),
    Case("negative quota", one(quota(nominal=-1)), "K4", "must be greater than or equal to 0"),
    Case("negative borrowing limit", one(quota(borrowingLimit=-1)), "K4", "must be greater than or equal to 0"),
    Case("negative lending limit", one(quota(lendingLimit=-1)), "K4", "must be greater than or equal to 0"),
    Case("quota that is no quantity", one(quota(nominal="eight")), "K4", "must be a quantity"),
    Case("quota missing in a new queue", one({"name": GPU})),
    Case("quota taken away", one({"name": GPU}), "K4", "Required value", before=queue()),
    Case("borrowing limit in a cohort", one(quota(borrowingLimit=4))),
    Case("borrowing limit without a cohort", one(quota(borrowingLimit=4), cohortName=...), "K5", "must be nil when cohort is empty"),
    Case("lending limit in a cohort", one(quota(lendingLimit=4))),
    Case("lending limit without a cohort", one(quota(lendingLimit=4), cohortName=...), "K6", "must be nil when cohort is empty"),
    Case("lending all", one(quota(lendingLimit=8))),
    Case("lending more than nominal", one(quota(lendingLimit=9)), "K7", "must be less than or equal to the nominalQuota"),
    Case("lending compared by value", one(quota(nominal="8000m", lendingLimit="8"))),
    Case("a cohort lending more than its own", cohort(parentName="top", resourceGroups=[group(quotas("h100", quota(lendingLimit=90)))])),
    Case("a cohort with a limit and no parent", cohort(resourceGroups=[group(quotas("h100", quota(borrowingLimit=1)))]), "K5", "must be nil when parent is empty"),
    Case("a cohort lending without a parent", cohort(resourceGroups=[group(quotas("h100", quota(lendingLimit=1)))]), "K6", "must be nil when parent is empty"),
    Case("a plain cohort", cohort()),
    Case("a cohort with a negative quota", cohort(resourceGroups=[group(quotas("h100", quota(nominal=-1)))]), "K4", "must be greater than or equal to 0"),
    Case("a dotted name", queue("a.b-c.d")),
    Case("upper case in the cohort's name", queue(cohortName="ML"), "K8", "RFC 1123"),
    Case("underscore in a flavor's name", queue(resourceGroups=[group(quotas("h_100"))]), "K8", "RFC 1123"),
    Case("a long cohort name", queue(cohortName="a" * 254), "K8", "RFC 1123"),
    Case("a resource name that is no label key", queue(resourceGroups=[group(quotas("f", quota("gpu!")), covers=("gpu!",))]), "K8", "name part"),
    Case("upper case in a parent's name", cohort(parentName="Top"), "K8", "RFC 1123"),
    Case("strict FIFO", queue(queueingStrategy="StrictFIFO")),
    Case("an unknown strategy", queue(queueingStrategy="FIFO"), "K9", 'supported values: "StrictFIFO", "BestEffortFIFO"'),
    Case("on hold", queue(stopPolicy="Hold")),
    Case("an unknown stop policy", queue(stopPolicy="Stop"), "K9", "supported values"),
    Case("a selector by labels", queue(namespaceSelector={"matchExpressions": [{"key": "team", "operator": "In", "values": ["a"]}]})),
    Case("a selector with an unknown operator", queue(namespaceSelector={"matchExpressions": [{"key": "team", "operator": "Is", "values": ["a"]}]}), "K9", "supported values"),
    Case("a selector In nothing", queue(namespaceSelector={"matchExpressions": [{"key": "team", "operator": "In"}]}), "K9", "must be specified"),
    Case("a selector Exists with values", queue(namespaceSelector={"matchExpressions": [{"key": "team", "operator": "Exists", "values": ["a"]}]}), "K9", "may not be specified"),
    Case("reclaiming and borrowing", queue(preemption={"reclaimWithinCohort": "Any", "borrowWithinCohort": {"policy": "LowerPriority"}})),
    Case("borrowing without reclaiming", queue(preemption={"reclaimWithinCohort": "Never", "borrowWithinCohort": {"policy": "LowerPriority"}}), "K10", "reclaimWithinCohort=Never and borrowWithinCohort.Policy!=Never"),
    Case("borrowing with reclaiming by default", queue(preemption={"borrowWithinCohort": {"policy": "LowerPriority"}}), "K10", "reclaimWithinCohort=Never"),
    Case("an unknown reclaim policy", queue(preemption={"reclaimWithinCohort": "Always"}), "K9", "supported values"),
    Case("an unknown preemption within the queue", queue(preemption={"withinClusterQueue": "Any"}), "K9", "supported values"),
    Case("a preference with both", queue(flavorFungibility={"whenCanBorrow": "TryNextFlavor", "whenCanPreempt": "TryNextFlavor", "preference": "BorrowingOverPreemption"})),
    Case("a preference alone", queue(flavorFungibility={"preference": "BorrowingOverPreemption"}), "K11", "preference can only be set"),
    Case("an old fungibility word", queue(flavorFungibility={"whenCanBorrow": "Borrow"}), "K9", "supported values"),
    Case("weight zero", queue(fairSharing={"weight": "0"})),
    Case("weight a half", queue(fairSharing={"weight": "500m"})),
    Case("negative weight", queue(fairSharing={"weight": -1}), "K12", "must be greater than or equal to 0"),
    Case("weight a billionth", queue(fairSharing={"weight": "1n"}), "K12", "weight must be > 10e-9"),
    Case("a cohort's weight", cohort(fairSharing={"weight": "1n"}), "K12", "weight must be > 10e-9"),
    Case("checks for a flavor", queue(admissionChecksStrategy=CHECKS)),
    Case("checks for an unknown flavor", queue(admissionChecksStrategy={"admissionChecks": [{"name": "c", "onFlavors": ["a100"]}]}), "K13", 'supported values: "h100"'),
    Case("65 checks", queue(admissionChecksStrategy={"admissionChecks": [{"name": f"c{i}"} for i in range(65)]}), "K13", "must have at most 64 items"),
    Case("admission by usage", queue(admissionScope={"admissionMode": "UsageBasedAdmissionFairSharing"})),
    Case("an unknown admission mode", queue(admissionScope={"admissionMode": "Fair"}), "K9", "supported values"),
    Case("concurrent admission taken away", queue(), "K15", "field is immutable", before=queue(concurrentAdmissionPolicy=CONCURRENT)),
    Case("moved to another cohort", queue(cohortName="other"), before=queue()),
    Case("a flavor removed that a check is for", queue(resourceGroups=[group(quotas("a100"))], admissionChecksStrategy=CHECKS), "K13", "supported values", before=queue(admissionChecksStrategy=CHECKS)),
    Case("a local queue", local(clusterQueue="q")),
    Case("a local queue to a bad name", local(clusterQueue="Q"), "K8", "name of a ClusterQueue"),
    Case("a local queue with an unknown stop policy", local(clusterQueue="q", stopPolicy="Off"), "K9", "supported values"),
    Case("a local queue that moves", local(clusterQueue="r"), "K15", "field is immutable", before=local(clusterQueue="q")),
    Case("a flavor", flavor(nodeLabels={"pool": "a"}, nodeTaints=[TAINT], tolerations=[{"key": "gpu", "operator": "Exists"}])),
    Case("nine labels", flavor(nodeLabels={f"l{i}": "x" for i in range(9)}), "K15", "must have at most 8 items"),
    Case("nine taints", flavor(nodeTaints=[{**TAINT, "key": f"k{i}"} for i in range(9)]), "K15", "must have at most 8 items"),
    Case("a taint twice", flavor(nodeTaints=[TAINT, {**TAINT, "value": "y"}]), "K15", "unique by key and effect"),
    Case("an unknown taint effect", flavor(nodeTaints=[{**TAINT, "effect": "Never"}]), "K15", "supported taint effect values"),
    Case("an unknown toleration operator", flavor(tolerations=[{"key": "a", "operator": "Is"}]), "K15", "supported toleration values"),
    Case("a toleration of everything", flavor(tolerations=[{"operator": "Exists"}])),
    Case("a toleration without key or operator", flavor(tolerations=[{"value": "x"}]), "K15", "operator must be Exists"),
    Case("an existing toleration with a value", flavor(tolerations=[{"key": "a", "operator": "Exists", "value": "b"}]), "K15", "value must be empty"),
    Case("seconds without NoExecute", flavor(tolerations=[{"key": "a", "operator": "Exists", "effect": "NoSchedule", "tolerationSeconds": 5}]), "K15", "must be 'NoExecute'"),
    Case("a topology without labels", flavor(topologyName="t"), "K15", "at least one nodeLabel is required"),
    Case("a topology taken away", flavor(nodeLabels={"a": "b"}), "K15", "topologyName is immutable", before=flavor(nodeLabels={"a": "b"}, topologyName="t")),
    Case("labels of a topology's flavor", flavor(nodeLabels={"a": "c"}, topologyName="t"), "K15", "nodeLabels are immutable", before=flavor(nodeLabels={"a": "b"}, topologyName="t")),
    Case("a topology", topology("block", "rack", "kubernetes.io/hostname")),
    Case("a level twice", topology("block", "block"), "K15", "must be unique"),
    Case("the host above", topology("kubernetes.io/hostname", "rack"), "K15", "lowest level"),
    Case("17 levels", topology(*(f"l{i}" for i in range(17))), "K15", "1 to 16"),
    Case("levels that change", topology("block", "rack"), "K15", "field is immutable", before=topology("block")),
)  # fmt: skip
