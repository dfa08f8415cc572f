"""What the index answers with: places of fields, objects in place, objects as they arrive.

[pure]
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from gitops.fragments import Fragment
from gitops.kustomize_graph import Chain
from gitops.manifest import Edit, Pointer, ValueKind


class Wanted(NamedTuple):
    """Which field of an object is meant.

    ``flavor`` and ``resource`` name a quota; for time-slicing only ``resource``, for a MIG
    configuration its name and the profile. Other fields are dotted paths within the spec.
    """

    field: str
    flavor: str = ""
    resource: str = ""


_NOTHING = Wanted("")


@dataclass(frozen=True, slots=True)
class Place:
    """Where one field stands: what an edit is made of.

    ``held`` is the value as spelt there, None when the key is absent. ``cluster`` is "" when
    nothing says which, ``guessed`` when only folder names do. ``through`` names the program that
    stands between the file and the cluster ("kustomize", "helm"), "" if none does. ``object`` is
    kind and name of what is meant, ``wanted`` its field.
    """

    path: str
    pointer: Pointer
    field: str
    kind: ValueKind
    held: str | None
    line: int
    cluster: str
    guessed: bool
    through: str = ""
    object: tuple[str, str] = ("", "")
    wanted: Wanted = _NOTHING

    def edit(self, old: str | None, new: str | None) -> Edit:
        """Return the edit from an expected old value (None: absent) to a new one (None: remove)."""
        return Edit(self.path, self.pointer, self.field, old, new, self.kind)

    def __str__(self) -> str:
        return f"{self.path}:{self.line}"


@dataclass(frozen=True, slots=True)
class Entry:
    """An object in its place: its file, its cluster, and the kustomizations on its way there.

    ``name`` is the one it has in the cluster.
    """

    fragment: Fragment
    path: str
    cluster: str
    name: str
    chain: Chain | None

    @property
    def place(self) -> str:
        """``path:line``, for people."""
        return f"{self.path}:{self.fragment.line}"

    @property
    def through(self) -> str:
        """The program between the file and the cluster, "" if the file is applied as it is."""
        if self.chain is not None:
            return "kustomize"
        chart = self.fragment.origin == "values" or "/templates/" in f"/{self.path}"
        return "helm" if chart else ""


@dataclass(frozen=True, slots=True)
class Manifest:
    """An object as it reaches a cluster, patches applied: plain data in the shape of its kind."""

    kind: str
    name: str
    namespace: str
    data: Mapping[str, Any]
    place: str
    cluster: str
