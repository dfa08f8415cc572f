"""The state machine as a table: what each state does with each event, and what it ignores."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from gitops import events as e
from gitops.forge import PullRequest
from gitops.machine import TABLE, advance
from gitops.moves import MoveKind
from gitops.request import (
    IN_GIT,
    TERMINAL,
    Content,
    Facts,
    PullRef,
    Request,
    State,
    Vote,
    hash_of,
)
from gitops.rollout import Differs, Live, Overdue, Waiting
from tests.gitops.flow_fakes import START, a_draft

CONTENT = Content(1, "d1", "b1", "h1", "p1")
HOUR = timedelta(hours=1)


def a_request(state: State = State.OPEN, **changes: Any) -> Request:
    request = Request(
        42,
        "t0",
        replace(a_draft(), requester="ana"),
        Facts(raises=True, delta=8),
        CONTENT,
        START,
        START + 72 * HOUR,
        state=state,
        pull=PullRef(128, "https://forge.example/128"),
        merge_by=START + 24 * HOUR if state is State.APPROVED else None,
    )
    return replace(request, **changes)


def a_vote(person: str = "li", choice: Any = "approve", content: Content = CONTENT) -> Vote:
    return Vote(person, "owner of serving", choice, "", START, f"slack:{person}", content)


ALL_EVENTS = (
    e.Opened(PullRequest(1, "u", "b", "h2", "b1", "open"), "d1", "", edited=False),
    e.Voted(a_vote()),
    e.Withdrawn("li", "slack:li"),
    e.Judged(CONTENT, met=True, merge_within=HOUR),
    e.Judged(CONTENT, met=False, merge_within=HOUR),
    e.Pushed("h2", "b1", "d2", "", edited=True),
    e.PolicyChanged("p2"),
    e.MergeStarted(),
    e.NotMerged(),
    e.Merged("m1", "", by_bot=True, live_within=HOUR),
    e.ClosedByHand(),
    e.Mergeable(yes=False),
    e.Mergeable(yes=True),
    e.Cancelled("ana", ""),
    e.Ticked(),
    e.Observed(Live(START)),
    e.Observed(Overdue(START)),
    e.Observed(Differs("36")),
    e.Observed(Waiting()),
    e.StepFailed("read", "no", "", START),
    e.StepDone("read"),
)


@pytest.mark.parametrize("state", list(State))
def test_every_state_has_a_row_and_takes_every_event(state: State) -> None:
    assert state in TABLE
    for event in ALL_EVENTS:
        request, moves = advance(a_request(state), event, START + 100 * HOUR)
        assert request.id == 42
        assert all(move.kind in MoveKind for move in moves)


@pytest.mark.parametrize("state", sorted(TERMINAL))
def test_an_end_stays_the_end(state: State) -> None:
    for event in ALL_EVENTS:
        request, _ = advance(a_request(state), event, START + 100 * HOUR)
        assert request.state is state


@pytest.mark.parametrize("state", sorted(IN_GIT - TERMINAL))
def test_what_is_in_git_never_becomes_undecided_again(state: State) -> None:
    for event in ALL_EVENTS:
        request, _ = advance(a_request(state), event, START + 100 * HOUR)
        assert request.state in IN_GIT | {State.CLOSED}


def test_only_an_approved_request_starts_to_merge() -> None:
    for state in State:
        request, _ = advance(a_request(state), e.MergeStarted(), START)
        assert (request.state is State.MERGING) == (state in (State.APPROVED, State.MERGING))


def test_only_a_verdict_about_the_present_content_approves() -> None:
    for content in (
        replace(CONTENT, version=2),
        replace(CONTENT, diff_hash="d2"),
        replace(CONTENT, base_sha="b2"),
        replace(CONTENT, head_sha="h2"),
        replace(CONTENT, policy="p2"),
    ):
        stale = e.Judged(content, met=True, merge_within=HOUR)
        assert advance(a_request(), stale, START) == (a_request(), ())


def test_a_vote_for_other_content_or_by_the_requester_changes_nothing() -> None:
    for vote in (a_vote("ana"), a_vote(content=replace(CONTENT, head_sha="h0"))):
        assert advance(a_request(), e.Voted(vote), START) == (a_request(), ())


def test_a_vote_from_before_the_pull_request_stands_while_the_head_holds_that_diff() -> None:
    early = a_vote(content=replace(CONTENT, head_sha=None))
    voted, _ = advance(
        a_request(State.SUBMITTED, pull=None, content=replace(CONTENT, head_sha=None)),
        e.Voted(early),
        START,
    )
    pull = PullRequest(1, "u", "b", "h1", "b1", "open")
    intact, _ = advance(voted, e.Opened(pull, "d1", "", edited=False), START)
    assert intact.standing_votes == (early,)
    edited, moves = advance(voted, e.Opened(pull, "d2", "", edited=True), START)
    assert not edited.standing_votes
    assert [m.kind for m in moves] == [MoveKind.OPENED, MoveKind.VOTES_VOID]


def test_a_push_voids_votes_and_says_how_many() -> None:
    request = a_request(State.APPROVED, votes=(a_vote("li"), a_vote("kim")))
    pushed, (move,) = advance(request, e.Pushed("h2", "b1", "d2", "", edited=True), START)
    assert pushed.state is State.OPEN
    assert (pushed.version, pushed.content.version) == (2, 2)
    assert not pushed.standing_votes
    assert len(pushed.votes) == 2
    assert "2 approvals no longer count" in move.text
    assert (move.old, move.new) == ("h1", "h2")


def test_a_new_policy_without_votes_is_taken_over_silently() -> None:
    request, moves = advance(a_request(), e.PolicyChanged("p2"), START)
    assert (request.version, request.content.policy, moves) == (1, "p2", ())
    approved, moves = advance(a_request(State.APPROVED), e.PolicyChanged("p2"), START)
    assert (approved.version, approved.state) == (2, State.OPEN)
    assert moves


def test_both_clocks_end_it_each_in_its_own_time() -> None:
    late = START + 73 * HOUR
    assert advance(a_request(), e.Ticked(), late)[0].state is State.EXPIRED
    assert advance(a_request(), e.Ticked(), START + 71 * HOUR)[0].state is State.OPEN
    approved = a_request(State.APPROVED)
    assert advance(approved, e.Ticked(), START + 25 * HOUR)[0].state is State.EXPIRED
    assert advance(approved, e.Ticked(), START + 23 * HOUR)[0].state is State.APPROVED
    assert advance(a_request(State.MERGING), e.Ticked(), late)[0].state is State.MERGING


def test_a_repeating_trouble_is_told_once_and_its_end_once() -> None:
    request = a_request()
    told = []
    for _ in range(3):
        request, moves = advance(request, e.StepFailed("merge", "403", "", START), START)
        told += moves
    assert request.trouble is not None
    assert request.trouble.attempts == 3
    request, moves = advance(request, e.StepDone("read"), START)
    told += moves
    request, moves = advance(request, e.StepDone("merge"), START)
    told += moves
    assert [m.kind for m in told] == [MoveKind.TROUBLE, MoveKind.RECOVERED]
    assert request.trouble is None


def test_file_hashes_tell_paths_bytes_and_deletions_apart() -> None:
    variants: list[dict[str, bytes | None]] = [
        {"a": b"1"},
        {"a": b"2"},
        {"b": b"1"},
        {"a": None},
        {"a": b""},
        {"a": b"deleted"},
        {"a": b"1", "b": b"1"},
        {},
    ]
    assert len({hash_of(files) for files in variants}) == len(variants)
    assert hash_of({"a": b"1", "b": b"2"}) == hash_of({"b": b"2", "a": b"1"})


def test_branch_names_are_made_of_id_and_token_alone() -> None:
    assert a_request().branch == "gpubot/request-42-t0"
    assert a_request().button_value == "42.1"


def test_nothing_is_live_before_its_merge() -> None:
    merged = a_request(State.MERGED, merged_at=START + HOUR)
    _, (move,) = advance(merged, e.Observed(Live(START)), START + HOUR)
    assert (move.kind, move.at) == (MoveKind.LIVE, START + HOUR)
