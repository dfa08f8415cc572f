"""What one file holds of capacity policy: objects, pieces of them, patches, a kustomization.

A file is read without its path or repository, so what is found can be kept by the hash of its
bytes. ``gitops.index`` puts the pieces together.

[pure]
"""

import re
from dataclasses import dataclass
from typing import Literal

from capacity.errors import Refused
from gitops.fragments_wrapped import payload_name, quota_list, wrapped
from gitops.kustomization import Kustomization, kustomization
from gitops.manifest_text import Text, read
from gitops.manifest_view import View, inside
from gitops.piece import Piece
from gitops.piece_build import nested, pieces

Origin = Literal["object", "values", "payload"]

KUEUE = frozenset(
    (
        "ClusterQueue",
        "Cohort",
        "LocalQueue",
        "ResourceFlavor",
        "WorkloadPriorityClass",
        "Topology",
        "AdmissionCheck",
    )
)
NVIDIA = frozenset({"ClusterPolicy", "NVIDIADriver"})
_WORDS = (
    r"kueue\.x-k8s\.io/v|nominalQuota|resourceGroups|nvidia\.com/v1|mig-configs|timeSlicing|"
    r"clusterQueues|localQueues|resourceFlavors|kustomize\.config\.k8s\.io|/spec/|"
    r"(?m:^driver:|^(?:resources|bases|components|patches)\w*:)"
)
_IN_FILE = re.compile(_WORDS.encode())
_IN_DOCUMENT = re.compile(_WORDS)
_INNER = re.compile(
    r"(?m)nominalQuota|resourceGroups|kueue\.x-k8s\.io/v|nvidia\.com/v1|mig-configs|timeSlicing|"
    r"kind: *(?:ClusterQueue|Cohort|ClusterPolicy|NVIDIADriver)\b|^\s*-\s+op:|\"op\"\s*:"
)
_GENERATED = re.compile(
    r"do not edit|auto-?generated|generated (?:by|from)|code generated", re.IGNORECASE
)
_HEADER_LINES = 20


@dataclass(frozen=True, slots=True)
class Fragment:
    """An object of capacity policy, or the part of a values file that becomes one.

    ``whole`` is where kind and metadata are, ``fields`` where the fields of its spec are.
    """

    kind: str
    name: str
    namespace: str
    origin: Origin
    whole: Piece
    fields: Piece
    line: int


@dataclass(frozen=True, slots=True)
class Facts:
    """Everything found in one file.

    ``operations`` are documents that are lists of JSON6902 operations. ``generated`` is the
    comment that says so, ``unreadable`` why the file can't be parsed (it starts with ``:line``).
    """

    fragments: tuple[Fragment, ...] = ()
    kustomization: Kustomization | None = None
    operations: tuple[Piece, ...] = ()
    generated: str = ""
    unreadable: str = ""


NOTHING = Facts()


def scan(data: bytes) -> Facts:
    """Find everything of capacity policy in a file; a file about something else is NOTHING."""
    if not _IN_FILE.search(data):
        return NOTHING
    try:
        text = read("", data)
        scanner = _Scanner(View(text))
        for root in pieces(scanner.view, _IN_DOCUMENT):
            scanner.document(root)
    except Refused as refusal:
        return Facts(unreadable=refusal.sentence)
    except RecursionError:
        return Facts(unreadable=":1 is nested too deeply.")
    fragments = tuple(scanner.fragments)
    generated = _generated(text) if fragments else ""
    return Facts(fragments, scanner.kustomization, tuple(scanner.operations), generated)


class _Scanner:
    """Collects facts while walking a file and the YAML inside its text blocks."""

    def __init__(self, view: View) -> None:
        self.view = view
        self.fragments: list[Fragment] = []
        self.operations: list[Piece] = []
        self.kustomization: Kustomization | None = None

    def document(self, root: Piece) -> None:
        found = kustomization(root, self._inner, lambda piece: self.view.text.line(piece.offset))
        if found is not None:
            self.kustomization = found
        elif _are_operations(root):
            self.operations.append(root)
        else:
            self._walk(root, self.view, "values")

    def _walk(self, root: Piece, view: View, origin: Origin) -> None:
        stack = [root]
        while stack:
            piece = stack.pop()
            found = _object(piece, view, origin)
            if found is not None:
                self.fragments.append(found)
                continue
            self._add_wrapped(piece, view, origin)
            if piece.block is not None:
                self._block(piece, view)
            elif isinstance(piece.value, dict):
                stack += reversed(piece.value.values())
            elif isinstance(piece.value, list):
                stack += reversed(piece.value)

    def _add_wrapped(self, piece: Piece, view: View, origin: Origin) -> None:
        found = wrapped(piece)
        if found is not None:
            kind, name, fields = found
            line = view.text.line(piece.offset)
            space = piece.text("namespace")
            self.fragments.append(Fragment(kind, name, space, origin, piece, fields, line))

    def _block(self, piece: Piece, view: View) -> None:
        inner, roots = _open(piece, view)
        for root in roots:
            if quota_list(root):
                name, line = payload_name(root), view.text.line(piece.offset)
                self.fragments.append(Fragment("QuotaList", name, "", "payload", root, root, line))
            elif inner is not None:
                self._walk(root, inner, "payload")

    def _inner(self, piece: Piece) -> tuple[Piece, ...]:
        return _open(piece, self.view)[1]


def _object(piece: Piece, view: View, origin: Origin) -> Fragment | None:
    """Return the piece as an object of a kind that matters here."""
    if not isinstance(piece.value, dict) or "kind" not in piece.value:
        return None
    kind, version = piece.text("kind"), piece.text("apiVersion")
    kueue = version.startswith("kueue.x-k8s.io/") and kind in KUEUE
    if not kueue and not (version.startswith("nvidia.com/") and kind in NVIDIA):
        return None
    where: Origin = "payload" if origin == "payload" else "object"
    return Fragment(
        kind,
        piece.text("metadata", "name") or piece.text("name"),
        piece.text("metadata", "namespace") or piece.text("namespace"),
        where,
        piece,
        piece.get("spec") or piece.get("data", "spec") or piece,
        view.text.line(piece.offset),
    )


def _open(piece: Piece, view: View) -> tuple[View | None, tuple[Piece, ...]]:
    """Look into a text block; nothing when it holds no YAML that matters, or can't be addressed."""
    if piece.block is None or not _INNER.search(piece.block.value):
        return None, ()
    try:
        inner = inside(view, piece.block)
        roots = tuple(nested(inner, piece))
    except Refused:
        return None, ()  # a script, or prose that only mentions the words
    return inner, tuple(root for root in roots if isinstance(root.value, dict | list))


def _are_operations(root: Piece) -> bool:
    items = root.items()
    return bool(items) and all(item.text("op") and item.text("path") for item in items)


def _generated(text: Text) -> str:
    """Return the comment at the head of a file that says it is generated."""
    for line in text.text.splitlines()[:_HEADER_LINES]:
        if line.lstrip().startswith("#") and _GENERATED.search(line):
            return line.strip(" #")
    return ""
