"""The fields of Kueue's objects that Git sets, each in one spelling: what drift compares.

Model values carry Kueue's defaults, so that a field that is left out equals its default written
down, and "8000m" equals "8". [pure]
"""

import json
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from capacity.model import (
    ClusterQueue,
    Cohort,
    LocalQueue,
    ResourceFlavor,
    ResourceGroup,
    WorkloadPriorityClass,
)
from capacity.quantity import to_text

NOT_SET = "not set"


class Field(NamedTuple):
    """A field's name as Kueue spells it; a quota's also by its flavor and resource."""

    name: str
    flavor: str = ""
    resource: str = ""

    @property
    def words(self) -> str:
        """The field for people: "h100 nvidia.com/gpu nominalQuota"."""
        return " ".join(filter(None, (self.flavor, self.resource, self.name)))


Fields = Mapping[Field, str]
Spec = ClusterQueue | Cohort | LocalQueue | ResourceFlavor | WorkloadPriorityClass


def fields_of(value: Spec) -> Fields:
    """Return what Git sets on an object, canonically spelt; what is not set is left out."""
    match value:
        case ClusterQueue():
            found = _queue(value)
        case Cohort():
            found = _cohort(value)
        case LocalQueue():
            found = {
                "clusterQueue": value.cluster_queue,
                "stopPolicy": value.stop_policy,
                "fairSharing.weight": _number(value.fair_weight),
            }
        case ResourceFlavor():
            found = {
                "nodeLabels": _mapping(value.node_labels),
                "nodeTaints": ", ".join(sorted(map(str, value.node_taints))),
                "topologyName": value.topology or "",
            }
        case WorkloadPriorityClass():
            found = {"value": str(value.value)}
    plain = {Field(name): text for name, text in found.items() if text}
    groups = value.resource_groups if isinstance(value, ClusterQueue | Cohort) else ()
    return plain | _quotas(groups)


def _queue(queue: ClusterQueue) -> dict[str, str]:
    preempt, fungible = queue.preemption, queue.flavor_fungibility
    threshold = preempt.max_priority_threshold
    selector = queue.namespace_selector
    return {
        "cohortName": queue.cohort or "",
        "queueingStrategy": queue.queueing_strategy,
        "stopPolicy": queue.stop_policy,
        "fairSharing.weight": _number(queue.fair_weight),
        "preemption.reclaimWithinCohort": preempt.reclaim_within_cohort,
        "preemption.withinClusterQueue": preempt.within_cluster_queue,
        "preemption.borrowWithinCohort.policy": preempt.borrow_within_cohort,
        "preemption.borrowWithinCohort.maxPriorityThreshold": (
            "" if threshold is None else str(threshold)
        ),
        "flavorFungibility.whenCanBorrow": fungible.when_can_borrow,
        "flavorFungibility.whenCanPreempt": fungible.when_can_preempt,
        "flavorFungibility.preference": fungible.preference or "",
        "admissionChecks": ", ".join(
            sorted(f"{c.name}{_on(c.on_flavors)}" for c in queue.admission_checks)
        ),
        "namespaceSelector": "" if selector is None else json.dumps(selector, sort_keys=True),
        "admissionScope.admissionMode": queue.admission_mode,
    }


def _cohort(cohort: Cohort) -> dict[str, str]:
    return {"parentName": cohort.parent or "", "fairSharing.weight": _number(cohort.fair_weight)}


def _quotas(groups: Iterable[ResourceGroup]) -> dict[Field, str]:
    """Return every quota and limit, and the order in which flavors are tried."""
    found: dict[Field, str] = {}
    for group in groups:
        covered = ", ".join(sorted(group.covered_resources))
        if len(group.flavors) > 1:
            order = ", ".join(flavor.name for flavor in group.flavors)
            found[Field("flavors", resource=covered)] = order
        for flavor in group.flavors:
            for resource, quota in flavor.resources.items():
                limits = {
                    "nominalQuota": quota.nominal,
                    "borrowingLimit": quota.borrowing_limit,
                    "lendingLimit": quota.lending_limit,
                }
                found |= {
                    Field(name, flavor.name, resource): to_text(resource, amount)
                    for name, amount in limits.items()
                    if amount is not None
                }
    return found


def _number(number: object) -> str:
    text = f"{number:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def _mapping(labels: Mapping[str, str]) -> str:
    return ", ".join(f"{key}={value}" for key, value in sorted(labels.items()))


def _on(flavors: Iterable[str]) -> str:
    named = sorted(flavors)
    return f" on {'+'.join(named)}" if named else ""
