"""The rendered proof: Kustomize or Helm is run on the files before and after a change.

Where a kustomization or a chart stands between a file and the cluster, the change must reach
exactly the intended field. Without the programs, and where they can't be run without the network,
the pull request says "not rendered" and why.
"""

import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from posixpath import dirname

from gitops.index import Index, Place
from gitops.indexer import Files
from gitops.kustomize_graph import Graph
from gitops.manifest import look
from gitops.rendered_compare import objects, verdict

_REMOTE = re.compile(r"^[a-z+]+://|^git@|^[\w.-]+\.(?:com|org|io|net)/|\?ref=|//")
_MOST_FILES = 5000
_MOST_BYTES = 64 * 1024 * 1024
_LONGEST = 200


class _NotRendered(Exception):  # an outcome inside this module, not an error
    pass


@dataclass(frozen=True, slots=True)
class Programs:
    """Where the programs are; None when this machine lacks one."""

    kustomize: Path | None = None
    helm: Path | None = None
    seconds: float = 30.0

    @classmethod
    def on_path(cls) -> "Programs":
        """Find the programs on the PATH."""
        kustomize, helm = (shutil.which(name) for name in ("kustomize", "helm"))
        return cls(Path(kustomize) if kustomize else None, Path(helm) if helm else None)


@dataclass(frozen=True, slots=True)
class Renderer:
    """Proves changes of a repository by rendering them."""

    repository: Files
    programs: Programs

    def prove(self, index: Index, place: Place, files: Mapping[str, bytes | None]) -> str:
        """Return a sentence for the pull request: what was rendered, or why nothing was.

        Raises Refused when the change would not reach the intended field, or others too.
        """
        try:
            return self._prove(index, place, files)
        except _NotRendered as reason:
            return f"Not rendered: {reason}."

    def _prove(self, index: Index, place: Place, files: Mapping[str, bytes | None]) -> str:
        after = files[place.path]
        held = look(place.path, after, place.pointer, place.field)[0] if after else None
        blobs = self.repository.files(index.commit)
        targets = list(self._targets(index, place, blobs))
        said = ""
        for folder, arguments, folders in targets:
            outputs = [
                self._run(place.through, folder, arguments, self._content(blobs, folders, changed))
                for changed in ({}, files)
            ]
            where = f"{folder or 'the root'} with {place.through}"
            said = verdict(objects(outputs[0]), objects(outputs[1]), place, held, where)
        return said

    def _targets(
        self, index: Index, place: Place, blobs: Mapping[str, str]
    ) -> Iterator[tuple[str, list[str], frozenset[str]]]:
        """Yield what to render: a folder, further arguments, and the folders that it takes."""
        if place.through == "kustomize":
            for top in sorted(index.graph.tops(place.path)):
                yield top, [], frozenset(_taken(index.graph, top, frozenset()))
            return
        chart = _chart(place.path, blobs)
        more = [] if place.path in _own(chart) else ["--values", place.path]
        yield chart, more, frozenset({chart})

    def _content(
        self, blobs: Mapping[str, str], folders: frozenset[str], changed: Mapping[str, bytes | None]
    ) -> dict[str, bytes]:
        wanted = [path for path in blobs if any(_under(path, folder) for folder in folders)]
        if len(wanted) > _MOST_FILES:
            raise _NotRendered(f"{len(wanted)} files would be needed")
        content = {path: self.repository.blob(blobs[path]) for path in wanted}
        if sum(map(len, content.values())) > _MOST_BYTES:
            raise _NotRendered("the files are too large")
        content |= {path: data for path, data in changed.items() if data is not None}
        return content

    def _run(self, through: str, folder: str, more: list[str], files: dict[str, bytes]) -> bytes:
        program = self.programs.kustomize if through == "kustomize" else self.programs.helm
        if program is None:
            raise _NotRendered(f"{through} isn't installed here")
        verb = ["build"] if through == "kustomize" else ["template", "release"]
        with tempfile.TemporaryDirectory(prefix="gpubot-render-") as root:
            _write(Path(root).resolve(), files)
            command = [str(program), *verb, f"./{folder}", *more]
            return self._output(command, root, through)

    def _output(self, command: list[str], root: str, through: str) -> bytes:
        """Run a program without the environment, the home folder or any network credentials."""
        environment = {"HOME": root, "PATH": "", "TMPDIR": root}
        try:
            done = subprocess.run(
                command, cwd=root, env=environment, capture_output=True,
                timeout=self.programs.seconds, check=False,
            )  # fmt: skip
        except (subprocess.TimeoutExpired, OSError) as error:
            raise _NotRendered(f"{through} couldn't be run ({type(error).__name__})") from error
        if done.returncode:
            words = " ".join(done.stderr.decode(errors="replace").replace(root, "").split())
            raise _NotRendered(f"{through} says: {words[:_LONGEST]}")
        return done.stdout


def _write(root: Path, files: Mapping[str, bytes]) -> None:
    """Write files under a folder; a tree made by hand can name paths outside of it."""
    for path, data in files.items():
        target = (root / path).resolve()
        if not target.is_relative_to(root):
            raise _NotRendered(f"the repository has the path {path[:80]!r}")
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)


def _taken(graph: Graph, folder: str, seen: frozenset[str]) -> Iterator[str]:
    """Yield the folders of a kustomization and of all that it takes in."""
    found = graph.by_folder.get(folder)
    yield folder
    if found is None or folder in seen:
        return
    for taken in (*found.resources, *found.components):
        if _REMOTE.search(taken):
            raise _NotRendered(f"{folder or 'the root'} takes in {taken[:80]} from the network")
    for below in graph.taken_by(folder):
        inner = below if below in graph.by_folder else dirname(below)
        yield from _taken(graph, inner, seen | {folder}) if inner != folder else ()


def _chart(path: str, blobs: Mapping[str, str]) -> str:
    folder = dirname(path)
    while True:
        if f"{folder}/Chart.yaml".lstrip("/") in blobs:
            return folder
        if not folder:
            raise _NotRendered(f"there is no chart around {path}")
        folder = dirname(folder)


def _own(chart: str) -> tuple[str, ...]:
    """Return the values file that a chart reads by itself."""
    return (f"{chart}/values.yaml".lstrip("/"),)


def _under(path: str, folder: str) -> bool:
    return not folder or path.startswith(f"{folder}/")
