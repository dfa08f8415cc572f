"""Which objects are read, and the rights that reading them needs.

``ACCESS`` is the whole of what the bot may do in a cluster; deploy/rbac.yaml is made from it.
[pure]
"""

from dataclasses import dataclass
from typing import Any

from capacity import decode
from capacity.decode import Decoder

GROUP = "kueue.x-k8s.io"
VISIBILITY_GROUP = "visibility.kueue.x-k8s.io"
VERSIONS = ("v1beta2", "v1beta1")


@dataclass(frozen=True, slots=True)
class AccessRule:
    """A rule of a ClusterRole: these verbs on these resources of this API group."""

    group: str
    resources: tuple[str, ...]
    verbs: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of object: its plural in the API, its name for people, and how it is decoded."""

    plural: str
    words: str
    decoder: Decoder[Any]


CLUSTER_QUEUES = Kind("clusterqueues", "cluster queues", decode.CLUSTER_QUEUE)
COHORTS = Kind("cohorts", "cohorts", decode.COHORT)
LOCAL_QUEUES = Kind("localqueues", "local queues", decode.LOCAL_QUEUE)
FLAVORS = Kind("resourceflavors", "resource flavors", decode.RESOURCE_FLAVOR)
PRIORITY_CLASSES = Kind("workloadpriorityclasses", "priority classes", decode.PRIORITY_CLASS)
WORKLOADS = Kind("workloads", "workloads", decode.WORKLOAD)


@dataclass(frozen=True, slots=True)
class Listed:
    """A kind that is only listed, where its controller is installed."""

    group: str
    version: str
    plural: str


KUSTOMIZATIONS = Listed("kustomize.toolkit.fluxcd.io", "v1", "kustomizations")
GIT_REPOSITORIES = Listed("source.toolkit.fluxcd.io", "v1", "gitrepositories")
APPLICATIONS = Listed("argoproj.io", "v1alpha1", "applications")
DELIVERY = (KUSTOMIZATIONS, GIT_REPOSITORIES, APPLICATIONS)

KINDS = (CLUSTER_QUEUES, COHORTS, LOCAL_QUEUES, FLAVORS, PRIORITY_CLASSES, WORKLOADS)

ACCESS = (
    AccessRule(GROUP, tuple(kind.plural for kind in KINDS), ("list", "watch")),
    AccessRule(VISIBILITY_GROUP, ("clusterqueues/pendingworkloads",), ("get",)),
    *(AccessRule(kind.group, (kind.plural,), ("list",)) for kind in DELIVERY),
)
