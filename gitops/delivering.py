"""How far the GitOps controller is with a merge: its own status, asked about one commit.

Whose deliveries matter is told by commits: one that names a commit of our repository follows it.
[pure]
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Protocol

from capacity.delivery import Deliveries, Delivery
from gitops.request import Request

# A controller writes its status a moment after the object: the two are told in that order.
_MOMENT = timedelta(seconds=10)


class History(Protocol):
    """The repository's commits."""

    def includes(self, commit: str, ancestor: str) -> bool:
        """Tell if a commit is, or comes after, another; False for one that isn't known."""
        ...


@dataclass(frozen=True, slots=True)
class Delivering:
    """What is known about one merge's way into the cluster.

    ``applied`` is the commit in the cluster that has the merge, "" while it isn't there. Else
    ``message`` is why not, in the controller's own words, ``speaker`` the object that says so, and
    ``certain`` whether that is about this very merge. ``at_work_since`` is set while it is busy.
    """

    tool: str
    speaker: str
    applied: str = ""
    message: str = ""
    certain: bool = False
    at_work_since: datetime | None = None

    def at_work(self, now: datetime) -> bool:
        """Tell if it began so lately that its own word is worth waiting for."""
        since = self.at_work_since
        return not self.applied and since is not None and now - since < _MOMENT


@dataclass(frozen=True, slots=True)
class Tracker:
    """Answers for requests: ``read`` gives what the controllers say now.

    ``known`` are those that once named a commit of our repository: they follow it also while all
    that they name is newer than our mirror.
    """

    read: Callable[[], Deliveries]
    history: History
    known: set[tuple[str, str, str]] = field(default_factory=set)

    def of(self, request: Request) -> Delivering | None:
        """Return how far a merged request is; None when no controller brings its files."""
        merge = request.merge_sha
        if not merge:
            return None
        ours = _covering(self.ours(merge).found, paths_of(request.diff))
        return delivering(ours, merge, self.history)

    def ours(self, merge: str = "") -> Deliveries:
        """Return what the controllers say now of those that follow our repository.

        A mirror may not have a commit yet that was merged just now.
        """
        every = self.read()
        found = tuple(delivery for delivery in every.found if self._follows(delivery, merge))
        return Deliveries(found, every.gaps)

    def _follows(self, delivery: Delivery, merge: str) -> bool:
        name = (delivery.tool, delivery.name, delivery.url)
        if any(c == merge or self.history.includes(c, c) for c in delivery.commits):
            self.known.add(name)
        return name in self.known


def delivering(deliveries: Sequence[Delivery], merge: str, history: History) -> Delivering | None:
    """Sum up the deliveries that have to apply a merge: the one that lacks it speaks for all."""
    every = [_one(delivery, merge, history) for delivery in deliveries]
    every.sort(key=lambda one: (bool(one.applied), not one.certain, not one.message))
    return every[0] if every else None


def paths_of(diff: str) -> tuple[str, ...]:
    """Return the files that a unified diff changes."""
    named = [line[6:] for line in diff.splitlines() if line.startswith(("+++ b/", "--- a/"))]
    return tuple(dict.fromkeys(path.split("\t")[0] for path in named))


def _one(delivery: Delivery, merge: str, history: History) -> Delivering:
    def has_it(commit: str) -> bool:
        return commit == merge or history.includes(commit, merge)

    tool, speaker = delivery.tool, delivery.speaker
    if has_it(delivery.applied):
        return Delivering(tool, speaker, applied=delivery.applied)
    tried = has_it(delivery.attempted)
    if delivery.paused and not tried:
        return Delivering(tool, speaker, message=delivery.paused, certain=True)
    if delivery.message:
        unfetched = speaker.startswith("GitRepository") and not has_it(delivery.fetched)
        return Delivering(tool, speaker, message=delivery.message, certain=tried or unfetched)
    unknown = not history.includes(delivery.applied, delivery.applied)
    busy = delivery.ready is None or unknown
    return Delivering(tool, speaker, at_work_since=delivery.since if busy else None)


def _covering(deliveries: Sequence[Delivery], paths: Sequence[str]) -> Sequence[Delivery]:
    """Keep those whose folder has the changed files; all, when a base elsewhere was changed."""
    inside = [
        delivery
        for delivery in deliveries
        if any(f"{path}/".startswith(f"{delivery.path}/") or not delivery.path for path in paths)
    ]
    return inside or deliveries
