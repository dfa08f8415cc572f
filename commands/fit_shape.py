"""The shape of a job that somebody asks about: "2x8 h100", "16 h100", "2 x 8".

[pure]
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from capacity.errors import UnknownName, UsageError
from capacity.model import PodSet
from commands.nearest import nearest

GPU = "nvidia.com/gpu"
_SHAPE = re.compile(r"(\d{1,6})(?:[x×*](\d{1,4}))?")
_SPACED = re.compile(r"(\d)\s*[x×*]\s*(\d)")
_NOISE = {"gpu", "gpus", "card", "cards", "now", "for", "on", "in", "of", "x"}
_USAGE = "/gpu fit 2x8 h100 --queue research"


@dataclass(frozen=True, slots=True)
class Shape:
    """What would start at once. ``flavor`` is the kind of card that was asked for; "" means any.

    ``queue_name`` and ``namespace`` are a manifest's LocalQueue; ``notes`` what was left out.
    """

    title: str
    pod_sets: tuple[PodSet, ...]
    flavor: str = ""
    queue_name: str = ""
    namespace: str = ""
    priority_class: str = ""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Words:
    """The words of a question, told apart: a shape, and what may be a card or a queue."""

    pods: int
    each: int
    names: tuple[str, ...]


def read_words(args: Sequence[str]) -> Words:
    """Tell shape and names apart; raises UsageError if there is no size or more than one."""
    joined = _SPACED.sub(r"\1x\2", " ".join(args))
    sizes: list[tuple[int, int]] = []
    names: list[str] = []
    for word in joined.split():
        found = _SHAPE.fullmatch(word.casefold())
        if found:
            pods, each = int(found[1]), found[2]
            sizes.append((pods, int(each)) if each else (1, pods))
        elif word.casefold() not in _NOISE:
            names.append(word)
    if len(sizes) != 1 or 0 in sizes[0]:
        said = "Say one size" if not sizes else "That isn't one size"
        raise UsageError(f"{said}: pods x GPUs of each.", f"For example: {_USAGE}")
    return Words(*sizes[0], tuple(names))


def shape_from(words: Words, flavors: Iterable[str], resource: str = GPU) -> Shape:
    """Return the shape of a size on a queue's flavors; a name that is none of them is unknown.

    One number ("16 h100") is asked for as one pod: only the sum counts for quota.
    """
    known = {flavor.casefold(): flavor for flavor in flavors}
    flavor = ""
    for name in words.names:
        flavor = known.get(name.casefold(), "")
        if not flavor:
            raise UnknownName("kind of card here", name, nearest(name, known.values()))
    one = words.pods == 1
    size = str(words.each) if one else f"{words.pods} x {words.each}"
    pod_set = PodSet("main", words.pods, {resource: words.each})
    card = f" {flavor.upper()}" if flavor else " GPUs"
    return Shape(size + card, (pod_set,), flavor)


def narrowed(shape: Shape, flavor: str) -> Shape:
    """Return the shape asked for one kind of card, if one is named."""
    return replace(shape, flavor=flavor) if flavor else shape
