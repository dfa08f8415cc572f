"""Workloads as people know them: their job's name, their gang, their cards.

[pure]
"""

from collections.abc import Iterable

from capacity.demand import reserved_by
from capacity.model import Fleet, LocalQueue, PodSet, Workload
from commands.words import card, is_gpu, number


def gang(workload: Workload) -> str:
    """Return the shape that starts at once: "2 x 8" pods by GPUs, "1 x 8 + 4 x 2", or "3 pods"."""
    shapes = [(p.count, _gpus_per_pod(p)) for p in workload.pod_sets]
    shown = [f"{pods} x {gpus}" for pods, gpus in shapes if gpus]
    if not shown:
        pods = sum(p for p, _ in shapes)
        return f"{pods} {'pod' if pods == 1 else 'pods'}"
    return " + ".join(shown)


def gpus(workload: Workload) -> int:
    """Return how many GPUs (or parts of them) it asks for at once, all pods together."""
    return sum(p.count * _gpus_per_pod(p) for p in workload.pod_sets)


def local_queue_of(workload: Workload, fleet: Fleet) -> LocalQueue | None:
    """Return the LocalQueue it names in its namespace, if that exists."""
    return fleet.local_queues.get((workload.namespace, workload.queue_name))


def held_words(workload: Workload) -> str:
    """Return what it holds in words, GPUs only if it has some: "16 H100"."""
    amounts = reserved_by(workload)
    shown = {p: n for p, n in amounts.items() if is_gpu(p.resource)} or amounts
    return ", ".join(f"{number(p.resource, n)} {card(p)}" for p, n in shown.items()) or "nothing"


def named(name: str, fleet: Fleet) -> tuple[Workload, ...]:
    """Return the workloads that a person may mean by "job" or "namespace/job", waiting first."""
    space, slash, rest = name.partition("/")
    found: Iterable[Workload] = fleet.workloads.named(rest if slash else name)
    if slash:
        found = [w for w in found if w.namespace == space]
    order = {"Pending": 0, "QuotaReserved": 1, "Admitted": 2, "Finished": 3}
    return tuple(sorted(found, key=lambda w: (order[w.status], -w.created.timestamp(), w.uid)))


def full_name(workload: Workload) -> str:
    """Return "namespace/job", which names it more surely."""
    return f"{workload.namespace}/{workload.job}"


def _gpus_per_pod(pod_set: PodSet) -> int:
    return sum(units for resource, units in pod_set.requests.items() if is_gpu(resource))
