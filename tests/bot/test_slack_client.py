"""The client: only Slack's hosts get an answer, and retries repeat only what may be repeated."""

import asyncio
from collections.abc import Callable

import pytest

from bot.blocks import Message
from bot.playground.fake_slack.faults import ApiFault
from bot.slack_client import SlackClient, SlackDown, SlackRefused
from tests.bot.stage import Stage

HELLO = Message("hello", [])


def may(base: str, url: str) -> bool:
    async def ask() -> bool:
        client = SlackClient("xoxb-play", base)
        try:
            return client.may_respond(url)
        finally:
            await client.close()

    return asyncio.run(ask())


@pytest.mark.parametrize(
    ("url", "allowed"),
    [
        ("https://hooks.slack.com/commands/1/2/3", True),
        ("https://hooks.slack-gov.com/actions/1/2/3", True),
        ("http://hooks.slack.com/commands/1", False),
        ("https://hooks.slack.com.evil.example/1", False),
        ("https://hooks.slack.com@evil.example/1", False),
        ("https://evil.example/hooks.slack.com", False),
        ("https://hooks.slack.com:8443/1", False),
        ("http://169.254.169.254/latest/meta-data", False),
        ("http://127.0.0.1:8080/", False),
        ("file:///etc/passwd", False),
        ("", False),
    ],
)
def test_real_slack_answers_go_to_slacks_hosts_only(url: str, allowed: bool) -> None:
    assert may("https://slack.com/api/", url) is allowed


@pytest.mark.parametrize(
    ("url", "allowed"),
    [
        ("http://127.0.0.1:4000/response/1", True),
        ("http://127.0.0.1:4001/response/1", False),
        ("http://127.0.0.1/response/1", False),
        ("https://hooks.slack.com/commands/1/2/3", False),
    ],
)
def test_the_playgrounds_answers_go_to_the_playground_only(url: str, allowed: bool) -> None:
    assert may("http://127.0.0.1:4000/api/", url) is allowed


def test_a_foreign_response_address_is_refused_before_anything_is_sent(stage: Stage) -> None:
    with pytest.raises(SlackRefused):
        stage.call(stage.bot.client.respond("http://127.0.0.1:1/x", HELLO))


def test_a_post_whose_answer_is_lost_is_not_repeated(stage: Stage) -> None:
    stage.slack.faults.fail("chat.postMessage", ApiFault(drop=True, after=True))
    with pytest.raises(SlackDown):
        stage.call(stage.bot.client.post("C0REQUESTS", HELLO))
    assert len(stage.person("U0ANA", "C0REQUESTS").messages()) == 1


def test_an_edit_whose_connection_is_lost_is_repeated(stage: Stage) -> None:
    ts = stage.call(stage.bot.client.post("C0REQUESTS", HELLO))
    stage.slack.faults.fail("chat.update", ApiFault(drop=True))
    stage.call(stage.bot.client.edit("C0REQUESTS", ts, Message("new", [])))
    stage.person("U0ANA", "C0REQUESTS").wait_for_text("new")


def test_slacks_advice_to_wait_reaches_the_caller(stage: Stage) -> None:
    stage.slack.faults.fail("chat.postMessage", ApiFault(status=429, retry_after=7))
    with pytest.raises(SlackDown) as caught:
        stage.call(stage.bot.client.post("C0REQUESTS", HELLO))
    assert caught.value.retry_after == 7


@pytest.mark.parametrize("status", [500, 503])
def test_slacks_own_trouble_is_slack_being_down(stage: Stage, status: int) -> None:
    stage.slack.faults.fail("chat.postMessage", ApiFault(status=status))
    with pytest.raises(SlackDown):
        stage.call(stage.bot.client.post("C0REQUESTS", HELLO))


def test_a_refusal_has_slacks_own_word(stage: Stage) -> None:
    with pytest.raises(SlackRefused) as caught:
        stage.call(stage.bot.client.post("C0NOWHERE", HELLO))
    assert caught.value.code == "channel_not_found"


def test_somebody_who_is_not_in_the_channel_is_told_directly(stage: Stage) -> None:
    stage.call(stage.bot.client.whisper("G0SECRET", "U0ANA", HELLO))
    assert stage.person("U0ANA").messages("@bot")[0].text == "hello"


def test_after_slack_asks_to_reconnect_the_next_command_is_answered(
    staged: Callable[..., Stage],
) -> None:
    stage = staged()
    stage.serving.run(stage.slack.sockets.refresh(overlap_seconds=0.2))
    ana = stage.person("U0ANA")
    ana.slash("/gpu-quota", "research")
    ana.wait_for_text("can start 4 more")


def test_a_lost_connection_comes_back_by_itself(stage: Stage) -> None:
    stage.serving.down()
    stage.serving.up()
    ana = stage.person("U0ANA")
    ana.wait_for(lambda: stage.call(stage.bot.standing.words())[0], 30)
    ana.wait_for(lambda: bool(stage.slack.sockets.sockets), 30)
    ana.slash("/gpu-quota", "research")
    ana.wait_for_text("can start 4 more")


def test_a_disabled_link_is_said_and_not_called_ready(stage: Stage) -> None:
    stage.serving.run(stage.slack.sockets.refresh(reason="link_disabled", overlap_seconds=0))
    ready, words = stage.call(stage.bot.standing.words())
    assert words in {"connected", "Socket Mode was switched off for this app"} or not ready
