"""What commands may look at, filled from the live sources (``commands.command.World``)."""

from collections.abc import Callable, Collection
from datetime import datetime
from typing import Any, Protocol

import structlog

from capacity.delivery import Deliveries
from capacity.errors import SourceDown
from capacity.model import Fleet
from commands.history import Recorded
from gitops import prices
from gitops.book import read_book
from gitops.index import Index
from gitops.people import People
from gitops.ports import Source
from gitops.prices import Prices

log = structlog.get_logger(__name__)


class Reader(Protocol):
    """The cluster, as ``capacity.kueue.ClusterReader`` follows it."""

    def fleet(self) -> Fleet: ...
    def pending_order(self, cluster_queue: str) -> tuple[str, ...] | None: ...


class NotConfigured(SourceDown):
    """An operator hasn't set the source up, so it won't come back by itself."""

    def __init__(self, source: str, setting: str) -> None:
        super().__init__(source, None)
        self.sentence = f"{source} is not configured."
        self.next_step = f"An operator sets {setting}."


class LiveWorld:
    """The cluster, the repository's people and the GPU meter, read when asked."""

    def __init__(  # noqa: PLR0917
        self,
        now: Callable[[], datetime],
        reader: Reader,
        source: Source,
        meter: Callable[[], Any],
        index: Callable[[], Index],
        deliveries: Callable[[], Deliveries],
        past: Callable[[Collection[str]], Recorded],
    ) -> None:
        self.now = now
        self.meter = meter
        self.repository_index = index
        self.deliveries = deliveries
        self.past = past
        self._reader = reader
        self._source = source
        self._people = People()

    def fleet(self) -> Fleet:
        return self._reader.fleet()

    def people(self) -> People:
        """Return who is who, as last read: an answer about queues doesn't fail for want of names.

        What people may do is never decided by this: the flow reads the repository itself.
        """
        try:
            self._people = read_book(self._source).people
        except SourceDown as down:
            log.warning("people as last read", why=down.detail or down.sentence)
        return self._people

    def prices(self) -> Prices | None:
        """Return what a GPU-hour costs, as the repository's tip says."""
        try:
            return prices.parse(self._source.read(prices.PATH, self._source.head()))
        except SourceDown as down:
            log.warning("prices unreadable", why=down.detail or down.sentence)
            return Prices(problems=("the repository can't be read",))

    def pending_order(self, cluster_queue: str) -> tuple[str, ...] | None:
        return self._reader.pending_order(cluster_queue)


def no_index() -> Index:
    """Stand in where no repository is set up."""
    raise NotConfigured("The GitOps repository", "GPUBOT_REPOSITORY")


def no_meter() -> Any:
    """Stand in where no Prometheus is set up."""
    raise NotConfigured("Prometheus", "GPUBOT_PROMETHEUS_URL")
