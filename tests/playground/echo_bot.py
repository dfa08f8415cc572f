"""A tiny Bolt app that answers everything, to test the fake Slack without Gpubot."""

import asyncio
import threading
from typing import Any

from slack_bolt.adapter.socket_mode.aiohttp import AsyncSocketModeHandler
from slack_bolt.async_app import AsyncApp
from slack_sdk.web.async_client import AsyncWebClient

MODAL = {
    "type": "modal",
    "callback_id": "order",
    "title": {"type": "plain_text", "text": "Order"},
    "submit": {"type": "plain_text", "text": "Send"},
    "notify_on_close": True,
    "blocks": [
        {
            "type": "input",
            "block_id": "what",
            "label": {"type": "plain_text", "text": "What"},
            "element": {
                "type": "static_select",
                "action_id": "what",
                "options": [
                    {"text": {"type": "plain_text", "text": w}, "value": w} for w in ("tea", "cake")
                ],
            },
        },
        {
            "type": "input",
            "block_id": "count",
            "dispatch_action": True,
            "label": {"type": "plain_text", "text": "How many"},
            "element": {
                "type": "number_input",
                "action_id": "count",
                "is_decimal_allowed": False,
                "min_value": "1",
                "max_value": "9",
                "initial_value": "2",
                "dispatch_action_config": {"trigger_actions_on": ["on_character_entered"]},
            },
        },
        {
            "type": "input",
            "block_id": "why",
            "optional": True,
            "label": {"type": "plain_text", "text": "Why"},
            "element": {"type": "plain_text_input", "action_id": "why", "max_length": 40},
        },
    ],
}


def section(text: str) -> dict[str, Any]:
    return {"type": "section", "text": {"type": "mrkdwn", "text": text}}


def button(action_id: str, label: str, value: str = "") -> dict[str, Any]:
    text = {"type": "plain_text", "text": label}
    return {"type": "button", "action_id": action_id, "text": text, "value": value or action_id}


class EchoBot:
    """Runs in its own thread; ``heard`` lists what reached a listener, duplicates included."""

    def __init__(self, api_url: str) -> None:
        self.heard: list[str] = []
        self.bodies: list[dict[str, Any]] = []
        self.loop = asyncio.new_event_loop()
        self._api_url = api_url
        self._thread = threading.Thread(target=self.loop.run_forever, daemon=True)
        self.handler: AsyncSocketModeHandler | None = None

    def start(self) -> None:
        self._thread.start()
        asyncio.run_coroutine_threadsafe(self._connect(), self.loop).result(10)

    def stop(self) -> None:
        assert self.handler is not None
        asyncio.run_coroutine_threadsafe(self.handler.close_async(), self.loop).result(10)
        self.loop.call_soon_threadsafe(self.loop.stop)
        self._thread.join(10)

    async def _connect(self) -> None:
        client = AsyncWebClient("xoxb-play", base_url=self._api_url)
        app = AsyncApp(client=client, request_verification_enabled=False)
        self._listen(app)
        self.handler = AsyncSocketModeHandler(app, "xapp-play", ping_interval=2)
        await self.handler.connect_async()

    def _note(self, what: str, body: dict[str, Any]) -> None:
        self.heard.append(what)
        self.bodies.append(body)

    def _listen(self, app: AsyncApp) -> None:
        @app.command("/echo")
        async def echo(ack, respond, body):
            await ack()
            self._note(f"echo {body['text']}", body)
            blocks = [
                section(f"You said *{body['text']}*"),
                {"type": "actions", "elements": [button("share", "Share"), button("go", "Go")]},
            ]
            await respond(text=f"You said {body['text']}", blocks=blocks)

        @app.command("/late")
        async def late(ack, body):
            self._note("late", body)
            await asyncio.sleep(1)
            await ack()

        @app.command("/order")
        async def order(ack, body, client):
            await ack()
            self._note("order", body)
            await client.views_open(trigger_id=body["trigger_id"], view=MODAL)

        @app.action("share")
        async def share(ack, body, respond):
            await ack()
            self._note("share", body)
            await respond(text="shared", response_type="in_channel")

        @app.action("go")
        async def go(ack, body, client):
            await ack()
            self._note("go", body)
            channel = body["channel"]["id"]
            card = await client.chat_postMessage(channel=channel, text="card v1")
            await client.chat_update(channel=channel, ts=card["ts"], text="card v2")
            await client.chat_postMessage(channel=channel, text="step", thread_ts=card["ts"])

        self._listen_to_forms(app)

    def _listen_to_forms(self, app: AsyncApp) -> None:
        @app.action("count")
        async def count(ack, body):
            await ack()
            self._note(f"count {body['actions'][0]['value']}", body)

        @app.view("order")
        async def ordered(ack, body, client):
            values = body["view"]["state"]["values"]
            number = values["count"]["count"]["value"]
            self._note(f"ordered {number}", body)
            if number == "7":
                await ack(response_action="errors", errors={"count": "Seven is too many"})
                return
            await ack()
            await client.chat_postMessage(channel=body["user"]["id"], text=f"{number} ordered")

        @app.view_closed("order")
        async def closed(ack, body):
            await ack()
            self._note("closed", body)

        @app.event("app_home_opened")
        async def home(event, body, client):
            self._note("home", body)
            view = {"type": "home", "blocks": [section("Welcome")]}
            await client.views_publish(user_id=event["user"], view=view)

        @app.event("app_mention")
        async def mention(event, body):
            self._note(f"mention {event['text']}", body)
