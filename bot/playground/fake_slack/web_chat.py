"""The chat.* methods."""

import json
import re
from typing import Any

from bot.playground.fake_slack.error import SlackError
from bot.playground.fake_slack.messages import Blocks, Message
from bot.playground.fake_slack.params import Params, flag, needed, structure, word
from bot.playground.fake_slack.people import BOT_USER, Channel
from bot.playground.fake_slack.validate_blocks import check_message_blocks, message_errors
from bot.playground.fake_slack.workspace import Workspace

TEXT_CUT = 40_000
UPDATE_TEXT = 4_000
METADATA_BYTES = 8_000


def contents(workspace: Workspace, params: Params) -> tuple[str, Blocks]:
    """Return a message's text and blocks once they are within the limits."""
    text = word(params, "text")
    blocks: Blocks = structure(params, "blocks", list, "invalid_blocks_format") or []
    markdown = word(params, "markdown_text")
    if markdown and (text or blocks):
        raise SlackError("markdown_text_conflict")
    if markdown:
        blocks = [{"type": "markdown", "text": markdown}]
    attachments = structure(params, "attachments", list, "invalid_attachments") or []
    if len(attachments) > 100:
        raise SlackError("too_many_attachments")
    if not text and not blocks and not attachments:
        raise SlackError("no_text")
    check_message_blocks(blocks)
    check_files(workspace, blocks)
    return text[:TEXT_CUT], blocks


def check_files(workspace: Workspace, blocks: Blocks) -> None:
    """Refuse image blocks of files that are not there or not yet processed."""
    for index, block in enumerate(blocks):
        file_id = (block.get("slack_file") or {}).get("id")
        if file_id and not getattr(workspace.files.get(file_id), "shared", False):
            where = f"[json-pointer:/blocks/{index}/slack_file]"
            raise SlackError("invalid_blocks", (f"invalid slack file {where}",))


def bots_channel(workspace: Workspace, name: str) -> Channel:
    """Return a channel that the bot may post to, or raise what Slack answers."""
    channel = workspace.channel(name)
    if BOT_USER not in channel.members:
        raise SlackError("channel_not_found" if channel.private else "not_in_channel")
    if channel.archived:
        raise SlackError("is_archived")
    return channel


def thread_root(workspace: Workspace, channel: str, ts: str) -> str:
    """Return the timestamp of the thread that a message is in or starts."""
    if not ts:
        return ""
    try:
        root = workspace.book.find(channel, ts)
    except SlackError as problem:
        raise SlackError("thread_not_found") from problem
    return root.thread_ts or root.ts


def _metadata(params: Params) -> dict[str, Any] | None:
    metadata: dict[str, Any] | None = structure(params, "metadata", dict, "invalid_metadata_format")
    if metadata is None:
        return None
    if not re.fullmatch(r"[A-Za-z0-9_-]+", str(metadata.get("event_type"))):
        raise SlackError("invalid_metadata_format")
    if len(json.dumps(metadata)) > METADATA_BYTES:
        raise SlackError("metadata_too_large")
    return metadata


def post_message(workspace: Workspace, params: Params) -> dict[str, Any]:
    """Answer ``chat.postMessage``."""
    channel = bots_channel(workspace, needed(params, "channel"))
    text, blocks = contents(workspace, params)
    message = workspace.post(
        channel.id,
        BOT_USER,
        text,
        blocks,
        thread_ts=thread_root(workspace, channel.id, word(params, "thread_ts")),
        broadcast=flag(params, "reply_broadcast"),
        metadata=_metadata(params),
    )
    return {"channel": channel.id, "ts": message.ts, "message": message.to_json()}


def post_ephemeral(workspace: Workspace, params: Params) -> dict[str, Any]:
    """Answer ``chat.postEphemeral``."""
    channel = bots_channel(workspace, needed(params, "channel"))
    user = workspace.user(needed(params, "user"))
    if user.id not in channel.members:
        raise SlackError("user_not_in_channel")
    text, blocks = contents(workspace, params)
    root = thread_root(workspace, channel.id, word(params, "thread_ts"))
    message = workspace.post(channel.id, BOT_USER, text, blocks, thread_ts=root, only_for=user.id)
    return {"message_ts": message.ts}


def bots_message(workspace: Workspace, params: Params, error: str) -> Message:
    """Return one of the bot's own lasting messages; ephemeral ones can't be reached by the API."""
    channel = needed(params, "channel")
    if channel not in workspace.channels:
        raise SlackError("channel_not_found")
    message = workspace.book.find(channel, needed(params, "ts"))
    if message.only_for:
        raise SlackError("message_not_found")
    if message.user != BOT_USER:
        raise SlackError(error)
    return message


def update(workspace: Workspace, params: Params) -> dict[str, Any]:
    """Answer ``chat.update``."""
    message = bots_message(workspace, params, "cant_update_message")
    text, blocks = contents(workspace, params)
    if len(text) > UPDATE_TEXT:
        raise SlackError("msg_too_long")
    kinds = {b["type"] for b in message.blocks}
    if kinds == {"rich_text"} and blocks and "rich_text" not in {b["type"] for b in blocks}:
        raise SlackError("block_mismatch")
    workspace.edit(message, text, blocks)
    message.metadata = _metadata(params) or message.metadata
    body = {"channel": message.channel, "ts": message.ts, "text": text}
    return {**body, "message": message.to_json()}


def delete(workspace: Workspace, params: Params) -> dict[str, Any]:
    """Answer ``chat.delete``."""
    message = bots_message(workspace, params, "cant_delete_message")
    workspace.delete(message)
    return {"channel": message.channel, "ts": message.ts}


def permalink(workspace: Workspace, params: Params) -> dict[str, Any]:
    """Answer ``chat.getPermalink``."""
    message = workspace.book.find(needed(params, "channel"), needed(params, "message_ts"))
    where = f"{workspace.url}/archives/{message.channel}/p{message.ts.replace('.', '')}"
    query = f"?thread_ts={message.thread_ts}&cid={message.channel}" if message.thread_ts else ""
    return {"channel": message.channel, "permalink": where + query}


def validate(workspace: Workspace, params: Params) -> dict[str, Any]:
    """Answer ``blocks.validate``."""
    errors = message_errors(structure(params, "blocks", list, "invalid_blocks_format"))
    if errors:
        raise SlackError("invalid_blocks", tuple(errors))
    return {}
