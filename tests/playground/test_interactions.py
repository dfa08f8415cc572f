"""What people do and see, through a real Bolt app in Socket Mode and over HTTP.

Left out: how Gpubot answers (tests/bot), and the page (test_page.py).
"""

import json
import threading
import time
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any
from urllib.parse import parse_qs

import pytest
import requests
from slack_sdk.errors import SlackApiError
from slack_sdk.signature import SignatureVerifier

from bot.playground.fake_slack.app import Command, SlackApp
from bot.playground.fake_slack.error import SlackError
from bot.playground.fake_slack.person import SlackPerson, buttons
from tests.playground.conftest import Stage
from tests.playground.echo_bot import MODAL, EchoBot


def trigger(stage: Stage, user: str = "U0ANA") -> str:
    return stage.serving.call(lambda: stage.slack.workspace.tickets.trigger(user))


def test_a_command_is_answered_for_one_person(
    stage: Stage, echo: EchoBot, ana: SlackPerson
) -> None:
    ana.slash("/echo", "hello")
    answer = ana.wait_for_text("You said hello")
    assert answer.only_for == "U0ANA"
    assert stage.person("U0LI").see_channel() == []
    assert buttons(answer) == {"share": "Share", "go": "Go"}
    body = echo.bodies[0]
    assert body["command"] == "/echo"
    assert body["channel_name"] == "gpu-requests"
    assert body["user_name"] == "ana"


def test_a_click_on_an_ephemeral_message_carries_no_message(
    stage: Stage, echo: EchoBot, ana: SlackPerson
) -> None:
    ana.slash("/echo", "hello")
    ana.click(ana.wait_for_text("You said hello"), "share")
    assert stage.person("U0LI").wait_for_text("shared").only_for == ""
    body = echo.bodies[-1]
    assert "message" not in body
    assert body["container"]["is_ephemeral"] is True
    assert body["actions"][0]["value"] == "share"


def test_a_card_its_edit_and_its_thread_are_seen_by_all(
    stage: Stage, echo: EchoBot, ana: SlackPerson
) -> None:
    ana.slash("/echo", "x")
    ana.click(ana.wait_for_text("You said x"), "go")
    li = stage.person("U0LI")
    li.wait_for_text("step")
    [card] = li.see_channel()
    assert [v.text for v in card.versions] == ["card v1", "card v2"]
    assert [m.text for m in li.see_thread(card)] == ["step"]


def test_what_is_not_there_cannot_be_clicked(echo: EchoBot, ana: SlackPerson) -> None:
    ana.slash("/echo", "x")
    with pytest.raises(SlackError, match="no_such_element"):
        ana.click(ana.wait_for_text("You said x"), "approve")


def test_an_unknown_command_never_reaches_the_bot(staged: Any) -> None:
    stage = staged(app=SlackApp(commands=(Command("/gpu"),)))
    ana = stage.person("U0ANA")
    ana.slash("/gpus")
    assert ana.see_errors() == ["/gpus is not a valid command."]


def test_names_become_ids_where_the_manifest_says_so(staged: Any) -> None:
    stage = staged(app=SlackApp(commands=(Command("/echo", should_escape=True),)))
    bot = EchoBot(stage.slack.api_url)
    bot.start()
    stage.person("U0ANA").slash("/echo", "hi @li in #research")
    bot.stop()
    assert bot.heard == ["echo hi <@U0LI|li> in <#C0RESEARCH|research>"]


def test_a_late_acknowledgement_is_an_error_and_no_retry(staged: Any) -> None:
    stage = staged(ack_seconds=0.3)
    bot = EchoBot(stage.slack.api_url)
    bot.start()
    ana = stage.person("U0ANA")
    ana.slash("/late")
    assert ana.see_errors() == ['/late failed with the error "operation_timeout"']
    time.sleep(1)
    assert bot.heard == ["late"]
    bot.stop()


def test_without_the_bot_people_are_told(stage: Stage, ana: SlackPerson) -> None:
    ana.slash("/echo", "anyone?")
    assert ana.see_errors() == ['/echo failed with the error "operation_timeout"']


def test_a_lost_acknowledgement_is_an_error_though_the_bot_acted(
    staged: Any,
) -> None:
    stage = staged(ack_seconds=0.5)
    bot = EchoBot(stage.slack.api_url)
    bot.start()
    stage.slack.faults.drop_acks = 1
    ana = stage.person("U0ANA")
    ana.slash("/echo", "hello")
    assert ana.wait_for_text("You said hello")
    assert len(ana.see_errors()) == 1
    bot.stop()


def test_an_envelope_may_come_twice(stage: Stage, echo: EchoBot, ana: SlackPerson) -> None:
    stage.slack.faults.duplicate_envelopes = 1
    ana.slash("/echo", "once")
    ana.wait_for(lambda: len(echo.heard) == 2)
    assert echo.heard == ["echo once", "echo once"]


def test_a_modal_is_filled_refused_and_sent(stage: Stage, echo: EchoBot, ana: SlackPerson) -> None:
    ana.slash("/order")
    view = ana.wait_for(lambda: stage.slack.workspace.views.top("U0ANA"))
    assert not ana.submit(count="3")
    assert view.errors == {"what": "Please complete this required field."}
    assert not ana.submit(what="tea", count="12")
    assert view.errors == {"count": "Please enter a number of at most 9."}
    assert ana.submit(count="7")
    assert view.errors == {"count": "Seven is too many"}
    assert ana.submit(count="5", why="party")
    ana.wait_for_text("5 ordered", "@me")
    with pytest.raises(SlackError, match="no_modal"):
        ana.modal()
    values = echo.bodies[-1]["view"]["state"]["values"]
    assert values["what"]["what"]["selected_option"]["value"] == "tea"
    assert values["why"]["why"] == {"type": "plain_text_input", "value": "party"}


def test_a_field_that_dispatches_tells_the_bot_at_once(
    stage: Stage, echo: EchoBot, ana: SlackPerson
) -> None:
    ana.slash("/order")
    ana.wait_for(lambda: stage.slack.workspace.views.top("U0ANA"))
    ana.fill("count", "4", how="on_character_entered")
    ana.fill("count", "5", how="on_enter_pressed")
    ana.fill("what", "cake")
    assert echo.heard == ["order", "count 4"]
    ana.close()
    assert echo.heard[-1] == "closed"


def test_a_home_tab_is_published_when_it_is_opened(echo: EchoBot, ana: SlackPerson) -> None:
    ana.open_home()
    home = ana.wait_for(ana.home)
    assert home.blocks[0]["text"]["text"] == "Welcome"


def test_a_mention_is_heard_and_a_mere_message_is_not(echo: EchoBot, ana: SlackPerson) -> None:
    ana.say("nothing")
    ana.say("<@U0GPUBOT> hello")
    ana.wait_for(lambda: echo.heard)
    assert echo.heard == ["mention <@U0GPUBOT> hello"]


def test_an_event_is_tried_again_until_it_is_acknowledged(staged: Any) -> None:
    stage = staged(ack_seconds=0.2, retry_seconds=(0.1, 0.1, 0.1))
    bot = EchoBot(stage.slack.api_url)
    bot.start()
    stage.slack.faults.drop_acks = 2
    ana = stage.person("U0ANA")
    ana.say("<@U0GPUBOT> hello")
    ana.wait_for(lambda: len(bot.heard) == 3)
    time.sleep(0.5)
    assert len(bot.heard) == 3
    bot.stop()


def test_a_refresh_loses_nothing(stage: Stage, echo: EchoBot, ana: SlackPerson) -> None:
    before = stage.slack.sockets.opened
    stage.serving.run(stage.slack.sockets.refresh(overlap_seconds=0.2))
    ana.wait_for(lambda: stage.slack.sockets.opened > before)
    for number in range(3):
        ana.slash("/echo", str(number))
        ana.wait_for_text(f"You said {number}")
    assert ana.see_errors() == []


def test_a_socket_ticket_is_used_once(stage: Stage) -> None:
    url = stage.client("xapp-play").apps_connections_open(app_token="xapp-play")["url"]
    upgrade = {"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13"}
    headers = {**upgrade, "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ=="}
    http = url.replace("ws", "http", 1)
    assert requests.get(http, headers=headers, timeout=5, stream=True).status_code == 101
    assert requests.get(http, headers=headers, timeout=5).status_code == 401


def test_the_eleventh_socket_is_one_too_many(stage: Stage, ana: SlackPerson) -> None:
    bots = [EchoBot(stage.slack.api_url) for _ in range(10)]
    for bot in bots:
        bot.start()
    assert len(stage.slack.sockets.sockets) == 10
    eleventh = EchoBot(stage.slack.api_url)
    eleventh.start()
    ana.wait_for(lambda: len(stage.slack.sockets.sockets) == 10)
    for bot in [*bots, eleventh]:
        bot.stop()


def test_a_ghost_socket_swallows_what_it_gets(staged: Any) -> None:
    stage = staged(ack_seconds=0.3)
    bot = EchoBot(stage.slack.api_url)
    bot.start()
    stage.slack.sockets.sockets[0].ghost = True
    ana = stage.person("U0ANA")
    ana.slash("/echo", "hello")
    assert len(ana.see_errors()) == 1
    bot.stop()


def test_a_trigger_opens_one_view_within_three_seconds(stage: Stage) -> None:
    client = stage.client()
    key = trigger(stage)
    view = client.views_open(trigger_id=key, view=MODAL)["view"]
    for expected, trigger_id in (("exchanged", key), ("expired", trigger(stage))):
        stage.slack.clock.skip(3.1 if expected == "expired" else 0)
        with pytest.raises(SlackApiError, match=f"{expected}_trigger_id"):
            client.views_open(trigger_id=trigger_id, view=MODAL)
    assert view["state"]["values"]["count"]["count"]["value"] == "2"


def test_views_stack_three_deep_and_ids_of_yours_are_unique(stage: Stage) -> None:
    client = stage.client()
    client.views_open(trigger_id=trigger(stage), view={**MODAL, "external_id": "mine"})
    client.views_push(trigger_id=trigger(stage), view=MODAL)
    with pytest.raises(SlackApiError, match="duplicate_external_id"):
        client.views_push(trigger_id=trigger(stage), view={**MODAL, "external_id": "mine"})
    client.views_push(trigger_id=trigger(stage), view=MODAL)
    with pytest.raises(SlackApiError, match="push_limit_reached"):
        client.views_push(trigger_id=trigger(stage), view=MODAL)


def test_an_update_from_an_older_state_conflicts(stage: Stage, ana: SlackPerson) -> None:
    client = stage.client()
    view = client.views_open(trigger_id=trigger(stage), view=MODAL)["view"]
    ana.fill("count", "8")
    client.views_update(view_id=view["id"], hash=view["hash"], view=MODAL)
    with pytest.raises(SlackApiError, match="hash_conflict"):
        client.views_update(view_id=view["id"], hash=view["hash"], view=MODAL)
    assert ana.modal().values["count"]["count"] == "8"
    home = {"type": "home", "blocks": []}
    first = client.views_publish(user_id="U0ANA", view=home)["view"]
    client.views_publish(user_id="U0ANA", view=home, hash=first["hash"])
    with pytest.raises(SlackApiError, match="hash_conflict"):
        client.views_publish(user_id="U0ANA", view=home, hash=first["hash"])


def test_a_response_url_serves_five_times_within_half_an_hour(
    stage: Stage, ana: SlackPerson
) -> None:
    tickets = stage.slack.workspace.tickets
    one, two = (
        stage.serving.call(lambda: tickets.response("U0ANA", "C0REQUESTS")) for _ in range(2)
    )
    url = f"{stage.serving.url}/response/"
    first = {"text": "first"}
    posts = [requests.post(url + one, json=first, timeout=5).status_code for _ in range(6)]
    assert posts == [200] * 5 + [404]
    stage.slack.clock.skip(1801)
    assert requests.post(url + two, json=first, timeout=5).text == "expired_url"
    assert len(ana.see_ephemerals()) == 5


def test_a_response_replaces_or_deletes_what_it_answered(stage: Stage, ana: SlackPerson) -> None:
    key = stage.serving.call(lambda: stage.slack.workspace.tickets.response("U0ANA", "C0REQUESTS"))
    url = f"{stage.serving.url}/response/{key}"
    requests.post(url, json={"text": "one"}, timeout=5)
    requests.post(url, json={"text": "two", "replace_original": True}, timeout=5)
    assert [m.text for m in ana.see_ephemerals()] == ["two"]
    requests.post(url, json={"delete_original": True}, timeout=5)
    assert ana.see_ephemerals() == []
    assert requests.post(url, json={"blocks": [{}]}, timeout=5).text == "invalid_blocks"


class Receiver(BaseHTTPRequestHandler):
    requests: list[tuple[dict[str, str], bytes]]

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.requests.append((dict(self.headers), body))
        self.send_response(500 if len(self.requests) == 3 else 200)
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        self.wfile.write(b'{"text": "from the acknowledgement"}')

    def log_message(self, *_: Any) -> None:
        pass


def test_http_mode_signs_what_it_sends_and_shows_what_comes_back(staged: Any) -> None:
    Receiver.requests = []
    server = HTTPServer(("127.0.0.1", 0), Receiver)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{server.server_port}/slack/events"
    stage = staged(request_url=url, retry_seconds=(0.05, 0.05, 0.05))
    ana = stage.person("U0ANA")
    ana.slash("/echo", "a b&c")
    assert ana.wait_for_text("from the acknowledgement").only_for == "U0ANA"
    headers, body = Receiver.requests[0]
    assert SignatureVerifier("play").is_valid_request(body, headers)
    assert parse_qs(body.decode())["text"] == ["a b&c"]
    stage.serving.run(stage.slack.gestures.shortcut("U0ANA", "ask"))
    payload = json.loads(parse_qs(Receiver.requests[1][1].decode())["payload"][0])
    assert payload["callback_id"] == "ask"
    ana.say("<@U0GPUBOT> hi")
    ana.wait_for(lambda: len(Receiver.requests) == 4)
    assert Receiver.requests[3][0]["X-Slack-Retry-Reason"] == "http_error"
    server.shutdown()
