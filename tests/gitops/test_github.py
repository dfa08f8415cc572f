"""The adapter against GitHub's published descriptions: every call and every reply is judged."""

import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from typing import Any

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from gitops.forge import (
    Forge,
    ForgeConflict,
    ForgeDenied,
    ForgeDown,
    ForgeMissing,
    Proposal,
    PullRequest,
)
from gitops.github import GithubForge
from gitops.github_access import AppToken, FixedToken, api_of
from tests.forges import published, validating
from tests.forges.commits import Commits
from tests.forges.github import Github, message
from tests.forges.openapi import Description
from tests.forges.validating import CUT, Fault, Reply, serving

QUEUES = "clusters/prod/queues.yaml"
BEFORE, AFTER = b"a: 1\n\nb: 2\n", b"a: 9\n\nb: 2\n"
BRANCH = "gpubot/request-7-k3"
TOKEN = "ghp_" + "s" * 36


GRAPHQL: list[dict[str, Any]] = []


@pytest.fixture(scope="module", autouse=True)
def _graphql_is_as_published() -> Iterator[None]:
    """Judge all GraphQL calls of the module at its end: starting the judge takes seconds."""
    yield
    if GRAPHQL:
        different = {json.dumps(call, sort_keys=True): call for call in GRAPHQL}
        assert not any(published.graphql_errors(list(different.values())))


@cache
def description(name: str) -> Description:
    return Description(published.rest(name))


class Stage:
    """The adapter, what plays GitHub, and the server between them."""

    def __init__(self, github: Github, server: validating.Forge) -> None:
        self.github = github
        self.git = github.git
        self.server = server
        self.forge = GithubForge("acme/fleet", FixedToken(TOKEN), url=server.url)

    def proposal(self, **changes: Any) -> Proposal:
        base = self.git.branches["main"]
        made = Proposal(BRANCH, base, {QUEUES: AFTER}, "Title", "Body", "Raise a\n\nWhy: x\n")
        return replace(made, **changes)

    def opened(self) -> PullRequest:
        return self.forge.open_pull_request(self.proposal())


@contextmanager
def staged(name: str = "api.github.com") -> Iterator[Stage]:
    published.need()
    git = Commits({QUEUES: BEFORE, "docs/old.md": b"old\n"})
    github = Github(description(name), git)
    with serving(github.forge()) as server:
        yield Stage(github, server)
    assert server.wrong == []
    assert all(call.headers["Authorization"] == f"Bearer {TOKEN}" for call in server.calls)
    GRAPHQL.extend(github.graphql)


@pytest.fixture
def stage() -> Iterator[Stage]:
    with staged() as made:
        yield made


@pytest.mark.parametrize("name", ["api.github.com", "ghes-3.17"])
def test_a_whole_life_is_made_of_published_calls(name: str) -> None:
    with staged(name) as stage:
        checked: Forge = stage.forge
        assert checked.find(BRANCH) is None
        pull = checked.open_pull_request(
            stage.proposal(labels=("gpu-quota",), reviewers=("nobody", "kim", "acme/platform"))
        )
        assert (pull.state, pull.branch, pull.mergeable) == ("open", BRANCH, True)
        assert pull.base_sha == stage.git.branches["main"]
        assert stage.git.changed(pull.base_sha, pull.head_sha) == {QUEUES: AFTER}
        assert (stage.github.labels, stage.github.asked) == (["gpu-quota"], ["kim", "platform"])
        for _ in range(2):
            checked.set_status(pull.head_sha, "success", "y" * 200)
            checked.comment(pull.number, "vote-1-kim", "Approved by Kim")
        assert len(stage.github.comments) == 1
        assert len(stage.github.statuses[0][3]) == 140
        text = "Title (request 7)\n\nWhy: x\n\nApproved-by: kim\n"
        merged = checked.merge(pull.number, pull.head_sha, text)
        assert (merged.state, merged.merged_by) == ("merged", "gpubot[bot]")
        assert merged.merge_sha == stage.git.branches["main"]
        assert stage.git.messages[stage.git.branches["main"]] == text.strip()
        assert checked.merge(pull.number, pull.head_sha, text) == merged
        checked.close(pull.number)
        checked.close(pull.number)
        assert list(stage.git.branches) == ["main"]
        assert checked.find(BRANCH) == checked.read(pull.number)


def test_opening_twice_makes_it_once_and_a_closed_one_is_returned_as_it_is(stage: Stage) -> None:
    first = stage.opened()
    assert stage.opened() == first
    stage.forge.close(first.number)
    assert stage.opened().state == "closed"
    assert len(stage.github.pulls) == 1


CREATING = ("git/refs", "graphql", "/pulls$", "/labels")


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("reply", [CUT, Reply(502, b"<html>"), Reply(503, {"message": "busy"})])
@pytest.mark.parametrize("call", CREATING)
def test_a_failure_at_any_step_of_opening_is_gone_on_with(
    stage: Stage, call: str, reply: Reply | str, after: bool
) -> None:
    proposal = stage.proposal(labels=("x",))
    stage.server.faults.append(Fault(f"POST .*{call}", reply, after=after))
    with pytest.raises(ForgeDown):
        stage.forge.open_pull_request(proposal)
    stage.git.commit("main", {"docs/new.md": b"meanwhile\n"}, "Meanwhile")
    pull = stage.forge.open_pull_request(proposal)
    assert stage.git.changed(pull.base_sha, pull.head_sha) == {QUEUES: AFTER}
    assert len(stage.github.pulls) == 1
    assert len(stage.git.trees) == 3


@pytest.mark.parametrize(
    "files", [{QUEUES: b"a: 400\n"}, {QUEUES: AFTER, "more.md": b"x"}, {"docs/old.md": None}]
)
def test_a_branch_that_somebody_pushed_to_is_not_taken(
    stage: Stage, files: dict[str, bytes | None]
) -> None:
    theirs = stage.git.commit(BRANCH, files, "Mine", stage.git.branches["main"])
    with pytest.raises(ForgeConflict) as refused:
        stage.opened()
    assert refused.value.reason == "branch-taken"
    assert stage.git.branches[BRANCH] == theirs
    assert not stage.github.pulls


def test_files_are_made_and_deleted_too(stage: Stage) -> None:
    files = {"docs/old.md": None, "docs/ü.md": "ü\r\n".encode()}
    pull = stage.forge.open_pull_request(stage.proposal(files=files))
    assert stage.git.changed(pull.base_sha, pull.head_sha) == files


def merge(stage: Stage, pull: PullRequest) -> PullRequest:
    return stage.forge.merge(pull.number, pull.head_sha, "T\n\nB\n")


def test_what_stops_a_merge_has_its_name(stage: Stage) -> None:
    pull = stage.opened()
    stage.github.required = {"gpubot/approvals"}
    with pytest.raises(ForgeDenied, match="gpubot/approvals"):
        merge(stage, pull)
    stage.github.required = set()
    stage.git.commit(BRANCH, {QUEUES: b"a: 400\n"}, "by hand")
    with pytest.raises(ForgeConflict) as refused:
        merge(stage, pull)
    assert refused.value.reason == "head-moved"
    pull = stage.forge.read(pull.number)
    stage.git.commit("main", {QUEUES: b"a: 3\n"}, "by hand")
    assert stage.forge.read(pull.number).mergeable is False
    with pytest.raises(ForgeConflict) as refused:
        merge(stage, pull)
    assert refused.value.reason == "merge-conflict"
    stage.forge.close(pull.number)
    with pytest.raises(ForgeConflict) as refused:
        merge(stage, stage.forge.read(pull.number))
    assert refused.value.reason == "not-open"


def test_a_push_between_the_look_and_the_merge_is_seen_by_github(stage: Stage) -> None:
    pull = stage.opened()
    stage.server.faults.append(Fault("PUT", message(409, "Head branch was modified.")))
    with pytest.raises(ForgeConflict) as refused:
        merge(stage, pull)
    assert refused.value.reason == "head-moved"


def test_github_merges_by_itself_where_that_is_offered(stage: Stage) -> None:
    pull = stage.opened()
    stage.github.required, stage.github.allow_auto_merge = {"ci"}, True
    assert merge(stage, pull).state == "open"
    assert [m["expectedHeadOid"] for m in stage.github.auto_merges] == [pull.head_sha]
    assert stage.github.auto_merges[0]["commitHeadline"] == "T"


def test_reviews_tell_who_saw_which_commit(stage: Stage) -> None:
    pull = stage.opened()
    example = stage.github.example("pull-request-review-items", 0)
    stage.github.reviews[pull.number] = [
        example
        | {
            "id": n,
            "state": state,
            "commit_id": pull.head_sha,
            "submitted_at": "2026-12-01T10:00:00Z",
        }
        for n, state in enumerate(("APPROVED", "CHANGES_REQUESTED", "DISMISSED", "PENDING"))
    ]
    found = stage.forge.read(pull.number).reviews
    assert [r.state for r in found] == ["approved", "rejected", "dismissed"]
    assert {(r.by, r.head_sha) for r in found} == {("octocat", pull.head_sha)}
    stage.github.merge_by_hand(pull.number, "kim")
    assert stage.forge.read(pull.number).merged_by == "kim"


def test_own_comments_are_told_from_copies_on_every_page(stage: Stage) -> None:
    pull = stage.opened()
    stage.forge.comment(pull.number, "a", "first")
    stolen = stage.github.comments[0][1].replace(": a -->", ": b -->")
    stage.github.comments += [(pull.number, stolen, False)] * 3
    for _ in range(2):
        stage.forge.comment(pull.number, "b", "second")
    assert [own for _, _, own in stage.github.comments] == [True, False, False, False, True]


RECORDED: list[tuple[Reply | str, type[Exception], float | None]] = [
    (message(401, "Bad credentials"), ForgeDenied, None),
    (message(403, "Resource not accessible by integration"), ForgeDenied, None),
    (
        message(403, "You have exceeded a secondary rate limit.", **{"Retry-After": "60"}),
        ForgeDown,
        60,
    ),
    (message(403, "API rate limit exceeded for installation ID 1."), ForgeDown, None),
    (message(429, "Too many requests", **{"Retry-After": "7"}), ForgeDown, 7),
    (message(404, "Not Found"), ForgeMissing, None),
    (message(410, "Gone"), ForgeMissing, None),
    (message(301, "Moved Permanently", Location="http://127.0.0.1:9/steal"), ForgeMissing, None),
    (message(307, "Temporary Redirect", Location="http://127.0.0.1:9/steal"), ForgeMissing, None),
    (message(409, "Git Repository is empty."), ForgeDenied, None),
    (message(422, "Validation Failed"), ForgeDenied, None),
    (message(500, "Server Error"), ForgeDown, None),
    (Reply(502, b"<html>Bad gateway</html>"), ForgeDown, None),
    (Reply(200, b"<html>A proxy</html>"), ForgeDown, None),
    (message(503, "Service Unavailable", **{"Retry-After": "30"}), ForgeDown, 30),
    (CUT, ForgeDown, None),
]


@pytest.mark.parametrize(("reply", "error", "wait"), RECORDED)
def test_every_refusal_has_its_name_and_no_token(
    stage: Stage, reply: Reply | str, error: type[Exception], wait: float | None
) -> None:
    stage.server.faults.append(Fault("GET .*/pulls/7", reply))
    with pytest.raises(error) as refused:
        stage.forge.read(7)
    assert getattr(refused.value, "retry_after", None) == wait
    assert TOKEN not in repr(vars(refused.value))
    assert refused.value.__cause__ is None or TOKEN not in repr(refused.value.__cause__)


def test_a_spent_limit_says_until_when(stage: Stage) -> None:
    headers = {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": str(int(time.time()) + 90)}
    reply = message(403, "API rate limit exceeded", **headers)
    stage.server.faults.append(Fault("GET", reply))
    with pytest.raises(ForgeDown) as down:
        stage.forge.read(7)
    assert 80 < (down.value.retry_after or 0) <= 90


@pytest.mark.parametrize(
    ("kind", "error"), [("FORBIDDEN", ForgeDenied), ("RATE_LIMITED", ForgeDown)]
)
def test_graphqls_refusals_are_named_as_rests_are(
    stage: Stage, kind: str, error: type[Exception]
) -> None:
    said = {"data": None, "errors": [{"type": kind, "message": "no"}]}
    stage.server.faults.append(Fault("graphql", Reply(200, said)))
    with pytest.raises(error):
        stage.opened()


def test_silence_is_down_within_its_time(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gitops.forge_http.READ_SECONDS", 0.3)
    stage.server.faults.append(Fault("GET", validating.HANG))
    with pytest.raises(ForgeDown):
        stage.forge.read(7)


def test_what_is_the_same_is_asked_for_by_its_tag(stage: Stage) -> None:
    pull = stage.opened()
    same = stage.github.read(pull.number).body
    tagged = Reply(200, same, {"ETag": '"abc"'})
    stage.server.faults += [Fault(f"GET .*/{pull.number}$", tagged)]
    first = stage.forge.read(pull.number)
    stage.server.faults += [Fault(f"GET .*/{pull.number}$", Reply(304))]
    assert stage.forge.read(pull.number) == first
    asked = [c for c in stage.server.calls if c.path.endswith(f"/{pull.number}")][-1]
    assert asked.headers["If-None-Match"] == '"abc"'


def test_an_app_gets_its_own_tokens(stage: Stage) -> None:
    pem = (
        rsa.generate_private_key(public_exponent=65537, key_size=2048)
        .private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.TraditionalOpenSSL,
            serialization.NoEncryption(),
        )
        .decode()
    )
    shown = stage.github.example("installation-token") | {
        "token": TOKEN,
        "expires_at": "2099-07-11T22:14:10Z",
    }
    keys: list[str] = []

    def make(call: validating.Call, _: str) -> Reply:
        keys.append(call.headers["Authorization"])
        object.__setattr__(call, "headers", {"Authorization": f"Bearer {TOKEN}"})
        return Reply(201, shown)

    stage.server.routes.append(("POST", r"/app/installations/(\d+)/access_tokens", make))
    token: Callable[[], str] = AppToken(api_of(stage.server.url), 12, 34, pem)
    assert (token(), token()) == (TOKEN, TOKEN)
    assert len(keys) == 1
    assert keys[0].startswith("Bearer ey")
    stage.server.faults.append(Fault("access_tokens", message(401, "Bad key")))
    other = AppToken(api_of(stage.server.url), 12, 34, pem)
    with pytest.raises(ForgeDown):
        other()
    stage.server.calls.pop()
