"""Queues, cohorts, amounts and pods as short texts.

An amount is ``flavor/resource quantity`` ("red/cpu 2500m"), several are separated by commas. A
quota is ``nominal/borrowing limit/lending limit`` ("10", "10/5", "10//4"); a resource group lists
its flavors in order of preference ("one: cpu 4, memory 1Gi | two: cpu 10").
"""

import re
from decimal import Decimal
from typing import Any

from capacity.model import (
    ClusterQueue,
    Cohort,
    FlavorQuotas,
    FlavorResource,
    PodSet,
    Quota,
    ResourceGroup,
)
from capacity.quantity import to_amount

GPU = "example.com/gpu"
_SHORT = {"gpu": GPU, **{f"vf-{n}": f"example.com/vf-{n}" for n in range(3)}}
_POD_SET = re.compile(r"(\S+?)(?: x(\d+))?: (.*)")


def pair(text: str) -> FlavorResource:
    """Return the pair of "flavor/resource"."""
    flavor, _, resource = text.partition("/")
    return FlavorResource(flavor, _SHORT.get(resource, resource))


def requests(text: str) -> dict[str, int]:
    """Return amounts by resource of "cpu 2, memory 1Gi"."""
    parts = (part.split() for part in text.split(", ") if part)
    named = ((_SHORT.get(name, name), quantity) for name, quantity in parts)
    return {name: to_amount(name, quantity) for name, quantity in named}


def amounts(text: str) -> dict[FlavorResource, int]:
    """Return amounts by pair of "red/cpu 1, blue/cpu 2500m"."""
    parts = (part.split() for part in text.split(", ") if part)
    named = ((pair(name), quantity) for name, quantity in parts)
    return {name: to_amount(name.resource, quantity) for name, quantity in named}


def by_name(**texts: str) -> dict[str, dict[FlavorResource, int]]:
    """Return amounts by node; an underscore in a name stands for a hyphen."""
    return {name.replace("_", "-"): amounts(text) for name, text in texts.items()}


def group(text: str) -> ResourceGroup:
    """Return the resource group of "one: cpu 4, memory 1Gi | two: cpu 10/5"."""
    flavors = [flavor.split(": ") for flavor in text.split(" | ")]
    built = tuple(FlavorQuotas(name, _quotas(quotas)) for name, quotas in flavors)
    return ResourceGroup(tuple(dict.fromkeys(r for f in built for r in f.resources)), built)


def queue(
    name: str, *groups: str, cohort: str = "", used: str = "", **changes: Any
) -> ClusterQueue:
    """Return a ClusterQueue; ``weight`` is its fair weight as text."""
    if "weight" in changes:
        changes["fair_weight"] = Decimal(changes.pop("weight"))
    built = tuple(map(group, groups))
    return ClusterQueue(name, cohort or None, built, reserved=amounts(used), **changes)


def cohort(name: str, *groups: str, parent: str = "", weight: str = "1") -> Cohort:
    """Return a Cohort."""
    built = tuple(map(group, groups))
    return Cohort(name, parent or None, built, fair_weight=Decimal(weight))


def pod_set(text: str, **changes: Any) -> PodSet:
    """Return the pod set of "worker x4: cpu 2, memory 1Gi" (what one pod asks for)."""
    found = _POD_SET.fullmatch(text)
    assert found, text
    return PodSet(found[1], int(found[2] or 1), requests(found[3]), **changes)


def _quotas(text: str) -> dict[str, Quota]:
    parts = (part.split() for part in text.split(", "))
    return {
        _SHORT.get(name, name): _quota(_SHORT.get(name, name), limits) for name, limits in parts
    }


def _quota(resource: str, text: str) -> Quota:
    nominal, borrowing, lending = (*text.split("/"), "", "")[:3]
    limits = [to_amount(resource, limit) if limit else None for limit in (borrowing, lending)]
    return Quota(to_amount(resource, nominal), *limits)
