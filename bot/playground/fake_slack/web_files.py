"""Uploading files in the three steps of files v2."""

import secrets
from typing import Any

from bot.playground.fake_slack.error import SlackError
from bot.playground.fake_slack.params import Params, needed, structure, word
from bot.playground.fake_slack.people import BOT_USER
from bot.playground.fake_slack.web_chat import bots_channel, check_files, thread_root
from bot.playground.fake_slack.workspace import File, Workspace


def upload_url(workspace: Workspace, params: Params) -> dict[str, Any]:
    """Answer ``files.getUploadURLExternal``."""
    length = needed(params, "length")
    if not length.isdigit() or int(length) < 1:
        raise SlackError("invalid_arguments", ("length must be a positive number",))
    file = File(f"F{secrets.token_hex(5).upper()}", needed(params, "filename"), int(length))
    file.alt = word(params, "alt_txt")
    workspace.files[file.id] = file
    return {"upload_url": f"{workspace.url}/upload/{file.id}", "file_id": file.id}


def complete(workspace: Workspace, params: Params) -> dict[str, Any]:
    """Answer ``files.completeUploadExternal``."""
    wanted = structure(params, "files", list, "invalid_arguments") or []
    if not wanted:
        raise SlackError("invalid_arguments", ("missing required field: files",))
    files = [_uploaded(workspace, str(f.get("id")), str(f.get("title") or "")) for f in wanted]
    where = word(params, "channel_id") or word(params, "channels").split(",")[0]
    if where:
        _share(workspace, files, bots_channel(workspace, where).id, params)
    for file in files:
        file.shared = True
    return {"files": [to_json(workspace, f) for f in files]}


def to_json(workspace: Workspace, file: File) -> dict[str, Any]:
    """Return the file object of responses and messages."""
    kind = file.name.rpartition(".")[2]
    url = f"{workspace.url}/files/{file.id}"
    body = {"id": file.id, "name": file.name, "title": file.title or file.name, "filetype": kind}
    return {**body, "size": file.length, "alt_txt": file.alt, "url_private": url}


def _uploaded(workspace: Workspace, file_id: str, title: str) -> File:
    file = workspace.files.get(file_id)
    if file is None or file.content is None:
        raise SlackError("file_not_found")
    file.title = title
    return file


def _share(workspace: Workspace, files: list[File], channel: str, params: Params) -> None:
    blocks = structure(params, "blocks", list, "invalid_blocks_format") or []
    check_files(workspace, blocks)
    message = workspace.post(
        channel,
        BOT_USER,
        word(params, "initial_comment"),
        blocks,
        thread_ts=thread_root(workspace, channel, word(params, "thread_ts")),
    )
    message.files = [to_json(workspace, f) for f in files]


def receive(workspace: Workspace, file_id: str, content: bytes) -> None:
    """Keep the bytes of an upload; their number must be the one that was announced."""
    file = workspace.files.get(file_id)
    if file is None or file.content is not None:
        raise SlackError("invalid_upload_url")
    if len(content) != file.length:
        raise SlackError("invalid_length")
    file.content = content
