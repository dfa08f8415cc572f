"""One request to the in-memory API server: who asks, what for, and the answer on the wire."""

import contextlib
import time
from collections.abc import Iterable
from http.server import BaseHTTPRequestHandler
from typing import TYPE_CHECKING, Any

import msgspec

from bot.playground.cluster import resources
from bot.playground.cluster.objects import Expired
from bot.playground.cluster.paths import Target, target
from bot.playground.cluster.watching import watch_lines

if TYPE_CHECKING:
    from bot.playground.cluster.apiserver import ApiServer

_HANG_SECONDS = 120.0
_REASONS = {401: "Unauthorized", 403: "Forbidden", 404: "NotFound", 410: "Expired"}


class Problem(Exception):  # an answer, not a fault of ours
    """An error that the API server answers with."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


class Handler(BaseHTTPRequestHandler):
    """Answers as kube-apiserver does, for what the bot asks."""

    protocol_version = "HTTP/1.1"
    server: Any

    def do_GET(self) -> None:
        """Answer a read."""
        try:
            wanted = target(self.path)
            self._meet_faults(wanted)
            self._authenticate(wanted)
            self._answer(wanted)
        except Problem as problem:
            self._refuse(problem)
        except ConnectionError:
            self.close_connection = True

    def do_POST(self) -> None:
        """Refuse: the account may only read."""
        self.close_connection = True  # the body stays unread
        self._refuse(Problem(403, f"the account may not {self.command.lower()} {self.path}"))

    do_PUT = do_PATCH = do_DELETE = do_POST  # noqa: N815  # names that http.server looks up

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        """Say nothing: the playground's terminal belongs to the bot."""

    @property
    def _api(self) -> "ApiServer":
        api: ApiServer = self.server.api
        return api

    def _meet_faults(self, wanted: Target) -> None:
        faults = self._api.faults
        if faults.hang:
            faults.released.wait(_HANG_SECONDS)
            raise ConnectionAbortedError
        if faults.delay:
            time.sleep(faults.delay)
        if code := faults.next_failure():
            raise Problem(code, "injected failure")
        if wanted.plural in faults.forbidden:
            group = f'in API group "{wanted.group}" at the cluster scope'
            verb = "watch" if wanted.watch else "list"
            raise Problem(
                403,
                f'{wanted.plural} is forbidden: User "bot" cannot {verb} {wanted.plural} {group}',
            )

    def _authenticate(self, wanted: Target) -> None:
        token = self._api.token
        public = wanted.path in ("/version", "/readyz", "/livez", "/healthz")
        if token and not public and self.headers.get("Authorization") != f"Bearer {token}":
            raise Problem(401, "Unauthorized")

    def _answer(self, wanted: Target) -> None:
        if wanted.group == resources.VISIBILITY:
            self._send(200, _json(self._visible(wanted)))
        elif wanted.plural:
            self._resource(wanted)
        else:
            self._send(200, self._document(wanted))

    def _document(self, wanted: Target) -> bytes:
        api = self._api
        if wanted.path in ("/readyz", "/livez", "/healthz"):
            return b"ok"
        if wanted.path == "/version":
            return _json({"major": "1", "minor": "36", "gitVersion": "v1.36.3"})
        if wanted.path == "/api":
            return _json({"kind": "APIVersions", "versions": ["v1"]})
        if wanted.path == "/apis":
            groups = [resources.group(api.versions)]
            return _json({"kind": "APIGroupList", "apiVersion": "v1", "groups": groups})
        if wanted.group == resources.KUEUE and not wanted.version:
            return _json(resources.group(api.versions))
        if wanted.group == resources.KUEUE and wanted.version in api.versions:
            return _json(resources.resource_list(wanted.version, api.resources))
        raise _unknown()

    def _resource(self, wanted: Target) -> None:
        api = self._api
        known = wanted.plural in {r.plural for r in api.resources} and not wanted.subresource
        if wanted.group != resources.KUEUE or wanted.version not in api.versions or not known:
            raise _unknown()
        if wanted.name:
            self._send(200, self._one(wanted))
        elif wanted.watch:
            self._stream(watch_lines(api, wanted))
        else:
            self._send(200, self._list(wanted))

    def _one(self, wanted: Target) -> bytes:
        found = self._api.store.get(wanted.plural, wanted.namespace, wanted.name)
        if found is None:
            named = f'{wanted.plural}.{wanted.group} "{wanted.name}" not found'
            raise Problem(404, named)
        return found

    def _list(self, wanted: Target) -> bytes:
        version = f"{wanted.group}/{wanted.version}"
        limit, token = wanted.number("limit"), wanted.query.get("continue", "")
        try:
            return self._api.pages.page(wanted.plural, version, limit, token)
        except Expired as expired:
            raise Problem(410, str(expired)) from expired

    def _visible(self, wanted: Target) -> dict[str, Any]:
        pending = self._api.pending
        if pending is None or wanted.subresource != "pendingworkloads":
            raise _unknown()
        items = pending(wanted.name)
        if items is None:
            raise Problem(404, f'clusterqueues.{wanted.group} "{wanted.name}" not found')
        start, limit = wanted.number("offset"), wanted.number("limit", 1000)
        version = f"{wanted.group}/{wanted.version}"
        page = items[start : start + limit]
        return {"kind": "PendingWorkloadsSummary", "apiVersion": version, "items": page}

    def _refuse(self, problem: Problem) -> None:
        reason = _REASONS.get(problem.code, "InternalError")
        with contextlib.suppress(ConnectionError):
            self._send(problem.code, _json(resources.status(problem.code, reason, problem.message)))

    def _send(self, code: int, body: bytes) -> None:
        self.send_response(code)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(body)

    def _stream(self, lines: Iterable[bytes]) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for line in lines:
            self.wfile.write(b"%x\r\n%s\r\n" % (len(line), line))
        self.wfile.write(b"0\r\n\r\n")


def _json(document: dict[str, Any]) -> bytes:
    return msgspec.json.encode(document)


def _unknown() -> Problem:
    return Problem(404, "the server could not find the requested resource")
