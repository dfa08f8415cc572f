"""Every value of capacity policy in a file, wherever it stands.

Quotas, limits, cohorts, weights, replicas, MIG counts, priorities and driver versions: in whole
objects, in lists of a values file, in JSON6902 operations, and in YAML inside block scalars.

[pure]
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from capacity.errors import Refused
from gitops.manifest import Edit, ValueKind
from gitops.manifest_pointer import Inside, Named, Pointer, Step
from gitops.manifest_text import Text
from gitops.manifest_tree import Alias, Mapping, Node, Scalar, Sequence
from gitops.manifest_view import View, inside

LIMITS = ("borrowingLimit", "lendingLimit")
_ANYWHERE: dict[str, ValueKind] = {
    "nominalQuota": "quantity",
    "borrowingLimit": "quantity",
    "lendingLimit": "quantity",
    "cohort": "text",
    "cohortName": "text",
    "parentName": "text",
    "replicas": "integer",
}
_BELOW: dict[tuple[str, str], ValueKind] = {
    ("fairSharing", "weight"): "quantity",
    ("driver", "version"): "text",
    ("mig", "strategy"): "text",
}
_OF_KIND: dict[tuple[str, str], ValueKind] = {
    ("WorkloadPriorityClass", "value"): "integer",
    ("NVIDIADriver", "version"): "text",
}
_WORDS = re.compile(
    r"nominalQuota|borrowingLimit|lendingLimit|cohort|parentName|replicas|fairSharing|driver|mig|"
    r"WorkloadPriorityClass|NVIDIADriver"
)


@dataclass(frozen=True, slots=True)
class Site:
    """One value that an edit may mean: the mapping it is in, its key, and what it holds now.

    ``held`` is None when the value is an alias. ``line`` is in the file.
    ``siblings`` are the mapping's keys.
    """

    pointer: Pointer
    field: str
    kind: ValueKind
    held: str | None
    line: int
    siblings: tuple[str, ...]

    def edit(self, path: str, new: str | None) -> Edit:
        """Return the edit that changes it to ``new``."""
        return Edit(path, self.pointer, self.field, self.held, new, self.kind)


@dataclass(frozen=True, slots=True)
class _Here:
    """A node on the walk: where it is and what is known from above."""

    node: Node
    pointer: Pointer
    view: View
    key: str = ""
    kind: str = ""

    def at(self, node: Node, step: Step, key: str) -> "_Here":
        return _Here(node, self.pointer / step, self.view, key, self.kind)


def sites(text: Text) -> Iterator[Site]:
    """Yield every value of capacity policy in a file; raises Refused when it can't be parsed."""
    view = View(text)
    yield from _of_documents(view, None)


def _of_documents(view: View, above: Pointer | None) -> Iterator[Site]:
    for number, document in enumerate(view.documents):
        if document.root is None:
            continue
        pointer = Pointer(number) if above is None else above / Inside(number)
        stack = [_Here(document.root, pointer, view, "", _kind(document.root))]
        while stack:
            here = stack.pop()
            yield from _of_node(here)
            stack += reversed(list(_below(here)))


def _of_node(here: _Here) -> Iterator[Site]:
    if isinstance(here.node, Mapping):
        for key, value in here.node.entries:
            one = isinstance(key, Scalar) and isinstance(value, Scalar | Alias)
            if one and isinstance(key, Scalar) and (kind := _value_kind(here, key.value)):
                yield _site(here, key, value, kind)
    elif isinstance(here.node, Scalar) and _may_hold_yaml(here.node):
        try:
            nested = inside(here.view, here.node)
            collection = any(isinstance(d.root, Mapping | Sequence) for d in nested.documents)
        except Refused:
            return  # a script or prose that only mentions the words
        if collection:
            yield from _of_documents(nested, here.pointer)


def _below(here: _Here) -> Iterator[_Here]:
    if isinstance(here.node, Mapping):
        for key, value in here.node.entries:
            if isinstance(key, Scalar):
                yield here.at(value, key.value, key.value)
    elif isinstance(here.node, Sequence):
        names = [_name(item) for item in here.node.items]
        for position, (item, name) in enumerate(zip(here.node.items, names, strict=True)):
            unique = name and names.count(name) == 1
            yield here.at(item, Named("name", name) if unique else position, here.key)


def _site(here: _Here, key: Scalar, value: Node, kind: ValueKind) -> Site:
    assert isinstance(here.node, Mapping)
    siblings = tuple(k.value for k, _ in here.node.entries if isinstance(k, Scalar))
    held = value.value if isinstance(value, Scalar) else None
    line = here.view.text.line(key.start)
    return Site(here.pointer, key.value, kind, held, line, siblings)


def _value_kind(here: _Here, key: str) -> ValueKind | None:
    assert isinstance(here.node, Mapping)
    if key == "value" and (target := _operation(here.node)):
        return _ANYWHERE.get(target.rsplit("/", 1)[-1])
    if here.key == "mig-devices":
        return "integer"
    return _ANYWHERE.get(key) or _BELOW.get((here.key, key)) or _OF_KIND.get((here.kind, key))


def _operation(node: Mapping) -> str:
    """Return the path of a JSON6902 operation, else nothing."""
    operation, path = node.get("op"), node.get("path")
    both = isinstance(operation, Scalar) and isinstance(path, Scalar)
    return path.value if both and isinstance(path, Scalar) else ""


def _kind(node: Node) -> str:
    kind = node.get("kind") if isinstance(node, Mapping) else None
    return kind.value if isinstance(kind, Scalar) else ""


def _name(node: Node) -> str:
    name = node.get("name") if isinstance(node, Mapping) else None
    return name.value if isinstance(name, Scalar) else ""


def _may_hold_yaml(node: Scalar) -> bool:
    return "\n" in node.value and _WORDS.search(node.value) is not None
