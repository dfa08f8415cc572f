"""The payloads that Slack sends to an app, built from what a person did. [pure]."""

import secrets
from dataclasses import dataclass
from typing import Any

from bot.playground.fake_slack.app import Command, SlackApp
from bot.playground.fake_slack.messages import Message
from bot.playground.fake_slack.people import APP, BOT_USER, TEAM, TEAM_DOMAIN, Channel, User
from bot.playground.fake_slack.state import chosen, kept, to_state
from bot.playground.fake_slack.view_book import View

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Rights:
    """What a payload lets the bot do next: open a view, and answer at a response URL."""

    trigger: str
    url: str = ""


def _envelope(app: SlackApp, user: User, kind: str) -> Json:
    return {
        "type": kind,
        "token": app.verification_token,
        "api_app_id": APP,
        "team": {"id": TEAM, "domain": TEAM_DOMAIN},
        "enterprise": None,
        "is_enterprise_install": False,
        "user": {"id": user.id, "username": user.name, "name": user.name, "team_id": user.team},
    }


def slash(
    app: SlackApp, user: User, channel: Channel, command: Command, *, text: str, rights: Rights
) -> Json:
    """Return a slash command's form fields."""
    return {
        "token": app.verification_token,
        "team_id": TEAM,
        "team_domain": TEAM_DOMAIN,
        "channel_id": channel.id,
        "channel_name": "directmessage" if channel.im_with else channel.name,
        "user_id": user.id,
        "user_name": user.name,
        "command": command.command,
        "text": text,
        "api_app_id": APP,
        "is_enterprise_install": "false",
        "response_url": rights.url,
        "trigger_id": rights.trigger,
    }


def action(block: Json, element: Json, value: Any, at: float) -> Json:
    """Return the entry of ``actions`` for one element that was used."""
    body: Json = {
        "type": element["type"],
        "block_id": block["block_id"],
        "action_id": element["action_id"],
        "action_ts": f"{at:.6f}",
    }
    if element["type"] == "button":
        extra = {k: element[k] for k in ("value", "style", "url") if element.get(k)}
        return {**body, "text": element["text"], **extra}
    return {**body, **chosen(element, value)}


def message_action(
    app: SlackApp, user: User, channel: Channel, message: Message, *, used: Json, rights: Rights
) -> Json:
    """Return a block_actions payload from a message; an ephemeral one is not repeated in it."""
    container: Json = {
        "type": "message",
        "message_ts": message.ts,
        "channel_id": channel.id,
        "is_ephemeral": bool(message.only_for),
    }
    if message.thread_ts:
        container["thread_ts"] = message.thread_ts
    body = {
        **_envelope(app, user, "block_actions"),
        "container": container,
        "channel": {
            "id": channel.id,
            "name": "directmessage" if channel.im_with else channel.name,
        },
        "trigger_id": rights.trigger,
        "response_url": rights.url,
        "state": {"values": to_state(message.blocks, kept(message.values, message.blocks))},
        "actions": [used],
    }
    return body if message.only_for else {**body, "message": message.to_json()}


def view_action(app: SlackApp, user: User, view: View, used: Json, trigger: str) -> Json:
    """Return a block_actions payload from a modal or Home tab."""
    return {
        **_envelope(app, user, "block_actions"),
        "container": {"type": "view", "view_id": view.id},
        "trigger_id": trigger,
        "view": view.to_json(),
        "actions": [used],
    }


def submission(app: SlackApp, user: User, view: View, trigger: str) -> Json:
    """Return a view_submission payload."""
    body = {"view": view.to_json(), "trigger_id": trigger, "response_urls": []}
    return {**_envelope(app, user, "view_submission"), **body}


def closing(app: SlackApp, user: User, view: View, *, cleared: bool) -> Json:
    """Return a view_closed payload."""
    body = {"view": view.to_json(), "is_cleared": cleared}
    return {**_envelope(app, user, "view_closed"), **body}


def suggestion(app: SlackApp, user: User, place: View | Message, used: Json, query: str) -> Json:
    """Return a block_suggestion payload."""
    body = {"value": query, "action_id": used["action_id"], "block_id": used["block_id"]}
    if isinstance(place, View):
        where: Json = {
            "container": {"type": "view", "view_id": place.id},
            "view": place.to_json(),
        }
    else:
        container = {"type": "message", "message_ts": place.ts, "channel_id": place.channel}
        where = {"container": container, "channel": {"id": place.channel}}
    return {**_envelope(app, user, "block_suggestion"), **body, **where}


def shortcut(
    app: SlackApp, user: User, callback: str, rights: Rights, message: Message | None = None
) -> Json:
    """Return the payload of a global shortcut, or of one on a message."""
    kind = "message_action" if message else "shortcut"
    body = {**_envelope(app, user, kind), "callback_id": callback}
    body["trigger_id"] = rights.trigger
    if message is None:
        return {**body, "action_ts": f"{secrets.randbelow(10**10)}.0"}
    return {
        **body,
        "response_url": rights.url,
        "message_ts": message.ts,
        "channel": {"id": message.channel},
        "message": message.to_json(),
    }


def event(app: SlackApp, inner: Json, at: float) -> Json:
    """Return an event_callback payload."""
    return {
        "token": app.verification_token,
        "team_id": TEAM,
        "api_app_id": APP,
        "type": "event_callback",
        "event": inner,
        "event_id": f"Ev{secrets.token_hex(5).upper()}",
        "event_time": int(at),
        "is_ext_shared_channel": False,
        "authorizations": [
            {
                "enterprise_id": None,
                "team_id": TEAM,
                "user_id": BOT_USER,
                "is_bot": True,
                "is_enterprise_install": False,
            }
        ],
    }
