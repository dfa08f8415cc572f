"""The whole bot on the playground's parts: fake Slack, simulated cluster, local Git, SQLite.

Nothing in the bot is stood in for; the fake Slack and the simulated cluster are reached by wire.
"""

import asyncio
import json
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from bot import wiring
from bot.app import App
from bot.playground.cluster import PlaygroundCluster
from bot.playground.fake_slack.person import SlackPerson, buttons, everything_said
from bot.playground.fake_slack.server import FakeSlack, application
from bot.playground.loop import LoopThread
from bot.playground.seeding import make_repository, manifests
from bot.playground.serving import Serving
from bot.sources import utc_now
from gitops.audit import verify
from gitops.repository import Repository


@dataclass
class Playground:
    slack: FakeSlack
    serving: Serving
    cluster: PlaygroundCluster
    repository: Repository
    app: App
    loop: LoopThread

    def person(self, user: str, channel: str = "C0REQUESTS") -> SlackPerson:
        return SlackPerson(self.slack, self.serving, user, channel)

    def status(self, path: str) -> int:
        try:
            self.get(path)
        except urllib.error.HTTPError as error:
            return error.code
        return 200

    def get(self, path: str) -> str:
        url = f"http://127.0.0.1:{self.app.server.port}{path}"
        with urllib.request.urlopen(url, timeout=5) as response:
            return str(response.read().decode())


@pytest.fixture
def playground(tmp_path: Path) -> Iterator[Playground]:
    slack = FakeSlack(rate_scale=float("inf"))
    serving = Serving(application(slack))
    serving.start()
    slack.at(serving.url)
    path = tmp_path / "fleet.git"
    make_repository(path, utc_now())
    repository = Repository(path)
    cluster = PlaygroundCluster(manifests=manifests(repository), sync_delay=0.5)
    cluster.start()
    loop = LoopThread("bot")
    loop.start()

    async def make() -> App:
        app = wiring.for_playground(
            slack_url=slack.api_url,
            bot_token="xoxb-play",
            app_token="xapp-play",
            team="T0PLAY",
            requests_channel="C0REQUESTS",
            cluster=cluster.config(),
            repository=path,
            database=tmp_path / "gpubot.db",
            now=cluster.now,
        )
        await app.start()
        while not await app.connected():
            await asyncio.sleep(0.02)
        return app

    app = loop.run(make())
    yield Playground(slack, serving, cluster, repository, app, loop)
    loop.run(app.stop())
    loop.stop()
    cluster.stop()
    serving.stop()


def test_from_the_question_to_live(playground: Playground) -> None:
    ana, li, kim = (playground.person(user) for user in ("U0ANA", "U0LI", "U0KIM"))
    before = playground.repository.head()
    ana.slash("/gpu-quota", "research")
    ana.wait_for_text("research can start 4 more H100")

    ana.slash("/gpu-request", "research h100 nominal 44")
    ana.wait_for(lambda: "32 → 44" in everything_said(ana.modal()))
    assert "most ever 48 → 60" in everything_said(ana.modal())
    assert ana.submit(why="camera-ready ablations")
    card = li.wait_for_text("research wants 12 more H100 of its own (32 → 44)")
    assert "+" in everything_said(card)

    ana.click(card, "approve")
    ana.wait_for(lambda: [m for m in ana.see_ephemerals() if "your own request" in m.text])
    li.click(card, "approve")
    li.wait_for(lambda: "still waiting for one of platform" in thread(li, card))
    kim.click(card, "approve")
    kim.wait_for(lambda: "Merged" in thread(kim, card))
    kim.wait_for(lambda: "Live in prod-eu" in thread(kim, card))
    assert "research now has 44 H100 of its own" in thread(kim, card)

    ana.slash("/gpu-quota", "research")
    ana.wait_for_text("Own quota (nominal)    44")
    head = playground.repository.head()
    diff = playground.repository.diff(before, head)
    changed = [line for line in diff.splitlines() if line[:1] in "+-" and line[1:2] not in "+-"]
    assert [line.split("#")[0].strip("+- ") for line in changed] == [
        "nominalQuota: 32",
        "nominalQuota: 44",
    ]
    store = playground.app.backend.store
    assert verify(store.audit.records()) is None
    assert not store.outbox.pending_moves()
    assert not store.inbox.undone()


def test_a_rejection_ends_it_and_closes_the_pull_request(playground: Playground) -> None:
    ana, kim = playground.person("U0ANA"), playground.person("U0KIM")
    ana.slash("/gpu-request", "research h100 nominal 40")
    ana.wait_for(lambda: "32 → 40" in everything_said(ana.modal()))
    ana.submit(why="camera-ready ablations")
    card = kim.wait_for_text("research wants 8 more")
    kim.click(card, "reject")
    kim.wait_for(lambda: "Why do you reject" in everything_said(kim.modal()))
    kim.submit(why="promised to serving until Friday")
    kim.wait_for(lambda: "promised to serving until Friday" in thread(kim, card))
    assert "approve" not in buttons(card)
    assert "Rejected by" in everything_said(card)


def test_it_is_ready_and_says_what_it_lacks(playground: Playground) -> None:
    ana = playground.person("U0ANA")
    ana.wait_for(lambda: playground.status("/readyz") == 200)
    assert json.loads(playground.get("/readyz"))["lacks"] == []
    assert "gpubot_ack_seconds" in playground.get("/metrics")


def thread(person: SlackPerson, card: object) -> str:
    return "\n".join(everything_said(m) for m in person.see_thread(card))  # type: ignore[arg-type]
