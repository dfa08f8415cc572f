"""The whole chain on real programs: Gitea, Flux and Kueue, and the bot between them and a fake Slack."""

import asyncio
import time
from base64 import b64encode
from collections.abc import Callable
from datetime import datetime, timedelta
from itertools import count
from pathlib import Path
from typing import Any

from pydantic import SecretStr

from bot import wiring
from bot.app import App
from bot.playground.fake_slack.messages import Message
from bot.playground.fake_slack.person import SlackPerson, everything_said
from bot.playground.fake_slack.server import FakeSlack, application
from bot.playground.loop import LoopThread
from bot.playground.seeding import seed_files
from bot.playground.serving import Serving
from bot.settings import Settings
from bot.sources import utc_now
from capacity.errors import SourceDown
from capacity.model import Fleet
from gitops.book import read_book
from gitops.flow_step import next_step
from gitops.forge import STATUS_CONTEXT
from gitops.people import Actor
from gitops.request import Draft, Request
from tests.cluster.flux import Flux
from tests.cluster.forge import BOT, Gitea
from tests.cluster.kueue import Kueue
from tests.cluster.objects import namespace
from tests.cluster.repository import Repository
from tests.cluster.users import GPUBOT

QUEUES = "clusters/prod/queues.yaml"
CLUSTER_QUEUES = "/apis/kueue.x-k8s.io/v1beta2/clusterqueues"
RBAC = Path(__file__).resolve().parents[2] / "deploy/rbac.yaml"
LOGINS = {"ana": "alice", "kim": "bob", "li": "carol"}
PATIENCE = 60.0
_numbers = count(1)


def fleet_files() -> dict[str, str]:
    """The seed's files, with the logins that these people have on Gitea."""
    files = {path: data.decode() for path, data in seed_files().items()}
    for person, login in LOGINS.items():
        path = "gpubot/people.yaml"
        files[path] = files[path].replace(f"forge: {person},", f"forge: {login},")
    return files


class Stage:
    """One repository on Gitea that Flux applies, with the bot's settings for it."""

    def __init__(self, folder: Path, gitea: Gitea, flux: Flux, kueue: Kueue) -> None:
        self.gitea, self.flux, self.kueue = gitea, flux, kueue
        self.folder = folder
        self.name = f"fleet-{next(_numbers)}"
        self.plane = kueue.control_plane
        self.repository: Repository = gitea.repository(self.name, fleet_files())
        self.repository.protect(statuses=[STATUS_CONTEXT])
        self.slack = FakeSlack(rate_scale=float("inf"))
        self.serving = Serving(application(self.slack))
        self.loop = LoopThread("bot")
        self.app: App | None = None

    def follow(self) -> None:
        """Let Flux apply it; returns when the first commit is in the cluster."""
        self.plane.apply(*(namespace(n) for n in ("research", "vision", "serving", "gpubot")))
        self.plane.kubectl("apply", "--server-side", "-f", str(RBAC))
        self.flux.follow(self.name, self.repository.clone_url, "./clusters/prod")
        self.flux.wait_applied(self.name, self.repository.head())

    def begin(self) -> None:
        """Start the fake Slack and the bot."""
        self.serving.start()
        self.slack.at(self.serving.url)
        self.loop.start()
        self.start_bot()

    def start_bot(self) -> None:
        async def begin() -> None:
            self.app = wiring.build(self.settings())
            await self.app.start()
            while not await self.app.connected():
                await asyncio.sleep(0.02)

        self.loop.run(begin())

    def stop_bot(self) -> None:
        if self.app is not None:
            self.loop.run(self.app.stop())
            self.app = None

    def end(self) -> None:
        self.stop_bot()
        self.loop.stop()
        self.serving.stop()
        self.gitea.process.start()
        self.flux.unfollow(self.name)

    def settings(self) -> Settings:
        return Settings(
            slack_base_url=self.slack.api_url or "https://slack.com/api/",
            slack_bot_token=SecretStr("xoxb-play"),
            slack_app_token=SecretStr("xapp-play"),
            slack_team_ids=("T0PLAY",),
            requests_channel="C0REQUESTS",
            cluster="prod-eu",
            kube_server=self.plane.url,
            kube_token=SecretStr(GPUBOT.token),
            kube_ca_file=self.plane.certificate.cert,
            repository=str(self.folder / "mirror.git"),
            forge="gitea",
            forge_url=self.gitea.url,
            forge_repository=f"platform/{self.name}",
            forge_token=SecretStr(self.gitea.token(BOT)),
            database_url=SecretStr(f"sqlite:///{self.folder}/gpubot.db"),
            listen_port=0,
            poll_seconds=0.5,
        )

    # People, and what can be seen.

    def person(self, user: str) -> SlackPerson:
        return SlackPerson(self.slack, self.serving, user, "C0REQUESTS")

    def thread(self, card: Message) -> str:
        seen = self.person("U0ANA").see_thread(card)
        return "\n".join(everything_said(message) for message in seen)

    def told(self, card: Message, words: str, seconds: float = PATIENCE) -> str:
        """Wait until the thread says it; returns the whole thread."""
        end = time.monotonic() + seconds
        while words not in (text := self.thread(card)):
            if time.monotonic() > end:
                raise AssertionError(f"not told: {words!r}; the thread:\n{text}")
            time.sleep(0.2)
        return text

    def ask(self, text: str = "research h100 nominal 40", user: str = "U0ANA") -> Message:
        """Ask by slash command and modal; returns the card with the pull request opened."""
        who = self.person(user)
        who.slash("/gpu-request", text)
        who.wait_for(lambda: "→" in everything_said(who.modal()))
        assert who.submit(why="camera-ready ablations")
        card = who.wait_for_text("camera-ready ablations")
        self.told(card, "opened, checks running")
        return card

    def request(self) -> Request:
        """The newest request as the bot has stored it."""
        assert self.app is not None
        store = self.app.backend.store.requests
        found = [store.get(number) for number in range(1, 20)]
        return [one for one in found if one is not None][-1]

    # Gitea and the cluster.

    def pulls(self) -> list[Any]:
        path = f"{self.repository.path}/pulls?state=all"
        return list(self.gitea.api_as().get(path))

    def pull(self) -> dict[str, Any]:
        (only,) = self.pulls()
        return dict(only)

    def status(self) -> tuple[str, str]:
        """State and description of the approvals' status at the pull request's head."""
        sha = self.pull()["head"]["sha"]
        path = f"{self.repository.path}/commits/{sha}/statuses"
        found = [s for s in self.gitea.api_as().get(path) if s["context"] == STATUS_CONTEXT]
        newest = max(found, key=lambda s: s["id"], default=None)
        return (newest["status"], newest["description"]) if newest else ("", "")

    def push(self, branch: str, old: str, new: str, user: str) -> None:
        """Change a file on a branch in Gitea's editor."""
        text = self.repository.read(QUEUES, branch)
        assert old in text
        api = self.gitea.api_as(user)
        path = f"{self.repository.path}/contents/{QUEUES}"
        sha = api.get(f"{path}?ref={branch}")["sha"]
        body = {"branch": branch, "sha": sha, "message": f"{old} to {new}"}
        api.put(path, body | {"content": encoded(text.replace(old, new, 1))})

    def nominal(self) -> str:
        """Research's own H100 in the cluster."""
        queue = self.plane.api.get(f"{CLUSTER_QUEUES}/research")
        return str(queue["spec"]["resourceGroups"][0]["flavors"][0]["resources"][0]["nominalQuota"])


class Hands:
    """The bot's flow without its clockwork: each tick is done by hand, later when it has to be."""

    def __init__(self, stage: Stage) -> None:
        self.backend = wiring.backend(stage.settings())
        self.backend.sources.reader.start()
        self._ahead = timedelta()
        self._id = 0

    def now(self) -> datetime:
        return utc_now() + self._ahead

    def later(self) -> None:
        """Let the time pass after which a failed step is tried again."""
        self._ahead += timedelta(minutes=2)

    def submit(self) -> Request:
        fleet = wait(self._fleet, "the cluster")
        assert "research" in fleet.cluster_queues
        draft = Draft("nominal", "research", "h100", "nvidia.com/gpu", "32", "40", "ablations")
        made = self.backend.flow.submit(draft, Actor("slack", "U0ANA"), "k1", self.now())
        self._id = made.id
        return made

    def approve(self) -> None:
        request = self.request()
        kim = Actor("slack", "U0KIM")
        self.backend.flow.decide(request.id, request.version, "approve", kim, "", "k2", self.now())

    def tick(self) -> None:
        self.backend.flow.tick(self.now())
        time.sleep(0.3)

    def request(self) -> Request:
        found = self.backend.store.requests.get(self._id)
        assert found is not None
        return found

    def next_step(self) -> str | None:
        """The step on the forge that the next tick does."""
        flow, request = self.backend.flow, self.request()
        book = read_book(flow.source)
        return next_step(request, book.verdict(request), book, flow.poll_every, self.now())

    def kinds(self) -> list[str]:
        """What was told, in order."""
        return [row.move.kind.value for row in self.backend.store.outbox.pending_moves(1000)]

    def end(self) -> None:
        self.backend.sources.reader.stop()
        self.backend.store.close()

    def _fleet(self) -> Fleet | None:
        try:
            return self.backend.flow.fleet()
        except SourceDown:
            return None


def encoded(text: str) -> str:
    return b64encode(text.encode()).decode()


def wait(look: Callable[[], Any], what: str, seconds: float = PATIENCE) -> Any:
    """Look until there is something; raises AssertionError that says what was waited for."""
    end = time.monotonic() + seconds
    while not (found := look()):
        if time.monotonic() > end:
            raise AssertionError(f"waited in vain for {what}")
        time.sleep(0.2)
    return found
