"""A forge on loopback that judges every call, and every reply of its own, by a published description."""

import json
import re
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from tests.forges.openapi import Description, WrongCallError

CUT, HANG = "cut", "hang"


@dataclass
class Call:
    method: str
    path: str
    query: dict[str, str]
    headers: Mapping[str, str]
    body: Any


@dataclass
class Reply:
    status: int
    body: Any = None
    headers: dict[str, str] = field(default_factory=dict)


Route = tuple[str, str, Callable[..., Reply]]


@dataclass
class Fault:
    """What happens to the next call that matches, instead of or after its effect."""

    call: str
    reply: Reply | str
    after: bool = False
    times: int = 1


@dataclass
class Forge:
    """Routes (method, pattern of the path, what answers) below a prefix, judged by a description.

    ``unchecked`` are replies that the forge gives but its description leaves out, as "STATUS NAME".
    """

    routes: list[Route]
    description: Description
    prefix: str = ""
    unchecked: frozenset[str] = frozenset()
    judge_replies: bool = True
    calls: list[Call] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)
    url: str = ""

    def answer(self, call: Call) -> Reply | str:
        self.calls.append(call)
        fault = self._fault(call)
        if fault is not None and not fault.after:
            return fault.reply
        reply = self._judged(call)
        return fault.reply if fault is not None else reply

    def _judged(self, call: Call) -> Reply:
        try:
            return self._done(call)
        except WrongCallError as error:
            self.wrong.append(str(error))
            return Reply(418, {"message": str(error)})

    def _done(self, call: Call) -> Reply:
        path = call.path.removeprefix(self.prefix)
        for method, pattern, act in self.routes:
            match = re.fullmatch(pattern, path)
            if match and method == call.method:
                if path.endswith("/graphql"):
                    return act(call)
                operation = self.description.check_call(method, path, call.query, call.body)
                reply = act(call, *map(unquote, match.groups()))
                is_said = f"{reply.status} {operation.name}" not in self.unchecked
                if self.judge_replies and is_said:
                    self.description.check_reply(operation, reply.status, reply.body)
                return reply
        raise WrongCallError(f"{call.method} {path} isn't played here")

    def _fault(self, call: Call) -> Fault | None:
        for fault in self.faults:
            if re.search(fault.call, f"{call.method} {call.path}"):
                fault.times -= 1
                if not fault.times:
                    self.faults.remove(fault)
                return fault
        return None


@contextmanager
def serving(forge: Forge) -> Iterator[Forge]:
    """Serve a forge on a free port of loopback."""
    over = threading.Event()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def _all(self) -> None:
            size = int(self.headers.get("Content-Length") or 0)
            data = self.rfile.read(size)
            parts = urlsplit(self.path)
            query = dict(parse_qsl(parts.query, keep_blank_values=True))
            body = json.loads(data) if data else None
            call = Call(self.command, parts.path, query, dict(self.headers), body)
            reply = forge.answer(call)
            if isinstance(reply, str):
                if reply == HANG:
                    over.wait(10)
                self.close_connection = True
                return
            text = reply.body if isinstance(reply.body, bytes) else json.dumps(reply.body).encode()
            text = b"" if reply.body is None else text
            self.send_response(reply.status)
            for name, value in reply.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

        do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = _all  # noqa: N815

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    forge.url = f"http://127.0.0.1:{server.server_address[1]}"
    try:
        yield forge
    finally:
        over.set()
        server.shutdown()
        server.server_close()
        thread.join()
