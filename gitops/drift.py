"""What the cluster has and Git doesn't say, or the other way round: by value, not by spelling.

[pure]
"""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from capacity import decode
from capacity.errors import GpubotError, UnknownName
from capacity.kueue_kinds import (
    CLUSTER_QUEUES,
    COHORTS,
    FLAVORS,
    LOCAL_QUEUES,
    PRIORITY_CLASSES,
    Kind,
)
from capacity.model import Fleet
from gitops.declared import plain
from gitops.drift_fields import NOT_SET, Field, Fields, Spec, fields_of
from gitops.index import Index
from gitops.index_entry import Entry, Manifest, Wanted


@dataclass(frozen=True, slots=True)
class Subject:
    """One object: its kind, and its name with the namespace if it has one."""

    kind: str
    name: str

    def __str__(self) -> str:
        return f"{self.kind} {self.name}"


@dataclass(frozen=True, slots=True)
class Difference:
    """A field that is one thing in Git and another in the cluster; ``place`` is file:line."""

    subject: Subject
    field: str
    in_git: str
    live: str
    place: str


@dataclass(frozen=True, slots=True)
class Found:
    """An object in Git that isn't live, or that can't be compared and ``why``."""

    subject: Subject
    place: str
    why: str = ""


@dataclass(frozen=True, slots=True)
class Drift:
    """All of it for one cluster; ``compared`` is how many objects are on both sides.

    ``guessed`` tells that only folder names say which files are this cluster's.
    """

    differences: tuple[Difference, ...] = ()
    unmanaged: tuple[Subject, ...] = ()
    not_live: tuple[Found, ...] = ()
    unclear: tuple[Found, ...] = ()
    compared: int = 0
    guessed: bool = False


@dataclass(frozen=True, slots=True)
class _Side:
    """A kind on both sides: how Git's text is read, and what is live of it (None: not read)."""

    read: Callable[[bytes], Spec]
    live: Mapping[str, Spec] | None


def drift(index: Index, fleet: Fleet, cluster: str = "") -> Drift:
    """Compare the files of the fleet's cluster with what is live in it.

    ``cluster`` is its name in the repository, when that is another one. Raises UnknownName when no
    file belongs to it. A kind that couldn't be read is no news about its objects.
    """
    name = cluster_in(index, cluster or fleet.cluster)
    sides = _sides(fleet)
    written = _written(index, name)
    manifests = {_subject(m.kind, m.namespace, m.name): m for m in index.manifests(name)}
    differences: list[Difference] = []
    not_live: list[Found] = []
    unclear: list[Found] = []
    compared = 0
    for subject, entries in written.items():
        side, place = sides[subject.kind], entries[0].place
        if side.live is None:
            continue
        if _homeless(subject):
            unclear.append(Found(subject, place, "in no namespace that the file names"))
            continue
        live = side.live.get(subject.name)
        if live is None:
            not_live.append(Found(subject, place))
            continue
        found = _declared(entries, manifests.get(subject), side)
        if isinstance(found, str):
            unclear.append(Found(subject, place, found))
            continue
        compared += 1
        differences += _differences(index, name, subject, entries[0], found, fields_of(live))
    unmanaged = [
        Subject(kind, live_name)
        for kind, side in sides.items()
        for live_name in side.live or ()
        if not {Subject(kind, live_name), _bare(kind, live_name)} & written.keys()
    ]
    return Drift(
        tuple(differences),
        tuple(unmanaged),
        tuple(not_live),
        tuple(unclear),
        compared,
        index.layout.guessed,
    )


def cluster_in(index: Index, name: str) -> str:
    """Return what the repository calls a cluster: its name, or the only one that was guessed."""
    if name in index.clusters:
        return name
    if len(index.clusters) == 1 and (index.layout.guessed or index.clusters == ("",)):
        return index.clusters[0]
    raise UnknownName("cluster in the repository", name, tuple(filter(None, index.clusters)))


def _sides(fleet: Fleet) -> Mapping[str, _Side]:
    missing = " ".join(gap.missing for gap in fleet.gaps)
    local = {f"{namespace}/{name}": lq for (namespace, name), lq in fleet.local_queues.items()}

    def live(kind: Kind, found: Mapping[str, Spec]) -> Mapping[str, Spec] | None:
        return found if found or kind.words not in missing else None

    return {
        "ClusterQueue": _Side(decode.cluster_queue, live(CLUSTER_QUEUES, fleet.cluster_queues)),
        "Cohort": _Side(decode.cohort, live(COHORTS, fleet.cohorts)),
        "LocalQueue": _Side(decode.local_queue, live(LOCAL_QUEUES, local)),
        "ResourceFlavor": _Side(decode.resource_flavor, live(FLAVORS, fleet.flavors)),
        "WorkloadPriorityClass": _Side(
            decode.priority_class, live(PRIORITY_CLASSES, fleet.priority_classes)
        ),
    }


_COMPARED = frozenset(
    ("ClusterQueue", "Cohort", "LocalQueue", "ResourceFlavor", "WorkloadPriorityClass")
)


def _written(index: Index, cluster: str) -> Mapping[Subject, list[Entry]]:
    """Return the cluster's objects in Git with all the places that define each."""
    found: dict[Subject, list[Entry]] = {}
    for entry in index.entries:
        fragment = entry.fragment
        if entry.cluster == cluster and fragment.kind in _COMPARED:
            subject = _subject(fragment.kind, fragment.namespace, entry.name)
            found.setdefault(subject, []).append(entry)
    return found


def _declared(entries: list[Entry], manifest: Manifest | None, side: _Side) -> Fields | str:
    """Return what Git says of an object, or why that can't be told."""
    places = sorted({entry.place for entry in entries})
    if len(places) > 1:
        return f"defined in {len(places)} places: {', '.join(places)}"
    if manifest is None:
        return "patched in a way that can't be followed"
    try:
        return fields_of(side.read(json.dumps(plain(manifest.data)).encode()))
    except decode.UNREADABLE:
        return "written with a template or a mistake"


def _differences(  # noqa: PLR0917
    index: Index, cluster: str, subject: Subject, entry: Entry, in_git: Fields, live: Fields
) -> Iterator[Difference]:
    for field in dict.fromkeys((*in_git, *live)):
        git, now = in_git.get(field, NOT_SET), live.get(field, NOT_SET)
        if git != now:
            place = _place(index, cluster, subject, field) or entry.place
            yield Difference(subject, field.words, git, now, place)


def _place(index: Index, cluster: str, subject: Subject, field: Field) -> str:
    """Return where the value stands; "" where only the object's own place can be told."""
    if not field.flavor and subject.kind not in {"ClusterQueue", "Cohort"}:
        return ""
    name = subject.name.rpartition("/")[2]
    try:
        wanted = Wanted(field.name, field.flavor, field.resource if field.flavor else "")
        return str(index.find(cluster, subject.kind, name, wanted))
    except GpubotError:
        return ""


def _homeless(subject: Subject) -> bool:
    """Tell whether an object's namespace is given by something else than its file."""
    return subject.kind == "LocalQueue" and "/" not in subject.name


def _bare(kind: str, name: str) -> Subject:
    return Subject(kind, name.rpartition("/")[2])


def _subject(kind: str, namespace: str, name: str) -> Subject:
    return Subject(kind, f"{namespace}/{name}" if namespace else name)
