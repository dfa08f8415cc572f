"""Queues that are not objects of their own: lists in values files, wrapper resources, payloads.

What makes a mapping a queue is its ``resourceGroups``; its name stands beside or around it.

[pure]
"""

from gitops.manifest_pointer import Inside
from gitops.piece import Piece

_LISTS = {"localQueues": "LocalQueue", "resourceFlavors": "ResourceFlavor"}
_NO_NAMES = frozenset({"spec", "values", "config", "kueue", "data", "clusterQueue", "template"})


def wrapped(piece: Piece) -> tuple[str, str, Piece] | None:
    """Return kind, name and the mapping with the fields, if the piece is such a thing."""
    if not isinstance(piece.value, dict):
        return None
    if isinstance(piece.get("resourceGroups"), Piece) and piece.items("resourceGroups"):
        kind = "Cohort" if _under(piece, "cohorts", "cohort") else "ClusterQueue"
        return kind, _name(piece), piece
    if piece.items("timeSlicing", "resources"):
        return "TimeSlicing", payload_name(piece), piece
    if piece.entries("mig-configs"):
        return "MigConfig", payload_name(piece), piece
    parent = piece.parent
    if (
        parent is not None
        and isinstance(parent.step, str)
        and (kind := _LISTS.get(parent.step, ""))
    ):
        return kind, piece.text("name"), piece
    if piece.step == "driver" and piece.text("version"):
        return "DriverValues", payload_name(piece), piece
    return None


def quota_list(piece: Piece) -> bool:
    """Tell whether a piece is a bare list of quotas, which a policy turns into a queue."""
    return bool(piece.items()) and all(item.get("nominalQuota") for item in piece.items())


def payload_name(piece: Piece) -> str:
    """Return the object's name and the key that hold a payload (``device-plugin/a100``)."""
    name = piece.root.text("metadata", "name")
    here = piece
    while here.parent is not None and not isinstance(here.step, Inside):
        here = here.parent
    key = here.parent.step if here.parent is not None else ""
    return "/".join(part for part in (name, key) if isinstance(part, str) and part)


def _under(piece: Piece, *keys: str) -> bool:
    here: Piece | None = piece
    while here is not None:
        if here.step in keys:
            return True
        here = here.parent
    return False


def _name(piece: Piece) -> str:
    """Find the name of the queue whose mapping this is: its own, its parent's, or its key."""
    own = piece.text("name") or piece.text("metadata", "name")
    if own or piece.parent is None:
        return own
    if piece.step == "spec":
        return _name(piece.parent)
    if isinstance(piece.step, str) and piece.step not in _NO_NAMES:
        return piece.step
    return ""
