"""Rules 1 to 8: resource groups, quotas, limits and names of ClusterQueues and Cohorts.

Source: the CRDs' schemas and CEL, and pkg/webhooks (clusterqueue_webhook.go, cohort_webhook.go).

[pure]
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from gitops.lint_finding import Report, cohort_key, each, listed, quantity, templated
from gitops.lint_names import is_label_key, is_name
from gitops.piece import Unquoted

_GROUPS = "spec.resourceGroups"
_LIMITS = ("borrowingLimit", "lendingLimit")
_NAME_MESSAGE = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.'"
)
_LABEL_MESSAGE = "name part must consist of alphanumeric characters, '-', '_' or '.'"


def groups(report: Report) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the resource groups with their paths."""
    return each(report.spec.get("resourceGroups"), _GROUPS)


def flavors(report: Report) -> Iterator[tuple[str, Mapping[str, Any], list[Any]]]:
    """Yield the flavors with their paths and the resources that their group covers."""
    for path, group in groups(report):
        for below, flavor in each(group.get("flavors"), f"{path}.flavors"):
            yield below, flavor, listed(group.get("coveredResources"))


def quotas(report: Report) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the quotas of resources with their paths."""
    for path, flavor, _ in flavors(report):
        yield from each(flavor.get("resources"), f"{path}.resources")


def sizes(report: Report) -> None:
    """Rule 1: how many groups, resources and flavors there may be."""
    found = list(groups(report))
    _count(report, _GROUPS, len(found), 0, 16)
    for path, group in found:
        _list(report, path, "coveredResources", group)
        _list(report, path, "flavors", group)
        if report.manifest.kind == "ClusterQueue":
            total = sum(len(listed(f.get("resources"))) for _, f in each(group.get("flavors"), ""))
            limit = "number of flavor-resource combinations in a resourceGroup must be ≤ 512"
            _total(report, path, total, 512, limit)
    for path, flavor, _ in flavors(report):
        _list(report, path, "resources", flavor)
    if report.manifest.kind == "ClusterQueue":
        _totals(report, [group for _, group in found])


def covered(report: Report) -> None:
    """Rule 2: every flavor lists exactly the covered resources, in their order."""
    for path, group in groups(report):
        names = listed(group.get("coveredResources"))
        lists = [listed(flavor.get("resources")) for _, flavor in each(group.get("flavors"), "")]
        if any(isinstance(held, list) and len(held) != len(names) for held in lists) and names:
            message = "flavors must have the same number of resources as the coveredResources"
            report.invalid("K2", path, "object", message)
    for path, flavor, names in flavors(report):
        resources = list(each(flavor.get("resources"), f"{path}.resources"))
        for (below, resource), name in zip(resources, names, strict=False):
            held = resource.get("name")
            if held != name and not templated(held) and not templated(name):
                message = "must match the name in coveredResources"
                report.invalid("K2", f"{below}.name", held, message)


def unique(report: Report) -> None:
    """Rule 3: a resource is in one group, a flavor in one group and once, list keys are unique."""
    resources = [
        (f"{path}.coveredResources[{position}]", name)
        for path, group in groups(report)
        for position, name in enumerate(listed(group.get("coveredResources")))
    ]
    _duplicates(report, resources)
    _duplicates(report, ((f"{path}.name", f.get("name")) for path, f, _ in flavors(report)))
    for path, flavor, _ in flavors(report):
        held = each(flavor.get("resources"), f"{path}.resources")
        _duplicates(report, ((f"{below}.name", r.get("name")) for below, r in held))


def amounts(report: Report) -> None:
    """Rule 4: quotas and limits are quantities, and not negative."""
    for path, resource in quotas(report):
        if "nominalQuota" not in resource:
            _missing(report, f"{path}.nominalQuota")
        for key in ("nominalQuota", *_LIMITS):
            value = resource.get(key)
            if value is None or templated(value):
                continue
            amount = quantity(value)
            if amount is None:
                report.invalid(
                    "K4", f"{path}.{key}", value, "must be a quantity such as 12 or 36Gi"
                )
            elif amount < 0:
                message = "must be greater than or equal to 0"
                report.invalid("K4", f"{path}.{key}", str(value), message)


def limits_need_a_parent(report: Report) -> None:
    """Rules 5 and 6: no borrowing or lending limit without a cohort (or a parent cohort)."""
    key = cohort_key(report.manifest)
    if report.spec.get(key):
        return
    word = "parent" if report.manifest.kind == "Cohort" else "cohort"
    for path, resource in quotas(report):
        for limit, rule in zip(_LIMITS, ("K5", "K6"), strict=True):
            value = resource.get(limit)
            if value is not None:
                message = f"must be nil when {word} is empty"
                report.invalid(rule, f"{path}.{limit}", str(value), message)


def lending_within_nominal(report: Report) -> None:
    """Rule 7: a ClusterQueue lends at most its nominal quota; Cohorts may lend more."""
    if report.manifest.kind != "ClusterQueue":
        return
    for path, resource in quotas(report):
        lending, nominal = (
            quantity(resource.get("lendingLimit")),
            quantity(resource.get("nominalQuota")),
        )
        if lending is not None and nominal is not None and lending > nominal:
            message = "must be less than or equal to the nominalQuota"
            report.invalid("K7", f"{path}.lendingLimit", str(resource["lendingLimit"]), message)


def spelling(report: Report) -> None:
    """Rule 25: numbers without quotes that YAML may read as something else."""
    for path, resource in quotas(report):
        for key in ("nominalQuota", *_LIMITS):
            value = resource.get(key)
            if isinstance(value, Unquoted):
                message = f"{value} without quotes is read as {value.number}; quote it"
                report.warn("K25", f"{path}.{key}", message)


def names(report: Report) -> None:
    """Rule 8: names of objects, references and resources."""
    _name(report, "metadata.name", report.manifest.name)
    key = cohort_key(report.manifest)
    _name(report, f"spec.{key}", report.spec.get(key))
    for path, flavor, _ in flavors(report):
        _name(report, f"{path}.name", flavor.get("name"))
    for path, group in groups(report):
        for position, name in enumerate(listed(group.get("coveredResources"))):
            if isinstance(name, str) and not templated(name) and not is_label_key(name):
                at = f"{path}.coveredResources[{position}]"
                report.invalid("K8", at, name, _LABEL_MESSAGE)


RULES = (
    sizes,
    covered,
    unique,
    amounts,
    limits_need_a_parent,
    lending_within_nominal,
    names,
    spelling,
)


def _missing(report: Report, path: str) -> None:
    """A new object gets 0 from Kueue's defaulting; an update of one is refused."""
    if report.update:
        report.error("K4", path, "Required value")
    else:
        report.warn("K4", path, "is not set: Kueue takes it for 0")


def _list(report: Report, path: str, key: str, holder: Mapping[str, Any]) -> None:
    value = holder.get(key)
    at = f"{path}.{key}"
    if value is None:
        report.error("K1", at, "Required value")
    elif isinstance(value, list):
        _count(report, at, len(value), 1, 64)


def _count(report: Report, path: str, count: int, least: int, most: int) -> None:
    if count > most:
        report.error("K1", path, f"Too many: {count}: must have at most {most} items")
    elif count < least:
        message = f"should have at least {least} items"
        report.invalid("K1", path, count, message)


def _totals(report: Report, found: list[Mapping[str, Any]]) -> None:
    for key, words in (("flavors", "flavors"), ("coveredResources", "covered resources")):
        total = sum(len(listed(group.get(key))) for group in found)
        limit = f"total number of {words} across all resourceGroups must be ≤ 256"
        _total(report, _GROUPS, total, 256, limit)


def _total(report: Report, path: str, total: int, most: int, message: str) -> None:
    if total > most:
        report.invalid("K1", path, total, f"{message}, got {total}")


def _duplicates(report: Report, held: Iterable[tuple[str, object]]) -> None:
    seen: set[object] = set()
    for path, name in held:
        if name is None or templated(name) or not isinstance(name, str):
            continue
        if name in seen:
            report.error("K3", path, f'Duplicate value: "{name}"')
        seen.add(name)


def _name(report: Report, path: str, value: object) -> None:
    if isinstance(value, str) and value and not templated(value) and not is_name(value):
        report.invalid("K8", path, value, _NAME_MESSAGE)
