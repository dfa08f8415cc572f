"""A draft as a change to files: the edits, the new bytes, the diff, and the words about it.

All edits of a change are made or none: nothing leaves this module unless every one was proved.

[pure]
"""

import difflib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

from capacity.errors import UnknownName
from capacity.model import FlavorResource
from capacity.quantity import to_text
from capacity.quota import Node, Tree, potential_available
from gitops.change_text import Effect, body, message, title
from gitops.declared import declared
from gitops.index import Index, Place, Wanted
from gitops.manifest import Edit, Edited, apply
from gitops.request import Draft

_CONTEXT = 3
_LINE = re.compile(r"[^\n]*\n|[^\n]+")
_NO_NEWLINE = "\\ No newline at end of file"

Prove = Callable[[Index, Place, Mapping[str, bytes | None]], str]
"""Renders before and after and returns a sentence; raises Refused if the change goes elsewhere."""


@dataclass(frozen=True, slots=True)
class Change:
    """The edits of one draft on top of a commit.

    ``files`` holds every changed file whole. ``notes`` are what a reviewer should know: a comment
    that repeats the old number, a cluster that is only guessed, "not rendered".
    """

    base_sha: str
    edits: tuple[Edit, ...]
    places: tuple[Place, ...]
    files: Mapping[str, bytes | None]
    diff: str
    notes: tuple[str, ...]
    title: str
    body: str
    message: str


@dataclass(frozen=True, slots=True)
class Assembled:
    """Edits applied to files: new bytes, diff, and what was noticed on the way."""

    files: Mapping[str, bytes | None]
    diff: str
    notes: tuple[str, ...]


def build_change(index: Index, draft: Draft, prove: Prove | None = None) -> Change:
    """Build the change of a quota at the index's commit.

    ``prove`` renders the change where a kustomization or a chart stands in between.
    Raises UnknownName (no such queue, flavor or resource), Conflict (Git holds another value than
    ``draft.old``), Refused (not safe to edit by machine: why and where), UsageError (no value).
    """
    wanted = Wanted(draft.field, draft.flavor, draft.resource)
    place = index.find(draft.cluster, "ClusterQueue", draft.cluster_queue, wanted)
    edit = place.edit(draft.old, draft.new)
    assembled = assemble(index.read, [edit])
    places = (place,)
    proof = prove(index, place, assembled.files) if prove and place.through else ""
    effects = effects_of(index, index.with_files(assembled.files), place.cluster, draft)
    return Change(
        base_sha=index.commit,
        edits=(edit,),
        places=places,
        files=assembled.files,
        diff=assembled.diff,
        notes=(*assembled.notes, *_notes(index, place, proof)),
        title=title(draft),
        body=body(draft, places, effects),
        message=message(draft, places),
    )


def assemble(read: Callable[[str], bytes], edits: Iterable[Edit]) -> Assembled:
    """Apply edits to as many files as they are in, all or none; raises what ``apply`` raises."""
    by_path: dict[str, list[Edit]] = {}
    for edit in edits:
        by_path.setdefault(edit.path, []).append(edit)
    files: dict[str, bytes | None] = {}
    diffs: list[str] = []
    notes: list[str] = []
    for path, of_file in sorted(by_path.items()):
        before = read(path)
        edited = apply(path, before, of_file)
        files[path] = edited.data
        diffs.append(unified(path, before, edited.data))
        notes += _mentions(path, edited)
    return Assembled(files, "".join(diffs), tuple(notes))


def unified(path: str, before: bytes, after: bytes) -> str:
    """Return the unified diff of a file as Git prints it; bytes that aren't UTF-8 are replaced."""
    old, new = (_LINE.findall(data.decode(errors="replace")) for data in (before, after))
    lines = difflib.unified_diff(old, new, f"a/{path}", f"b/{path}", n=_CONTEXT)
    return "".join(line if line.endswith("\n") else f"{line}\n{_NO_NEWLINE}\n" for line in lines)


def effects_of(before: Index, after: Index, cluster: str, draft: Draft) -> tuple[Effect, ...]:
    """Return what becomes of every queue in the same tree, as far as Git says."""
    pair = FlavorResource(draft.flavor, draft.resource)
    old, new = (declared(index.manifests(cluster)).tree() for index in (before, after))
    names = [node.name for node in _tree_of(new, draft.cluster_queue) if pair in node.quotas]
    resource = draft.resource
    return tuple(
        Effect(name, *_quota(resource, old, name, pair), *_quota(resource, new, name, pair))
        for name in names
    )


def _tree_of(tree: Tree, queue: str) -> Iterable[Node]:
    try:
        return tree.cluster_queue(queue).root.cluster_queues()
    except UnknownName:
        return ()


def _quota(resource: str, tree: Tree, name: str, pair: FlavorResource) -> tuple[str, str]:
    """Return a queue's own quota and the most it can ever have, as text."""
    node = tree.cluster_queue(name)
    own = node.quotas[pair].nominal if pair in node.quotas else 0
    return to_text(resource, own), to_text(resource, potential_available(node, pair))


def _mentions(path: str, edited: Edited) -> Iterator[str]:
    for number, text in edited.stale:
        yield f"{path}:{number} still says the old value in its comment: {text}"
    for number, text in edited.elsewhere:
        yield f"{path}:{number} holds the old value too: {text}"


def _notes(index: Index, place: Place, proof: str) -> Iterator[str]:
    if place.guessed and place.cluster:
        yield f"That {place.path} belongs to {place.cluster} is guessed from its folders."
    if proof:
        yield proof
    elif place.through:
        yield f"Not rendered: {place.through} stands between {place.path} and the cluster."
    unread = index.unreadable
    if unread:
        yield f"{len(unread)} files about capacity couldn't be read, {unread[0]}"
