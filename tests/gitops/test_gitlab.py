"""The adapter against what GitLab's own client says about the API; every call is judged."""

from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from typing import Any

import pytest

from gitops.forge import (
    Forge,
    ForgeConflict,
    ForgeDenied,
    ForgeDown,
    ForgeMissing,
    Proposal,
    PullRequest,
)
from gitops.gitlab import GitlabForge
from tests.forges import gitlab_published, validating
from tests.forges.commits import Commits
from tests.forges.gitlab import Gitlab, message
from tests.forges.openapi import Description
from tests.forges.validating import CUT, Fault, Reply, serving

QUEUES = "clusters/prod/queues.yaml"
BEFORE, AFTER = b"a: 1\n\nb: 2\n", b"a: 9\n\nb: 2\n"
BRANCH = "gpubot/request-7-k3"
TOKEN = "glpat-" + "s" * 20


@cache
def description() -> Description:
    return Description(gitlab_published.document())


class Stage:
    """The adapter, what plays GitLab, and the server between them."""

    def __init__(self, gitlab: Gitlab, server: validating.Forge) -> None:
        self.gitlab = gitlab
        self.git = gitlab.git
        self.server = server
        self.forge = GitlabForge("acme/gpu/fleet", lambda: TOKEN, url=server.url)

    def proposal(self, **changes: Any) -> Proposal:
        base = self.git.branches["main"]
        made = Proposal(BRANCH, base, {QUEUES: AFTER}, "Title", "Body", "Raise a\n\nWhy: x\n")
        return replace(made, **changes)

    def opened(self) -> PullRequest:
        return self.forge.open_pull_request(self.proposal())


@pytest.fixture
def stage() -> Iterator[Stage]:
    gitlab_published.need()
    gitlab = Gitlab(description(), Commits({QUEUES: BEFORE, "docs/old.md": b"old\n"}))
    with serving(gitlab.forge()) as server:
        yield Stage(gitlab, server)
    assert server.wrong == []
    assert all(call.headers["Authorization"] == f"Bearer {TOKEN}" for call in server.calls)


def test_a_whole_life_is_made_of_known_calls(stage: Stage) -> None:
    checked: Forge = stage.forge
    assert checked.find(BRANCH) is None
    files = {QUEUES: AFTER, "docs/old.md": None, "docs/ü #.md": b"\xff\r\n"}
    pull = checked.open_pull_request(
        stage.proposal(files=files, labels=("gpu", "quota"), reviewers=("nobody", "kim", "a/b"))
    )
    assert (pull.state, pull.branch, pull.mergeable) == ("open", BRANCH, True)
    assert pull.base_sha == stage.git.branches["main"]
    assert stage.git.changed(pull.base_sha, pull.head_sha) == files
    made = stage.gitlab.pulls[pull.number]
    assert (made["labels"], made["reviewer_ids"]) == ("gpu,quota", [2])
    for _ in range(2):
        checked.set_status(pull.head_sha, "pending", "Waiting")
        checked.set_status(pull.head_sha, "success", "y" * 200)
        checked.comment(pull.number, "vote-1-kim", "Approved by Kim")
    said = stage.gitlab.statuses[pull.head_sha]
    assert [s["status"] for s in said] == ["pending", "success", "pending", "success"]
    assert len(said[-1]["description"]) == 140
    assert len(stage.gitlab.notes[pull.number]) == 1
    text = "Title (request 7)\n\nWhy: x\n\nApproved-by: kim\n"
    merged = checked.merge(pull.number, pull.head_sha, text)
    assert (merged.state, merged.merged_by) == ("merged", "gpubot")
    assert merged.merge_sha == stage.git.branches["main"]
    assert stage.git.messages[stage.git.branches["main"]] == text
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
    assert len(stage.gitlab.pulls) == 1


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("reply", [CUT, Reply(502, b"<html>")])
@pytest.mark.parametrize("call", ["repository/commits", "/merge_requests$"])
def test_a_failure_at_any_step_of_opening_is_gone_on_with(
    stage: Stage, call: str, reply: Reply | str, after: bool
) -> None:
    proposal = stage.proposal()
    stage.server.faults.append(Fault(f"POST .*{call}", reply, after=after))
    with pytest.raises(ForgeDown):
        stage.forge.open_pull_request(proposal)
    stage.git.commit("main", {"docs/new.md": b"meanwhile\n"}, "Meanwhile")
    pull = stage.forge.open_pull_request(proposal)
    assert stage.git.changed(pull.base_sha, pull.head_sha) == {QUEUES: AFTER}
    assert (len(stage.gitlab.pulls), len(stage.git.trees)) == (1, 3)


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
    assert not stage.gitlab.pulls


def test_a_commit_that_gitlab_refuses_says_why(stage: Stage) -> None:
    with pytest.raises(ForgeDenied, match="start_sha"):
        stage.forge.open_pull_request(stage.proposal(base_sha="0" * 40, files={"new": b"x"}))


def merge(stage: Stage, pull: PullRequest) -> PullRequest:
    return stage.forge.merge(pull.number, pull.head_sha, "T\n\nB\n")


def test_what_stops_a_merge_has_its_name(stage: Stage) -> None:
    pull = stage.opened()
    stage.gitlab.status_of_merge = "not_approved"
    with pytest.raises(ForgeDenied, match="not_approved"):
        merge(stage, pull)
    stage.server.faults.append(Fault("PUT", message(401, "401 Unauthorized")))
    with pytest.raises(ForgeDenied, match="refuses to merge"):
        merge(stage, pull)
    stage.gitlab.status_of_merge = ""
    stage.git.commit(BRANCH, {QUEUES: b"a: 400\n"}, "by hand")
    with pytest.raises(ForgeConflict) as refused:
        merge(stage, pull)
    assert refused.value.reason == "head-moved"
    pull = stage.forge.read(pull.number)
    stage.server.faults.append(Fault("PUT", message(409, "SHA does not match HEAD")))
    with pytest.raises(ForgeConflict) as refused:
        merge(stage, pull)
    assert refused.value.reason == "head-moved"
    stage.git.commit("main", {QUEUES: b"a: 3\n"}, "by hand")
    assert stage.forge.read(pull.number).mergeable is False
    with pytest.raises(ForgeConflict) as refused:
        merge(stage, pull)
    assert refused.value.reason == "merge-conflict"
    stage.forge.close(pull.number)
    with pytest.raises(ForgeConflict) as refused:
        merge(stage, stage.forge.read(pull.number))
    assert refused.value.reason == "not-open"


def test_gitlab_merges_by_itself_while_its_pipeline_runs(stage: Stage) -> None:
    pull = stage.opened()
    stage.gitlab.status_of_merge = "ci_still_running"
    assert merge(stage, pull).state == "open"
    assert stage.gitlab.merges[0]["auto_merge"] is True
    assert stage.gitlab.merges[0]["sha"] == pull.head_sha


def test_a_merge_request_that_is_being_prepared_has_a_base_and_no_verdict(stage: Stage) -> None:
    pull = stage.opened()
    stage.gitlab.status_of_merge = "preparing"
    shown = stage.forge.read(pull.number)
    assert (shown.mergeable, shown.base_sha) == (None, pull.base_sha)


def test_an_approval_is_about_the_head_that_was_there(stage: Stage) -> None:
    pull = stage.opened()
    number = pull.number
    stage.gitlab.approve(number, "kim")
    stage.git.commit(BRANCH, {QUEUES: b"a: 400\n"}, "by hand")
    stage.gitlab.approve(number, "li")
    found = stage.forge.read(number)
    assert [(r.by, r.state, r.head_sha) for r in found.reviews] == [
        ("kim", "approved", pull.head_sha),
        ("li", "approved", found.head_sha),
    ]


def test_what_is_taken_back_or_voided_is_dismissed(stage: Stage) -> None:
    number = stage.opened().number
    stage.gitlab.approve(number, "kim")
    stage.gitlab.approved[number] = []
    stage.gitlab.say(number, "kim", "unapproved this merge request")
    stage.gitlab.approve(number, "li")
    stage.gitlab.approved[number] = []  # by the project's rule, after a push
    stage.gitlab.reviewers[number]["ana"] = "requested_changes"
    stage.gitlab.say(number, "ana", "requested changes")
    states = {r.by: r.state for r in stage.forge.read(number).reviews}
    assert states == {"kim": "dismissed", "li": "dismissed", "ana": "rejected"}
    stage.gitlab.reviewers[number]["ana"] = "reviewed"
    assert {r.by: r.state for r in stage.forge.read(number).reviews}["ana"] == "dismissed"


def test_words_that_look_like_an_approval_are_none(stage: Stage) -> None:
    pull = stage.opened()
    stage.gitlab.say(pull.number, "kim", "approved this merge request")
    stage.gitlab.notes[pull.number][-1]["system"] = False
    assert stage.forge.read(pull.number).reviews == ()


def test_own_notes_are_told_from_copies(stage: Stage) -> None:
    pull = stage.opened()
    stage.forge.comment(pull.number, "a", "first")
    notes = stage.gitlab.notes[pull.number]
    stolen = notes[0]["body"].replace(": a -->", ": b -->")
    notes += [notes[0] | {"body": stolen, "author": stage.gitlab.user("kim")}] * 60
    for _ in range(2):
        stage.forge.comment(pull.number, "b", "second")
    assert len(notes) == 62


RECORDED: list[tuple[Reply | str, type[Exception], float | None]] = [
    (message(401, "401 Unauthorized"), ForgeDenied, None),
    (Reply(401, {"error": "invalid_token"}), ForgeDenied, None),
    (message(403, "403 Forbidden"), ForgeDenied, None),
    (Reply(429, b"Retry later\n", {"Retry-After": "42"}), ForgeDown, 42),
    (message(404, "404 Project Not Found"), ForgeMissing, None),
    (Reply(301, None, {"Location": "http://127.0.0.1:9/steal"}), ForgeMissing, None),
    (message(409, {"base": ["conflict"]}), ForgeDenied, None),
    (message(422, "Unprocessable"), ForgeDenied, None),
    (Reply(500, {"message": "500 Internal Server Error"}), ForgeDown, None),
    (Reply(502, b"<html>GitLab is not responding</html>"), ForgeDown, None),
    (Reply(200, b"<html>Sign in</html>"), ForgeDown, None),
    (CUT, ForgeDown, None),
]


@pytest.mark.parametrize(("reply", "error", "wait"), RECORDED)
def test_every_refusal_has_its_name_and_no_token(
    stage: Stage, reply: Reply | str, error: type[Exception], wait: float | None
) -> None:
    stage.server.faults.append(Fault("GET .*/merge_requests/7", reply))
    with pytest.raises(error) as refused:
        stage.forge.read(7)
    assert getattr(refused.value, "retry_after", None) == wait
    assert TOKEN not in repr(vars(refused.value))


def test_a_status_needs_its_commit(stage: Stage) -> None:
    with pytest.raises(ForgeMissing):
        stage.forge.set_status("0" * 40, "success", "")
