"""The bot as its settings make it, on a real Gitea: mirror, pull request, and a real webhook."""

import asyncio
import threading
from datetime import UTC, datetime
from pathlib import Path

import pytest
from prometheus_client import CollectorRegistry

from bot.forges import forge_of, hook_of, repository_of
from bot.server import Check, Server, application
from bot.settings import load
from bot.webhooks import webhook
from gitops.book import read_book
from gitops.forge import Proposal
from tests.cluster.forge import Gitea
from tests.cluster.process import wait_until
from tests.forges.real import seed
from tests.gitops.flow_fakes import QUEUES

pytestmark = pytest.mark.cluster
SECRET = "a-secret-of-sixteen"


class Listening:
    """The bot's own HTTP side on a loop of its own, counting hints."""

    def __init__(self, settings) -> None:
        self.hints = 0
        self.loop = asyncio.new_event_loop()
        self.thread = threading.Thread(target=self.loop.run_forever, daemon=True)
        self.thread.start()
        handler = webhook(hook_of(settings), self.hint)
        self.server = Server(
            application(self.nothing, CollectorRegistry(), None, handler), "127.0.0.1", 0
        )
        self.run(self.server.start())

    async def nothing(self) -> tuple[Check, ...]:
        return ()

    def hint(self) -> None:
        self.hints += 1

    def run(self, work) -> None:
        asyncio.run_coroutine_threadsafe(work, self.loop).result(20)

    def stop(self) -> None:
        self.run(self.server.stop())
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join()
        self.loop.close()


def test_settings_are_all_it_takes(gitea: Gitea, tmp_path: Path) -> None:
    hosted = gitea.repository("by-settings", seed())
    hosted.forge.api_as().patch(hosted.path, {"private": True})
    settings = load(
        {
            "GPUBOT_FORGE": "gitea",
            "GPUBOT_FORGE_URL": gitea.url,
            "GPUBOT_FORGE_REPOSITORY": "platform/by-settings",
            "GPUBOT_FORGE_TOKEN": gitea.token("gpubot"),
            "GPUBOT_FORGE_WEBHOOK_SECRET": SECRET,
            "GPUBOT_REPOSITORY": str(tmp_path / "mirror.git"),
        }
    )
    repository = repository_of(settings)
    assert read_book(repository).policy.open_per_person == 5
    listening = Listening(settings)
    try:
        url = f"http://127.0.0.1:{listening.server.port}/forge/webhook"
        hosted.add_hook(url, SECRET)
        hosted.add_hook(url, "another secret")
        forge = forge_of(settings, repository, lambda: datetime.now(UTC))
        files = {QUEUES: b"changed: true\n"}
        pull = forge.open_pull_request(
            Proposal("gpubot/request-1-a", repository.head(), files, "T", "B", "M\n")
        )
        assert repository.changed(pull.base_sha, pull.head_sha) == files
        wait_until(lambda: listening.hints > 0, "Gitea's webhook", 30)
    finally:
        listening.stop()
