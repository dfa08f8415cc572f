"""The cluster as Kueue sees it: a watch-fed copy that answers at once and says how old it is."""

from collections.abc import Callable
from datetime import UTC, datetime

from capacity.errors import SourceDown
from capacity.kueue_api import Api, ClusterConfig
from capacity.kueue_cache import Cache
from capacity.kueue_discovery import Served, clock
from capacity.kueue_kinds import ACCESS, KINDS, AccessRule
from capacity.kueue_visibility import Visibility
from capacity.kueue_watch import KindWatch, Pace
from capacity.model import Fleet

__all__ = ["ACCESS", "AccessRule", "ClusterConfig", "ClusterReader", "Pace"]

_JOIN_SECONDS = 2.0


def utc_now() -> datetime:
    """Return the time of the wall clock."""
    return datetime.now(UTC)


class ClusterReader:
    """Follows Kueue's objects in one cluster, read-only, and recovers by itself.

    ``now`` stamps freshness; a simulated cluster passes its own clock.
    """

    def __init__(
        self,
        config: ClusterConfig,
        now: Callable[[], datetime] = utc_now,
        pace: Pace | None = None,
    ) -> None:
        pace = pace or Pace()
        api = Api(config)
        self._cluster = config.cluster
        self._source = f"Kueue, cluster {config.cluster}"
        self._patience = pace.patience
        self._cache = Cache(now)
        self._visibility = Visibility(api, config.visibility_url, pace.visibility)
        self._served = Served(api, self._cache, pace.pulse, pace.pulse_timeout)
        self._watches = [KindWatch(k, api, self._cache, self._served, pace) for k in KINDS]

    def start(self) -> None:
        """Begin to follow; returns at once."""
        self._served.start()
        for watch in self._watches:
            watch.start()

    def stop(self) -> None:
        """End all threads; returns within about two seconds. What was read stays readable."""
        self._served.stop()
        for watch in self._watches:
            watch.stop()
        until = clock() + _JOIN_SECONDS
        for thread in (self._served, *self._watches):
            if thread.ident is not None:
                thread.join(max(0.0, until - clock()))

    def fleet(self) -> Fleet:
        """Return everything that is known now; blocks under 5 s, and only before the first list.

        What is stale or missing is in its gaps. Raises SourceDown if the ClusterQueues never
        could be read.
        """
        self._cache.wait(self._patience)
        fleet = self._cache.fleet(self._cluster, self._source)
        if fleet is None:
            raise SourceDown(self._source, None, detail=self._cache.trouble())
        return fleet

    def pending_order(self, cluster_queue: str) -> tuple[str, ...] | None:
        """Return uids of pending workloads in Kueue's order; None without the visibility API.

        A workload that the watch hasn't shown yet is left out. Blocks about 2 s at most.
        """
        names = self._visibility.pending(cluster_queue)
        return None if names is None else self._cache.uids(names)

    @property
    def last_seen(self) -> datetime | None:
        """The moment up to which everything is known; None before the first list."""
        return self._cache.as_of

    @property
    def healthy_since(self) -> datetime | None:
        """Since when everything is followed without a failure; None while something isn't."""
        return self._cache.healthy_since
