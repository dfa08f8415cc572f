"""The whole bot on the playground's parts: fake Slack, simulated cluster, local Git, SQLite.

Nothing in the bot is stood in for; the fake Slack and the simulated cluster are reached by wire.
"""

import asyncio
import json
import socket
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from bot import wiring
from bot.app import App
from bot.playground.cluster import PlaygroundCluster
from bot.playground.fake_slack.faults import ApiFault
from bot.playground.fake_slack.messages import Message
from bot.playground.fake_slack.person import SlackPerson, buttons, everything_said
from bot.playground.fake_slack.server import FakeSlack, application
from bot.playground.loop import LoopThread
from bot.playground.seeding import make_repository, manifests
from bot.playground.serving import Serving
from bot.settings import Settings, load
from bot.sources import utc_now
from gitops.audit import verify
from gitops.repository import Repository


class Playground:
    """The parts, and the bot on them; the bot can be ended and started anew on the same files."""

    def __init__(self, folder: Path, *, http: bool = False) -> None:
        self.folder = folder
        self.port = free_port() if http else 0
        hook = f"http://127.0.0.1:{self.port}/slack/events" if http else ""
        self.slack = FakeSlack(rate_scale=float("inf"), request_url=hook)
        self.serving = Serving(application(self.slack))
        make_repository(folder / "fleet.git", utc_now())
        self.repository = Repository(folder / "fleet.git")
        self.cluster = PlaygroundCluster(manifests=manifests(self.repository), sync_delay=0.5)
        self.loop = LoopThread("bot")
        self.app: App

    def start(self) -> None:
        self.serving.start()
        self.slack.at(self.serving.url)
        self.cluster.start()
        self.loop.start()
        self.start_bot()

    def stop(self) -> None:
        self.stop_bot()
        self.loop.stop()
        self.cluster.stop()
        self.serving.stop()

    def start_bot(self) -> None:
        async def begin() -> None:
            self.app = self.make_bot()
            await self.app.start()
            while not await self.app.connected():
                await asyncio.sleep(0.02)

        self.loop.run(begin())

    def stop_bot(self) -> None:
        self.loop.run(self.app.stop())

    def make_bot(self) -> App:
        if self.port:
            return wiring.build(self.http_settings(), now=self.cluster.now)
        return wiring.for_playground(
            slack_url=self.slack.api_url,
            bot_token="xoxb-play",
            app_token="xapp-play",
            team="T0PLAY",
            requests_channel="C0REQUESTS",
            cluster=self.cluster.config(),
            repository=self.folder / "fleet.git",
            database=self.folder / "gpubot.db",
            now=self.cluster.now,
        )

    def http_settings(self) -> Settings:
        return load(
            {
                "GPUBOT_SLACK_MODE": "http",
                "GPUBOT_SLACK_BOT_TOKEN": "xoxb-play",
                "GPUBOT_SLACK_SIGNING_SECRET": "play",
                "GPUBOT_SLACK_BASE_URL": self.slack.api_url,
                "GPUBOT_REQUESTS_CHANNEL": "C0REQUESTS",
                "GPUBOT_CLUSTER": "prod-eu",
                "GPUBOT_KUBE_SERVER": self.cluster.url,
                "GPUBOT_KUBE_TOKEN": self.cluster.token,
                "GPUBOT_REPOSITORY": str(self.folder / "fleet.git"),
                "GPUBOT_DATABASE_URL": f"sqlite:///{self.folder / 'gpubot.db'}",
                "GPUBOT_LISTEN_PORT": str(self.port),
                "GPUBOT_POLL_SECONDS": "1",
            }
        )

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


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


@pytest.fixture
def played(tmp_path: Path) -> Iterator[Callable[..., Playground]]:
    running: list[Playground] = []

    def make(**options: bool) -> Playground:
        playground = Playground(tmp_path, **options)
        playground.start()
        running.append(playground)
        return playground

    yield make
    for playground in running:
        playground.stop()


@pytest.fixture
def playground(played: Callable[..., Playground]) -> Playground:
    return played()


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


def asked(playground: Playground) -> Message:
    """Ana asks for 12 more; return the card as Li sees it."""
    ana, li = playground.person("U0ANA"), playground.person("U0LI")
    ana.slash("/gpu-request", "research h100 nominal 44")
    ana.wait_for(lambda: "32 → 44" in everything_said(ana.modal()))
    assert ana.submit(why="camera-ready ablations")
    return li.wait_for_text("research wants 12 more H100")


def test_a_restart_in_the_middle_loses_nothing(playground: Playground) -> None:
    li, kim = playground.person("U0LI"), playground.person("U0KIM")
    card = asked(playground)
    li.click(card, "approve")
    li.wait_for(lambda: "approved as owner of serving" in thread(li, card))
    playground.stop_bot()
    playground.start_bot()
    kim.click(card, "approve")
    kim.wait_for(lambda: "Live in prod-eu" in thread(kim, card))
    assert len([m for m in kim.see_channel() if "Request 1" in m.text]) == 1
    said = [everything_said(m) for m in kim.see_thread(card)]
    assert len(said) == len(set(said))


def test_while_slack_is_away_the_request_moves_on_and_is_told_later(
    playground: Playground,
) -> None:
    li, kim = playground.person("U0LI"), playground.person("U0KIM")
    card = asked(playground)
    li.click(card, "approve")
    kim.wait_for(lambda: "approved as owner of serving" in thread(kim, card))
    playground.slack.faults.fail("chat.postMessage", ApiFault(status=503), times=1)
    playground.slack.faults.fail("chat.update", ApiFault(status=503), times=1)
    kim.click(card, "approve")
    kim.wait_for(lambda: "Live in prod-eu" in thread(kim, card), 40)
    order = ["opened", "approved as owner", "approved for platform", "policy is met", "Merged"]
    positions = [thread(kim, card).index(words) for words in order]
    assert positions == sorted(positions)


def test_without_the_cluster_the_bot_says_so_and_recovers(playground: Playground) -> None:
    ana = playground.person("U0ANA")
    ana.slash("/gpu-quota", "research")
    ana.wait_for_text("research can start 4 more H100")
    playground.cluster.stop()
    ana.wait_for(lambda: says_a_gap(ana), 30)
    assert not ana.see_errors()


def says_a_gap(ana: SlackPerson) -> bool:
    ana.slash("/gpu-quota", "research")
    return any("⚠" in everything_said(m) for m in ana.see_ephemerals())


def test_the_story_holds_in_http_mode(played: Callable[..., Playground]) -> None:
    playground = played(http=True)
    li, kim = playground.person("U0LI"), playground.person("U0KIM")
    card = asked(playground)
    li.click(card, "approve")
    li.wait_for(lambda: "approved as owner of serving" in thread(li, card))
    kim.click(card, "approve")
    kim.wait_for(lambda: "Live in prod-eu" in thread(kim, card))
    assert not kim.see_errors()


def thread(person: SlackPerson, card: object) -> str:
    return "\n".join(everything_said(m) for m in person.see_thread(card))  # type: ignore[arg-type]
