"""Cases of flavor assignment as short texts.

A try says how one flavor of a queue answers a pod set, as Kueue tells it in its attempts and
messages: ``one: fit``, ``one: fit 1`` (borrowing from the cohort of height 1), ``two: preempt 1,
memory 5Mi more``, ``one: no candidates, cpu 2 more``, ``one: no fit, cpu 0 + 3 > 2`` (what the pod
sets before it take, its own request, the most there could ever be), ``tainted: taint``, ``one:
affinity``, ``two: slice one`` (the job's pods are on another flavor), ``-: lacks gpu``.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from capacity.causes import Kind
from capacity.fit_mode import Mode
from capacity.model import FlavorFungibility, PodSet, Preemption, ResourceFlavor
from capacity.placement import Taint, Toleration
from tests.capacity.kueue_tables.notation import GPU, pod_set

FIT, PREEMPT, NO_FIT = "fit", "preempt", "no fit"
SPOT = Toleration("instance", "Equal", "spot", "NoSchedule")
_TAINT = (Taint("instance", "spot", "NoSchedule"),)
FLAVORS = {
    "default": ResourceFlavor("default"),
    "one": ResourceFlavor("one", {"type": "one"}),
    "two": ResourceFlavor("two", {"type": "two"}),
    "b_one": ResourceFlavor("b_one", {"b_type": "one"}),
    "b_two": ResourceFlavor("b_two", {"b_type": "two"}),
    "tainted": ResourceFlavor("tainted", {}, _TAINT),
    "tolerating": ResourceFlavor("tolerating", {}, _TAINT, tolerations=(SPOT,)),
    "x-a": ResourceFlavor("x-a", {"x": "a"}),
    "xy-b": ResourceFlavor("xy-b", {"x": "b", "y": "k"}),
}
_SENTENCES = {
    "taint": "untolerated taint {{instance spot NoSchedule <nil>}} in flavor {flavor}",
    "affinity": "flavor {flavor} doesn't match node affinity",
    "slice": "could not assign {flavor} flavor since the original workload is assigned: {what}",
    "lacks": "resource {what} unavailable in ClusterQueue",
}
_MORE = "insufficient unused quota for {0} in flavor {flavor}, {1} more needed"
_NEVER = (
    "insufficient quota for {0} in flavor {flavor}, previously considered podsets requests ({1}) + "
    "current podset request ({2}) > maximum capacity ({3})"
)
_MODES = {
    "fit": (Mode.FIT,),
    "preempt": (Mode.PREEMPT, Mode.RECLAIM),
    "no candidates": (Mode.NO_CANDIDATES,),
    "no fit": (Mode.NO_FIT,),
}
_OUTCOME = re.compile(r"(fit|preempt|no candidates|no fit)(?: (\d))?")
_FIGURES = re.compile(r"(\S+) (\S+)(?: \+ (\S+) > (\S+)| more)")


@dataclass(frozen=True)
class Case:
    """A workload, the queue that it asks, and what Kueue makes of it.

    ``home`` is the cohort of the queue and of the lender beside it. ``oracle`` is what preemption
    would do by pair (a mode, and how far the quota is then); anything else is PREEMPT at 0.
    ``gives`` are flavors by pod set, those that must be preempted for with a star; ``borrows`` is
    the farthest quota's distance. ``old`` is what a workload that is replaced holds.
    """

    want: str
    pods: tuple[PodSet, ...]
    groups: tuple[str, ...]
    gives: Mapping[str, str] = field(default_factory=dict)
    usage: str = ""
    tries: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    kind: Kind | None = None
    borrows: int = 0
    used: str = ""
    home: str = ""
    lender: tuple[str, ...] = ()
    lent: str = ""
    rules: FlavorFungibility = field(default_factory=FlavorFungibility)
    preemption: Preemption = field(default_factory=Preemption)
    fair: bool = False
    oracle: Mapping[str, tuple[Mode, int]] = field(default_factory=dict)
    reclaimable: Mapping[str, int] = field(default_factory=dict)
    old: str = ""


@dataclass(frozen=True)
class Try:
    """One flavor's answer; ``reasons`` in Kueue's words. No modes if it isn't about quota."""

    flavor: str
    modes: tuple[Mode, ...]
    distance: int
    reasons: tuple[str, ...]


def main(text: str, count: int = 1, **where: object) -> tuple[PodSet, ...]:
    """Return the one pod set of a job."""
    return pods(f"main x{count}: {text}", **where)


def pods(*texts: str, **where: object) -> tuple[PodSet, ...]:
    """Return pod sets; where they may go is the same for all."""
    return tuple(pod_set(text, **({"tolerations": ()} | where)) for text in texts)


def read(text: str) -> Try:
    """Return the try that a text tells."""
    flavor, _, rest = text.partition(": ")
    word, _, what = rest.partition(" ")
    if word in _SENTENCES:
        said = _SENTENCES[word].format(flavor=flavor, what={"gpu": GPU}.get(what, what))
        return Try(flavor, (), 0, (said,))
    outcome, *figures = rest.split(", ")
    found = _OUTCOME.fullmatch(outcome)
    assert found, text
    reasons = tuple(_sentence(flavor, figure) for figure in figures)
    return Try(flavor, _MODES[found[1]], int(found[2] or 0), reasons)


def message(pod_set: str, tries: tuple[Try, ...]) -> str:
    """Return Kueue's message about one pod set."""
    reasons = sorted(reason for each in tries for reason in each.reasons)
    return f"couldn't assign flavors to pod set {pod_set}: {', '.join(reasons)}"


def _sentence(flavor: str, figure: str) -> str:
    found = _FIGURES.fullmatch(figure)
    assert found, figure
    resource, *numbers = (part for part in found.groups() if part is not None)
    template = _NEVER if len(numbers) > 1 else _MORE
    return template.format({"gpu": GPU}.get(resource, resource), *numbers, flavor=flavor)
