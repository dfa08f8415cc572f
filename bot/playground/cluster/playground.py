"""The whole in-memory cluster: simulated time, jobs, Git sync and the API server in front of it."""

import threading
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path

from bot.playground.cluster.apiserver import ApiServer
from bot.playground.cluster.cards import PER_NODE, GpuNode, PodRun
from bot.playground.cluster.clock import SimulatedClock
from bot.playground.cluster.history import past, remembered
from bot.playground.cluster.job import Spec
from bot.playground.cluster.objects import ObjectStore
from bot.playground.cluster.picture import Picture, bars
from bot.playground.cluster.publish import pending_items, publish
from bot.playground.cluster.rules import read_rules
from bot.playground.cluster.scenario import begin
from bot.playground.cluster.sync import GitSync, Manifests, SyncStatus
from bot.playground.cluster.world import World
from capacity.errors import UnknownName, UsageError
from capacity.kueue import ClusterConfig

SEED = Path(__file__).resolve().parent.parent / "seed" / "clusters" / "prod"
TOKEN = "playground"  # noqa: S105  # opens a loopback server with made-up data
_TICK = 0.1
_MOST_PODS = 16


def seed_manifests() -> tuple[str, Mapping[str, str]]:
    """Return the manifests that the playground's repository starts with."""
    files = {f"clusters/prod/{path.name}": path.read_text("utf-8") for path in SEED.glob("*.yaml")}
    return "seed", files


class PlaygroundCluster:
    """A cluster that lives in this process and is reached over loopback like any other.

    ``manifests`` returns the commit and the files of the main branch; without it the seed stays.
    ``sync_delay`` is in real seconds; ``speed`` is simulated seconds a second. Pausing stops the
    jobs' time; the scheduler and the sync from Git go on.
    """

    def __init__(
        self,
        *,
        manifests: Manifests | None = None,
        seed: int = 7,
        start: datetime | None = None,
        speed: float = 1.0,
        sync_delay: float = 1.5,
        port: int = 0,
    ) -> None:
        start = (start or datetime.now(UTC)).replace(microsecond=0)
        self._clock = SimulatedClock(start, speed)
        self._started = start
        self._store = ObjectStore()
        self._sync = GitSync(self._store, manifests or seed_manifests, sync_delay)
        self._sync.first(start - timedelta(days=90))
        self._lock = threading.RLock()
        self._world = World(read_rules(self._store), start)
        begin(self._world, start, seed)
        nodes = self._world.pods.nodes
        self._past = past(nodes, self._world.pods.runs(), start, seed)
        queues = self._world.rules.cluster_queues.values()
        checked = {queue.name for queue in queues if queue.admission_checks}
        self._world.remember(remembered(self._past, nodes, checked, start=start, seed=seed))
        self._own_names = 0
        self._stopped = threading.Event()
        self._publish()
        # Bookmarks come often since simulated time may run fast: freshness is told in it.
        self.api = ApiServer(
            self._store, port=port, token=TOKEN, pending=self._pending, bookmark_seconds=0.5
        )

    def start(self) -> None:
        """Serve the API and let time run."""
        self.api.start()
        threading.Thread(target=self._run, name="simulation", daemon=True).start()

    def stop(self) -> None:
        """Stop serving and stop time."""
        self._stopped.set()
        self.api.stop()

    @property
    def url(self) -> str:
        """The API server's address."""
        return self.api.url

    @property
    def token(self) -> str:
        """The API server's bearer token."""
        return TOKEN

    def config(self, cluster: str = "prod-eu") -> ClusterConfig:
        """Return what the reader needs to follow this cluster."""
        return ClusterConfig(cluster, server=self.url, token=TOKEN)

    def now(self) -> datetime:
        """Return the simulated time; all its timestamps are in it."""
        return self._clock.now()

    def set_speed(self, speed: float) -> None:
        """Let time run at so many simulated seconds a second."""
        self._clock.set_speed(speed)

    def pause(self) -> None:
        """Let jobs' time stand still."""
        self._clock.pause()

    def resume(self) -> None:
        """Let jobs' time go on."""
        self._clock.resume()

    @property
    def speed(self) -> float:
        """Simulated seconds a second."""
        return self._clock.speed

    @property
    def paused(self) -> bool:
        """Tell whether jobs' time stands still."""
        return self._clock.paused

    def picture(self) -> Picture:
        """Return what the page draws."""
        sync = self.sync_status()
        with self._lock:
            found, events = bars(self._world), tuple(reversed(self._world.happenings))
        return Picture(self.now(), self.speed, self.paused, sync.commit, sync.error, found, events)

    def sync_status(self) -> SyncStatus:
        """Return which commit is applied."""
        return self._sync.status

    def nodes(self) -> tuple[GpuNode, ...]:
        """Return the nodes with their cards."""
        return self._world.pods.nodes

    def pods(self, start: datetime, end: datetime) -> tuple[PodRun, ...]:
        """Return every pod that sat on cards at some moment of [start, end), oldest first."""
        with self._lock:
            runs = self._past + self._world.pods.runs()
        found = (r for r in runs if r.start < end and (r.end is None or r.end > start))
        return tuple(sorted(found, key=lambda run: (run.start, run.pod)))

    def submit_job(
        self,
        queue: str,
        gpus: int,
        count: int = 1,
        *,
        flavor: str | None = "h100",
        name: str | None = None,
        minutes: int = 60,
    ) -> str:
        """Submit a job of ``count`` pods with ``gpus`` each, all or none; returns its name.

        Raises UnknownName for a queue that isn't there and UsageError for sizes that no node has.
        """
        if not (1 <= gpus <= PER_NODE and 1 <= count <= _MOST_PODS):
            raise UsageError(
                f"A job is 1 to {_MOST_PODS} pods of 1 to {PER_NODE} GPUs.", "Ask for less."
            )
        with self._lock:
            if self._world.rules.queue_of(queue, queue) is None:
                raise UnknownName("queue", queue, tuple(self._world.rules.cluster_queues))
            self._own_names += 1
            spec = Spec(
                queue,
                name or f"visitor-{self._own_names}",
                count,
                gpus,
                timedelta(minutes=minutes),
                on=flavor,
            )
            self._world.submit(spec, self.now())
            self._settle()
        return spec.name

    def tick(self) -> None:
        """Let everything happen that is due now; the started cluster does it by itself."""
        self._sync.look()
        with self._lock:
            if self._sync.take(self.now()):
                self._world.rules = read_rules(self._store)
            self._world.advance(self.now())
            self._settle()

    def _settle(self) -> None:
        self._world.schedule(max(self._world.now, self.now()))
        self._publish()

    def _publish(self) -> None:
        publish(self._store, self._world, self._started - timedelta(days=90))

    def _pending(self, queue: str) -> list[dict[str, object]] | None:
        with self._lock:
            return pending_items(self._world, queue)

    def _run(self) -> None:
        while not self._stopped.wait(_TICK):
            self.tick()
