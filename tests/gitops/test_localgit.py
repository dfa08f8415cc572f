from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pygit2
import pytest

from gitops.forge import (
    Forge,
    ForgeConflict,
    ForgeDenied,
    ForgeDown,
    ForgeMissing,
    Proposal,
)
from gitops.localgit import LocalForge
from gitops.repository import Repository
from tests.gitops.repositories import commit

NOON = datetime(2026, 12, 1, 12, tzinfo=UTC)
QUEUES = "clusters/prod/queues.yaml"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    made = tmp_path / "fleet.git"
    commit(made, {QUEUES: "a: 1\n\n\n\nb: 2\n", "run.sh": "#!/bin/sh\n"})
    return made


@pytest.fixture
def forge(path: Path) -> LocalForge:
    return LocalForge(path, clock=lambda: NOON)


def a_proposal(
    path: Path, text: str = "a: 9\n\n\n\nb: 2\n", branch: str = "gpubot/request-7-k3"
) -> Proposal:
    head = Repository(path).head()
    return Proposal(branch, head, {QUEUES: text.encode()}, "Title", "Body", "Raise a\n\nWhy: x\n")


def test_the_local_forge_is_a_forge(forge: LocalForge) -> None:
    checked: Forge = forge
    assert checked


def test_opening_makes_one_branch_with_one_commit_that_changes_only_the_files(
    forge: LocalForge, path: Path
) -> None:
    proposal = a_proposal(path)
    pull = forge.open_pull_request(proposal)
    repository = Repository(path)
    assert (pull.number, pull.state, pull.mergeable) == (1, "open", True)
    assert pull.base_sha == proposal.base_sha
    assert repository.changed(pull.base_sha, pull.head_sha) == {QUEUES: b"a: 9\n\n\n\nb: 2\n"}
    assert "-a: 1\n+a: 9" in repository.diff(pull.base_sha, pull.head_sha)
    assert repository.head() == proposal.base_sha


def test_opening_twice_makes_it_once(forge: LocalForge, path: Path) -> None:
    first = forge.open_pull_request(a_proposal(path))
    assert forge.open_pull_request(a_proposal(path)) == first
    assert len(forge.records()) == 1


def test_opening_from_many_threads_makes_it_once(forge: LocalForge, path: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        proposals = [a_proposal(path, branch=f"gpubot/request-{i % 3}") for i in range(12)]
        pulls = list(pool.map(forge.open_pull_request, proposals))
    assert len({pull.number for pull in pulls}) == len(forge.records()) == 3


def test_a_branch_left_by_a_crash_before_the_pull_request_is_taken_up(
    forge: LocalForge, path: Path
) -> None:
    proposal = a_proposal(path)
    left = commit(
        path, {QUEUES: proposal.files[QUEUES]}, branch=proposal.branch, start=proposal.base_sha
    )
    assert forge.open_pull_request(proposal).head_sha == left


def test_a_branch_with_something_else_on_it_is_not_overwritten(
    forge: LocalForge, path: Path
) -> None:
    proposal = a_proposal(path)
    commit(path, {QUEUES: "mine"}, branch=proposal.branch, start=proposal.base_sha)
    with pytest.raises(ForgeConflict) as caught:
        forge.open_pull_request(proposal)
    assert caught.value.reason == "branch-taken"
    assert not forge.records()


@pytest.mark.parametrize(
    "branch",
    [
        "main",
        "gpubot/../main",
        "gpubot/a b",
        "gpubot/",
        "refs/heads/x",
        "gpubot/x.lock",
        "gpubot/ä",
        "gpubot/a\nb",
    ],
)
def test_no_branch_name_but_our_own_form_is_made(
    forge: LocalForge, path: Path, branch: str
) -> None:
    with pytest.raises(ForgeDenied):
        forge.open_pull_request(a_proposal(path, branch=branch))


@pytest.mark.parametrize(
    "file", ["../x", "/etc/passwd", ".git/config", "a/.GIT/hooks/x", "a/../b", "a\\b", ""]
)
def test_no_file_outside_the_tree_is_written(forge: LocalForge, path: Path, file: str) -> None:
    with pytest.raises(ForgeDenied):
        forge.open_pull_request(replace(a_proposal(path), files={file: b"x"}))


def test_a_merge_keeps_message_and_both_parents(forge: LocalForge, path: Path) -> None:
    pull = forge.open_pull_request(a_proposal(path))
    message = "Raise a\n\nApproved-by: Li <slack:U0LI>\nRequested-by: Ana\n"
    merged = forge.merge(pull.number, pull.head_sha, message)
    made = pygit2.Repository(str(path))[merged.merge_sha]
    assert merged.state == "merged"
    assert made.message == message
    assert [str(parent) for parent in made.parent_ids] == [pull.base_sha, pull.head_sha]
    assert Repository(path).read(QUEUES, Repository(path).head()) == b"a: 9\n\n\n\nb: 2\n"


def test_merging_again_returns_the_first_merge(forge: LocalForge, path: Path) -> None:
    pull = forge.open_pull_request(a_proposal(path))
    first = forge.merge(pull.number, pull.head_sha, "m")
    assert forge.merge(pull.number, pull.head_sha, "m") == first


def test_a_merge_whose_record_was_lost_is_seen_as_merged(forge: LocalForge, path: Path) -> None:
    pull = forge.open_pull_request(a_proposal(path))
    git = pygit2.Repository(str(path))
    before = git.references[f"refs/gpubot/pulls/{pull.number}"].target
    merged = forge.merge(pull.number, pull.head_sha, "m")
    git.references[f"refs/gpubot/pulls/{pull.number}"].set_target(before)
    assert forge.read(pull.number).state == "merged"
    assert forge.merge(pull.number, pull.head_sha, "m").merge_sha == merged.merge_sha
    assert Repository(path).head() == merged.merge_sha


def test_a_push_to_the_branch_stops_the_merge(forge: LocalForge, path: Path) -> None:
    pull = forge.open_pull_request(a_proposal(path))
    commit(path, {QUEUES: "a: 99\n"}, branch=pull.branch)
    with pytest.raises(ForgeConflict) as caught:
        forge.merge(pull.number, pull.head_sha, "m")
    assert caught.value.reason == "head-moved"
    assert forge.read(pull.number).head_sha != pull.head_sha


def test_another_change_of_the_same_line_is_a_conflict(forge: LocalForge, path: Path) -> None:
    pull = forge.open_pull_request(a_proposal(path))
    commit(path, {QUEUES: "a: 5\n\n\n\nb: 2\n"})
    assert forge.read(pull.number).mergeable is False
    with pytest.raises(ForgeConflict) as caught:
        forge.merge(pull.number, pull.head_sha, "m")
    assert caught.value.reason == "merge-conflict"
    assert QUEUES in caught.value.sentence


def test_a_change_of_another_line_merges(forge: LocalForge, path: Path) -> None:
    pull = forge.open_pull_request(a_proposal(path))
    commit(path, {QUEUES: "a: 1\n\n\n\nb: 5\n"})
    forge.merge(pull.number, pull.head_sha, "m")
    assert Repository(path).read(QUEUES, Repository(path).head()) == b"a: 9\n\n\n\nb: 5\n"


def test_a_closed_one_is_not_merged_and_keeps_its_head(forge: LocalForge, path: Path) -> None:
    pull = forge.open_pull_request(a_proposal(path))
    forge.close(pull.number)
    forge.close(pull.number)
    shown = forge.read(pull.number)
    assert (shown.state, shown.head_sha) == ("closed", pull.head_sha)
    assert Repository(path).tip(pull.branch) is None
    with pytest.raises(ForgeConflict):
        forge.merge(pull.number, pull.head_sha, "m")


def test_closing_a_merged_one_only_removes_its_branch(forge: LocalForge, path: Path) -> None:
    pull = forge.open_pull_request(a_proposal(path))
    forge.merge(pull.number, pull.head_sha, "m")
    forge.close(pull.number)
    assert forge.read(pull.number).state == "merged"
    assert Repository(path).tip(pull.branch) is None


def test_a_branch_deleted_by_hand_closes_the_pull_request(forge: LocalForge, path: Path) -> None:
    pull = forge.open_pull_request(a_proposal(path))
    pygit2.Repository(str(path)).references.delete(f"refs/heads/{pull.branch}")
    assert forge.read(pull.number).state == "closed"


def test_comments_with_a_key_are_written_once(forge: LocalForge, path: Path) -> None:
    number = forge.open_pull_request(a_proposal(path)).number
    for text in ("first", "again"):
        forge.comment(number, "approvals-1", text)
    forge.comment(number, "approvals-2", "third")
    assert [c.text for c in forge.record(number).comments] == ["first", "third"]


def test_comments_from_many_threads_are_all_kept(forge: LocalForge, path: Path) -> None:
    number = forge.open_pull_request(a_proposal(path)).number
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda i: forge.comment(number, str(i), "x"), range(4)))
    assert len(forge.record(number).comments) == 4


def test_a_status_is_set_to_a_value_and_cut_to_what_forges_take(
    forge: LocalForge, path: Path
) -> None:
    head = forge.open_pull_request(a_proposal(path)).head_sha
    forge.set_status(head, "pending", "1 of 2")
    forge.set_status(head, "success", "x" * 200)
    assert forge.status(head) == ("success", "x" * 140)
    assert forge.status("0" * 40) == ("", "")


def test_a_protected_base_asks_for_the_status(path: Path) -> None:
    forge = LocalForge(path, protected=True)
    pull = forge.open_pull_request(a_proposal(path))
    with pytest.raises(ForgeDenied):
        forge.merge(pull.number, pull.head_sha, "m")
    forge.set_status(pull.head_sha, "success", "2 of 2")
    assert forge.merge(pull.number, pull.head_sha, "m").state == "merged"


def test_reviews_are_kept_with_the_head_they_saw(forge: LocalForge, path: Path) -> None:
    pull = forge.open_pull_request(a_proposal(path))
    forge.review(pull.number, "li", "approved", "fine")
    (review,) = forge.read(pull.number).reviews
    assert (review.by, review.state, review.head_sha, review.at) == (
        "li",
        "approved",
        pull.head_sha,
        NOON,
    )


def test_what_is_missing_is_said(forge: LocalForge, path: Path, tmp_path: Path) -> None:
    with pytest.raises(ForgeMissing):
        forge.read(99)
    with pytest.raises(ForgeMissing):
        forge.open_pull_request(replace(a_proposal(path), base_sha="1" * 40))
    with pytest.raises(ForgeDown):
        LocalForge(tmp_path / "nowhere.git").read(1)


def test_an_executable_file_stays_executable(path: Path, forge: LocalForge) -> None:
    git = pygit2.Repository(str(path))
    index = pygit2.Index()
    index.read_tree(git.head.peel().tree)
    index.add(
        pygit2.IndexEntry("run.sh", index["run.sh"].id, pygit2.enums.FileMode.BLOB_EXECUTABLE)
    )
    who = pygit2.Signature("T", "t@example.org")
    git.create_commit("refs/heads/main", who, who, "m", index.write_tree(git), [git.head.target])
    pull = forge.open_pull_request(replace(a_proposal(path), files={"run.sh": b"#!/bin/sh\n:\n"}))
    assert git[pull.head_sha].tree["run.sh"].filemode == pygit2.enums.FileMode.BLOB_EXECUTABLE
