"""A hand-written world for the flow: a tiny repository with its forge, a fleet, a store in memory.

Everything is plain values in memory; ``World.flow`` is the real flow on top. A forge call can be
made to fail before or after it took effect (``FakeForge.fail``), which is what a crash looks like.
"""

import hashlib
import itertools
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from capacity.errors import Conflict, Refused, SourceDown
from capacity.model import Fleet
from gitops.audit import GENESIS, Entry, Record, chain
from gitops.flow import Flow
from gitops.forge import ForgeConflict, ForgeMissing, Proposal, PullRequest, Review
from gitops.moves import Move
from gitops.people import Actor
from gitops.ports import Told
from gitops.request import IN_GIT, TERMINAL, Draft, Request, State
from tests.builders import GPU, a_fleet

SEED = Path(__file__).resolve().parents[2] / "bot/playground/seed/gpubot"
START = datetime(2026, 12, 1, 14, 0, tzinfo=UTC)
QUEUES = "clusters/prod/queues.yaml"


def slack(user: str) -> Actor:
    return Actor("slack", user)


ANA, RAE, LI, TOM = slack("U0ANA"), slack("U0RAE"), slack("U0LI"), slack("U0TOM")
VERA, KIM, PAT, OTTO = slack("U0VERA"), slack("U0KIM"), slack("U0PAT"), slack("U0OTTO")


def a_draft(**changes: Any) -> Draft:
    """Research asks for 8 more of its own."""
    draft = Draft("nominal", "research", "h100", GPU, "32", "40", "camera-ready ablations")
    return replace(draft, **changes)


@dataclass
class Repo:
    """Commits of whole file trees, and branches."""

    trees: dict[str, dict[str, bytes]] = field(default_factory=dict)
    parents: dict[str, tuple[str, ...]] = field(default_factory=dict)
    messages: dict[str, str] = field(default_factory=dict)
    branches: dict[str, str] = field(default_factory=dict)
    down: bool = False

    def commit(
        self, branch: str, files: Mapping[str, bytes | None], *parents: str, message: str = ""
    ) -> str:
        parents = parents or ((self.branches[branch],) if branch in self.branches else ())
        tree = dict(self.trees[parents[0]]) if parents else {}
        for path, data in files.items():
            if data is None:
                tree.pop(path, None)
            else:
                tree[path] = data
        sha = hashlib.sha1(f"{len(self.trees)}{branch}{sorted(tree)}".encode()).hexdigest()
        self.trees[sha], self.parents[sha], self.messages[sha] = tree, parents, message
        self.branches[branch] = sha
        return sha

    def ancestors(self, sha: str) -> list[str]:
        found = [sha]
        for known in found:
            found += [p for p in self.parents[known] if p not in found]
        return found

    def base(self, one: str, other: str) -> str:
        theirs = set(self.ancestors(other))
        return next(sha for sha in self.ancestors(one) if sha in theirs)

    def head(self) -> str:
        if self.down:
            raise SourceDown("the GitOps repository", None)
        return self.branches["main"]

    def read(self, path: str, commit: str) -> bytes | None:
        if self.down:
            raise SourceDown("the GitOps repository", None)
        return self.trees[commit].get(path)

    def changed(self, base: str, head: str) -> dict[str, bytes | None]:
        if self.down:
            raise SourceDown("the GitOps repository", None)
        before, after = self.trees[self.base(base, head)], self.trees[head]
        paths = before.keys() | after.keys()
        return {p: after.get(p) for p in paths if before.get(p) != after.get(p)}

    def diff(self, base: str, head: str) -> str:
        return "\n".join(f"+++ b/{path}" for path in sorted(self.changed(base, head)))


@dataclass
class FakeForge:
    """Pull requests on a Repo, with every call written down."""

    repo: Repo
    pulls: dict[int, PullRequest] = field(default_factory=dict)
    comments: dict[tuple[int, str], str] = field(default_factory=dict)
    statuses: dict[str, tuple[str, str]] = field(default_factory=dict)
    calls: list[str] = field(default_factory=list)
    fail: Callable[[str, bool], None] = lambda call, after: None

    def _call(self, name: str, act: Callable[[], Any]) -> Any:
        self.calls.append(name)
        self.fail(name, False)
        result = act()
        self.fail(name, True)
        return result

    def open_pull_request(self, proposal: Proposal) -> PullRequest:
        return self._call("open", lambda: self._open(proposal))

    def _open(self, proposal: Proposal) -> PullRequest:
        found = self._find(proposal.branch)
        if found:
            return found
        head = self.repo.commit(
            proposal.branch, proposal.files, proposal.base_sha, message=proposal.message
        )
        number = 128 + len(self.pulls)
        url = f"https://forge.example/fleet/pulls/{number}"
        self.pulls[number] = PullRequest(
            number, url, proposal.branch, head, proposal.base_sha, "open"
        )
        return self._now(number)

    def find(self, branch: str) -> PullRequest | None:
        return self._call("find", lambda: self._find(branch))

    def _find(self, branch: str) -> PullRequest | None:
        return next((self._now(p.number) for p in self.pulls.values() if p.branch == branch), None)

    def _now(self, number: int) -> PullRequest:
        if number not in self.pulls:
            raise ForgeMissing(f"There is no pull request {number}.")
        pull = self.pulls[number]
        if pull.state != "open":
            return pull
        head = self.repo.branches[pull.branch]
        base = self.repo.base(head, self.repo.branches["main"])
        ours = self.repo.changed(base, head)
        theirs = self.repo.changed(base, self.repo.branches["main"])
        mergeable = not any(p in theirs and theirs[p] != data for p, data in ours.items())
        return replace(pull, head_sha=head, base_sha=base, mergeable=mergeable)

    def read(self, number: int) -> PullRequest:
        return self._call("read", lambda: self._now(number))

    def set_status(self, sha: str, state: str, description: str) -> None:
        self._call("status", lambda: self.statuses.__setitem__(sha, (state, description)))

    def comment(self, number: int, key: str, text: str) -> None:
        self._call("comment", lambda: self.comments.setdefault((number, key), text))

    def merge(self, number: int, expected_head: str, message: str) -> PullRequest:
        return self._call("merge", lambda: self._merge(number, expected_head, message, "gpubot"))

    def _merge(self, number: int, expected_head: str, message: str, by: str) -> PullRequest:
        pull = self._now(number)
        if pull.state == "merged":
            return pull
        if pull.state == "closed":
            raise ForgeConflict("not-open", "It is closed.")
        if pull.head_sha != expected_head:
            raise ForgeConflict("head-moved", "Somebody pushed.")
        if not pull.mergeable:
            raise ForgeConflict("merge-conflict", "It conflicts with main.")
        sha = self.repo.commit(
            "main",
            self.repo.changed(pull.base_sha, pull.head_sha),
            self.repo.branches["main"],
            pull.head_sha,
            message=message,
        )
        self.pulls[number] = replace(pull, state="merged", merge_sha=sha, merged_by=by)
        return self.pulls[number]

    def close(self, number: int) -> None:
        self._call("close", lambda: self._close(number))

    def _close(self, number: int) -> None:
        pull = self._now(number)
        if pull.state == "open":
            self.pulls[number] = replace(pull, state="closed")
        self.repo.branches.pop(pull.branch, None)

    # What people do by hand.

    def push_by_hand(self, number: int, files: Mapping[str, bytes | None]) -> str:
        return self.repo.commit(self.pulls[number].branch, files)

    def merge_by_hand(self, number: int, by: str) -> None:
        self._merge(number, self._now(number).head_sha, "by hand", by)

    def close_by_hand(self, number: int) -> None:
        self.pulls[number] = replace(self._now(number), state="closed")

    def review_by_hand(self, number: int, by: str, state: Any, at: datetime) -> None:
        pull = self._now(number)
        review = Review(f"{len(pull.reviews)}", by, state, pull.head_sha, at)
        self.pulls[number] = replace(self.pulls[number], reviews=(*pull.reviews, review))


@dataclass
class MemoryStore:
    """The RequestStore's rules over dictionaries."""

    requests: dict[int, Request] = field(default_factory=dict)
    keys: dict[str, int] = field(default_factory=dict)
    moves: list[tuple[int, int, Move]] = field(default_factory=list)
    audit: list[Record] = field(default_factory=list)
    lose_next_race: bool = False

    def add(self, request: Request, key: str, cap: int, told: Told) -> Request:
        if key in self.keys:
            return self.requests[self.keys[key]]
        targets = [
            r
            for r in self.requests.values()
            if r.state not in TERMINAL and (r.state not in IN_GIT or r.state is State.MERGED)
        ]
        if any(r.draft.target == request.draft.target for r in targets):
            raise Conflict("Another request is open for the same value.")
        if sum(r.draft.requester == request.draft.requester for r in targets) >= cap:
            raise Conflict("Too many open requests.")
        stored = replace(request, id=len(self.requests) + 1, revision=1)
        self._keep(stored, told, key)
        return stored

    def get(self, request_id: int) -> Request | None:
        return self.requests.get(request_id)

    def by_key(self, key: str) -> Request | None:
        return self.requests[self.keys[key]] if key in self.keys else None

    def unsettled(self) -> tuple[Request, ...]:
        return tuple(r for r in self.requests.values() if not r.settled)

    def save(self, request: Request, expected: int, told: Told, key: str = "") -> bool:
        if self.lose_next_race:
            self.lose_next_race = False
            old = self.requests[request.id]
            self.requests[request.id] = replace(old, revision=old.revision + 1)
        if self.requests[request.id].revision != expected or key in self.keys:
            return False
        self._keep(replace(request, revision=expected + 1), told, key)
        return True

    def record(self, entries: Iterable[Entry]) -> str:
        for entry in entries:
            self.audit.append(chain(len(self.audit) + 1, self.head(), entry))
        return self.head()

    def head(self) -> str:
        return self.audit[-1].hash if self.audit else GENESIS

    def _keep(self, request: Request, told: Told, key: str) -> None:
        self.requests[request.id] = request
        self.moves += [(request.id, request.revision, move) for move in told.moves]
        self.record(told.entries)
        if key:
            self.keys[key] = request.id


@dataclass(frozen=True)
class Edited:
    """What the stand-in editor makes of a draft: the one line changed."""

    files: Mapping[str, bytes | None]
    diff: str
    notes: tuple[str, ...] = ()
    title: str = "research: 8 more h100 (nominalQuota 32 -> 40)"
    body: str = "What and why."
    message: str = "Raise research's nominalQuota"


@dataclass(frozen=True)
class Finding:
    sentence: str
    blocks: bool


def queue_file(draft: Draft, value: str | None) -> bytes:
    return f"{draft.cluster_queue} {draft.flavor} {draft.field}: {value}\n".encode()


@dataclass
class World:
    """Everything around one flow; ``now`` is moved by hand."""

    store: Any = field(default_factory=MemoryStore)
    repo: Repo = field(default_factory=Repo)
    now: datetime = START
    findings: tuple[Finding, ...] = ()
    cluster_down: bool = False
    live: Fleet = field(default_factory=a_fleet)
    keys: Any = field(default_factory=itertools.count)
    policy: bytes = (SEED / "policy.yaml").read_bytes()
    people: bytes = (SEED / "people.yaml").read_bytes()

    def __post_init__(self) -> None:
        self.repo.commit(
            "main",
            {
                "gpubot/policy.yaml": self.policy,
                "gpubot/people.yaml": self.people,
                QUEUES: queue_file(a_draft(), "32"),
            },
        )
        self.forge = FakeForge(self.repo)
        self.flow = Flow(
            store=self.store,
            source=self.repo,
            forge=self.forge,
            build_change=self.build_change,
            lint=lambda draft, fleet: self.findings,
            what_if=lambda draft, fleet: "what if",
            fleet=self.fleet,
            cluster="prod-eu",
            thread_of=lambda number: f"https://slack.example/{number}",
            poll_every=timedelta(seconds=5),
        )

    def build_change(self, draft: Draft, commit: str) -> Edited:
        path = QUEUES if draft.cluster_queue == "research" else f"{draft.cluster_queue}.yaml"
        old, new = queue_file(draft, draft.old), queue_file(draft, draft.new)
        if draft.cluster_queue == "generated":
            raise Refused("The file is generated.", "Change its source.")
        if path == QUEUES and draft.kind == "nominal" and self.repo.read(path, commit) != old:
            raise Conflict(f"It is not {draft.old} any more.")
        return Edited({path: new}, f"--- a/{path}\n+++ b/{path}\n-{draft.old}\n+{draft.new}\n")

    def fleet(self) -> Fleet:
        if self.cluster_down:
            raise SourceDown("Kueue", None)
        return replace(self.live, as_of=self.now)

    def apply(self, nominal: int) -> None:
        """Make the cluster show another nominal quota of research."""
        queue = self.live.cluster_queues["research"]
        groups = tuple(
            replace(
                group,
                flavors=tuple(
                    replace(
                        f,
                        resources={
                            r: replace(q, nominal=nominal) if f.name == "h100" else q
                            for r, q in f.resources.items()
                        },
                    )
                    for f in group.flavors
                ),
            )
            for group in queue.resource_groups
        )
        queues = dict(self.live.cluster_queues) | {
            "research": replace(queue, resource_groups=groups)
        }
        self.live = replace(self.live, cluster_queues=queues)

    def submit(self, draft: Draft | None = None, by: Actor = ANA, key: str = "") -> Request:
        return self.flow.submit(draft or a_draft(), by, key or self.key(), self.now)

    def decide(
        self, request: Request, by: Actor, choice: Any = "approve", reason: str = "", key: str = ""
    ) -> Any:
        key = key or self.key()
        return self.flow.decide(request.id, request.version, choice, by, reason, key, self.now)

    def key(self) -> str:
        return f"key-{next(self.keys)}"

    def pass_time(self, **span: float) -> None:
        self.now += timedelta(**span)

    def ticks(self, count: int = 30) -> None:
        """Tick until there is nothing to do right away."""
        for _ in range(count):
            self.pass_time(seconds=1)
            if not self.flow.tick(self.now):
                return

    def settle(self) -> None:
        """Poll the forge, and do everything that follows from it."""
        for _ in range(3):
            self.pass_time(seconds=6)
            self.ticks()

    def get(self, request: Request) -> Request:
        found = self.store.get(request.id)
        assert found is not None
        return found

    def kinds(self) -> list[str]:
        return [move.kind.value for _, _, move in self.store.moves]
