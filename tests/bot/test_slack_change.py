"""Asking for changes and deciding on them in Slack, with the clicks that go wrong."""

import time
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta

import pytest

from bot.inbox import button
from bot.playground.fake_slack.messages import Message
from bot.playground.fake_slack.person import SlackPerson, buttons, everything_said
from capacity.errors import Conflict, Refused, SourceDown, UsageError
from gitops.moves import MoveKind
from tests.bot.stage import Stage, a_request


def open_form(person: SlackPerson, text: str = "") -> None:
    person.slash("/gpu-request", text)
    person.wait_for(lambda: "Sen" in str(person.modal().body.get("submit")))


def posted_card(stage: Stage, person: SlackPerson) -> Message:
    stage.flow.requests[42] = a_request()
    stage.flow.tell(42, MoveKind.SUBMITTED)
    stage.drain()
    return person.wait_for_text("Request 42: research wants 8 more H100", "C0REQUESTS")


def calls(stage: Stage, name: str) -> list[tuple[object, ...]]:
    return [call for call in stage.flow.calls if call[0] == name]


def test_the_modal_opens_with_the_askers_queue_and_what_it_has_now(stage: Stage) -> None:
    ana = stage.person("U0ANA")
    open_form(ana)
    said = everything_said(ana.modal())
    assert "research" in said
    assert "From 32 to" in said


def test_words_after_the_command_fill_the_form(stage: Stage) -> None:
    ana = stage.person("U0ANA")
    open_form(ana, "vision h100 borrowing 24")
    said = everything_said(ana.modal())
    assert "From no limit to" in said
    assert "vision's H100 no limit → 24" in said


def test_typing_a_number_shows_what_would_happen_and_who_must_approve(stage: Stage) -> None:
    ana = stage.person("U0ANA")
    open_form(ana)
    ana.fill("to", "40", how="on_character_entered")
    ana.wait_for(lambda: "32 → 40" in everything_said(ana.modal()))
    assert "an owner of serving" in everything_said(ana.modal())


def test_another_queue_shows_its_own_number_and_forgets_the_typed_one(stage: Stage) -> None:
    ana = stage.person("U0ANA")
    open_form(ana)
    ana.fill("to", "44", how="on_character_entered")
    ana.fill("queue", "serving")
    ana.wait_for(lambda: "From 40 to" in everything_said(ana.modal()))


def test_a_submission_becomes_a_request_with_a_card_in_the_channel(stage: Stage) -> None:
    ana, li = stage.person("U0ANA"), stage.person("U0LI", "C0REQUESTS")
    open_form(ana)
    assert ana.submit(to="40", why="camera-ready ablations")
    ana.wait_for(lambda: "Request 42 is sent" in everything_said(ana.modal()))
    stage.drain()
    card = li.wait_for_text("Request 42: research wants 8 more H100 of its own (32 → 40)")
    assert "camera-ready ablations" in everything_said(card)
    assert "<@U0LI>" in everything_said(card) or "U0LI" in str(card.blocks)
    ((_, draft, by, _),) = calls(stage, "submit")
    assert (draft.old, draft.new, draft.reason) == ("32", "40", "camera-ready ablations")  # type: ignore[attr-defined]
    assert by.account == "U0ANA"  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("to", "why", "words"),
    [("32", "x", "It is 32 already"), ("40", " ", "Say why")],
)
def test_a_wrong_value_is_told_at_its_field(stage: Stage, to: str, why: str, words: str) -> None:
    ana = stage.person("U0ANA")
    open_form(ana)
    ana.submit(to=to, why=why)
    assert any(words in error for error in ana.modal().errors.values())
    assert not stage.store.rows


def test_a_refusal_is_told_at_the_number_and_nothing_is_written(stage: Stage) -> None:
    stage.flow.refusal = Refused("queues.yaml:12 is generated.", "Edit the Helm values there.")
    ana = stage.person("U0ANA")
    open_form(ana)
    ana.submit(to="40", why="because")
    assert any("is generated" in error for error in ana.modal().errors.values())
    assert not stage.store.rows


def test_a_number_that_moved_since_it_was_shown_is_not_submitted(stage: Stage) -> None:
    from tests.builders import H100, a_cluster_queue, a_fleet

    ana = stage.person("U0ANA")
    open_form(ana)
    ana.fill("to", "40")
    ana.wait_for(lambda: "32 → 40" in everything_said(ana.modal()))
    queues = dict(stage.world.the_fleet.cluster_queues)
    queues["research"] = a_cluster_queue("research", {H100: (36, 16)})
    stage.world.the_fleet = replace(a_fleet(), cluster_queues=queues)
    ana.submit(why="because")
    assert any("It was 32" in error for error in ana.modal().errors.values())


def test_what_cant_be_sent_after_all_is_told_in_the_modal_that_says_sending(stage: Stage) -> None:
    ana = stage.person("U0ANA")
    open_form(ana)
    stage.flow.error = Conflict("Request 41 by rae is open for the same value already.")
    assert ana.submit(to="40", why="because")
    ana.wait_for(lambda: "Request 41 by rae is open" in everything_said(ana.modal()))
    assert not [m for m in ana.messages() if "Request 41" in everything_said(m)]


def test_a_card_that_the_queue_has_not_is_told_and_no_other_stands_in_for_it(stage: Stage) -> None:
    ana = stage.person("U0ANA")
    ana.slash("/gpu-request", "research b200 nominal 40")
    ana.wait_for(lambda: "No card of research is called b200" in everything_said(ana.modal()))


def test_a_submission_is_on_disk_before_it_is_acked(stage: Stage) -> None:
    stage.flow.slow = 0.5
    ana = stage.person("U0ANA")
    open_form(ana)
    ana.submit(to="40", why="because")
    ((key, row),) = stage.store.rows.items()
    assert key.startswith("view:")
    assert not row.done
    assert row.payload["fields"]["draft"]["new"] == "40"
    assert "http" not in str(row.payload)
    ana.wait_for(lambda: row.done)


def test_approving_is_told_in_the_thread_and_edits_the_one_card(stage: Stage) -> None:
    li = stage.person("U0LI", "C0REQUESTS")
    card = posted_card(stage, li)
    li.click(card, "approve")
    li.wait_for(lambda: calls(stage, "decide"))
    stage.drain()
    thread = li.wait_for(lambda: li.see_thread(card))
    assert "approved as owner of serving" in everything_said(thread[0])
    assert len([m for m in li.see_channel() if "Request 42" in m.text]) == 1
    assert "Approved by" in everything_said(li.wait_for_text("Request 42: research wants"))


def test_a_click_delivered_twice_is_one_vote(stage: Stage) -> None:
    li = stage.person("U0LI", "C0REQUESTS")
    card = posted_card(stage, li)
    stage.slack.faults.duplicate_envelopes = 1
    li.click(card, "approve")
    li.wait_for(lambda: calls(stage, "decide"))
    time.sleep(0.2)
    assert len(calls(stage, "decide")) == 1


def test_the_same_click_in_another_envelope_is_known_by_the_inbox(stage: Stage) -> None:
    stage.store.receive("x", {}, stage.world.at)
    li = stage.person("U0LI", "C0REQUESTS")
    card = posted_card(stage, li)
    stage.slack.faults.drop_acks = 0
    bodies: list[dict[str, object]] = []
    send = stage.slack.sockets.send

    async def keep(delivery: object) -> object:
        bodies.append(delivery)  # type: ignore[arg-type]
        return await send(delivery)  # type: ignore[arg-type]

    stage.slack.deliverer.wire = type("Wire", (), {"send": staticmethod(keep)})()  # type: ignore[assignment]
    li.click(card, "approve")
    li.wait_for(lambda: calls(stage, "decide"))
    stage.serving.run(send(bodies[0]))  # type: ignore[arg-type]
    time.sleep(0.2)
    assert len(calls(stage, "decide")) == 1
    assert stage.metric("gpubot_duplicates_total", by="inbox") == 1


def test_a_second_click_says_that_it_counted_already(stage: Stage) -> None:
    li = stage.person("U0LI", "C0REQUESTS")
    card = posted_card(stage, li)
    li.click(card, "approve")
    li.wait_for(lambda: calls(stage, "decide"))
    li.click(card, "approve")
    told = li.wait_for_text("approved this already")
    assert told.only_for == "U0LI"


def test_a_click_without_the_right_is_refused_to_that_person_alone(stage: Stage) -> None:
    otto, li = stage.person("U0OTTO", "C0REQUESTS"), stage.person("U0LI", "C0REQUESTS")
    card = posted_card(stage, otto)
    otto.click(card, "approve")
    told = otto.wait_for_text("You can't approve this")
    assert told.only_for == "U0OTTO"
    assert not li.see_thread(card)


@pytest.mark.parametrize(
    ("user", "words"),
    [
        ("U0GUS", "guests can't change anything"),
        ("U0UMA", "guests can't change anything"),
        ("U0STEN", "only answer people of this workspace"),
    ],
)
def test_guests_and_strangers_decide_nothing(stage: Stage, user: str, words: str) -> None:
    person = stage.person(user, "C0REQUESTS")
    card = posted_card(stage, person)
    person.click(card, "approve")
    person.wait_for_text(words)
    assert not calls(stage, "decide")


def test_somebody_who_left_since_the_last_look_decides_nothing(stage: Stage) -> None:
    li = stage.person("U0LI", "C0REQUESTS")
    card = posted_card(stage, li)
    stage.slack.workspace.users["U0LI"] = replace(stage.slack.workspace.users["U0LI"], bot=True)
    li.click(card, "approve")
    li.wait_for_text("bots can't decide")
    assert not calls(stage, "decide")


def test_rejecting_asks_for_the_reason_and_the_reason_is_told(stage: Stage) -> None:
    kim = stage.person("U0KIM", "C0REQUESTS")
    card = posted_card(stage, kim)
    kim.click(card, "reject")
    kim.wait_for(lambda: "Why do you reject request 42?" in everything_said(kim.modal()))
    kim.submit(why="the cards are promised to serving until Friday")
    kim.wait_for(lambda: calls(stage, "decide"))
    ((_, number, version, choice, _by, reason, _),) = calls(stage, "decide")
    assert (number, version, choice) == (42, 1, "reject")
    assert reason == "the cards are promised to serving until Friday"


def test_details_show_the_tree_and_the_diff_to_the_reader_alone(stage: Stage) -> None:
    li = stage.person("U0LI", "C0REQUESTS")
    card = posted_card(stage, li)
    li.click(card, "details")
    told = li.wait_for_text("What the policy asks")
    assert told.only_for == "U0LI"
    assert "+ nominalQuota: 40" in everything_said(told)
    assert "You can decide as" in everything_said(told)


def test_what_cant_be_done_now_is_kept_and_done_later(stage: Stage) -> None:
    li = stage.person("U0LI", "C0REQUESTS")
    card = posted_card(stage, li)
    stage.flow.error = SourceDown("the repository", None)
    li.click(card, "approve")
    li.wait_for_text("What you want is kept; I try again.")
    stage.flow.error = None
    stage.call(stage.bot.deeds.recover())
    assert any(vote.person == "li" for vote in stage.flow.requests[42].votes)
    assert all(row.done for row in stage.store.rows.values())


def test_a_click_is_done_after_a_crash_that_came_before_it_was_done(stage: Stage) -> None:
    li = stage.person("U0LI", "C0REQUESTS")
    card = posted_card(stage, li)
    stage.flow.error = RuntimeError("the process ends here")
    li.click(card, "approve")
    li.wait_for_text("Something broke")
    stage.call(stage.bot.deeds.recover())
    assert len(calls(stage, "decide")) == 1, "what broke is left to the next start"
    stage.flow.error = None
    stage.bot.deeds._inbox.busy.clear()
    stage.call(stage.bot.deeds.recover())
    assert any(vote.person == "li" for vote in stage.flow.requests[42].votes)


def test_an_intent_of_another_version_stands_in_nobodys_way(stage: Stage) -> None:
    stage.store.receive("old", {"what": "approve 42"}, stage.world.at)
    stage.call(stage.bot.deeds.recover())
    assert stage.store.rows["old"].done


def test_an_inbox_that_fails_is_told_and_nothing_is_done(stage: Stage) -> None:
    li = stage.person("U0LI", "C0REQUESTS")
    card = posted_card(stage, li)
    stage.store.error = SourceDown("my own store", None)
    li.click(card, "approve")
    li.wait_for_text("so nothing was changed")
    assert not calls(stage, "decide")
    assert not li.see_errors()


def test_a_slow_inbox_still_acks_within_three_seconds(stage: Stage) -> None:
    li = stage.person("U0LI", "C0REQUESTS")
    card = posted_card(stage, li)
    stage.store.slow = 4.0
    start = time.monotonic()
    li.click(card, "approve")
    assert time.monotonic() - start < 2.5
    assert not li.see_errors()


def test_what_was_told_as_not_written_down_is_never_done(stage: Stage) -> None:
    li = stage.person("U0LI", "C0REQUESTS")
    card = posted_card(stage, li)
    stage.store.slow = 2.0
    li.click(card, "approve")
    li.wait_for_text("I couldn't write that down, so nothing was changed.")
    stage.store.slow = 0.0
    li.wait_for(lambda: stage.store.rows)
    stage.world.at += timedelta(minutes=1)
    stage.call(stage.bot.deeds.recover())
    assert not calls(stage, "decide")
    assert all(row.done for row in stage.store.rows.values())
    li.click(card, "approve")
    li.wait_for(lambda: calls(stage, "decide"))


def test_slow_decisions_never_delay_acks(stage: Stage) -> None:
    li = stage.person("U0LI", "C0REQUESTS")
    card = posted_card(stage, li)
    stage.flow.slow = 4.0
    start = time.monotonic()
    for _ in range(6):
        li.click(card, "approve")
    assert time.monotonic() - start < 3
    assert not li.see_errors()


def test_home_shows_what_waits_for_me_and_approves_from_there(stage: Stage) -> None:
    li = stage.person("U0LI")
    stage.flow.requests[42] = a_request()
    li.open_home()
    home = li.wait_for(li.home)
    assert "Waiting for you (1)" in everything_said(home)
    li.click(home, "approve")
    li.wait_for(lambda: calls(stage, "decide"))
    assert any(vote.person == "li" for vote in stage.flow.requests[42].votes)


def test_home_says_how_my_team_stands(stage: Stage) -> None:
    ana = stage.person("U0ANA")
    ana.open_home()
    home = ana.wait_for(ana.home)
    assert "research can start 4 more" in everything_said(home)


def test_the_same_story_holds_in_http_mode(staged: Callable[..., Stage]) -> None:
    stage = staged(http=True)
    ana, li = stage.person("U0ANA"), stage.person("U0LI", "C0REQUESTS")
    open_form(ana)
    stage.slack.faults.duplicate_envelopes = 1
    assert ana.submit(to="40", why="because")
    ana.wait_for(lambda: calls(stage, "submit"))
    stage.drain()
    card = li.wait_for_text("Request 42: research wants")
    li.click(card, "approve")
    li.wait_for(lambda: calls(stage, "decide"))
    assert len(calls(stage, "submit")) == 1
    assert not ana.see_errors()


@pytest.mark.parametrize(
    "value", ["", "42", "42.", "x.1", "42.1.2", "-1.2", "42.1 ", "٤.١", "1." + "9" * 5_000]
)
def test_a_button_with_another_value_is_from_another_time(value: str) -> None:
    with pytest.raises(UsageError):
        button(value)


def test_a_button_that_nobody_knows_any_more_is_acked_and_told(stage: Stage) -> None:
    from bot.blocks import render
    from commands.page import Action, Page

    old = render(Page(("An old card",), (), (Action("Old", "vote-v0", "1"),)))
    stage.call(stage.bot.client.post("C0REQUESTS", old))
    li = stage.person("U0LI", "C0REQUESTS")
    li.click(li.wait_for_text("An old card"), "vote-v0")
    li.wait_for_text("That is from another time")
    assert not li.see_errors()


def test_what_was_just_taken_in_is_left_to_who_took_it(stage: Stage) -> None:
    stage.bot.deeds._inbox.fresh = timedelta(minutes=1)
    stage.flow.slow = 0.5
    li = stage.person("U0LI", "C0REQUESTS")
    card = posted_card(stage, li)
    li.click(card, "approve")
    stage.call(stage.bot.deeds.recover())
    time.sleep(0.7)
    assert len(calls(stage, "decide")) == 1


def test_buttons_of_a_card_are_the_four_of_the_contract(stage: Stage) -> None:
    li = stage.person("U0LI", "C0REQUESTS")
    assert set(buttons(posted_card(stage, li))) == {"approve", "reject", "details"}
