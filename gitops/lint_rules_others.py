"""Rule 15: fields that can't be changed, and what flavors and topologies may say.

[pure]
"""

from collections.abc import Mapping
from typing import Any

from gitops.index_entry import Manifest
from gitops.lint_finding import Report, each, listed, mapping

_IMMUTABLE = {
    "LocalQueue": ("clusterQueue",),
    "AdmissionCheck": ("controllerName",),
    "ClusterQueue": ("concurrentAdmissionPolicy",),
    "Topology": ("levels",),
}
_FLAVOR_FIELDS = ("nodeLabels", "tolerations", "topologyName")
_EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")
_HOSTNAME = "kubernetes.io/hostname"


def immutable(report: Report, before: Manifest) -> None:
    """Compare an object with what it was: some fields stay for good."""
    old = mapping(before.data.get("spec"))
    for key in _IMMUTABLE.get(report.manifest.kind, ()):
        if old.get(key) != report.spec.get(key) and (key in old or key != "clusterQueue"):
            report.invalid("K15", f"spec.{key}", report.spec.get(key), "field is immutable")
    if report.manifest.kind == "ResourceFlavor" and old.get("topologyName"):
        for key in _FLAVOR_FIELDS:
            if old.get(key) != report.spec.get(key):
                verb = "is" if key == "topologyName" else "are"
                message = f"{key} {verb} immutable when topologyName is set"
                report.invalid("K15", "spec", "object", message)


def flavor(report: Report) -> None:
    """Check a ResourceFlavor's labels, taints and tolerations."""
    spec = report.spec
    labels = mapping(spec.get("nodeLabels"))
    if spec.get("topologyName") and not labels:
        message = "at least one nodeLabel is required when topology is set"
        report.invalid("K15", "spec", "object", message)
    for key in ("nodeLabels", "nodeTaints", "tolerations"):
        count = len(labels) if key == "nodeLabels" else len(listed(spec.get(key)))
        if count > 8:
            report.error("K15", f"spec.{key}", f"Too many: {count}: must have at most 8 items")
    _taints(report)
    for path, toleration in each(spec.get("tolerations"), "spec.tolerations"):
        _toleration(report, path, toleration)


def topology(report: Report) -> None:
    """Check a Topology's levels."""
    levels = [str(level.get("nodeLabel")) for _, level in each(report.spec.get("levels"), "")]
    if not 1 <= len(levels) <= 16:
        report.invalid("K15", "spec.levels", len(levels), "must have 1 to 16 items")
    if len(set(levels)) != len(levels):
        report.invalid("K15", "spec.levels", "array", "must be unique")
    if _HOSTNAME in levels[:-1]:
        message = f"the {_HOSTNAME} label can only be used at the lowest level of topology"
        report.invalid("K15", "spec.levels", "array", message)


def _taints(report: Report) -> None:
    seen: set[tuple[object, object]] = set()
    for path, taint in each(report.spec.get("nodeTaints"), "spec.nodeTaints"):
        pair = (taint.get("key"), taint.get("effect"))
        if pair[1] not in _EFFECTS:
            words = ", ".join(f"'{effect}'" for effect in _EFFECTS)
            message = f"supported taint effect values: {words}"
            report.invalid("K15", "spec.nodeTaints", "array", message)
        if pair in seen:
            message = "taints must be unique by key and effect pair"
            report.error("K15", path, f"Duplicate value: {message}")
        seen.add(pair)


def _toleration(report: Report, path: str, held: Mapping[str, Any]) -> None:
    operator, effect = held.get("operator"), held.get("effect")
    if operator not in {None, "Equal", "Exists"}:
        message = "supported toleration values: 'Equal'(default), 'Exists'"
        report.invalid("K15", path, str(operator), message)
    if effect is not None and effect not in _EFFECTS:
        words = ", ".join(f"'{word}'" for word in _EFFECTS)
        report.invalid("K15", path, str(effect), f"supported taint effect values: {words}")
    if not held.get("key") and operator != "Exists":
        message = "operator must be Exists when 'key' is empty"
        report.invalid("K15", path, "object", message)
    if "tolerationSeconds" in held and effect != "NoExecute":
        message = "effect must be 'NoExecute' when 'tolerationSeconds' is set"
        report.invalid("K15", path, "object", message)
    if operator == "Exists" and held.get("value"):
        message = "a value must be empty when 'operator' is 'Exists'"
        report.invalid("K15", path, "object", message)
