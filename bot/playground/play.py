"""Puts the playground together: cluster, repository, fake Slack, page, and the real bot.

``make play`` has all of it in one process; with ``External`` endpoints the same page and the same
bot stand on a cluster that runs elsewhere.
"""

import secrets
import shutil
import signal
import socket
import sys
import tempfile
import threading
from contextlib import ExitStack
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import yaml

from bot.app import App
from bot.playground.cluster import PlaygroundCluster
from bot.playground.fake_slack.app import SlackApp, from_manifest
from bot.playground.fake_slack.people import TEAM
from bot.playground.fake_slack.server import FakeSlack
from bot.playground.loop import LoopThread
from bot.playground.metrics import MetricsServer
from bot.playground.page_server import PageServer, World
from bot.playground.seeding import make_repository, manifests
from bot.playground.serving import LOOPBACK, Serving
from bot.playground.worlds import RealWorld, SimulatedWorld
from bot.wiring import Hosted, for_playground
from capacity.errors import UsageError
from capacity.kueue import ClusterConfig
from gitops.localgit import LocalForge
from gitops.repository import Repository

PORT = 8484
SPEED = 1.0
REQUESTS_CHANNEL = "C0REQUESTS"
DIGESTS = ("C0PLATFORM=digest",)
MANIFEST = Path(__file__).resolve().parents[2] / "app-manifest.yaml"
# Slack's own pace would make a visitor wait; the limits still hold, at twenty times the rate.
RATE_SCALE = 20.0


@dataclass(frozen=True, slots=True)
class External:
    """A cluster, a metrics store and a bare repository that somebody else runs.

    When the repository is ``hosted`` on a forge, ``repository`` is where its mirror goes.
    """

    cluster: ClusterConfig
    repository: Path
    prometheus_url: str = ""
    hosted: Hosted | None = None


def utc_now() -> datetime:
    """Return the wall clock's time."""
    return datetime.now(UTC)


class Playground:
    """Everything running; ``folder`` holds repository and database, and stays after ``stop``.

    Without ``bot`` there is only the stage, for a bot that runs elsewhere on ``reached_at``.
    """

    def __init__(
        self,
        folder: Path,
        *,
        port: int = 0,
        speed: float = SPEED,
        external: External | None = None,
        rate_scale: float = RATE_SCALE,
        bot: bool = True,
    ) -> None:
        self._has_bot = bot
        self._ends = ExitStack()
        folder.mkdir(parents=True, exist_ok=True)
        self.repository_path = external.repository if external else folder / "fleet.git"
        is_mirror = external is not None and external.hosted is not None
        if not is_mirror and not self.repository_path.exists():
            make_repository(self.repository_path, utc_now())
        self.repository = Repository(self.repository_path)
        self.forge = LocalForge(self.repository_path)
        self.cluster = None if external else self._own_cluster(speed)
        self.metrics = MetricsServer(self.cluster) if self.cluster else None
        self.slack = FakeSlack(app=slack_app(), rate_scale=rate_scale)
        self.page = PageServer(self.slack)
        self.serving = Serving(self.page.application(), port)
        self._folder = folder
        self._external = external
        self._bot = LoopThread("bot")
        self.app: App | None = None

    @property
    def url(self) -> str:
        """The page's address."""
        return self.serving.url

    def start(self) -> "Playground":
        """Start everything, the bot last; returns when the bot has begun to connect."""
        with ExitStack() as undo:
            if self.cluster is not None:
                self.cluster.start()
                undo.callback(self.cluster.stop)
            if self.metrics is not None:
                self.metrics.start()
                undo.callback(self.metrics.stop)
            self.serving.start()
            undo.callback(self.serving.stop)
            self.slack.at(self.serving.url)
            if self._has_bot:
                self._start_bot(undo)
            world = self._world()
            self.serving.call(lambda: self.page.show(world))
            self._ends = undo.pop_all()
        return self

    def stop(self) -> None:
        """End the bot, then what it stands on."""
        self._ends.close()

    def connected(self) -> bool:
        """Tell whether the bot is connected to the fake Slack."""
        return self.app is not None and self._bot.run(self.app.connected())

    def _own_cluster(self, speed: float) -> PlaygroundCluster:
        return PlaygroundCluster(manifests=manifests(self.repository), speed=speed)

    def _start_bot(self, undo: ExitStack) -> None:
        now = self.cluster.now if self.cluster else utc_now
        self.app = app = for_playground(**self.reached_at(), now=now)
        self._bot.start()
        undo.callback(self._bot.stop)
        self._bot.run(app.start())
        undo.callback(lambda: self._bot.run(app.stop()))

    def reached_at(self) -> dict[str, Any]:
        """Return what ``wiring.for_playground`` needs of a started playground, but for the time."""
        return {
            "slack_url": self.slack.api_url,
            "bot_token": self.slack.app.bot_token,
            "app_token": self.slack.app.app_token,
            "team": TEAM,
            "requests_channel": REQUESTS_CHANNEL,
            "cluster": self._cluster_config(),
            "repository": self.repository_path,
            "database": self._folder / "gpubot.db",
            "prometheus_url": self._prometheus_url(),
            "pull_url": f"{self.url}/pulls/{{number}}",
            "digests": DIGESTS,
            "hosted": self._external.hosted if self._external else None,
        }

    def _cluster_config(self) -> ClusterConfig:
        if self._external is not None:
            return self._external.cluster
        assert self.cluster is not None
        return self.cluster.config()

    def _prometheus_url(self) -> str:
        if self._external is not None:
            return self._external.prometheus_url
        return self.metrics.url if self.metrics else ""

    def _world(self) -> World:
        if self.cluster is not None:
            return SimulatedWorld(self.cluster, self.repository, self.forge)
        assert self.app is not None
        return RealWorld(self.app.backend.sources.reader.fleet, self.repository, self.forge)


def slack_app() -> SlackApp:
    """Return the app as its manifest declares it, with tokens that are valid in this run only."""
    app = from_manifest(yaml.safe_load(MANIFEST.read_text("utf-8"))) if MANIFEST.exists() else None
    return replace(
        app or SlackApp(),
        bot_token=f"xoxb-{secrets.token_hex(16)}",
        app_token=f"xapp-{secrets.token_hex(16)}",
        signing_secret=secrets.token_hex(16),
    )


def play(
    *,
    port: int | None = None,
    keep: Path | None = None,
    speed: float = SPEED,
    external: External | None = None,
) -> None:
    """Run a playground until it is told to end (Ctrl-C, SIGTERM), and print its one address.

    ``keep`` is a folder that outlives it; without one everything starts fresh and is deleted.
    Raises UsageError for a port that is taken.
    """
    if port and _free(port) != port:
        raise UsageError(f"Something else listens on port {port}.", "Say another, or none.")
    folder = keep or Path(tempfile.mkdtemp(prefix="gpubot-play-"))
    ended = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: ended.set())
    wanted = _free(PORT) if port is None else port
    playground = Playground(folder, port=wanted, speed=speed, external=external)
    try:
        playground.start()
        sys.stdout.write(f"Gpubot's playground is at {playground.url}  (Ctrl-C ends it)\n")
        sys.stdout.flush()
        ended.wait()
    finally:
        playground.stop()
        if keep is None:
            shutil.rmtree(folder, ignore_errors=True)


def _free(port: int) -> int:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        return 0 if probe.connect_ex((LOOPBACK, port)) == 0 else port
