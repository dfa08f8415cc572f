"""The flow's conveniences over a real Gitea: its repository mirrored, its pull requests used."""

from base64 import b64encode
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

from bot.proposals import Proposals, what_if
from bot.store import open_store
from gitops.flow import Flow
from gitops.forge_invite import InvitingForge
from gitops.gitea import GiteaForge
from gitops.indexer import Indexer
from gitops.repository import Remote, Repository
from gitops.request import Request
from tests.cluster.forge import Gitea
from tests.cluster.process import wait_until
from tests.cluster.repository import Repository as Hosted
from tests.cluster.web import Api, RefusedError
from tests.gitops.flow_fakes import QUEUES, World, a_draft

SEED = Path(__file__).resolve().parents[2] / "bot/playground/seed"
# The people of the seed, as far as Gitea has accounts for them.
LOGINS = {"forge: kim": "forge: alice", "forge: pat": "forge: bob", "forge: ana": "forge: carol"}
STATUS = "gpubot/approvals"


def seed() -> dict[str, str]:
    files = {
        str(file.relative_to(SEED)): file.read_text("utf-8")
        for file in SEED.rglob("*.yaml")
        if file.parent.name in ("prod", "gpubot")
    }
    for mine, theirs in LOGINS.items():
        files["gpubot/people.yaml"] = files["gpubot/people.yaml"].replace(f"{mine},", f"{theirs},")
    return files


class GiteaWorld(World):
    """One flow on one protected repository; ``around`` is told of every step on the forge."""

    def __init__(self, folder: Path, gitea: Gitea, name: str) -> None:
        super().__init__()
        self.hosted: Hosted = gitea.repository(name, seed())
        self.hosted.protect(statuses=[STATUS])
        token = gitea.token("gpubot")
        remote = Remote(self.hosted.clone_url, lambda: token)
        repository = Repository(folder / "mirror.git", remote=remote, every=0.1)
        proposals = Proposals(repository, Indexer(repository))
        self.real_store = open_store(f"sqlite:///{folder}/gpubot.db")
        self.store = self.real_store.requests
        self.adapter = Watched(GiteaForge(gitea.url, f"platform/{name}", token))
        self.flow = Flow(
            store=self.store,
            source=repository,
            forge=InvitingForge(self.adapter, repository, ("gpu-quota",)),  # type: ignore[arg-type]
            build_change=proposals.build,
            lint=proposals.lint,
            what_if=what_if,
            fleet=self.fleet,
            cluster="prod-eu",
            poll_every=timedelta(seconds=5),
        )

    def opened(self, **changes: Any) -> Request:
        request = self.submit(a_draft(**changes))
        self.ticks()
        return self.get(request)

    def api(self, user: str = "forge-admin") -> Api:
        return self.hosted.forge.api_as(user)

    def pull(self, request: Request) -> dict[str, Any]:
        number = self.get(request).pull.number  # type: ignore[union-attr]
        found: dict[str, Any] = self.api().get(f"{self.hosted.path}/pulls/{number}")
        return found

    def pulls(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.api().get(f"{self.hosted.path}/pulls?state=all")
        return found

    def branches(self) -> list[str]:
        return [b["name"] for b in self.api().get(f"{self.hosted.path}/branches")]

    def edit(self, branch: str, old: str, new: str, user: str = "alice") -> None:
        """Change the queue file on a branch, as a person does on the page."""
        there = self.api(user).get(f"{self.hosted.path}/contents/{QUEUES}?ref={branch}")
        text = self.hosted.read(QUEUES, branch).replace(old, new, 1)
        body = {
            "branch": branch,
            "message": f"{old} to {new}",
            "sha": there["sha"],
            "content": b64encode(text.encode()).decode(),
        }
        self.api(user).put(f"{self.hosted.path}/contents/{QUEUES}", body)

    def review(self, request: Request, user: str, event: str, text: str = "") -> None:
        path = f"{self.hosted.path}/pulls/{self.pull(request)['number']}/reviews"
        self.api(user).post(path, {"event": event, "body": text})

    def comments(self, request: Request) -> list[str]:
        path = f"{self.hosted.path}/issues/{self.pull(request)['number']}/comments"
        return [comment["body"] for comment in self.api().get(path)]

    def finish(self, request: Request, state: Any, tries: int = 20) -> Request:
        """Let time pass, with all its waits, until the request is in a state."""
        for _ in range(tries):
            if self.get(request).state is state and self.get(request).trouble is None:
                break
            self.pass_time(seconds=30)
            self.ticks()
        self.pass_time(seconds=30)
        self.ticks()
        return self.get(request)

    def told(self) -> list[str]:
        return [row.move.kind.value for row in self.real_store.outbox.pending_moves(1000)]


class Watched:
    """A forge that calls ``around(call, after)`` before and after each call."""

    def __init__(self, forge: GiteaForge) -> None:
        self._forge = forge
        self.around: Callable[[str, bool], None] = lambda call, after: None

    def __getattr__(self, name: str) -> Any:
        call = getattr(self._forge, name)

        def watched(*given: Any) -> Any:
            self.around(name, False)
            result = call(*given)
            self.around(name, True)
            return result

        return watched


def merge_when_checked(hosted: Hosted, number: int, head: str, *, user: str) -> None:
    """Merge by hand; Gitea first looks at a pull request in the background."""

    def merged() -> bool:
        try:
            hosted.merge(number, head, user=user)
        except RefusedError as refused:
            if "try again" in refused.body:
                return False
            raise
        return True

    wait_until(merged, "Gitea to have looked at it", 30)
