"""The pod sets that Kueue would make of a Job, JobSet, training job, Ray job, Pod or Workload.

As Kueue's integrations do it: replicas times parallelism, head and workers, one set per role.

[pure]
"""

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import msgspec

from capacity.decode_pods import affinity, amounts, pod_requests, tolerations
from capacity.decode_wire import Quantities, Wire
from capacity.decode_workload_wire import PodSpecWire, TemplateWire, WorkloadSpecWire
from capacity.errors import UsageError
from capacity.model import PodSet

W = TypeVar("W", bound=msgspec.Struct)


class JobWire(Wire):
    """A batch Job's spec."""

    parallelism: int | None = None
    completions: int | None = None
    template: TemplateWire = msgspec.field(default_factory=TemplateWire)


class JobTemplateWire(Wire):
    """The Job in a JobSet."""

    spec: JobWire = msgspec.field(default_factory=JobWire)


class ReplicatedJobWire(Wire):
    """One role of a JobSet."""

    name: str = "job"
    replicas: int | None = None
    template: JobTemplateWire = msgspec.field(default_factory=JobTemplateWire)


class JobSetWire(Wire):
    """A JobSet's spec."""

    replicated_jobs: list[ReplicatedJobWire] = msgspec.field(default_factory=list)


class RoleWire(Wire):
    """One role of a training job, or Ray's head or workers."""

    group_name: str = ""
    replicas: int | None = None
    num_of_hosts: int | None = None
    template: TemplateWire = msgspec.field(default_factory=TemplateWire)


class RayClusterWire(Wire):
    """A RayCluster's spec."""

    head_group_spec: RoleWire = msgspec.field(default_factory=RoleWire)
    worker_group_specs: list[RoleWire] = msgspec.field(default_factory=list)


class RayJobWire(Wire):
    """A RayJob's spec."""

    ray_cluster_spec: RayClusterWire = msgspec.field(default_factory=RayClusterWire)


class PerNodeWire(Wire):
    """Resources of a node of a TrainJob."""

    requests: Quantities | None = None
    limits: Quantities | None = None


class TrainerWire(Wire):
    """The trainer of a TrainJob, where it says its size itself."""

    num_nodes: int | None = None
    resources_per_node: PerNodeWire | None = None


class TrainJobWire(Wire):
    """A TrainJob's spec."""

    trainer: TrainerWire = msgspec.field(default_factory=TrainerWire)


def pod_sets(kind: str, spec: Mapping[str, Any]) -> tuple[PodSet, ...]:
    """Return the pod sets of a spec; raises UsageError for an unknown kind or a faulty spec."""
    build = _KINDS.get(kind)
    if build is None:
        known = ", ".join(_KINDS)
        raise UsageError(f"I can't tell the size of a {kind!r}.", f"I know {known}.")
    return tuple(s for s in build(spec) if s.count > 0)


def knows(kind: object) -> bool:
    """Tell whether ``pod_sets`` knows this kind."""
    return isinstance(kind, str) and kind in _KINDS


def _read(spec: Mapping[str, Any], into: type[W]) -> W:
    try:
        return msgspec.convert(spec, into, strict=False)
    except msgspec.ValidationError as error:
        raise UsageError(f"The manifest is off: {error}.", "Mend it and ask again.") from None


def _job(spec: Mapping[str, Any]) -> list[PodSet]:
    job = _read(spec, JobWire)
    return [_set("main", _parallel(job), job.template.spec)]


def _job_set(spec: Mapping[str, Any]) -> list[PodSet]:
    roles = _read(spec, JobSetWire).replicated_jobs
    return [
        _set(
            r.name, _or_one(r.replicas) * _parallel(r.template.spec), r.template.spec.template.spec
        )
        for r in roles
    ]


def _training_job(spec: Mapping[str, Any]) -> list[PodSet]:
    found = []
    for key, roles in spec.items():
        if str(key).endswith("ReplicaSpecs") and isinstance(roles, Mapping):
            for name, role in roles.items():
                read = _read(role if isinstance(role, Mapping) else {}, RoleWire)
                found.append(_set(str(name).lower(), _or_one(read.replicas), read.template.spec))
    return found


def _ray_job(spec: Mapping[str, Any]) -> list[PodSet]:
    return _ray(_read(spec, RayJobWire).ray_cluster_spec)


def _ray_cluster(spec: Mapping[str, Any]) -> list[PodSet]:
    return _ray(_read(spec, RayClusterWire))


def _ray(cluster: RayClusterWire) -> list[PodSet]:
    workers = [
        _set(w.group_name, _or_one(w.replicas) * _or_one(w.num_of_hosts), w.template.spec)
        for w in cluster.worker_group_specs
    ]
    return [_set("head", 1, cluster.head_group_spec.template.spec), *workers]


def _train_job(spec: Mapping[str, Any]) -> list[PodSet]:
    trainer = _read(spec, TrainJobWire).trainer
    each = trainer.resources_per_node
    if trainer.num_nodes is None or each is None:
        raise UsageError(
            "This TrainJob leaves its size to its runtime, which I don't read.",
            "Say the size instead: /gpu fit 4x8 h100",
        )
    requests = amounts(each.limits) | amounts(each.requests)
    return [PodSet("node", trainer.num_nodes, requests)]


def _pod(spec: Mapping[str, Any]) -> list[PodSet]:
    return [_set("main", 1, _read(spec, PodSpecWire))]


def _workload(spec: Mapping[str, Any]) -> list[PodSet]:
    sets = _read(spec, WorkloadSpecWire).pod_sets
    return [_set(s.name, s.count, s.template.spec) for s in sets]


def _set(name: str, count: int, spec: PodSpecWire) -> PodSet:
    return PodSet(
        name or "workers",
        count,
        pod_requests(spec),
        node_selector=spec.node_selector or {},
        tolerations=tolerations(spec.tolerations),
        affinity=affinity(spec),
    )


def _parallel(job: JobWire) -> int:
    """Return how many pods run at once: Kueue counts no more than there are completions."""
    pods = _or_one(job.parallelism)
    return pods if job.completions is None else min(pods, job.completions)


def _or_one(number: int | None) -> int:
    """Return a count, 1 where none is given; two negative ones must not make a positive."""
    if number is not None and number < 0:
        raise UsageError("That job's numbers can't be right.", "Check counts and requests.")
    return 1 if number is None else number


_KINDS: dict[str, Callable[[Mapping[str, Any]], list[PodSet]]] = {
    "Job": _job,
    "JobSet": _job_set,
    "PyTorchJob": _training_job,
    "TFJob": _training_job,
    "MPIJob": _training_job,
    "JAXJob": _training_job,
    "XGBoostJob": _training_job,
    "PaddleJob": _training_job,
    "RayJob": _ray_job,
    "RayCluster": _ray_cluster,
    "TrainJob": _train_job,
    "Pod": _pod,
    "Workload": _workload,
}
