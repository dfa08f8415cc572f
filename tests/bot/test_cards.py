"""What a request looks like in the channel and what is said in its thread, word for word."""

import os
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from bot.cards import buttons, card, diff
from bot.details import details
from bot.notices import SAY, notice
from bot.text import render
from bot.wishes import wish
from capacity.errors import UnknownName
from gitops.moves import Move, MoveKind
from gitops.needs import fill
from gitops.request import TERMINAL, VOTABLE, Ending, PullRef, Request, State, Trouble, Vote
from tests.bot.stage import CONTENT, NEEDS, a_draft, a_request, a_verdict, a_view

GOLDEN = Path(__file__).resolve().parents[1] / "golden" / "bot"
AT = a_request().submitted_at
PULL = PullRef(128, "https://git.example.com/fleet/pulls/128")


def golden(name: str, text: str) -> None:
    path = GOLDEN / name
    if os.environ.get("GPUBOT_UPDATE_GOLDEN"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    assert path.read_text("utf-8") == text


def voted(request: Request) -> Request:
    vote = Vote("li", "owner of serving", "approve", "", AT, "slack:U0LI", CONTENT)
    return replace(request, votes=(vote,))


def in_state(state: State) -> Request:
    request = voted(a_request(state=state, pull=PULL))
    if state in TERMINAL and state is not State.LIVE:
        request = replace(request, ending=Ending("vera", "vision needs them", AT))
    if state in {State.MERGED, State.LIVE, State.OVERDUE, State.DIFFERS}:
        request = replace(request, merge_sha="3f2a9c1d5e", merged_at=AT)
    return replace(request, observed="36") if state is State.DIFFERS else request


def test_every_state_has_a_card() -> None:
    verdict = a_verdict(fill(NEEDS, ["li"]))
    pages = [f"# {state}\n{render(card(a_view(in_state(state), verdict)))}" for state in State]
    golden("cards.txt", "\n".join(pages))


def test_every_move_but_the_submission_has_its_line() -> None:
    assert set(MoveKind) - set(SAY) == {MoveKind.SUBMITTED}


def test_the_thread_tells_each_move_in_a_line() -> None:
    verdict = a_verdict(fill(NEEDS, ["li"]))
    view = a_view(voted(a_request(pull=PULL, merge_sha="3f2a9c1d5e")), verdict)
    trouble = Trouble("merge", "The forge doesn't answer.", "", 1, AT, AT + timedelta(minutes=5))
    said = []
    for kind in SAY:
        move = Move(kind, AT, **words(kind))
        seen = replace(view, request=replace(view.request, trouble=trouble))
        page = notice(seen if kind is MoveKind.TROUBLE else view, move)
        assert page is not None
        said.append(f"# {kind}\n{render(page)}")
    golden("notices.txt", "\n".join(said))


def test_a_pull_request_edited_by_hand_is_judged_by_its_diff_not_by_its_title() -> None:
    facts = replace(a_request().facts, edited=True)
    shown = render(card(a_view(replace(a_request(pull=PULL), facts=facts))))
    assert "Edited by hand: what counts is the diff" in shown
    view = a_view(replace(in_state(State.DIFFERS), facts=facts))
    page = notice(view, Move(MoveKind.DIFFERS, AT, old="40", new="36"))
    assert page is not None
    assert "not the 40 that was asked for" in render(page)
    assert "another way" not in render(page)


def words(kind: MoveKind) -> dict[str, str]:
    return {
        MoveKind.VOTED: {"by": "li", "role": "owner of serving", "text": "fine until Friday"},
        MoveKind.VOTES_VOID: {
            "by": "ana",
            "text": "The pull request was changed: 2 approvals no longer count.",
            "old": "9b1aaaaaaa",
            "new": "e07bbbbbbb",
        },
        MoveKind.MERGED: {"new": "3f2a9c1d5e"},
        MoveKind.MERGED_BY_HAND: {
            "by": "kim",
            "new": "3f2a9c1d5e",
            "text": "The approval policy was not met.",
        },
        MoveKind.APPLIED: {"text": "Flux", "old": "flux-system/prod", "new": "3f2a9c1d5e"},
        MoveKind.STUCK: {
            "text": "ClusterQueue/research dry-run failed: spec.queueingStrategy: Unsupported value",
            "old": "Kustomization flux-system/prod",
            "new": "Flux",
        },
        MoveKind.LIVE: {"new": "40"},
        MoveKind.DIFFERS: {"old": "40", "new": "36"},
        MoveKind.REJECTED: {"by": "vera", "role": "owner of vision", "text": "we need them"},
        MoveKind.CANCELLED: {"by": "ana", "text": "no longer needed"},
        MoveKind.EXPIRED: {"text": "It was not approved in time."},
        MoveKind.CLOSED: {"by": "kim"},
        MoveKind.TROUBLE: {"text": "The forge doesn't answer.", "new": "merge"},
    }.get(kind, {})


def test_details_tell_everything_and_what_the_reader_may_do() -> None:
    view = a_view(voted(a_request(pull=PULL)), a_verdict(fill(NEEDS, ["li"])))
    pages = [f"# {who or 'nobody'}\n{render(details(view, who))}" for who in ("ana", "kim", "")]
    golden("details.txt", "\n".join(pages))


@pytest.mark.parametrize("state", list(State))
def test_votes_can_be_given_in_the_states_that_take_them(state: State) -> None:
    shown = {action.action for action in buttons(in_state(state))}
    assert ("approve" in shown) == (state in VOTABLE)
    assert "details" in shown


def test_a_button_carries_the_request_and_its_version_only() -> None:
    request = a_request(version=3)
    assert {a.value for a in buttons(request)} == {"42.3"}


def test_the_requester_is_offered_to_withdraw_and_nobody_else_is() -> None:
    view = a_view()
    assert "cancel" in {a.action for a in details(view, "ana").actions}
    assert "cancel" not in {a.action for a in details(view, "li").actions}


@pytest.mark.parametrize(
    ("kind", "old", "new", "said"),
    [
        ("nominal", "32", "40", "research wants 8 more H100 of its own (32 → 40)"),
        ("nominal", "40", "32", "research gives up 8 H100 of its own (40 → 32)"),
        ("nominal", None, "8", "research wants 8 H100 of its own (no limit → 8)"),
        ("borrowing", "16", "24", "research wants to borrow at most 24 H100 (16 → 24)"),
        ("borrowing", "16", None, "research wants to borrow H100 without a limit (16 → no limit)"),
        ("lending", None, "8", "research would lend at most 8 H100 (no limit → 8)"),
        ("lending", "8", None, "research would lend all its H100 (8 → no limit)"),
    ],
)
def test_a_wish_is_said_in_words(kind: str, old: str | None, new: str | None, said: str) -> None:
    assert wish(a_draft(kind=kind, old=old, new=new)) == said


def test_a_diff_shows_its_changed_lines_by_file_and_counts_the_rest() -> None:
    lines = "".join(f"+line {i}\n" for i in range(20))
    (shown,) = diff(f"--- a/q.yaml\n+++ b/q.yaml\n@@ -1 +1 @@\n context\n{lines}", most=3)
    assert (shown.path, shown.lines) == (
        "q.yaml",
        ("+ line 0", "+ line 1", "+ line 2", "… 17 more"),
    )


def test_an_unknown_name_is_an_apology_with_buttons() -> None:
    from bot.apology import apology

    error = UnknownName("queue", "reserch", ("research", "serving"))
    page = apology(error, "quota reserch")
    assert [a.value for a in page.actions] == ["quota research", "quota serving"]
    assert "reserch" in render(page)
