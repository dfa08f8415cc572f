"""Files: the bot uploads in the three steps of files v2, people upload, the bot reads."""

import secrets
from typing import Any
from urllib.parse import quote

from bot.playground.fake_slack.error import SlackError
from bot.playground.fake_slack.params import Params, needed, structure, word
from bot.playground.fake_slack.people import BOT_USER, TEAM
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


def info(workspace: Workspace, params: Params) -> dict[str, Any]:
    """Answer ``files.info``."""
    file = workspace.files.get(needed(params, "file"))
    if file is None or file.content is None or not file.seen_by_bot:
        raise SlackError("file_not_found")
    return {"file": to_json(workspace, file)}


def give(workspace: Workspace, user: str, name: str, content: bytes) -> File:
    """Upload a person's file for a field of a modal; the app may read it."""
    if not content:
        raise SlackError("invalid_arguments", ("the file is empty",))
    if len(content) > LARGEST:
        raise SlackError("file_too_large", ("the playground takes files up to 1 MiB",))
    file = File(f"F{secrets.token_hex(5).upper()}", name[:255] or "file", len(content), user=user)
    file.content = content
    workspace.files[file.id] = file
    return file


def to_json(workspace: Workspace, file: File) -> dict[str, Any]:
    """Return the file object of responses and messages."""
    ending = file.name.rpartition(".")[2].lower()
    url = f"{workspace.url}/files-pri/{TEAM}-{file.id}"
    return {
        "id": file.id,
        "name": file.name,
        "title": file.title or file.name,
        "filetype": _KINDS.get(ending, ending),
        "mimetype": MIME.get(ending, "application/octet-stream"),
        "mode": "hosted",
        "is_external": False,
        "user": file.user,
        "size": file.length,
        "alt_txt": file.alt,
        "url_private": f"{url}/{quote(file.name)}",
        "url_private_download": f"{url}/download/{quote(file.name)}",
        **file.more,
    }


LARGEST = 1024 * 1024
_KINDS = {"yml": "yaml", "txt": "text"}
MIME = {
    "png": "image/png",
    "jpg": "image/jpeg",
    "gif": "image/gif",
    "csv": "text/csv",
    "yaml": "text/plain",
    "yml": "text/plain",
    "json": "application/json",
    "txt": "text/plain",
    "html": "text/html",
}


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
