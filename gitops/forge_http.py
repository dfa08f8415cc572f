"""A small HTTP client for a forge's REST API: one host, explicit time-outs, named failures.

It follows no redirect (a token must not travel to another host), and the token is only ever in a
header: not in addresses, errors or logs.
"""

import threading
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple
from urllib.parse import quote

import requests
from requests.auth import AuthBase

from gitops.forge import ForgeDown
from gitops.forge_errors import refusal, unreachable

CONNECT_SECONDS, READ_SECONDS = 5.0, 20.0
_PAGE = 50
_MOST_PAGES = 40


class Reply(NamedTuple):
    """An answer that the caller knows how to read; ``words`` is the forge's message, if any."""

    status: int
    data: Any
    words: str


class _Token(AuthBase):
    """Sets the header itself: without an auth object requests would look into a .netrc file."""

    def __init__(self, scheme: str, token: str) -> None:
        self._value = f"{scheme} {token}"

    def __call__(self, request: requests.PreparedRequest) -> requests.PreparedRequest:
        request.headers["Authorization"] = self._value
        return request


class ForgeHttp:
    """Calls below one address; safe to use from several threads."""

    def __init__(self, forge: str, url: str, token: str, scheme: str = "token") -> None:
        self._forge = forge
        self._url = url.rstrip("/")
        self._auth = _Token(scheme, token)
        self._local = threading.local()

    def get(self, path: str, *, accept: Sequence[int] = (), **query: Any) -> Reply:
        """Read; statuses in ``accept`` are returned, all others than success raised."""
        return self.call("GET", path, accept=accept, query=query)

    def post(self, path: str, body: Any, *, accept: Sequence[int] = ()) -> Reply:
        """Create or do."""
        return self.call("POST", path, body=body, accept=accept)

    def pages(self, path: str, **query: Any) -> Iterator[Any]:
        """Yield the entries of a list, page by page."""
        for page in range(1, _MOST_PAGES + 1):
            found = self.get(path, page=page, limit=_PAGE, **query).data or []
            yield from found
            if len(found) < _PAGE:
                return

    def call(
        self,
        method: str,
        path: str,
        *,
        body: Any = None,
        query: dict[str, Any] | None = None,
        accept: Sequence[int] = (),
    ) -> Reply:
        """Make one call; raises ForgeDown, ForgeDenied or ForgeMissing."""
        what = f"{method} {path}"
        try:
            answer = self._session().request(
                method,
                self._url + path,
                json=body,
                params=query,
                auth=self._auth,
                timeout=(CONNECT_SECONDS, READ_SECONDS),
                allow_redirects=False,
            )
        except requests.RequestException as error:
            raise unreachable(self._forge, error, what) from None
        reply = self._reply(answer, what)
        if answer.status_code >= 300 and answer.status_code not in accept:
            raise refusal(self._forge, answer.status_code, dict(answer.headers), reply.words, what)
        return reply

    def _reply(self, answer: requests.Response, what: str) -> Reply:
        try:
            data = answer.json() if answer.content else None
        except ValueError as error:
            if answer.ok:  # a proxy's page, not the forge
                raise ForgeDown(self._forge, detail=f"{what}: no JSON") from error
            data = None
        words = str(data.get("message") or "") if isinstance(data, dict) else ""
        return Reply(answer.status_code, data, words)

    def _session(self) -> requests.Session:
        held: requests.Session | None = getattr(self._local, "session", None)
        if held is None:
            held = self._local.session = requests.Session()
            held.headers.update({"Accept": "application/json", "User-Agent": "gpubot"})
        return held


def escaped(part: str) -> str:
    """Return text as one part of a path."""
    return quote(part, safe="")
