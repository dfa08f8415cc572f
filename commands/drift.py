"""/gpu-drift: where the cluster and the GitOps repository disagree, with file and line.

[pure]
"""

from dataclasses import dataclass, replace
from datetime import datetime

from capacity.delivery import Delivery
from capacity.errors import Gap, UnknownName
from capacity.model import Fleet
from commands.command import Ask, Command, World
from commands.drift_page import page_of
from commands.nearest import nearest
from commands.page import Page
from gitops.drift import Drift, Subject, cluster_in, drift
from gitops.index import Index


@dataclass(frozen=True, slots=True)
class DriftAnswer:
    """What differs in a cluster, or of the one queue ``about``, from the files at ``commit``.

    ``deliveries`` are the GitOps controllers that bring the repository into the cluster.
    """

    about: str
    cluster: str
    commit: str
    drift: Drift
    deliveries: tuple[Delivery, ...]
    asked_at: datetime
    as_of: datetime
    source: str
    gaps: tuple[Gap, ...]


def answer(ask: Ask, world: World) -> DriftAnswer:
    """Answer for the whole cluster, or for the named queue; raises UnknownName, SourceDown."""
    fleet, index = world.fleet(), world.repository_index()
    deliveries = world.deliveries()
    name = " ".join(ask.args)
    whole = not name or name.casefold() == fleet.cluster.casefold()
    found = drift(index, fleet)
    about = "" if whole else _queue(name, found, fleet, index)
    return DriftAnswer(
        about=about,
        cluster=fleet.cluster,
        commit=index.commit,
        drift=found if whole else _only(about, found, fleet),
        deliveries=deliveries.found,
        asked_at=world.now(),
        as_of=fleet.as_of,
        source=fleet.source,
        gaps=(*fleet.gaps, *deliveries.gaps),
    )


def page(found: DriftAnswer) -> Page:
    """Show what differs, what is in no file, and what isn't live."""
    return page_of(found, found.drift, found.deliveries, (found.about, found.cluster, found.commit))


def _queue(name: str, found: Drift, fleet: Fleet, index: Index) -> str:
    """Return the ClusterQueue that is meant, which may be on one side only."""
    cluster = cluster_in(index, fleet.cluster)
    in_git = [
        entry.name
        for entry in index.entries
        if entry.cluster == cluster and entry.fragment.kind == "ClusterQueue"
    ]
    known = dict.fromkeys((*fleet.cluster_queues, *in_git))
    folded = name.casefold()
    chosen = name if name in known else next((k for k in known if k.casefold() == folded), None)
    if chosen is None:
        raise UnknownName("queue here or in Git", name, nearest(name, known))
    return chosen


def _only(queue: str, found: Drift, fleet: Fleet) -> Drift:
    """Keep what is about a ClusterQueue and the LocalQueues that lead to it."""
    leading = {
        Subject("LocalQueue", f"{lq.namespace}/{lq.name}")
        for lq in fleet.local_queues.values()
        if lq.cluster_queue == queue
    }
    kept = {Subject("ClusterQueue", queue), *leading}
    apart = {one.subject for one in (*found.not_live, *found.unclear)}
    return replace(
        found,
        differences=tuple(d for d in found.differences if d.subject in kept),
        unmanaged=tuple(s for s in found.unmanaged if s in kept),
        not_live=tuple(f for f in found.not_live if f.subject in kept),
        unclear=tuple(f for f in found.unclear if f.subject in kept),
        compared=len(kept - apart - set(found.unmanaged)),
    )


COMMAND = Command(
    word="drift",
    usage="/gpu-drift [queue]",
    summary="where the cluster and the GitOps repository disagree",
    examples=("/gpu-drift", "/gpu-drift research"),
    answer=answer,
    page=page,
)
