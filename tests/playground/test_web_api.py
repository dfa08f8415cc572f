"""The Web API of the fake: who may call, both encodings, errors by Slack's names, rate limits."""

import json
from typing import Any

import pytest
import requests
from slack_sdk import WebClient
from slack_sdk.errors import SlackApiError

from bot.playground.fake_slack.app import SlackApp, from_manifest
from bot.playground.fake_slack.faults import ApiFault
from tests.playground.conftest import Stage

C = "C0REQUESTS"


def error(call: Any) -> str:
    with pytest.raises(SlackApiError) as refusal:
        call()
    return str(refusal.value.response["error"])


def test_the_token_decides(stage: Stage) -> None:
    assert error(stage.client("xoxb-wrong").auth_test) == "invalid_auth"
    assert error(stage.client("xapp-play").auth_test) == "not_allowed_token_type"
    assert error(WebClient(base_url=stage.slack.api_url).auth_test) == "not_authed"
    assert stage.client().auth_test()["user_id"] == "U0GPUBOT"
    opened = stage.client("xapp-play").apps_connections_open(app_token="xapp-play")
    assert opened["url"].startswith("ws://127.0.0.1:")


def test_forms_and_json_say_the_same(stage: Stage) -> None:
    blocks = [{"type": "section", "text": {"type": "mrkdwn", "text": "hi"}}]
    url, headers = f"{stage.slack.api_url}chat.postMessage", {"Authorization": "Bearer xoxb-play"}
    form = {"channel": C, "text": "hi", "blocks": json.dumps(blocks)}
    one = requests.post(url, data=form, headers=headers, timeout=5).json()
    two = requests.post(url, json={**form, "blocks": blocks}, headers=headers, timeout=5).json()
    assert one["ok"]
    assert two["ok"]
    assert one["message"]["blocks"][0]["text"] == two["message"]["blocks"][0]["text"]


def test_a_scope_the_manifest_lacks_is_missing(staged: Any) -> None:
    manifest = {"oauth_config": {"scopes": {"bot": ["chat:write"]}}}
    stage = staged(app=from_manifest(manifest))
    assert error(lambda: stage.client().users_info(user="U0ANA")) == "missing_scope"


CASES = {
    "no_text": lambda c: c.chat_postMessage(channel=C),
    "channel_not_found": lambda c: c.chat_postMessage(channel="C0NOWHERE", text="x"),
    "not_in_channel": lambda c: c.chat_postMessage(channel="C0RANDOM", text="x"),
    "is_archived": lambda c: c.chat_postMessage(channel="C0OLD", text="x"),
    "thread_not_found": lambda c: c.chat_postMessage(channel=C, text="x", thread_ts="1.2"),
    "markdown_text_conflict": lambda c: c.api_call(
        "chat.postMessage", json={"channel": C, "text": "x", "markdown_text": "y"}
    ),
    "metadata_too_large": lambda c: c.chat_postMessage(
        channel=C, text="x", metadata={"event_type": "a", "event_payload": {"x": "y" * 9000}}
    ),
    "invalid_metadata_format": lambda c: c.chat_postMessage(
        channel=C, text="x", metadata={"event_type": "a b", "event_payload": {}}
    ),
    "invalid_blocks": lambda c: c.chat_postMessage(
        channel=C, text="x", blocks=[{"type": "nothing"}]
    ),
    "invalid_blocks_format": lambda c: c.chat_postMessage(channel=C, text="x", blocks="[{"),
    "message_not_found": lambda c: c.chat_update(channel=C, ts="1.2", text="x"),
    "user_not_in_channel": lambda c: c.chat_postEphemeral(
        channel="G0SECRET", user="U0ANA", text="x"
    ),
    "user_not_found": lambda c: c.users_info(user="U0NOBODY"),
    "users_not_found": lambda c: c.users_lookupByEmail(email="nobody@example.com"),
    "invalid_trigger_id": lambda c: c.views_open(trigger_id="1.2.a", view=HOLLOW),
    "invalid_arguments": lambda c: c.views_open(trigger_id="x", view={"type": "modal"}),
    "not_found": lambda c: c.views_update(view_id="V0", view=HOLLOW),
    "unknown_method": lambda c: c.api_call("chat.shout"),
    "no_such_subteam": lambda c: c.usergroups_users_list(usergroup="S0"),
}
HOLLOW = {"type": "modal", "title": {"type": "plain_text", "text": "T"}, "blocks": []}


@pytest.mark.parametrize("code", CASES)
def test_a_bad_call_is_refused_by_slacks_own_code(stage: Stage, code: str) -> None:
    assert error(lambda: CASES[code](stage.client())) == code


def test_the_details_of_a_refusal_point_into_the_blocks(stage: Stage) -> None:
    with pytest.raises(SlackApiError) as refusal:
        stage.client().chat_postMessage(channel=C, text="x", blocks=[{"type": "section"}])
    messages = refusal.value.response["response_metadata"]["messages"]
    assert messages == ["[ERROR] must define either `text` or `fields` [json-pointer:/blocks/0]"]


def test_long_text_is_cut_in_a_post_and_refused_in_an_update(stage: Stage) -> None:
    client = stage.client()
    posted = client.chat_postMessage(channel=C, text="x" * 50_000)
    assert len(posted["message"]["text"]) == 40_000
    update = lambda: client.chat_update(channel=C, ts=posted["ts"], text="x" * 4001)  # noqa: E731
    assert error(update) == "msg_too_long"


def test_an_ephemeral_message_is_seen_by_one_and_reached_by_no_api(stage: Stage) -> None:
    client = stage.client()
    ts = client.chat_postEphemeral(channel=C, user="U0ANA", text="psst")["message_ts"]
    assert [m.text for m in stage.person("U0ANA").see_ephemerals()] == ["psst"]
    assert stage.person("U0LI").see_channel() == []
    assert error(lambda: client.chat_update(channel=C, ts=ts, text="x")) == "message_not_found"
    assert error(lambda: client.chat_delete(channel=C, ts=ts)) == "message_not_found"


def test_an_edit_keeps_the_history(stage: Stage) -> None:
    client = stage.client()
    ts = client.chat_postMessage(channel=C, text="one")["ts"]
    client.chat_update(channel=C, ts=ts, text="two")
    [message] = stage.person("U0LI").see_channel()
    assert [v.text for v in message.versions] == ["one", "two"]
    assert message.to_json()["edited"]["user"] == "U0GPUBOT"


def test_a_message_of_a_person_is_not_the_bots_to_edit(stage: Stage) -> None:
    message = stage.person("U0ANA").say("mine")
    edit = lambda: stage.client().chat_update(channel=C, ts=message.ts, text="x")  # noqa: E731
    assert error(edit) == "cant_update_message"


def test_rich_text_is_not_updated_to_something_else(stage: Stage) -> None:
    client = stage.client()
    rich = [
        {
            "type": "rich_text",
            "elements": [
                {"type": "rich_text_section", "elements": [{"type": "text", "text": "a"}]}
            ],
        }
    ]
    ts = client.chat_postMessage(channel=C, text="a", blocks=rich)["ts"]
    other = [{"type": "divider"}]
    update = lambda: client.chat_update(channel=C, ts=ts, text="a", blocks=other)  # noqa: E731
    assert error(update) == "block_mismatch"


def test_a_user_id_is_a_channel(stage: Stage) -> None:
    client = stage.client()
    opened = client.conversations_open(users="U0ANA")["channel"]["id"]
    assert client.chat_postMessage(channel="U0ANA", text="hello")["channel"] == opened
    assert [m.text for m in stage.person("U0ANA").see_channel("@me")] == ["hello"]


def test_people_are_what_the_bot_must_tell_apart(stage: Stage) -> None:
    client = stage.client()
    info = {u: client.users_info(user=u)["user"] for u in ("U0GUS", "U0UMA", "U0STEN", "U0DANA")}
    assert info["U0GUS"]["is_restricted"]
    assert info["U0UMA"]["is_ultra_restricted"]
    assert info["U0STEN"]["is_stranger"]
    assert "email" not in info["U0STEN"]["profile"]
    assert info["U0DANA"]["deleted"]
    ana = client.users_info(user="U0ANA", include_locale=True)["user"]
    assert (ana["tz"], ana["locale"]) == ("Europe/Lisbon", "en-US")
    groups = client.usergroups_list(include_users=True)["usergroups"]
    assert groups[0]["users"] == ["U0KIM", "U0PAT"]


def test_lists_come_in_pages(stage: Stage) -> None:
    seen, cursor = [], ""
    while True:
        page = stage.client().users_list(limit=5, cursor=cursor)
        seen += [u["id"] for u in page["members"]]
        cursor = page["response_metadata"]["next_cursor"]
        if not cursor:
            break
    assert len(seen) == len(set(seen)) == len(stage.slack.workspace.users)


def test_one_message_a_second_and_channel(staged: Any) -> None:
    stage = staged(rate_scale=1.0)
    client = stage.client()
    client.chat_postMessage(channel=C, text="1")
    with pytest.raises(SlackApiError) as refusal:
        client.chat_postMessage(channel=C, text="2")
    assert refusal.value.response.status_code == 429
    assert refusal.value.response.headers["Retry-After"] == "1"
    client.chat_postMessage(channel="C0RESEARCH", text="elsewhere")
    stage.slack.clock.skip(1)
    client.chat_postMessage(channel=C, text="3")


def test_a_tier_is_a_minutes_worth(staged: Any) -> None:
    stage = staged(rate_scale=1.0)
    client = stage.client()
    for _ in range(20):
        client.usergroups_list()
    assert error(client.usergroups_list) == "ratelimited"
    stage.slack.clock.skip(3.1)
    client.usergroups_list()


def test_faults_hit_the_call_they_are_meant_for(stage: Stage) -> None:
    client, faults = stage.client(), stage.slack.faults
    faults.fail("chat.postMessage", ApiFault(status=500))
    with pytest.raises(SlackApiError):
        client.chat_postMessage(channel=C, text="lost")
    faults.fail("chat.postMessage", ApiFault(status=500, after=True))
    with pytest.raises(SlackApiError):
        client.chat_postMessage(channel=C, text="arrived, but nobody knows")
    faults.fail("*", ApiFault(error="service_unavailable"))
    assert error(client.auth_test) == "service_unavailable"
    seen = [m.text for m in stage.person("U0ANA").see_channel()]
    assert seen == ["arrived, but nobody knows"]


def test_a_dropped_or_refused_connection_is_no_answer(stage: Stage) -> None:
    client = stage.client()
    stage.slack.faults.fail("auth.test", ApiFault(drop=True))
    with pytest.raises(OSError):  # noqa: PT011 - the reset differs by system
        client.auth_test()
    stage.serving.down()
    with pytest.raises(OSError):  # noqa: PT011
        client.auth_test()
    stage.serving.up()
    assert client.auth_test()["ok"]


def test_a_file_takes_three_steps(stage: Stage) -> None:
    client = stage.client()
    client.files_upload_v2(
        channel=C, filename="a.csv", title="Hours", content="a,b\n", initial_comment="see"
    )
    [message] = stage.person("U0LI").see_channel()
    assert message.text == "see"
    assert message.files[0]["title"] == "Hours"
    address = message.files[0]["url_private"]
    right = {"Authorization": f"Bearer {stage.slack.app.bot_token}"}
    assert requests.get(address, headers=right, timeout=5).text == "a,b\n"
    stranger = requests.get(address, timeout=5, allow_redirects=False)
    assert (stranger.status_code, stranger.content) == (302, b"")
    image = [{"type": "image", "slack_file": {"id": "F0"}, "alt_text": "a"}]
    assert error(lambda: client.chat_postMessage(channel=C, text="x", blocks=image)) == (
        "invalid_blocks"
    )


def test_blocks_can_be_validated_alone(stage: Stage) -> None:
    assert stage.client().api_call("blocks.validate", json={"blocks": [{"type": "divider"}]})["ok"]
    bad = lambda: stage.client().api_call("blocks.validate", json={"blocks": [{}]})  # noqa: E731
    assert error(bad) == "invalid_blocks"


def test_without_a_manifest_every_command_exists() -> None:
    assert SlackApp().command("/anything") is not None
    manifest = {"features": {"slash_commands": [{"command": "/gpu", "description": "d"}]}}
    app = from_manifest(manifest)
    assert app.command("/anything") is None
    assert not app.hears("app_mention")
