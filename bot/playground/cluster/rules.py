"""The rules in force: queues, cohorts and flavors as they were last applied."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

import msgspec

from bot.playground.cluster.objects import ObjectStore
from capacity import decode
from capacity.model import Amounts, ClusterQueue, Cohort, LocalQueue, ResourceFlavor
from capacity.quota import Tree


@dataclass(frozen=True, slots=True)
class Rules:
    """Kueue's configuration objects as values."""

    cluster_queues: Mapping[str, ClusterQueue]
    cohorts: Mapping[str, Cohort]
    local_queues: Mapping[tuple[str, str], LocalQueue]
    flavors: Mapping[str, ResourceFlavor]

    def tree(self, held: Mapping[str, Amounts]) -> Tree:
        """Return the cohort tree with this much reserved by queue."""
        queues = (replace(q, reserved=held.get(q.name, {})) for q in self.cluster_queues.values())
        return Tree.build(queues, self.cohorts.values())

    def queue_of(self, namespace: str, local_queue: str) -> ClusterQueue | None:
        """Return the ClusterQueue behind a LocalQueue, or None."""
        door = self.local_queues.get((namespace, local_queue))
        return self.cluster_queues.get(door.cluster_queue) if door else None


def read_rules(store: ObjectStore) -> Rules:
    """Return the rules that the API server holds."""
    queues = [decode.cluster_queue(raw) for raw in _bodies(store, "clusterqueues")]
    cohorts = [decode.cohort(raw) for raw in _bodies(store, "cohorts")]
    doors = [decode.local_queue(raw) for raw in _bodies(store, "localqueues")]
    flavors = [decode.resource_flavor(raw) for raw in _bodies(store, "resourceflavors")]
    return Rules(
        {queue.name: queue for queue in queues},
        {cohort.name: cohort for cohort in cohorts},
        {(door.namespace, door.name): door for door in doors},
        {flavor.name: flavor for flavor in flavors},
    )


def _bodies(store: ObjectStore, plural: str) -> Iterable[bytes]:
    return (msgspec.json.encode(body) for body in store.objects(plural))
