"""The whole way through a real bare repository, the real editor, lint and store: nothing stands in.

Only the cluster is values here; on the real one the story runs in tests/cluster.
"""

import subprocess
import tempfile
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from bot.proposals import Proposals, what_if
from bot.store import open_store
from capacity.errors import Conflict, UsageError
from gitops.audit import verify
from gitops.flow import Flow
from gitops.indexer import Indexer
from gitops.localgit import LocalForge
from gitops.repository import Repository
from gitops.request import Request, State
from tests.gitops.flow_fakes import ANA, KIM, LI, PAT, QUEUES, World, a_draft
from tests.gitops.repositories import commit

SEED = Path(__file__).resolve().parents[2] / "bot/playground/seed"


def git(path: Path, *words: str) -> str:
    done = subprocess.run(["git", "-C", path, *words], check=True, capture_output=True, text=True)
    return done.stdout


class RealWorld(World):
    """The fakes' conveniences over a real repository."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self.path = folder / "fleet.git"
        seed = {
            str(file.relative_to(SEED)): file.read_text()
            for file in SEED.rglob("*.yaml")
            if file.parent.name in ("prod", "gpubot")
        }
        commit(self.path, seed)
        repository = Repository(self.path)
        proposals = Proposals(repository, Indexer(repository))
        self.real_store = open_store(f"sqlite:///{folder}/gpubot.db")
        self.store = self.real_store.requests
        self.local = LocalForge(self.path, protected=True, clock=lambda: self.now)
        self.flow = Flow(
            store=self.store,
            source=repository,
            forge=self.local,
            build_change=proposals.build,
            lint=proposals.lint,
            what_if=what_if,
            fleet=self.fleet,
            cluster="prod-eu",
            poll_every=timedelta(seconds=5),
        )

    def push(self, branch: str, old: str, new: str) -> None:
        """Change a file on a branch as a person would, with git itself."""
        work = Path(tempfile.mkdtemp(dir=self.path.parent))
        git(self.path.parent, "clone", "-q", "-b", branch, str(self.path), str(work))
        file = work / QUEUES
        file.write_text(file.read_text().replace(old, new, 1))
        who = ("-c", "user.name=Eve", "-c", "user.email=eve@example.com")
        git(work, *who, "commit", "-qam", f"{old} to {new}")
        git(work, "push", "-q", "origin", branch)

    def told(self) -> list[str]:
        return [row.move.kind.value for row in self.real_store.outbox.pending_moves(1000)]


@pytest.fixture
def world(tmp_path: Path) -> Any:
    made = RealWorld(tmp_path)
    yield made
    made.real_store.close()


def opened(world: RealWorld, **changes: Any) -> Request:
    request = world.submit(a_draft(**changes))
    world.ticks()
    return world.get(request)


def test_a_branch_that_somebody_deletes_closes_the_request(world: RealWorld) -> None:
    request = opened(world)
    git(world.path, "update-ref", "-d", f"refs/heads/{request.branch}")
    world.settle()
    closed = world.get(request)
    assert (closed.state, closed.trouble) == (State.CLOSED, None)
    assert world.told()[-1] == "closed"


def test_the_main_story_changes_one_line_and_leaves_its_trailers(world: RealWorld) -> None:
    request = opened(world)
    before = git(world.path, "rev-parse", "main").strip()
    world.decide(request, KIM)
    world.settle()
    assert world.get(request).state is State.MERGED
    assert git(world.path, "diff", "--numstat", before, "main") == f"1\t1\t{QUEUES}\n"
    changed = [
        line
        for line in git(world.path, "diff", "-U0", before, "main").splitlines()
        if line[:1] in "+-" and line[:3] not in ("+++", "---")
    ]
    assert [line.split("#")[0].split() for line in changed] == [
        ["-", "nominalQuota:", "32"],
        ["+", "nominalQuota:", "40"],
    ]
    message = git(world.path, "log", "-1", "--format=%B", "main")
    assert "Requested-by: Ana Ruiz <slack:U0ANA; forge:ana>" in message
    assert "Approved-by: Kim Larsen <slack:U0KIM; forge:kim> at " in message
    assert git(world.path, "branch", "--format=%(refname:short)") == "main\n"
    world.apply(40)
    world.settle()
    assert world.get(request).settled
    assert world.told() == ["submitted", "opened", "voted", "approved", "merged", "live"]
    assert verify(world.real_store.audit.records()) is None


def test_a_borrowing_limit_can_be_asked_for_too(world: RealWorld) -> None:
    request = opened(world, kind="borrowing", old="16", new="24")
    assert "borrowingLimit: 24" in request.diff
    world.decide(request, LI)
    world.decide(request, PAT)
    world.settle()
    assert world.get(request).state is State.MERGED


def test_a_real_push_voids_the_approvals(world: RealWorld) -> None:
    request = opened(world)
    world.decide(request, KIM)
    world.push(request.branch, "nominalQuota: 40", "nominalQuota: 400")
    world.settle()
    pushed = world.get(request)
    assert pushed.state is State.OPEN
    assert pushed.facts.edited
    assert "nominalQuota: 400" in pushed.diff
    assert not pushed.standing_votes
    world.decide(pushed, KIM)
    world.decide(pushed, PAT)
    world.settle()
    assert world.get(request).state is State.MERGED


def test_the_same_line_changed_on_main_is_a_conflict(world: RealWorld) -> None:
    request = opened(world)
    world.push("main", "nominalQuota: 32", "nominalQuota: 33")
    world.settle()
    assert world.get(request).state is State.CONFLICTED
    world.flow.cancel(request.id, ANA, "I ask anew", "c1", world.now)
    with pytest.raises(Conflict, match="33"):
        world.submit()
    assert world.submit(a_draft(old="33", new="41")).id == 2


def test_another_line_changed_on_main_is_none(world: RealWorld) -> None:
    request = opened(world)
    world.push("main", 'nominalQuota: "24"', 'nominalQuota: "28"')
    world.decide(request, KIM)
    world.settle()
    assert world.get(request).state is State.MERGED
    merged = git(world.path, "show", f"main:{QUEUES}")
    assert "nominalQuota: 40" in merged
    assert 'nominalQuota: "28"' in merged


def test_what_git_does_not_know_is_refused_with_names(world: RealWorld) -> None:
    preview = world.flow.preview(a_draft(flavor="b200"), ANA, world.now)
    assert "no quota for nvidia.com/gpu of flavor b200" in preview.refused
    with pytest.raises(UsageError):
        world.submit(a_draft(flavor="b200"))


def test_approvals_are_readable_at_the_pull_request(world: RealWorld) -> None:
    request = opened(world, new="64")
    world.decide(request, LI, reason="until the new nodes are here")
    world.settle()
    assert request.pull is not None
    record = world.local.record(request.pull.number)
    assert any("Approved by Li Wei" in comment.text for comment in record.comments)
    assert world.local.status(world.get(request).content.head_sha or "") == (
        "pending",
        "Waiting for one of platform",
    )
    assert "request 1" in record.title
