"""Slack's Web API as the bot uses it: sends plain values, raises our errors.

Retries are explicit. A lost connection is retried only where the call may be repeated: a message
that was posted but not answered for must not be posted twice. Being told to slow down is obeyed
inside the call when it is short; the outbox, which can wait, gets the advice instead.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal
from urllib.parse import urlsplit

import aiohttp
from slack_sdk.errors import SlackApiError
from slack_sdk.http_retry.builtin_async_handlers import (
    AsyncConnectionErrorRetryHandler,
    AsyncRateLimitErrorRetryHandler,
)
from slack_sdk.web.async_client import AsyncWebClient

from bot.blocks import Message
from capacity.errors import GpubotError, SourceDown

# A response address is a right to post that comes in from outside: only Slack's hosts get one.
RESPONSE_HOSTS = {"hooks.slack.com", "hooks.slack-gov.com"}
# The token goes with a download, so only where Slack keeps files.
FILE_HOSTS = {"files.slack.com", "files.slack-gov.com"}
TIMEOUT = 10
# These take their arguments as a form only.
UPLOADS = {"files.getUploadURLExternal", "files.completeUploadExternal"}
QUIET = {"unfurl_links": False, "unfurl_media": False, "link_names": False, "parse": "none"}
Repeat = Literal["again", "lost", "once"]
DOWN = (aiohttp.ClientError, TimeoutError)


class SlackDown(SourceDown):
    """Slack doesn't answer or says to slow down; ``retry_after`` is its advice in seconds."""

    def __init__(self, retry_after: float | None = None, *, detail: str = "") -> None:
        super().__init__("Slack", None, otherwise="now", detail=detail)
        self.retry_after = retry_after

    @property
    def unsent(self) -> bool:
        """Whether the call surely had no effect: Slack put it off, or was never reached."""
        never = isinstance(self.__cause__, aiohttp.ClientConnectorError)
        return never or self.retry_after is not None


class SlackRefused(GpubotError):
    """Slack answers that it won't; ``code`` is its own word ("channel_not_found")."""

    def __init__(self, code: str, method: str) -> None:
        super().__init__(f"Slack refused {method}: {code}.", "Nothing was changed.")
        self.code = code


@dataclass(frozen=True, slots=True)
class Download:
    """What an address gave: its media type, at most so many bytes; or that it led elsewhere."""

    kind: str
    content: bytes
    is_elsewhere: bool = False


class SlackClient:
    """One workspace's bot. Made on the event loop, closed with ``close``."""

    def __init__(self, token: str, base_url: str) -> None:
        self._session = aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=TIMEOUT))
        self._own = urlsplit(base_url)
        self._token = token
        lost = AsyncConnectionErrorRetryHandler(max_retry_count=2)
        slow = AsyncRateLimitErrorRetryHandler(max_retry_count=2)
        self._clients = {
            "again": self._client(token, base_url, lost, slow),
            "lost": self._client(token, base_url, lost),
            "once": self._client(token, base_url),
        }

    def _client(self, token: str, base_url: str, *retries: Any) -> AsyncWebClient:
        return AsyncWebClient(
            token, base_url, TIMEOUT, session=self._session, retry_handlers=list(retries)
        )

    async def close(self) -> None:
        await self._session.close()

    async def call(
        self, method: str, *, repeat: Repeat = "again", **arguments: Any
    ) -> dict[str, Any]:
        """Call a method; raises SlackDown or SlackRefused.

        ``repeat`` says when it may be sent again: after a lost connection and after waiting as
        Slack advises, after a ``lost`` connection only, or never (``once``).
        """
        client = self._clients[repeat]
        # Slack takes JSON for what writes only.
        reads = method in {"users.info", "auth.test", "files.info", *UPLOADS}
        how: dict[str, Any] = {"params" if reads else "json": arguments}
        try:
            response = await client.api_call(method, **how)
        except SlackApiError as error:
            raise _ours(error, method) from error
        except DOWN as error:
            raise SlackDown(detail=f"{method}: {error!r}") from error
        return dict(response.data) if isinstance(response.data, dict) else {}

    async def post(self, channel: str, message: Message, thread: str = "") -> str:
        """Post a message, once; return its timestamp, which is its name."""
        where: dict[str, Any] = {"channel": channel} | ({"thread_ts": thread} if thread else {})
        sent = await self.call(
            "chat.postMessage", repeat="once", **where, **_body(message), **QUIET
        )
        return str(sent["ts"])

    async def edit(self, channel: str, ts: str, message: Message) -> None:
        """Replace a message's content; nobody is notified."""
        where: dict[str, Any] = {"channel": channel, "ts": ts}
        body = _body(message) | {"link_names": False, "parse": "none"}
        await self.call("chat.update", repeat="lost", **where, **body)

    async def whisper(self, channel: str, user: str, message: Message, thread: str = "") -> None:
        """Show a message to one person in a channel; to a person who isn't in it, directly."""
        where: dict[str, Any] = {"channel": channel, "user": user}
        where |= {"thread_ts": thread} if thread else {}
        try:
            await self.call("chat.postEphemeral", repeat="once", **where, **_body(message), **QUIET)
        except SlackRefused as refused:
            if refused.code not in {"user_not_in_channel", "not_in_channel", "channel_not_found"}:
                raise
            await self.post(user, message)

    async def upload(self, name: str, alt: str, content: bytes) -> str:
        """Upload a picture in files v2's three steps; return its id. It is in no channel yet.

        Slack may need a moment until a message can show it, and answers invalid_blocks until then.
        """
        begun = await self.call(
            "files.getUploadURLExternal",
            filename=name,
            length=str(len(content)),
            alt_txt=alt[:1000],
        )
        try:
            async with self._session.post(str(begun["upload_url"]), data=content) as response:
                if response.status != 200:
                    raise SlackDown(detail=f"upload: {response.status}")
        except DOWN as error:
            raise SlackDown(detail=f"upload: {error!r}") from error
        file = str(begun["file_id"])
        files = json.dumps([{"id": file, "title": name}])
        await self.call("files.completeUploadExternal", files=files)
        return file

    async def user(self, user: str) -> dict[str, Any]:
        """Return what ``users.info`` says about an account."""
        answer = await self.call("users.info", user=user)
        found: dict[str, Any] = answer.get("user") or {}
        return found

    async def file(self, file: str) -> dict[str, Any]:
        """Return what ``files.info`` says about a file."""
        answer = await self.call("files.info", file=file)
        found: dict[str, Any] = answer.get("file") or {}
        return found

    async def download(self, url: str, most: int) -> Download:
        """Read a file that Slack keeps: ``most`` bytes, and one more to tell that it is too long.

        Raises SlackRefused for an address that isn't Slack's, and SlackDown. Redirects are not
        followed: they would carry the token elsewhere.
        """
        if not self._is_slacks(url, FILE_HOSTS):
            raise SlackRefused("the file's address is not Slack's", "download")
        headers = {"Authorization": f"Bearer {self._token}"}
        try:
            async with self._session.get(url, headers=headers, allow_redirects=False) as response:
                if response.status == 429 or response.status >= 500:
                    raise SlackDown(detail=f"download: {response.status}")
                elsewhere = response.status in range(300, 400)
                if response.status != 200 and not elsewhere:
                    raise SlackRefused(str(response.status), "download")
                content = await _at_most(response.content, most + 1)
                return Download(response.content_type, content, elsewhere)
        except DOWN as error:
            raise SlackDown(detail=f"download: {type(error).__name__}") from error

    async def respond(self, url: str, message: Message, **how: Any) -> None:
        """Answer through a payload's response address; raises SlackRefused for a foreign host."""
        if not self.may_respond(url):
            raise SlackRefused("response_url is not Slack's", "respond")
        body = _body(message) | how
        try:
            # A redirect would lead the message past the check of the host.
            async with self._session.post(url, json=body, allow_redirects=False) as response:
                if response.status == 429 or response.status >= 500:
                    raise SlackDown(detail=f"respond: {response.status}")
                if response.status != 200:
                    raise SlackRefused(str(response.status), "respond")
        except DOWN as error:
            raise SlackDown(detail=f"respond: {error!r}") from error

    def may_respond(self, url: str) -> bool:
        """Whether the address is Slack's, or the playground's when that is the Web API."""
        return self._is_slacks(url, RESPONSE_HOSTS)

    def _is_slacks(self, url: str, hosts: set[str]) -> bool:
        parts = urlsplit(url)
        if self._own.hostname == "slack.com":
            return parts.scheme == "https" and parts.netloc in hosts
        return (parts.scheme, parts.netloc) == (self._own.scheme, self._own.netloc)


async def _at_most(stream: aiohttp.StreamReader, most: int) -> bytes:
    content = b""
    while len(content) < most and (chunk := await stream.read(most - len(content))):
        content += chunk
    return content


def _body(message: Message) -> dict[str, Any]:
    return {"text": message.text, "blocks": message.blocks}


def _ours(error: SlackApiError, method: str) -> GpubotError:
    headers: Mapping[str, str] = error.response.headers or {}
    code = str(error.response.get("error") or error.response.status_code)
    if error.response.status_code == 429 or code == "ratelimited":
        after = next((v for k, v in headers.items() if k.lower() == "retry-after"), "1")
        return SlackDown(float(after), detail=f"{method}: {code}")
    if error.response.status_code >= 500 or code in {"internal_error", "fatal_error"}:
        return SlackDown(detail=f"{method}: {code}")
    return SlackRefused(code, method)
