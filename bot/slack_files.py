"""Reads a manifest that a person uploaded to Slack, and nothing else.

A file's address comes from outside, so the bot's token goes to Slack's own file host only, and no
redirect is followed. Slack answers a token without the right with its sign-in page: that is told
as what it is. Nothing of the content is logged.
"""

from collections.abc import Mapping
from typing import Any

from bot.slack_client import SlackClient, SlackRefused
from capacity.errors import GpubotError, UsageError
from commands.manifest_ask import MOST_BYTES

_TEXT = {"yaml", "json", "text", "javascript", "markdown", "helm", "", "auto"}
_NAMES = (".yaml", ".yml", ".json", ".txt")
_HOSTED = {"hosted", "snippet"}
_PASTE = "Paste the manifest instead."
_GONE = {"file_not_found", "file_deleted", "not_visible", "access_denied"}


class NoFileRight(GpubotError):
    """The app may not read files: its manifest is older than the code, or the token is."""

    def __init__(self, detail: str = "") -> None:
        super().__init__(
            "I'm not allowed to read files in this workspace.",
            "The platform team can add files:read (app-manifest.yaml) and install me again. "
            + _PASTE,
            detail=detail,
        )


async def manifest(client: SlackClient, file: str, owner: str) -> str:
    """Return the text of an uploaded file; ``owner`` must be who uploaded it.

    Raises UsageError for what isn't a small text of theirs, NoFileRight, SlackDown.
    """
    try:
        info = await client.file(file)
    except SlackRefused as refused:
        if refused.code in _GONE:
            raise UsageError("I can't see that file.", _PASTE) from refused
        if refused.code in {"missing_scope", "no_permission"}:
            raise NoFileRight(refused.code) from refused
        raise
    check(info, owner)
    address = str(info.get("url_private_download") or info.get("url_private") or "")
    got = await client.download(address, MOST_BYTES)
    if got.is_elsewhere or (got.kind == "text/html" and info.get("mimetype") != "text/html"):
        raise NoFileRight("Slack answered the download with its sign-in page")
    return text_of(got.content)


def check(info: Mapping[str, Any], owner: str) -> None:
    """Raise UsageError for a file that isn't theirs, isn't in Slack, isn't text or is too large."""
    if info.get("user") != owner:
        raise UsageError("That file isn't yours.", "Upload your own.")
    if info.get("mode") not in _HOSTED or info.get("is_external") or info.get("file_access"):
        raise UsageError("That file isn't kept in this Slack, so I can't read it.", _PASTE)
    name = str(info.get("name") or "").casefold()
    if str(info.get("filetype") or "") not in _TEXT and not name.endswith(_NAMES):
        raise UsageError("That file is no YAML or JSON.", "Upload a manifest as .yaml or .json.")
    size = info.get("size")
    if not isinstance(size, int) or size > MOST_BYTES:
        raise UsageError(f"That file is larger than {MOST_BYTES // 1024} KiB.", _PASTE)


def text_of(content: bytes) -> str:
    """Return the text; raises UsageError for too many bytes, and for what isn't UTF-8."""
    if len(content) > MOST_BYTES:
        raise UsageError(f"That file is larger than {MOST_BYTES // 1024} KiB.", _PASTE)
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise UsageError("That file isn't text in UTF-8.", _PASTE) from None
