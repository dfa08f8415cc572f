"""A forge's webhook: checked, counted once, and only a hint that there is something to read.

Nothing in the payload is believed or even parsed: the flow reads the pull request itself. So a
forged, late or doubled delivery does no more than an early poll.
"""

import hashlib
import hmac
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from aiohttp import web

Kind = Literal["github", "gitlab", "gitea"]
Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]
_REMEMBERED = 1000
_DELIVERIES = ("X-GitHub-Delivery", "X-Gitea-Delivery", "Idempotency-Key", "X-Gitlab-Event-UUID")


@dataclass(frozen=True, slots=True)
class Hook:
    """Whose webhooks are listened to, and the secret that they carry."""

    kind: Kind
    secret: str = field(repr=False)


class Deliveries:
    """The last thousand deliveries: a repeated one is known again."""

    def __init__(self) -> None:
        self._seen: OrderedDict[str, None] = OrderedDict()

    def is_new(self, delivery: str) -> bool:
        """Remember a delivery; False if it was here before. One without a name is always new."""
        if not delivery:
            return True
        if delivery in self._seen:
            return False
        self._seen[delivery] = None
        while len(self._seen) > _REMEMBERED:
            self._seen.popitem(last=False)
        return True


def genuine(kind: Kind, secret: str, headers: Mapping[str, str], body: bytes) -> bool:
    """Tell whether the raw body comes from somebody who has the secret, in constant time."""
    if kind == "gitlab":  # sends the secret itself
        wanted, given = secret, headers.get("X-Gitlab-Token", "")
    else:
        wanted = hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()
        name = "X-Hub-Signature-256" if kind == "github" else "X-Gitea-Signature"
        prefix = "sha256=" if kind == "github" else ""
        given = headers.get(name, "")
        if not given.startswith(prefix):
            return False
        given = given.removeprefix(prefix)
    return hmac.compare_digest(wanted.encode(), given.encode("utf-8", "surrogateescape"))


def webhook(hook: Hook, hint: Callable[[], None]) -> Handler:
    """Return what answers a delivery: 401 without the secret, else 202, and ``hint`` once each."""
    deliveries = Deliveries()

    async def handle(request: web.Request) -> web.StreamResponse:
        if not genuine(hook.kind, hook.secret, request.headers, await request.read()):
            return web.Response(status=401)
        name = next((request.headers[n] for n in _DELIVERIES if n in request.headers), "")
        if deliveries.is_new(name):
            hint()
        return web.Response(status=202)

    return handle
