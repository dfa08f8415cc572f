"""Messages with their whole edit history, and who may see them."""

import secrets
from dataclasses import dataclass, field
from typing import Any

from bot.playground.fake_slack.error import SlackError
from bot.playground.fake_slack.people import APP, BOT, BOT_USER, TEAM
from bot.playground.fake_slack.state import Values

Blocks = list[dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Version:
    """What a message said from ``at`` on (seconds since 1970)."""

    text: str
    blocks: Blocks
    at: float


@dataclass(slots=True)
class Message:
    """A message; ``versions`` grows with each edit, ``only_for`` makes it ephemeral."""

    channel: str
    ts: str
    user: str
    versions: list[Version]
    thread_ts: str = ""
    only_for: str = ""
    broadcast: bool = False
    metadata: dict[str, Any] | None = None
    deleted: bool = False
    reactions: dict[str, list[str]] = field(default_factory=dict)
    files: list[dict[str, Any]] = field(default_factory=list)
    values: Values = field(default_factory=dict)

    @property
    def text(self) -> str:
        return self.versions[-1].text

    @property
    def blocks(self) -> Blocks:
        return self.versions[-1].blocks

    def to_json(self) -> dict[str, Any]:
        """Return the message object that Slack puts in responses and payloads."""
        body: dict[str, Any] = {"type": "message", "ts": self.ts, "user": self.user, "team": TEAM}
        body |= {"text": self.text, "blocks": self.blocks}
        if self.user == BOT_USER:
            body |= {"bot_id": BOT, "app_id": APP}
        if self.thread_ts:
            body["thread_ts"] = self.thread_ts
        if len(self.versions) > 1:
            body["edited"] = {"user": self.user, "ts": f"{self.versions[-1].at:.6f}"}
        if self.metadata:
            body["metadata"] = self.metadata
        if self.files:
            body["files"] = self.files
        return body


@dataclass(slots=True)
class MessageBook:
    """Every message of the workspace in the order it was posted."""

    messages: list[Message] = field(default_factory=list)
    _last: float = 0.0

    def post(self, message: Message, now: float) -> Message:
        """Keep a message under the next free timestamp, which is its id."""
        self._last = max(now, self._last + 0.000_1)
        message.ts = f"{self._last:.6f}"
        self.messages.append(message)
        return message

    def find(self, channel: str, ts: str) -> Message:
        """Return a message that still exists, ephemeral or not."""
        for message in self.messages:
            if message.ts == ts and message.channel == channel and not message.deleted:
                return message
        raise SlackError("message_not_found")

    def seen_by(self, user: str, channel: str) -> list[Message]:
        """Return what this person sees in a channel, threads included."""
        return [
            m
            for m in self.messages
            if m.channel == channel and not m.deleted and m.only_for in {"", user}
        ]


def with_block_ids(blocks: Blocks) -> Blocks:
    """Return the blocks as Slack stores them: each with an id, each element with an action id."""
    named = []
    for block in blocks:
        full = {**block, "block_id": block.get("block_id") or secrets.token_urlsafe(4)}
        for key in ("accessory", "element"):
            if isinstance(full.get(key), dict) and full[key]["type"] != "image":
                full[key] = {"action_id": secrets.token_urlsafe(4), **full[key]}
        if full["type"] == "actions":
            full["elements"] = [
                {"action_id": secrets.token_urlsafe(4), **e} for e in full["elements"]
            ]
        named.append(full)
    return named
