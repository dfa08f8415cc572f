"""A change of quota as a value, and objects with it applied.

[pure]
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Literal, TypeVar

from capacity.errors import UsageError
from capacity.model import ClusterQueue, Cohort, FlavorResource, Quota, ResourceGroup
from capacity.quota import Tree

Field = Literal["nominal", "borrowing", "lending"]
Owner = TypeVar("Owner", ClusterQueue, Cohort)


@dataclass(frozen=True, slots=True)
class QuotaChange:
    """One figure of one (flavor, resource) set to an amount; None takes a limit away."""

    target: str
    pair: FlavorResource
    field: Field
    amount: int | None
    kind: Literal["ClusterQueue", "Cohort"] = "ClusterQueue"


def apply_to(tree: Tree, changes: Iterable[QuotaChange]) -> None:
    """Put the changed objects into a tree.

    Raises UnknownName for an object that doesn't exist, UsageError for a pair that it doesn't list.
    """
    for change in changes:
        if change.kind == "Cohort":
            source = tree.cohort(change.target).source
            tree.put_cohort(
                changed(source if isinstance(source, Cohort) else _none(change), change)
            )
        else:
            queue = tree.cluster_queue(change.target).source
            assert isinstance(queue, ClusterQueue)
            held = tree.usage_of(tree.cluster_queue(change.target).number)
            tree.put_cluster_queue(replace(changed(queue, change), reserved=held))


def changed(owner: Owner, change: QuotaChange) -> Owner:
    """Return a ClusterQueue or Cohort with the change.

    Where an orchestrator sets the nominal quota in force (status.effectiveQuota), a changed
    nominal of the spec has no effect until it recomputes; limits are taken from the spec.
    """
    if not any(change.pair == pair for pair in _pairs(owner.resource_groups)):
        what = f"{change.pair.resource} of flavor {change.pair.flavor}"
        raise UsageError(f"{owner.name} has no quota for {what}.")
    groups = _groups(owner.resource_groups, change)
    effective = owner.effective_resource_groups
    if effective is not None and change.field != "nominal":
        effective = _groups(effective, change)
    return replace(owner, resource_groups=groups, effective_resource_groups=effective)


def _none(change: QuotaChange) -> Cohort:
    raise UsageError(f"There is no Cohort object {change.target}, so it has no quota to change.")


def _pairs(groups: tuple[ResourceGroup, ...]) -> Iterable[FlavorResource]:
    for group in groups:
        for flavor in group.flavors:
            for resource in flavor.resources:
                yield FlavorResource(flavor.name, resource)


def _groups(groups: tuple[ResourceGroup, ...], change: QuotaChange) -> tuple[ResourceGroup, ...]:
    return tuple(
        replace(
            group,
            flavors=tuple(
                replace(
                    flavor,
                    resources={
                        name: _quota(quota, change)
                        if FlavorResource(flavor.name, name) == change.pair
                        else quota
                        for name, quota in flavor.resources.items()
                    },
                )
                for flavor in group.flavors
            ),
        )
        for group in groups
    )


def _quota(quota: Quota, change: QuotaChange) -> Quota:
    if change.field == "borrowing":
        return replace(quota, borrowing_limit=change.amount)
    if change.field == "lending":
        return replace(quota, lending_limit=change.amount)
    if change.amount is None:
        raise UsageError("A nominal quota needs an amount.")
    return replace(quota, nominal=change.amount)
