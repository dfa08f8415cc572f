"""Where every quota of a repository stands, at one commit.

An object may be built from a base and patches; the place of a field is where the value that
counts is written, which may be a patch.

[pure]
"""

from collections.abc import Callable, Iterator, Mapping
from difflib import get_close_matches
from functools import cached_property

from capacity.errors import Refused, UnknownName
from gitops.fragments import Facts, scan
from gitops.index_effective import build
from gitops.index_entry import Entry, Manifest, Place, Wanted
from gitops.index_fields import field_of
from gitops.kustomize_graph import Graph
from gitops.layout import Layout
from gitops.manifest import look

__all__ = ["Entry", "Index", "Manifest", "Place", "Wanted"]


class Index:
    """Everything of capacity policy in a repository at a commit.

    ``read`` returns a file's bytes at that commit.
    """

    def __init__(
        self,
        commit: str,
        layout: Layout,
        facts: Mapping[str, Facts],
        read: Callable[[str], bytes],
    ) -> None:
        self.commit = commit
        self.layout = layout
        self.read = read
        self._facts = {path: found for path, found in facts.items() if not layout.ignored(path)}

    @property
    def unreadable(self) -> tuple[str, ...]:
        """Files about capacity that can't be parsed: place and reason of each."""
        return tuple(f"{path}{f.unreadable}" for path, f in self._facts.items() if f.unreadable)

    @cached_property
    def graph(self) -> Graph:
        """The kustomizations."""
        facts = self._facts.items()
        return Graph({p: f.kustomization for p, f in facts if f.kustomization is not None})

    @cached_property
    def entries(self) -> tuple[Entry, ...]:
        """Every object, once for each cluster that it reaches."""
        return tuple(self._entries())

    @cached_property
    def clusters(self) -> tuple[str, ...]:
        """The clusters that files belong to; "" stands for files of no known cluster."""
        return tuple(sorted({entry.cluster for entry in self.entries}))

    def find(self, cluster: str, kind: str, name: str, wanted: Wanted) -> Place:
        """Return the one place where a field's value counts.

        Raises UnknownName when there is no such object, flavor or resource, and Refused when the
        place is not one (defined twice, shared by clusters, generated, templated).
        """
        entry = self._one(cluster, kind, name)
        self._refuse_generated(entry.path, entry.place)
        effective = build(entry, self.graph, self._facts)
        owner, key, kind_of_value = field_of(kind, effective.whole, effective.fields, wanted)
        field = owner.get(key)
        if field is not None and field.parent is not None and isinstance(field.step, str):
            owner, key = field.parent, field.step
        path = effective.path_of(owner)
        self._refuse_generated(path, path)
        self._refuse_shared(path, entry)
        pointer = owner.pointer
        held, line = look(path, self.read(path), pointer, key)
        return Place(
            path,
            pointer,
            key,
            kind_of_value,
            held,
            line,
            entry.cluster,
            guessed=self.layout.guessed,
            through=entry.through,
            object=(kind, entry.name),
            wanted=wanted,
        )

    def with_files(self, files: Mapping[str, bytes | None]) -> "Index":
        """Return the index as it would be with these files changed; None is a deleted one."""
        facts = {path: found for path, found in self._facts.items() if path not in files}
        for path, data in files.items():
            if data is not None:
                facts[path] = scan(data)
        return Index(
            self.commit, self.layout, facts, lambda path: files.get(path) or self.read(path)
        )

    def manifests(self, cluster: str) -> tuple[Manifest, ...]:
        """Return the objects of a cluster as they reach it.

        Those with patches that can't be followed are left out; ``find`` says why.
        """
        return tuple(self._manifests(cluster))

    def _manifests(self, cluster: str) -> Iterator[Manifest]:
        for entry in self.entries:
            if entry.cluster == cluster:
                try:
                    effective = build(entry, self.graph, self._facts)
                except Refused:
                    continue
                yield effective.manifest()

    def _entries(self) -> Iterator[Entry]:
        for path, facts in self._facts.items():
            if not facts.fragments or self.graph.is_patch(path):
                continue
            chains = self.graph.chains(path)
            for fragment in facts.fragments:
                for chain in chains:
                    name = self.graph.final_name(chain, fragment.name)
                    yield Entry(fragment, path, self._cluster(path, chain.top), name, chain)
                if not chains:
                    cluster = self.layout.cluster_of(path)
                    yield Entry(fragment, path, cluster, fragment.name, None)

    def _cluster(self, path: str, top: str) -> str:
        above = f"{top}/kustomization.yaml" if top else "kustomization.yaml"
        return self.layout.cluster_of(above) or self.layout.cluster_of(path)

    @cached_property
    def _named(self) -> Mapping[tuple[str, str], list[Entry]]:
        found: dict[tuple[str, str], list[Entry]] = {}
        for entry in self.entries:
            found.setdefault((entry.fragment.kind, entry.name), []).append(entry)
        return found

    def _one(self, cluster: str, kind: str, name: str) -> Entry:
        everywhere = self._named.get((kind, name), [])
        here = [entry for entry in everywhere if entry.cluster == cluster]
        only_guess = self.layout.guessed and len(self.clusters) == 1
        if not here and (not cluster or only_guess):
            here = everywhere
        if not here:
            raise self._unknown(kind, name, everywhere)
        places = sorted({entry.place for entry in here})
        if len(places) > 1 or len({entry.cluster for entry in here}) > 1:
            raise Refused(
                f"{kind} {name} is defined in {len(places)} places: {', '.join(places[:6])}.",
                "Say which cluster is meant, or edit the right one by hand.",
            )
        return here[0]

    def _unknown(self, kind: str, name: str, elsewhere: list[Entry]) -> Exception:
        if elsewhere:
            clusters = ", ".join(sorted({entry.cluster or "no cluster" for entry in elsewhere}))
            return UnknownName(f"{kind} of that cluster", name, (f"{name} in {clusters}",))
        known = [other for known_kind, other in self._named if known_kind == kind]
        return UnknownName(kind, name, tuple(get_close_matches(name, known, 3, 0.5)))

    def _refuse_generated(self, path: str, place: str) -> None:
        rule = self.layout.source_of(path)
        header = self._facts[path].generated if path in self._facts else ""
        if rule is not None or header:
            source = rule.source if rule is not None else ""
            said = "gpubot/layout.yaml says so" if rule is not None else f"its head says: {header}"
            raise Refused(
                f"{place} is generated ({said}), so a change there would be overwritten.",
                f"Change {source or 'what it is generated from'} instead.",
            )

    def _refuse_shared(self, path: str, entry: Entry) -> None:
        clusters = {self._cluster(path, top) for top in self.graph.tops(path)} - {entry.cluster}
        if clusters:
            others = ", ".join(sorted(cluster or "others" for cluster in clusters))
            raise Refused(
                f"{path} is a base that {entry.cluster or 'this cluster'} shares with {others}: "
                "a change there would reach them all.",
                f"Add a patch for {entry.name} to its overlay by hand once; then I can edit that.",
            )
