"""``gpubot lint``: what queues would have to be told, cluster by cluster."""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from gitops.index import Index
from gitops.indexer import Indexer
from gitops.lint import Finding, lint
from gitops.repository import Repository
from gitops.repository_folder import NOW, Folder, at_revision

Found = tuple[str, Finding]
PLACE = re.compile(r"^(?P<file>.+?):(?P<line>\d+)")


def of_branch(path: Path, branch: str) -> Iterator[Found]:
    """Yield every finding at the tip of a repository's branch, with the cluster's name."""
    repository = Repository(path, base=branch)
    return _findings(Indexer(repository).at(repository.head()), None)


def of_folder(path: Path, base: str) -> Iterator[Found]:
    """Yield the findings of a folder as it lies on the disk.

    With ``base``, a revision of the repository around it, what was so already is marked as known.
    Raises UsageError for a folder or a revision that isn't there.
    """
    before = None
    if base:
        files, commit = at_revision(path, base)
        before = Indexer(files).at(commit)
    return _findings(Indexer(Folder(path)).at(NOW), before)


def _findings(after: Index, before: Index | None) -> Iterator[Found]:
    for cluster in after.clusters:
        was = before.manifests(cluster) if before else None
        for finding in lint(after.manifests(cluster), was):
            yield cluster, finding


def lines(found: Iterable[Found], *, annotate: bool, root: str = "") -> Iterator[str]:
    """Yield a line for each finding; ``annotate`` writes them as GitHub shows them at the code."""
    for cluster, finding in found:
        known = " (so already)" if finding.known else ""
        if annotate:
            yield _annotation(finding, known, root)
        else:
            told = f"{finding.severity}{known}  {cluster or '-'}  {finding.rule}"
            yield f"{told}: {finding.sentence}"


def _annotation(finding: Finding, known: str, root: str) -> str:
    """Return a workflow command (docs.github.com, "Workflow commands for GitHub Actions")."""
    level = "error" if finding.blocks else "warning" if finding.severity == "warning" else "notice"
    properties = [f"title={_property(f'Gpubot {finding.rule}{known}')}"]
    if place := PLACE.match(finding.place):
        file = f"{root}/{place['file']}" if root not in {"", "."} else place["file"]
        properties = [f"file={_property(file)}", f"line={place['line']}", *properties]
    return f"::{level} {','.join(properties)}::{_data(finding.sentence)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
