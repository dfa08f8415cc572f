"""What one person sees in the fake Slack, as the page draws it."""

import json
from typing import Any

from bot.playground.fake_slack.app import SlackApp
from bot.playground.fake_slack.cast import ON_STAGE
from bot.playground.fake_slack.error import SlackError
from bot.playground.fake_slack.messages import Message
from bot.playground.fake_slack.people import BOT_USER, Channel
from bot.playground.fake_slack.places import Place
from bot.playground.fake_slack.state import kept
from bot.playground.fake_slack.view_book import View
from bot.playground.fake_slack.workspace import Workspace

Json = dict[str, Any]
MESSAGES_PER_CHANNEL = 200
HIDDEN_CHANNELS = frozenset({"C0RANDOM", "G0SECRET", "C0OLD"})
ERRORS = 5


def stage(workspace: Workspace, app: SlackApp) -> Json:
    """Return what never changes: people, groups and commands."""
    users = {
        u.id: {"name": u.name, "real_name": u.real_name, "role": u.role, "tz": u.time_zone}
        for u in workspace.users.values()
    }
    commands = [
        {"command": c.command, "description": c.description, "hint": c.usage_hint}
        for c in app.commands or ()
    ]
    groups = {g.id: g.handle for g in workspace.groups.values()}
    shortcuts = [dict(s) for s in app.shortcuts or ()]
    return {
        "people": list(ON_STAGE),
        "users": users,
        "groups": groups,
        "bot": BOT_USER,
        "commands": commands,
        "shortcuts": shortcuts,
        "messages_read_only": app.messages_read_only,
    }


def seen_by(workspace: Workspace, user: str) -> Json:
    """Return everything this person sees now."""
    channels = [c for c in workspace.channels_of(user) if c.id not in HIDDEN_CHANNELS]
    home = workspace.views.homes.get(user)
    modal = workspace.views.top(user)
    return {
        "user": user,
        "channels": [_channel(workspace, c, user) for c in channels if not c.archived],
        "home": _view(workspace, home) if home else None,
        "modal": _view(workspace, modal) if modal else None,
        "mentions": {u: _mentions(workspace, u) for u in ON_STAGE},
        "errors": [
            {"place": e.place, "words": e.words, "at": e.at}
            for e in workspace.errors
            if e.user == user
        ][-ERRORS:],
    }


def _channel(workspace: Workspace, channel: Channel, user: str) -> Json:
    messages = workspace.book.seen_by(user, channel.id)[-MESSAGES_PER_CHANNEL:]
    return {
        "id": channel.id,
        "name": channel.name,
        "topic": channel.topic,
        "im": bool(channel.im_with),
        "messages": [_message(m) for m in messages],
    }


def _mentions(workspace: Workspace, user: str) -> list[Json]:
    recent = workspace.book.messages[-MESSAGES_PER_CHANNEL:]
    return [
        {"channel": m.channel, "ts": m.ts}
        for m in recent
        if not m.deleted
        and user in workspace.channels[m.channel].members
        and m.only_for in {"", user}
        and m.user != user
        and user in m.text + json.dumps(m.blocks)
    ]


def _message(message: Message) -> Json:
    return {
        "channel": message.channel,
        "ts": message.ts,
        "user": message.user,
        "text": message.text,
        "blocks": message.blocks,
        "thread_ts": message.thread_ts,
        "broadcast": message.broadcast,
        "only_you": bool(message.only_for),
        "edits": len(message.versions) - 1,
        "files": message.files,
        "reactions": {name: len(who) for name, who in message.reactions.items() if who},
        "values": kept(message.values, message.blocks),
    }


def _view(workspace: Workspace, view: View) -> Json:
    stack = workspace.views.stacks.get(view.user, [])
    shown = ("title", "submit", "close", "type")
    return {
        "id": view.id,
        "blocks": view.blocks,
        "values": kept(view.values, view.blocks),
        "errors": view.errors,
        "depth": len(stack),
        **{k: view.body.get(k) for k in shown},
    }


def place_of(workspace: Workspace, user: str, where: Json) -> Place:
    """Return the message or view that a gesture names, if this person can see it."""
    if where.get("view"):
        view = workspace.views.by_id(str(where["view"]))
        if view.user != user:
            raise SlackError("not_found")
        return view
    message = workspace.book.find(str(where.get("channel")), str(where.get("ts")))
    if message.only_for not in {"", user}:
        raise SlackError("message_not_found")
    return message
