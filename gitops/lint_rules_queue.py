"""Rules 9 to 14 and 26: what else a ClusterQueue, Cohort or LocalQueue may say.

[pure]
"""

from decimal import Decimal

from gitops.lint_finding import Report, each, listed, mapping, quantity, templated
from gitops.lint_names import is_name
from gitops.lint_rules_groups import flavors, groups

_ENUMS: dict[str, tuple[str, ...]] = {
    "queueingStrategy": ("StrictFIFO", "BestEffortFIFO"),
    "stopPolicy": ("None", "Hold", "HoldAndDrain"),
    "preemption.reclaimWithinCohort": ("Never", "LowerPriority", "Any"),
    "preemption.withinClusterQueue": ("Never", "LowerPriority", "LowerOrNewerEqualPriority"),
    "preemption.borrowWithinCohort.policy": ("Never", "LowerPriority"),
    "flavorFungibility.preference": ("BorrowingOverPreemption", "PreemptionOverBorrowing"),
    "admissionScope.admissionMode": ("UsageBasedAdmissionFairSharing", "NoAdmissionFairSharing"),
    "concurrentAdmissionPolicy.migration.mode": ("TryPreferredFlavors", "RetainFirstAdmission"),
}
_FUNGIBILITY = {
    "v1beta1": ("Borrow", "Preempt", "MayStopSearch", "TryNextFlavor"),
    "v1beta2": ("MayStopSearch", "TryNextFlavor"),
}
_SELECTOR = ("In", "NotIn", "Exists", "DoesNotExist")
_OLD_ONLY = ("cohort", "admissionChecks")
_NEW_ONLY = ("cohortName",)


def enums(report: Report) -> None:
    """Rule 9 and the enums of rule 10: words that the API knows."""
    for path, allowed in _ENUMS.items():
        report.one_of("K9", f"spec.{path}", _at(report, path), allowed)
    allowed = _FUNGIBILITY["v1beta1" if _version(report) == "v1beta1" else "v1beta2"]
    for key in ("whenCanBorrow", "whenCanPreempt"):
        path = f"flavorFungibility.{key}"
        report.one_of("K9", f"spec.{path}", _at(report, path), allowed)


def selector(report: Report) -> None:
    """Rule 9: the namespace selector is a label selector."""
    path = "spec.namespaceSelector.matchExpressions"
    for below, expression in each(_at(report, "namespaceSelector.matchExpressions"), path):
        operator, values = expression.get("operator"), listed(expression.get("values"))
        report.one_of("K9", f"{below}.operator", operator, _SELECTOR)
        if operator in {"In", "NotIn"} and not values:
            message = "must be specified when `operator` is 'In' or 'NotIn'"
            report.error("K9", f"{below}.values", f"Required value: {message}")
        elif operator in {"Exists", "DoesNotExist"} and values:
            message = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"
            report.error("K9", f"{below}.values", f"Forbidden: {message}")


def preemption(report: Report) -> None:
    """Rule 10: no preemption while borrowing by a queue that never reclaims."""
    reclaim = _at(report, "preemption.reclaimWithinCohort") or "Never"
    borrow = _at(report, "preemption.borrowWithinCohort.policy") or "Never"
    if reclaim == "Never" and borrow != "Never" and not templated(borrow):
        message = "reclaimWithinCohort=Never and borrowWithinCohort.Policy!=Never"
        report.invalid("K10", "spec.preemption", "object", message)


def fungibility(report: Report) -> None:
    """Rule 11: a preference needs both whenCan fields to be TryNextFlavor."""
    preference = _at(report, "flavorFungibility.preference")
    borrow = _at(report, "flavorFungibility.whenCanBorrow") or "MayStopSearch"
    preempt = _at(report, "flavorFungibility.whenCanPreempt") or "TryNextFlavor"
    if preference and not borrow == preempt == "TryNextFlavor":
        fields = "both whenCanBorrow and whenCanPreempt are TryNextFlavor"
        message = f"preference can only be set when {fields}"
        report.invalid("K11", "spec.flavorFungibility", "object", message)


def weight(report: Report) -> None:
    """Rule 12: a fair-sharing weight is 0 or more than a billionth."""
    value = _at(report, "fairSharing.weight")
    if value is None or templated(value):
        return
    amount = quantity(value)
    if amount is None:
        report.invalid("K12", "spec.fairSharing.weight", value, "must be a quantity")
    elif amount < 0:
        message = "must be greater than or equal to 0"
        report.invalid("K12", "spec.fairSharing", str(value), message)
    elif 0 < amount <= Decimal("1e-9"):
        message = "When not 0, weight must be > 10e-9"
        report.invalid("K12", "spec.fairSharing", str(value), message)


def admission_checks(report: Report) -> None:
    """Rule 13: at most 64 checks, and only for flavors that the queue has."""
    path = "spec.admissionChecksStrategy.admissionChecks"
    checks = list(each(_at(report, "admissionChecksStrategy.admissionChecks"), path))
    if len(checks) > 64:
        report.error("K13", path, f"Too many: {len(checks)}: must have at most 64 items")
    known = [str(flavor.get("name")) for _, flavor, _ in flavors(report)]
    if any(templated(name) for name in known):
        return
    for below, check in checks:
        for position, flavor in enumerate(listed(check.get("onFlavors"))):
            report.one_of("K13", f"{below}.onFlavors[{position}]", flavor, tuple(known))


def concurrent_admission(report: Report) -> None:
    """Rule 14: what a queue with concurrent admission may be (with that gate on)."""
    policy = mapping(report.spec.get("concurrentAdmissionPolicy"))
    if not policy:
        return
    found = list(groups(report))
    if len(found) != 1:
        message = "must have exactly one ResourceGroup when ConcurrentAdmissionPolicy is defined"
        report.invalid("K14", "spec.resourceGroups", len(found), message)
    elif len(listed(found[0][1].get("flavors"))) > 16:
        message = (
            "cannot have more than 16 resource flavors in the ResourceGroup when "
            "ConcurrentAdmissionPolicy is defined"
        )
        count = len(listed(found[0][1].get("flavors")))
        report.invalid("K14", "spec.resourceGroups[0].flavors", count, message)
    if report.spec.get("queueingStrategy") == "StrictFIFO":
        message = (
            "StrictFIFO queueing strategy cannot be used when ConcurrentAdmissionPolicy is defined"
        )
        report.invalid("K14", "spec.queueingStrategy", "StrictFIFO", message)
    _constraints(report)


def version_fields(report: Report) -> None:
    """Rule 26: the fields of one version, not of the other."""
    old = _version(report) == "v1beta1"
    if report.manifest.kind != "ClusterQueue":
        return
    for key in _NEW_ONLY if old else _OLD_ONLY:
        if key in report.spec:
            report.error("K26", f"spec.{key}", f"unknown field in {_version(report)}")


def queue_reference(report: Report) -> None:
    """Rule 8 for LocalQueues: the ClusterQueue that they point to is a name."""
    target = report.spec.get("clusterQueue")
    if isinstance(target, str) and not templated(target) and not is_name(target):
        report.invalid("K8", "spec.clusterQueue", target, "must be the name of a ClusterQueue")
    report.one_of("K9", "spec.stopPolicy", report.spec.get("stopPolicy"), _ENUMS["stopPolicy"])


CLUSTER_QUEUE = (
    enums,
    selector,
    preemption,
    fungibility,
    weight,
    admission_checks,
    concurrent_admission,
    version_fields,
)
COHORT = (weight,)
LOCAL_QUEUE = (queue_reference,)


def _constraints(report: Report) -> None:
    mode = _at(report, "concurrentAdmissionPolicy.migration.mode")
    last = _at(report, "concurrentAdmissionPolicy.migration.constraints.lastAcceptableFlavorName")
    path = "spec.concurrentAdmissionPolicy.migration.constraints"
    if last is not None and mode != "TryPreferredFlavors":
        report.invalid("K14", path, last, "can only be used with the mode TryPreferredFlavors")
    known = tuple(str(flavor.get("name")) for _, flavor, _ in flavors(report))
    report.one_of("K14", f"{path}.lastAcceptableFlavorName", last, known)


def _version(report: Report) -> str:
    return str(report.manifest.data.get("apiVersion", "")).rpartition("/")[2]


def _at(report: Report, path: str) -> object:
    here: object = report.spec
    for key in path.split("."):
        here = mapping(here).get(key)
    return here
