"""Where the fields of capacity policy are within an object, by kind.

[pure]
"""

from difflib import get_close_matches
from typing import NamedTuple

from capacity.errors import Refused, UnknownName
from gitops.index_entry import Wanted
from gitops.manifest import ValueKind
from gitops.piece import Piece

_KINDS: dict[str, ValueKind] = {
    "nominalQuota": "quantity",
    "borrowingLimit": "quantity",
    "lendingLimit": "quantity",
    "weight": "quantity",
    "replicas": "integer",
    "value": "integer",
}
_COHORT_FIELDS = {"cohort", "cohortName"}


class Field(NamedTuple):
    """The mapping that holds a field, the field's key there, and how its values are spelt."""

    owner: Piece
    key: str
    kind: ValueKind


def field_of(kind: str, whole: Piece, fields: Piece, wanted: Wanted) -> Field:
    """Find the mapping and key of a field; raises UnknownName, or Refused where there is none."""
    if kind in {"ClusterQueue", "Cohort"} and wanted.flavor:
        return Field(_quota(fields, wanted), wanted.field, _kind(wanted.field))
    if kind == "QuotaList":
        return Field(_item(fields.items(), "resource", wanted.resource), wanted.field, "quantity")
    if kind == "TimeSlicing":
        items = fields.items("timeSlicing", "resources")
        return Field(_item(items, "resource", wanted.resource), wanted.field, "integer")
    if kind == "MigConfig":
        return Field(_mig_devices(fields, wanted), wanted.resource, "integer")
    if wanted.field in _COHORT_FIELDS and kind == "ClusterQueue":
        old = whole.text("apiVersion").endswith("v1beta1") or fields.get("cohort") is not None
        return Field(fields, "cohort" if old else "cohortName", "text")
    return _dotted(whole if kind == "WorkloadPriorityClass" else fields, wanted.field)


def _dotted(fields: Piece, field: str) -> Field:
    *above, key = field.split(".")
    owner = fields.get(*above)
    if owner is None or not isinstance(owner.value, dict):
        raise Refused(
            f"There is no {'.'.join(above) or 'spec'} to put {key} in.", "Add it by hand."
        )
    return Field(owner, key, _kind(key))


def _quota(fields: Piece, wanted: Wanted) -> Piece:
    flavors = [
        flavor for group in fields.items("resourceGroups") for flavor in group.items("flavors")
    ]
    flavor = _item(flavors, "flavor", wanted.flavor)
    resources = flavor.get("resources")
    if resources is not None and not isinstance(resources.value, list):
        raise Refused(
            f"The resources of flavor {wanted.flavor} come from a template "
            f"({str(resources.value)[:60]}).",
            "Edit the value where the template gets it from.",
        )
    return _item(flavor.items("resources"), "resource", wanted.resource)


def _mig_devices(fields: Piece, wanted: Wanted) -> Piece:
    configs = fields.entries("mig-configs")
    if wanted.flavor not in configs:
        raise _unknown("MIG configuration", wanted.flavor, list(configs))
    found = [
        devices
        for item in configs[wanted.flavor].items()
        if (devices := item.get("mig-devices")) is not None
        and isinstance(devices.value, dict)
        and wanted.resource in devices.value
    ]
    if len(found) != 1:
        raise Refused(
            f"{wanted.flavor} has the profile {wanted.resource} {len(found)} times.",
            "Edit it by hand.",
        )
    return found[0]


def _item(items: list[Piece], what: str, name: str) -> Piece:
    found = [item for item in items if item.text("name") == name]
    if len(found) == 1:
        return found[0]
    if found:
        raise Refused(f"The {what} {name} is there {len(found)} times.", "Remove one by hand.")
    raise _unknown(what, name, [item.text("name") for item in items])


def _unknown(what: str, name: str, known: list[str]) -> UnknownName:
    return UnknownName(what, name, tuple(get_close_matches(name, known, 3, 0.5)))


def _kind(key: str) -> ValueKind:
    return _KINDS.get(key, "text")
