"""What a kustomization file says: what it takes in, and what it patches.

[pure]
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from gitops.piece import Piece

FILES = ("kustomization.yaml", "kustomization.yml", "Kustomization")
_GROUP = "kustomize.config.k8s.io/"
_LISTS = ("resources", "bases", "components", "patches", "patchesStrategicMerge")

Inner = Callable[[Piece], tuple[Piece, ...]]


@dataclass(frozen=True, slots=True)
class Patch:
    """One patch: a file beside the kustomization, or text inside it.

    ``pieces`` are the roots of an inline patch; it is ``opaque`` when written as quoted text.
    Without a target kind or name, a strategic patch names its target itself.
    """

    file: str = ""
    pieces: tuple[Piece, ...] = ()
    opaque: bool = False
    target_kind: str = ""
    target_name: str = ""
    line: int = 0


@dataclass(frozen=True, slots=True)
class Kustomization:
    """A kustomization: files and directories it takes in, its patches in order, its renaming."""

    resources: tuple[str, ...] = ()
    components: tuple[str, ...] = ()
    patches: tuple[Patch, ...] = ()
    prefix: str = ""
    suffix: str = ""
    component: bool = False


def kustomization(root: Piece, inner: Inner, line: Callable[[Piece], int]) -> Kustomization | None:
    """Read a document as a kustomization; None if it can't be one.

    ``inner`` opens a text block, ``line`` tells where a piece stands. A file without a kind is one
    only if it is called so, which is for the caller to know.
    """
    if not isinstance(root.value, dict):
        return None
    kind, version = root.text("kind"), root.text("apiVersion")
    ours = version.startswith(_GROUP) and kind in {"Kustomization", "Component", ""}
    if not ours and (kind or version or not any(root.items(name) for name in _LISTS)):
        return None
    return Kustomization(
        resources=(*_texts(root, "resources"), *_texts(root, "bases")),
        components=_texts(root, "components"),
        patches=tuple(_patches(root, inner, line)),
        prefix=root.text("namePrefix"),
        suffix=root.text("nameSuffix"),
        component=kind == "Component",
    )


def _texts(root: Piece, key: str) -> tuple[str, ...]:
    return tuple(item.value for item in root.items(key) if isinstance(item.value, str))


def _patches(root: Piece, inner: Inner, line: Callable[[Piece], int]) -> Iterator[Patch]:
    for item in root.items("patchesStrategicMerge"):
        if item.block is not None:
            yield _inline(item, item, inner, line(item))
        elif isinstance(item.value, str):
            yield Patch(file=item.value, line=line(item))
    for item in (*root.items("patchesJson6902"), *root.items("patches")):
        text = item.get("patch")
        if text is not None:
            yield _inline(item, text, inner, line(item))
        elif item.text("path"):
            kind, name = item.text("target", "kind"), item.text("target", "name")
            yield Patch(item.text("path"), target_kind=kind, target_name=name, line=line(item))


def _inline(item: Piece, text: Piece, inner: Inner, line: int) -> Patch:
    kind, name = item.text("target", "kind"), item.text("target", "name")
    found = inner(text)
    return Patch("", found, not found, kind, name, line)
