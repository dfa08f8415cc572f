"""What questions are answered from: the cluster, the repository, and the world made of both."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from bot.forges import repository_of
from bot.history_book import Book
from bot.settings import Settings
from bot.world import LiveWorld, no_index, no_meter
from capacity.delivery_read import DeliveryReader
from capacity.kueue import ClusterConfig, ClusterReader
from capacity.meter import Meter
from capacity.prometheus import PrometheusReader
from commands.command import Asker
from commands.page import Page
from commands.parse import parse
from commands.table import run
from gitops.delivering import Tracker
from gitops.index import Index
from gitops.indexer import Indexer
from gitops.repository import Repository

Now = Callable[[], datetime]


@dataclass(frozen=True, slots=True)
class Sources:
    """The read side, whole; ``reader`` has to be started before anything is asked."""

    reader: ClusterReader
    repository: Repository
    indexer: Indexer
    tracker: Tracker
    world: LiveWorld
    book: Book

    def answer(self, text: str, asker: Asker) -> tuple[Any, Page]:
        """Answer a question: words and asker in; data for scripts and a page for people out."""
        return run(parse(text, asker), self.world)


def utc_now() -> datetime:
    """Return the time of the wall clock."""
    return datetime.now(UTC)


def read_side(settings: Settings, now: Now = utc_now) -> Sources:
    """Make what questions are answered from; nothing is read before the reader is started."""
    repository = repository_of(settings)
    reader = ClusterReader(cluster_config(settings), now)
    indexer = Indexer(repository)
    tracker = Tracker(DeliveryReader(cluster_config(settings), now).read, repository)

    def index() -> Index:
        return indexer.at(repository.head()) if settings.repository else no_index()

    book = Book()
    meter = _meter(settings, now)
    world = LiveWorld(now, reader, repository, meter, index, tracker.ours, book.past)
    return Sources(reader, repository, indexer, tracker, world, book)


def _meter(settings: Settings, now: Now) -> Callable[[], Meter]:
    prometheus = prometheus_of(settings, now)
    if prometheus is None:
        return no_meter
    meter = Meter(prometheus, now, settings.mig_weights)
    return lambda: meter


def prometheus_of(settings: Settings, now: Now = utc_now) -> PrometheusReader | None:
    """Return what queries Prometheus; None when none is set up."""
    if not settings.prometheus_url:
        return None
    token = settings.prometheus_token
    secret = token.get_secret_value() if token else ""
    return PrometheusReader(settings.prometheus_url, token=secret, now=now)


def cluster_config(settings: Settings) -> ClusterConfig:
    """Return how to reach the cluster."""
    token = settings.kube_token
    return ClusterConfig(
        cluster=settings.cluster,
        server=settings.kube_server or None,
        token=token.get_secret_value() if token else None,
        ca_file=str(settings.kube_ca_file) if settings.kube_ca_file else None,
        kubeconfig=str(settings.kubeconfig) if settings.kubeconfig else None,
        context=settings.kube_context or None,
        visibility_url=settings.visibility_url or None,
    )
