"""Small trees written as Kueue's own tests write them: ("nominal", "borrowing", "lending") texts."""

from collections.abc import Mapping
from decimal import Decimal

from capacity.model import ClusterQueue, Cohort, FlavorQuotas, FlavorResource, Quota, ResourceGroup
from capacity.quantity import to_amount

CPU = "cpu"
GPU = "example.com/gpu"

Texts = tuple[str, ...]
Spec = Mapping[tuple[str, str], Texts]


def pair(flavor: str, resource: str = CPU) -> FlavorResource:
    return FlavorResource(flavor, resource)


def cpu(**flavors: Texts | str) -> dict[tuple[str, str], Texts]:
    """cpu quotas by flavor: cpu(red="10") or cpu(red=("10", "", "5"))."""
    return {(f, CPU): (t,) if isinstance(t, str) else t for f, t in flavors.items()}


def quota(resource: str, texts: Texts) -> Quota:
    nominal, borrowing, lending = (*texts, "", "")[:3]
    limits = [to_amount(resource, text) if text else None for text in (borrowing, lending)]
    return Quota(to_amount(resource, nominal), *limits)


def groups(spec: Spec) -> tuple[ResourceGroup, ...]:
    return tuple(
        ResourceGroup((resource,), (FlavorQuotas(flavor, {resource: quota(resource, texts)}),))
        for (flavor, resource), texts in spec.items()
    )


def queue(
    name: str,
    cohort: str | None,
    spec: Spec,
    reserved: Mapping[FlavorResource, int] | None = None,
    weight: str = "1",
) -> ClusterQueue:
    return ClusterQueue(
        name,
        cohort,
        groups(spec),
        reserved=dict(reserved or {}),
        fair_weight=Decimal(weight),
    )


def cohort(
    name: str, parent: str | None = None, spec: Spec | None = None, weight: str = "1"
) -> Cohort:
    return Cohort(name, parent, groups(spec or {}), fair_weight=Decimal(weight))
