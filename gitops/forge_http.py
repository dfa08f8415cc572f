"""A small HTTP client for a forge's REST API: one host, explicit time-outs, named failures.

It follows no redirect (a token must not travel to another host), and the token is only ever in a
header: not in addresses, errors or logs.
"""

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple
from urllib.parse import quote

import requests
from requests.auth import AuthBase

from gitops.forge import ForgeDown
from gitops.forge_errors import refusal, unreachable

CONNECT_SECONDS, READ_SECONDS = 5.0, 20.0
_PAGE = 50
_MOST_PAGES = 40
_REMEMBERED = 256


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
    """Calls below one address; safe to use from several threads.

    ``token`` is called for each request (some live for an hour only), ``page_size`` is what the
    forge calls the length of a page. What was read with an ETag is asked for with it again, which
    costs nothing of the rate limit as long as it is the same.
    """

    def __init__(
        self,
        forge: str,
        url: str,
        token: Callable[[], str],
        *,
        scheme: str = "Bearer",
        page_size: str = "per_page",
        accept: str = "application/json",
    ) -> None:
        self._forge = forge
        self._url = url.rstrip("/")
        self._token = token
        self._scheme = scheme
        self._page_size = page_size
        self._headers = {"Accept": accept, "User-Agent": "gpubot"}
        self._local = threading.local()
        self._known: OrderedDict[str, tuple[str, Any]] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, path: str, *, accept: Sequence[int] = (), **query: Any) -> Reply:
        """Read; statuses in ``accept`` are returned, all others than success raised."""
        return self.call("GET", path, accept=accept, query=query)

    def post(self, path: str, body: Any, *, accept: Sequence[int] = ()) -> Reply:
        """Create or do."""
        return self.call("POST", path, body=body, accept=accept)

    def pages(self, path: str, **query: Any) -> Iterator[Any]:
        """Yield the entries of a list, page by page."""
        for page in range(1, _MOST_PAGES + 1):
            paged = query | {"page": page, self._page_size: _PAGE}
            found = self.call("GET", path, query=paged).data or []
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
        target = requests.Request(method, self._url + path, params=query).prepare().url or ""
        etag, held = self._recall(target) if method == "GET" else ("", None)
        try:
            answer = self._session().request(
                method,
                target,
                json=body,
                headers={"If-None-Match": etag} if etag else None,
                auth=_Token(self._scheme, self._token()),
                timeout=(CONNECT_SECONDS, READ_SECONDS),
                allow_redirects=False,
            )
        except requests.RequestException as error:
            raise unreachable(self._forge, error, what) from None
        if etag and answer.status_code == 304:
            return Reply(200, held, "")
        reply = self._reply(answer, what)
        if answer.status_code >= 300 and answer.status_code not in accept:
            raise refusal(self._forge, answer.status_code, answer.headers, reply.words, what)
        if method == "GET" and answer.ok:
            self._remember(target, answer.headers.get("ETag", ""), reply.data)
        return reply

    def _reply(self, answer: requests.Response, what: str) -> Reply:
        try:
            data = answer.json() if answer.content else None
        except ValueError as error:
            if answer.ok:  # a proxy's page, not the forge
                raise ForgeDown(self._forge, detail=f"{what}: no JSON") from error
            data = None
        said = data if isinstance(data, dict) else {}
        return Reply(answer.status_code, data, str(said.get("message") or said.get("error") or ""))

    def _recall(self, target: str) -> tuple[str, Any]:
        with self._lock:
            return self._known.get(target, ("", None))

    def _remember(self, target: str, etag: str, data: Any) -> None:
        with self._lock:
            self._known.pop(target, None)
            if etag:
                self._known[target] = (etag, data)
            while len(self._known) > _REMEMBERED:
                self._known.popitem(last=False)

    def _session(self) -> requests.Session:
        held: requests.Session | None = getattr(self._local, "session", None)
        if held is None:
            held = self._local.session = requests.Session()
            held.headers.update(self._headers)
        return held


def escaped(part: str) -> str:
    """Return text as one part of a path."""
    return quote(part, safe="")
