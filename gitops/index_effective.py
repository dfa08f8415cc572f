"""An object as it reaches a cluster: the base with every patch on its way, origins kept.

[pure]
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from capacity.errors import Refused
from gitops.fragments import Facts, Fragment
from gitops.index_entry import Entry, Manifest
from gitops.kustomization import Patch
from gitops.kustomize_graph import Chain, Graph, patch_path
from gitops.piece import Piece
from gitops.piece_merge import merge, operate

_API = "kueue.x-k8s.io/v1beta2"
_OLD_API = "kueue.x-k8s.io/v1beta1"


@dataclass(frozen=True, slots=True)
class Effective:
    """The object, and which file each of its pieces comes from (by the root of its document)."""

    entry: Entry
    whole: Piece
    paths: Mapping[int, str]

    @property
    def fields(self) -> Piece:
        """Where the fields of its spec are."""
        if self.entry.fragment.fields is self.entry.fragment.whole:
            return self.whole
        return self.whole.get("spec") or self.whole.get("data", "spec") or self.whole

    def path_of(self, piece: Piece) -> str:
        """Return the file that a piece stands in."""
        return self.paths[id(piece.root)]

    def manifest(self) -> Manifest:
        """Return the object as plain data in the shape of its kind."""
        fragment = self.entry.fragment
        data = self.whole.plain()
        if fragment.origin != "object" and "apiVersion" not in data:
            spec = data.get("spec", data) if isinstance(data, dict) else data
            data = _wrap(fragment, self.entry.name, spec)
        return Manifest(
            fragment.kind,
            self.entry.name,
            fragment.namespace,
            data,
            self.entry.place,
            self.entry.cluster,
        )


def build(entry: Entry, graph: Graph, facts: Mapping[str, Facts]) -> Effective:
    """Apply the patches on an object's way; raises Refused when one can't be followed."""
    whole = entry.fragment.whole
    paths = {id(whole.root): entry.path}
    if entry.chain is None:
        return Effective(entry, whole, paths)
    _refuse_patched_payload(entry, entry.chain, graph)
    names = graph.names(entry.chain, entry.fragment.name)
    for folder, patch in graph.patches(entry.chain, entry.fragment.kind, names):
        path, roots = _content(folder, patch, graph, facts)
        place = f"{path}:{patch.line}" if not patch.file else path
        if patch.opaque and patch.target_kind:
            raise Refused(
                f"{place} patches {entry.name} with text that I can't address.",
                "Make it a literal block (|), or edit it by hand.",
            )
        for root in roots:
            paths[id(root.root)] = path
            whole = _apply(whole, root, patch, names, place)
    return Effective(entry, whole, paths)


def _refuse_patched_payload(entry: Entry, chain: Chain, graph: Graph) -> None:
    """Refuse a text inside an object that a patch may replace: patches don't see into texts."""
    root = entry.fragment.whole.root
    if entry.fragment.origin != "payload":
        return
    names = graph.names(chain, root.text("metadata", "name"))
    for folder, patch in graph.patches(chain, root.text("kind"), names):
        if patch.target_kind or patch.file:
            raise Refused(
                f"{graph.files[folder]}:{patch.line} may patch the text that {entry.place} is in.",
                "Edit it by hand.",
            )


def _apply(whole: Piece, root: Piece, patch: Patch, names: frozenset[str], place: str) -> Piece:
    if isinstance(root.value, list):
        return operate(whole, root.items(), place)
    same_kind = root.text("kind") in {whole.text("kind"), ""} or bool(patch.target_kind)
    same_name = bool(patch.target_name) or root.text("metadata", "name") in names
    return merge(whole, _without_identity(root)) if same_kind and same_name else whole


def _without_identity(root: Piece) -> Piece:
    """Leave out what only says which object a patch is for."""
    entries = {k: v for k, v in root.entries().items() if k not in {"apiVersion", "kind"}}
    metadata = root.get("metadata")
    if metadata is not None and isinstance(metadata.value, dict):
        rest = {k: v for k, v in metadata.value.items() if k not in {"name", "namespace"}}
        entries["metadata"] = metadata.with_value(rest)
    return root.with_value(entries)


def _content(
    folder: str, patch: Patch, graph: Graph, facts: Mapping[str, Facts]
) -> tuple[str, tuple[Piece, ...]]:
    if not patch.file:
        return graph.files[folder], patch.pieces
    path = patch_path(folder, patch)
    found = facts.get(path, Facts())
    return path, (*found.operations, *(fragment.whole for fragment in found.fragments))


def _wrap(fragment: Fragment, name: str, spec: Any) -> dict[str, Any]:
    fields = {k: v for k, v in spec.items() if k not in {"name", "namespace", "metadata"}}
    version = _OLD_API if "cohort" in fields else _API
    metadata = {"name": name}
    if fragment.namespace:
        metadata["namespace"] = fragment.namespace
    return {"apiVersion": version, "kind": fragment.kind, "metadata": metadata, "spec": fields}
