"""Topology-aware scheduling as Kueue tells of it: what a job asks for, what fits, where pods stand.

Upstream: notFitMessage in pkg/cache/scheduler/tas_flavor_snapshot.go, and TopologyAssignment of
apis/kueue/v1beta2. Topology objects aren't read: the level's label says enough.

[pure]
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from capacity.causes import Cause, Kind
from capacity.model import PodSet

_FITS = re.compile(
    r'topology "(?P<topology>[^"]+)" (?:doesn\'t allow to fit any of (?P<all>\d+)'
    r"|allows to fit only (?P<some>\d+) out of (?P<of>\d+)) (?P<unit>pod|slice)\(s\)"
    r"(?:\. Total nodes: (?P<nodes>\d+); excluded: (?P<excluded>.*))?",
    re.DOTALL,
)
_NAMES = {"hostname": "node", "host": "node"}


@dataclass(frozen=True, slots=True)
class Room:
    """What the best place takes now: ``fits`` of ``wanted`` pods (or slices of pods).

    ``nodes`` is how many nodes Kueue looked at and ``excluded`` its words for those that it left
    out; None and "" when it doesn't say.
    """

    topology: str
    fits: int
    wanted: int
    unit: str
    nodes: int | None = None
    excluded: str = ""


@dataclass(frozen=True, slots=True)
class Wish:
    """Which level the pods must ("required") or should ("preferred") share, by a node's label."""

    mode: str
    label: str

    @property
    def level(self) -> str:
        """The level in a word: "rack" for cloud.provider.com/topology-rack."""
        word = self.label.rpartition("/")[2].removeprefix("topology-")
        return _NAMES.get(word, word)


def room(cause: Cause) -> Room | None:
    """Return what Kueue says of the room, if it refused for lack of it in those words."""
    refusals = cause.message.refusals if cause.message else ()
    texts = [r.text for r in refusals if r.kind is Kind.TOPOLOGY_PLACEMENT_FAILED]
    found = next((match for text in texts if (match := _FITS.search(text))), None)
    if found is None:
        return None
    return Room(
        topology=found["topology"],
        fits=int(found["some"] or 0),
        wanted=int(found["all"] or found["of"]),
        unit=found["unit"],
        nodes=int(found["nodes"]) if found["nodes"] else None,
        excluded=found["excluded"] or "",
    )


def wish(pod_sets: Sequence[PodSet]) -> Wish | None:
    """Return the first level that pods of a job must share, else should share; None if neither."""
    asked = [p.topology.partition(" ") for p in pod_sets if p.topology]
    named = [Wish(mode, label) for mode, _, label in asked if label]
    return next((w for w in named if w.mode == "required"), named[0] if named else None)
