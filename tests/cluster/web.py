"""HTTP to programs on loopback, with nothing but the standard library."""

from __future__ import annotations

import base64
import json
import ssl
import time
import urllib.error
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

# Everything here is on loopback, with one self-signed certificate made by us.
_ANY_CERTIFICATE = ssl._create_unverified_context()
# A proxy named in the environment is not for loopback.
_opener = urllib.request.build_opener(
    urllib.request.ProxyHandler({}), urllib.request.HTTPSHandler(context=_ANY_CERTIFICATE)
)
_SECONDS = 30.0
_BUSY_SECONDS = 10.0


class RefusedError(OSError):
    """A server answered with an error status; the text holds its words."""

    def __init__(self, status: int, method: str, url: str, body: str) -> None:
        super().__init__(f"{method} {url}: {status}: {body[:2000]}")
        self.status = status
        self.body = body


def call(
    method: str,
    url: str,
    body: object = None,
    *,
    headers: Mapping[str, str] | None = None,
    seconds: float = _SECONDS,
) -> bytes:
    """Sends one request (a body that isn't bytes goes as JSON) and returns the body of the answer.

    Raises:
        RefusedError: for an error status. Other OSErrors: when there was no answer.
    """
    data = body if isinstance(body, bytes) else None if body is None else json.dumps(body).encode()
    sent = {
        "Content-Type": "application/json",
        "Accept": "application/json, */*",
        **(headers or {}),
    }
    request = urllib.request.Request(url, data, sent, method=method)
    try:
        with _opener.open(request, timeout=seconds) as answer:
            content: bytes = answer.read()
    except urllib.error.HTTPError as error:
        raise RefusedError(error.code, method, url, error.read().decode(errors="replace")) from None
    return content


def answers(url: str, *, headers: Mapping[str, str] | None = None) -> bool:
    """Whether a GET gets a success status; used as the readiness check of a program."""
    call("GET", url, headers=headers, seconds=5)
    return True


def bearer(token: str) -> dict[str, str]:
    """The header of a token."""
    return {"Authorization": f"Bearer {token}"}


def basic(user: str, password: str) -> dict[str, str]:
    """The header of a user with a password."""
    return {"Authorization": "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()}


@dataclass(frozen=True, slots=True)
class Api:
    """A JSON API below one address, called as one user."""

    url: str
    headers: Mapping[str, str]

    def get(self, path: str) -> Any:
        """The decoded answer of a GET."""
        return self._send("GET", path)

    def text(self, path: str) -> str:
        """The answer of a GET as it is."""
        return call("GET", self.url + path, headers=self.headers).decode()

    def post(self, path: str, body: object = None) -> Any:
        """Creates, or calls an action."""
        return self._send("POST", path, body)

    def put(self, path: str, body: object = None) -> Any:
        """Replaces."""
        return self._send("PUT", path, body)

    def patch(self, path: str, body: object, kind: str = "application/merge-patch+json") -> Any:
        """Changes part of an object, by merge patch unless another kind is named."""
        return self._send("PATCH", path, body, kind)

    def delete(self, path: str) -> Any:
        """Deletes."""
        return self._send("DELETE", path)

    def _send(
        self, method: str, path: str, body: object = None, kind: str = "application/json"
    ) -> Any:
        headers = {**self.headers, "Content-Type": kind}
        deadline = time.monotonic() + _BUSY_SECONDS
        while True:
            try:
                content = call(method, self.url + path, body, headers=headers)
                break
            except RefusedError as refused:
                # An API server that has just started says so for kinds whose storage isn't ready; kubectl waits too.
                if refused.status != HTTPStatus.TOO_MANY_REQUESTS or time.monotonic() > deadline:
                    raise
                time.sleep(0.2)
        return json.loads(content) if content else None
