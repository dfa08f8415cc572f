"""The adapter against a real Gitea: what people do there, and the same call twice."""

from base64 import b64encode
from dataclasses import replace
from itertools import count
from pathlib import Path
from urllib.parse import urlsplit

import pytest
import requests

from capacity.errors import SourceDown
from gitops.forge import (
    Forge,
    ForgeConflict,
    ForgeDenied,
    ForgeDown,
    ForgeMissing,
    Proposal,
    PullRequest,
)
from gitops.gitea import GiteaForge
from gitops.repository import Remote, Repository
from tests.cluster import forge as programs
from tests.cluster.process import free_port, wait_until
from tests.cluster.repository import Repository as Hosted
from tests.forges import validating
from tests.forges.openapi import Description
from tests.forges.real import merge_when_checked

pytestmark = pytest.mark.cluster
QUEUES = "clusters/prod/queues.yaml"
BEFORE, AFTER = "a: 1\n\n\n\nb: 2\n", "a: 9\n\n\n\nb: 2\n"
STATUS = "gpubot/approvals"
BRANCH = "gpubot/request-7-k3"
numbers = count(1)


@pytest.fixture
def hosted(gitea: programs.Gitea) -> Hosted:
    return gitea.repository(f"adapter-{next(numbers)}", {QUEUES: BEFORE, "docs/old.md": "old\n"})


@pytest.fixture
def forge(gitea: programs.Gitea, hosted: Hosted) -> GiteaForge:
    return GiteaForge(gitea.url, f"platform/{hosted.name}", gitea.token("gpubot"))


def a_proposal(hosted: Hosted, text: str = AFTER) -> Proposal:
    files = {QUEUES: text.encode()}
    return Proposal(BRANCH, hosted.head(), files, "Title", "Body", "Raise a\n\nWhy: x\n")


def pulls(hosted: Hosted) -> list[int]:
    found = hosted.forge.api_as().get(f"{hosted.path}/pulls?state=all")
    return [pull["number"] for pull in found]


def merge(hosted: Hosted, forge: GiteaForge, pull: PullRequest) -> PullRequest:
    forge.set_status(pull.head_sha, "success", "Approved (kim)")
    return forge.merge(
        pull.number, pull.head_sha, "Title (request 7)\n\nWhy: x\n\nApproved-by: kim\n"
    )


def test_opening_makes_one_commit_on_the_base_that_was_looked_at(
    forge: GiteaForge, hosted: Hosted
) -> None:
    checked: Forge = forge
    proposal = a_proposal(hosted)
    hosted.commit({"docs/new.md": "meanwhile\n"}, "Meanwhile")
    pull = checked.open_pull_request(proposal)
    assert (pull.state, pull.branch, pull.base_sha) == ("open", BRANCH, proposal.base_sha)
    assert pull.url == f"{hosted.forge.url}/platform/{hosted.name}/pulls/{pull.number}"
    assert hosted.read(QUEUES, pull.head_sha) == AFTER
    commit = hosted.forge.api_as().get(f"{hosted.path}/git/commits/{pull.head_sha}")
    assert [parent["sha"] for parent in commit["parents"]] == [proposal.base_sha]
    assert commit["commit"]["message"] == "Raise a\n\nWhy: x\n"


def test_files_are_made_and_deleted_too(forge: GiteaForge, hosted: Hosted) -> None:
    files = {"docs/old.md": None, "docs/a b#?.md": "ü\r\n".encode()}
    pull = forge.open_pull_request(replace(a_proposal(hosted), files=files))
    changed = hosted.forge.api_as().get(f"{hosted.path}/pulls/{pull.number}/files")
    assert {f["filename"]: f["status"] for f in changed} == {
        "docs/old.md": "deleted",
        "docs/a b#?.md": "added",
    }


def test_opening_twice_makes_it_once(forge: GiteaForge, hosted: Hosted) -> None:
    first = forge.open_pull_request(a_proposal(hosted))
    again = forge.open_pull_request(a_proposal(hosted))
    assert again.number == first.number
    assert again.head_sha == first.head_sha
    assert pulls(hosted) == [first.number]


def test_a_branch_that_a_crash_left_is_gone_on_with(forge: GiteaForge, hosted: Hosted) -> None:
    proposal = a_proposal(hosted)
    api = hosted.forge.api_as("gpubot")
    api.post(f"{hosted.path}/branches", {"new_branch_name": BRANCH, "old_ref_name": "main"})
    pull = forge.open_pull_request(proposal)
    assert hosted.read(QUEUES, BRANCH) == AFTER
    api.patch(f"{hosted.path}/pulls/{pull.number}", {"state": "closed"})


def test_a_commit_that_a_crash_left_without_a_pull_request_is_kept(
    forge: GiteaForge, hosted: Hosted
) -> None:
    proposal = a_proposal(hosted)
    left = hosted.commit({QUEUES: AFTER}, proposal.message, branch=BRANCH, user="gpubot")
    assert forge.open_pull_request(proposal).head_sha == left


@pytest.mark.parametrize(
    "files", [{QUEUES: "a: 400\n"}, {QUEUES: AFTER, "docs/more.md": "more\n"}, {"x": AFTER}]
)
def test_a_branch_that_somebody_pushed_to_is_not_taken(
    forge: GiteaForge, hosted: Hosted, files: dict[str, str]
) -> None:
    theirs = hosted.commit(files, "Mine", branch=BRANCH, user="alice")
    with pytest.raises(ForgeConflict) as refused:
        forge.open_pull_request(a_proposal(hosted))
    assert refused.value.reason == "branch-taken"
    assert hosted.head(BRANCH) == theirs
    assert pulls(hosted) == []


def test_no_other_branch_is_ever_written(forge: GiteaForge, hosted: Hosted) -> None:
    for name in ("main", "gpubot/../main", "release/1", "gpubot/"):
        with pytest.raises(ForgeDenied):
            forge.open_pull_request(replace(a_proposal(hosted), branch=name))


def test_find_and_read_know_it_in_every_state(forge: GiteaForge, hosted: Hosted) -> None:
    assert forge.find(BRANCH) is None
    pull = forge.open_pull_request(a_proposal(hosted))
    assert forge.find(BRANCH) == forge.read(pull.number)
    forge.close(pull.number)
    closed = forge.find(BRANCH)
    assert closed is not None
    assert (closed.state, closed.branch, closed.head_sha) == ("closed", BRANCH, pull.head_sha)
    assert (closed.merge_sha, closed.merged_by, closed.mergeable) == (None, "", None)
    with pytest.raises(ForgeMissing):
        forge.read(999)
    assert forge.open_pull_request(a_proposal(hosted)) == closed


def test_reviews_tell_who_saw_which_commit(forge: GiteaForge, hosted: Hosted) -> None:
    pull = forge.open_pull_request(a_proposal(hosted))
    reviews = f"{hosted.path}/pulls/{pull.number}/reviews"
    for user, event in (("alice", "APPROVED"), ("bob", "REQUEST_CHANGES"), ("carol", "COMMENT")):
        hosted.forge.api_as(user).post(reviews, {"event": event, "body": f"{user} says"})
    found = forge.read(pull.number).reviews
    assert [(r.by, r.state, r.text) for r in found] == [
        ("alice", "approved", "alice says"),
        ("bob", "rejected", "bob says"),
        ("carol", "commented", "carol says"),
    ]
    assert {r.head_sha for r in found} == {pull.head_sha}
    assert all(r.at.utcoffset().total_seconds() == 0 for r in found)  # type: ignore[union-attr]
    hosted.forge.api_as().post(f"{reviews}/{found[0].id}/dismissals", {"message": "no"})
    assert forge.read(pull.number).reviews[0].state == "dismissed"


def test_a_push_by_hand_moves_the_head_and_stops_the_merge(
    forge: GiteaForge, hosted: Hosted
) -> None:
    hosted.protect(statuses=[STATUS])
    pull = forge.open_pull_request(a_proposal(hosted))
    pushed = push(hosted, "a: 400\n")
    assert forge.read(pull.number).head_sha == pushed
    with pytest.raises(ForgeConflict) as refused:
        merge(hosted, forge, pull)
    assert refused.value.reason == "head-moved"


def push(hosted: Hosted, text: str, branch: str = BRANCH, user: str = "alice") -> str:
    api = hosted.forge.api_as(user)
    there = api.get(f"{hosted.path}/contents/{QUEUES}?ref={branch}")["sha"]
    content = b64encode(text.encode()).decode()
    body = {"branch": branch, "message": "by hand", "sha": there, "content": content}
    made: str = api.put(f"{hosted.path}/contents/{QUEUES}", body)["commit"]["sha"]
    return made


def test_the_required_status_is_what_lets_it_in(forge: GiteaForge, hosted: Hosted) -> None:
    hosted.protect(statuses=[STATUS])
    pull = forge.open_pull_request(a_proposal(hosted))
    forge.set_status(pull.head_sha, "pending", "Waiting for li")
    with pytest.raises(ForgeDenied, match="required status"):
        forge.merge(pull.number, pull.head_sha, "T\n\nB\n")
    assert forge.read(pull.number).state == "open"
    merged = merge(hosted, forge, pull)
    assert (merged.state, merged.merged_by) == ("merged", "gpubot")
    assert merged.merge_sha == hosted.head()
    said = hosted.forge.api_as().get(f"{hosted.path}/git/commits/{merged.merge_sha}")
    assert said["commit"]["message"] == "Title (request 7)\n\nWhy: x\n\nApproved-by: kim\n"
    assert merge(hosted, forge, pull) == merged
    forge.close(pull.number)
    forge.close(pull.number)
    assert [b["name"] for b in hosted.forge.api_as().get(f"{hosted.path}/branches")] == ["main"]
    after = forge.read(pull.number)
    assert (after.state, after.branch, after.base_sha) == ("merged", BRANCH, pull.base_sha)


def test_statuses_are_cut_and_need_a_commit(forge: GiteaForge, hosted: Hosted) -> None:
    pull = forge.open_pull_request(a_proposal(hosted))
    forge.set_status(pull.head_sha, "failure", "x" * 400)
    said = hosted.forge.api_as().get(f"{hosted.path}/commits/{pull.head_sha}/status")
    assert [(s["context"], s["status"]) for s in said["statuses"]] == [(STATUS, "failure")]
    assert len(said["statuses"][0]["description"]) == 140
    with pytest.raises(ForgeMissing):
        forge.set_status("0" * 40, "success", "")


def test_a_comment_is_written_once_even_if_somebody_copies_its_marker(
    forge: GiteaForge, hosted: Hosted
) -> None:
    pull = forge.open_pull_request(a_proposal(hosted))
    path = f"{hosted.path}/issues/{pull.number}/comments"
    forge.comment(pull.number, "vote-1-kim-->x", "Approved by Kim")
    stolen = hosted.forge.api_as().get(path)[0]["body"].replace("kim", "li")
    hosted.forge.api_as("alice").post(path, {"body": stolen})
    for key in ("vote-1-kim-->x", "vote-1-li-->x", "vote-1-li-->x"):
        forge.comment(pull.number, key, "Approved")
    written = hosted.forge.api_as().get(path)
    assert [c["user"]["login"] for c in written] == ["gpubot", "alice", "gpubot"]


def test_the_same_line_changed_on_main_is_a_conflict(forge: GiteaForge, hosted: Hosted) -> None:
    pull = forge.open_pull_request(a_proposal(hosted))
    hosted.commit({QUEUES: BEFORE.replace("1", "3")}, "Mine")
    wait_until(lambda: forge.read(pull.number).mergeable is False, "the conflict to be seen", 30)
    with pytest.raises(ForgeConflict) as refused:
        merge(hosted, forge, pull)
    assert refused.value.reason == "merge-conflict"


def test_another_line_changed_on_main_is_none(forge: GiteaForge, hosted: Hosted) -> None:
    pull = forge.open_pull_request(a_proposal(hosted))
    hosted.commit({QUEUES: BEFORE.replace("2", "3")}, "Mine")
    hosted.commit({"docs/old.md": "new\n"}, "Mine too")
    wait_until(lambda: forge.read(pull.number).mergeable is True, "it to be looked at", 30)
    assert merge(hosted, forge, pull).state == "merged"
    assert hosted.read(QUEUES) == "a: 9\n\n\n\nb: 3\n"


def test_closed_and_merged_by_hand_are_read_as_such(forge: GiteaForge, hosted: Hosted) -> None:
    pull = forge.open_pull_request(a_proposal(hosted))
    api = hosted.forge.api_as("bob")
    api.patch(f"{hosted.path}/pulls/{pull.number}", {"state": "closed"})
    with pytest.raises(ForgeConflict) as refused:
        merge(hosted, forge, pull)
    assert refused.value.reason == "not-open"
    api.patch(f"{hosted.path}/pulls/{pull.number}", {"state": "open"})
    assert forge.read(pull.number).state == "open"
    merge_when_checked(hosted, pull.number, pull.head_sha, user="bob")
    read = forge.read(pull.number)
    assert (read.state, read.merged_by) == ("merged", "bob")


def test_labels_and_reviewers_that_are_unknown_hold_up_nothing(
    forge: GiteaForge, hosted: Hosted
) -> None:
    admin = hosted.forge.api_as()
    admin.post(f"{hosted.path}/labels", {"name": "gpu-quota", "color": "#00aabb"})
    proposal = replace(
        a_proposal(hosted),
        labels=("gpu-quota", "no-such-label"),
        reviewers=("nobody", "alice", "platform/no-such-team"),
    )
    number = forge.open_pull_request(proposal).number
    made = admin.get(f"{hosted.path}/pulls/{number}")
    assert [label["name"] for label in made["labels"]] == ["gpu-quota"]
    assert [user["login"] for user in made["requested_reviewers"]] == ["alice"]


def test_a_bad_token_and_a_missing_repository_have_names(
    gitea: programs.Gitea, hosted: Hosted
) -> None:
    with pytest.raises(ForgeDenied, match="token") as refused:
        GiteaForge(gitea.url, f"platform/{hosted.name}", "b" * 40).find(BRANCH)
    assert "b" * 40 not in repr(vars(refused.value))
    with pytest.raises(ForgeMissing):
        GiteaForge(gitea.url, "platform/none", gitea.token("gpubot")).read(1)
    reader = GiteaForge(gitea.url, f"platform/{hosted.name}", gitea.token("gpubot"))
    api = gitea.api_as()
    api.delete(f"{hosted.path}/collaborators/gpubot")
    with pytest.raises((ForgeDenied, ForgeMissing)):
        reader.open_pull_request(a_proposal(hosted))


@pytest.fixture
def private(hosted: Hosted) -> Hosted:
    hosted.forge.api_as().patch(hosted.path, {"private": True})
    return hosted


def test_a_private_repository_is_mirrored_without_the_token_on_the_disk(
    gitea: programs.Gitea, private: Hosted, forge: GiteaForge, tmp_path: Path
) -> None:
    token = gitea.token("gpubot")
    mirror = Repository(
        tmp_path / "m.git", remote=Remote(private.clone_url, lambda: token), every=3600
    )
    assert mirror.head() == private.head()
    pull = forge.open_pull_request(a_proposal(private))
    assert mirror.changed(pull.base_sha, pull.head_sha) == {QUEUES: AFTER.encode()}
    written = [f.read_bytes() for f in (tmp_path / "m.git").rglob("*") if f.is_file()]
    assert not any(token.encode() in data for data in written)


def test_a_mirror_says_what_it_lacks(private: Hosted, tmp_path: Path) -> None:
    bad = Repository(tmp_path / "m.git", remote=Remote(private.clone_url, lambda: "c" * 40))
    with pytest.raises(SourceDown) as down:
        bad.head()
    assert "c" * 40 not in repr(vars(down.value))


def test_nobody_answers_is_down(hosted: Hosted) -> None:
    port = urlsplit(hosted.forge.url).port
    free = free_port()
    assert free != port
    with pytest.raises(ForgeDown, match="can't reach Gitea"):
        GiteaForge(f"http://127.0.0.1:{free}", "a/b", "t").find(BRANCH)


def test_every_call_is_in_giteas_own_description(gitea: programs.Gitea, hosted: Hosted) -> None:
    document = requests.get(f"{gitea.url}/swagger.v1.json", timeout=10).json()
    # What up to 1.25 and Forgejo call the message of a merge.
    old = frozenset({"MergeTitleField", "MergeMessageField"})

    def forward(call: validating.Call, path: str) -> validating.Reply:
        answer = requests.request(
            call.method,
            f"{gitea.url}/api/v1{path}",
            params=call.query,
            json=call.body,
            headers={"Authorization": call.headers["Authorization"]},
            timeout=20,
        )
        return validating.Reply(answer.status_code, answer.content or None)

    routes: list[validating.Route] = [
        (method.upper(), "(.*)", forward) for method in ("get", "post", "patch", "delete")
    ]
    description = Description(document, old)
    proxy = validating.Forge(routes, description, "/api/v1", judge_replies=False)
    with validating.serving(proxy):
        forge = GiteaForge(proxy.url, f"platform/{hosted.name}", gitea.token("gpubot"))
        files = {QUEUES: AFTER.encode(), "docs/old.md": None, "docs/new.md": b"new\n"}
        proposal = replace(
            a_proposal(hosted), files=files, labels=("a",), reviewers=("alice", "nobody", "o/t")
        )
        pull = forge.open_pull_request(proposal)
        forge.comment(pull.number, "k", "text")
        hosted.commit({"docs/other.md": "x\n"}, "Meanwhile")
        forge.read(pull.number)
        merge(hosted, forge, pull)
        forge.close(pull.number)
        with pytest.raises(ForgeMissing):
            forge.set_status("0" * 40, "success", "")
        again = replace(a_proposal(hosted, "a: 10\n"), branch="gpubot/request-8-k3")
        hosted.commit({QUEUES: "a: 11\n"}, "Mine", branch=again.branch, user="alice")
        with pytest.raises(ForgeConflict):
            forge.open_pull_request(again)
    assert proxy.wrong == []
    assert len(description.seen) >= 15
