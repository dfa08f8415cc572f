"""Which file belongs to which cluster, and which files are made by a program.

``gpubot/layout.yaml`` says so, first match first::

    clusters:
      - path: clusters/prod/**
        cluster: prod-eu
      - path: overlays/{cluster}/**
    generated:
      - path: components/*/queue-config/cluster-queue.yaml
        from: config/host-config.yaml
    ignore:
      - vendor/**

``*`` stands for anything within a folder, ``**`` for anything, ``{cluster}`` for the folder that is
the cluster's name. Without the file clusters are guessed from folder names, and shown as guessed.

[pure]
"""

import re
from dataclasses import dataclass
from functools import lru_cache

from capacity.errors import UsageError
from gitops.strict_yaml import Block, load

PATH = "gpubot/layout.yaml"
_STAGES = ("production", "staging", "development", "prod", "stage", "dev")
_ABOVE = frozenset((*_STAGES, "clusters", "overlays", "envs", "env", "environments", "rings"))
_SHARED = frozenset(("base", "bases", "common", "default", "components", "shared"))
_TOKEN = re.compile(r"\*\*/?|\*|\?|\{cluster\}")
_TOKENS = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]", "{cluster}": "(?P<c>[^/]+)"}


@dataclass(frozen=True, slots=True)
class ClusterRule:
    """Files under a path belong to a cluster; "" takes the name from the path's ``{cluster}``."""

    path: str
    cluster: str = ""


@dataclass(frozen=True, slots=True)
class GeneratedRule:
    """Files under a path are written by a program from ``source``."""

    path: str
    source: str = ""


@dataclass(frozen=True, slots=True)
class Layout:
    """The rules; ``guessed`` when the repository has none of its own."""

    clusters: tuple[ClusterRule, ...] = ()
    generated: tuple[GeneratedRule, ...] = ()
    ignore: tuple[str, ...] = ()
    guessed: bool = True

    def cluster_of(self, path: str) -> str:
        """Return the cluster that a file belongs to; "" when nothing says so."""
        if self.guessed:
            return guess(path)
        for rule in self.clusters:
            found = _pattern(rule.path).fullmatch(path)
            if found:
                return rule.cluster or found.groupdict().get("c") or ""
        return ""

    def source_of(self, path: str) -> GeneratedRule | None:
        """Return the rule that says the file is generated, if any."""
        rules = (rule for rule in self.generated if _pattern(rule.path).fullmatch(path))
        return next(rules, None)

    def ignored(self, path: str) -> bool:
        """Tell whether the file is to be left out."""
        return any(_pattern(pattern).fullmatch(path) for pattern in self.ignore)


def guess(path: str) -> str:
    """Guess a cluster: the folder below one that is called clusters, overlays, production ...

    The innermost such folder counts, so that ``clusters/eu/overlays/prod-1`` is prod-1; folders
    called base or common are nobody's.
    """
    folders = path.split("/")[:-1]
    for position in range(len(folders) - 1, 0, -1):
        if folders[position - 1] in _ABOVE and folders[position] not in _SHARED | _ABOVE:
            return folders[position]
    return next((folder for folder in reversed(folders) if folder in _ABOVE - {"clusters"}), "")


def parse(raw: bytes) -> Layout:
    """Read ``gpubot/layout.yaml``; raises UsageError with every problem and its line."""
    block = load(raw, PATH)
    block.only("clusters", "generated", "ignore")
    layout = Layout(
        clusters=tuple(_cluster(entry) for entry in block.blocks("clusters")),
        generated=tuple(_generated(entry) for entry in block.blocks("generated")),
        ignore=block.texts("ignore"),
        guessed=False,
    )
    if block.problems:
        raise UsageError(
            f"{PATH} can't be used: {'; '.join(block.problems)}.", "Correct it in the repository."
        )
    return layout


def _cluster(entry: Block) -> ClusterRule:
    entry.only("path", "cluster")
    rule = ClusterRule(entry.text("path", None), entry.text("cluster"))
    if not rule.cluster and "{cluster}" not in rule.path:
        entry.wrong(entry.line, "name the cluster, or put {cluster} into the path")
    return rule


def _generated(entry: Block) -> GeneratedRule:
    entry.only("path", "from")
    return GeneratedRule(entry.text("path", None), entry.text("from"))


@lru_cache(maxsize=512)
def _pattern(glob: str) -> re.Pattern[str]:
    pieces: list[str] = []
    at = 0
    named = False
    for found in _TOKEN.finditer(glob):
        pieces.append(re.escape(glob[at : found.start()]))
        token = _TOKENS[found[0]]
        again = found[0] == "{cluster}" and named
        pieces.append("[^/]+" if again else token)
        named = named or found[0] == "{cluster}"
        at = found.end()
    return re.compile("".join((*pieces, re.escape(glob[at:]))))
