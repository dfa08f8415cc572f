"""What the page shows beside the chat: the playground's own cluster, or a real one."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from bot.playground.cluster import CohortBar, PlaygroundCluster
from bot.playground.git_view import git_view
from bot.playground.picture import picture
from capacity.errors import GpubotError
from capacity.model import Fleet
from commands.words import is_gpu
from gitops.localgit import LocalForge
from gitops.repository import Repository

Json = dict[str, Any]
EVENTS = 6


@dataclass(frozen=True, slots=True)
class SimulatedWorld:
    """The in-memory cluster, whose time can be sped up or stopped."""

    cluster: PlaygroundCluster
    repository: Repository
    forge: LocalForge

    def look(self) -> Json:
        """Return the picture of the cluster itself, not of what the bot has read of it."""
        seen = self.cluster.picture()
        return {
            "picture": {
                "cluster": "prod-eu",
                "as_of": seen.now.isoformat(timespec="seconds"),
                "gaps": [seen.sync_error] if seen.sync_error else [],
                "panels": [_panel(bar) for bar in seen.bars if is_gpu(bar.resource)],
            },
            "speed": 0 if seen.paused else seen.speed,
            "synced": seen.commit,
            "events": [
                {"at": e.at.isoformat(timespec="seconds"), "text": e.text}
                for e in seen.events[:EVENTS]
            ],
            "git": git_view(self.repository, self.forge),
        }

    def set_speed(self, speed: float) -> None:
        """Let simulated time run at this speed; 0 stops it."""
        if speed == 0:
            self.cluster.pause()
            return
        self.cluster.set_speed(speed)
        self.cluster.resume()


def _panel(bar: CohortBar) -> Json:
    queues = [
        {
            "name": q.queue,
            "nominal": q.nominal,
            "reserved": q.own + q.borrowed,
            "own": q.own,
            "borrowed": q.borrowed,
            "lent": q.lent,
            "can_start": q.can_reserve,
            "waiting": q.waiting,
            "waiting_jobs": q.waiting_jobs,
        }
        for q in bar.queues
    ]
    about = {"cohort": bar.cohort, "flavor": bar.flavor, "resource": bar.resource}
    return {**about, "quota": bar.nominal, "reserved": bar.reserved, "queues": queues}


@dataclass(frozen=True, slots=True)
class RealWorld:
    """A cluster that runs elsewhere, as the bot's own reader sees it; its time is everybody's."""

    fleet: Callable[[], Fleet]
    repository: Repository
    forge: LocalForge | None

    def look(self) -> Json:
        """Return the picture of the last read; a cluster that can't be read says so."""
        try:
            shown = picture(self.fleet())
        except GpubotError as down:
            shown = {"cluster": "", "as_of": "", "gaps": [down.sentence], "panels": []}
        return {"picture": shown, "git": git_view(self.repository, self.forge)}

    def set_speed(self, speed: float) -> None:
        """Do nothing: real time has one speed."""
