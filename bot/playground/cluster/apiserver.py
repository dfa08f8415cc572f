"""A small Kubernetes API server on loopback: discovery, lists in pages, watches, and errors.

It is read-only, like the bot's account in a real cluster. Everything on the wire has the shape of
the real one, so the bot's reader can't tell the difference.
"""

import socket
import threading
from collections.abc import Callable, Sequence
from http.server import ThreadingHTTPServer
from typing import Any

from bot.playground.cluster.faults import Faults
from bot.playground.cluster.handler import Handler
from bot.playground.cluster.objects import ObjectStore
from bot.playground.cluster.paging import Pages
from bot.playground.cluster.resources import RESOURCES, Resource

PendingOrder = Callable[[str], list[dict[str, Any]] | None]


class ApiServer:
    """Serves an object store until stopped; it can be stopped and started again on its port.

    ``pending`` answers the visibility API: the items of a queue in order, None for no such queue.
    """

    def __init__(
        self,
        store: ObjectStore,
        *,
        port: int = 0,
        token: str = "",
        versions: Sequence[str] = ("v1beta2",),
        without: Sequence[str] = (),
        pending: PendingOrder | None = None,
        bookmark_seconds: float = 30.0,
    ) -> None:
        self.store = store
        self.pages = Pages(store)
        self.faults = Faults()
        self.token = token
        self.versions = tuple(versions)
        self.without = set(without)
        self.pending = pending
        self.bookmark_seconds = bookmark_seconds
        self._port = port
        self._server: _Server | None = None

    @property
    def url(self) -> str:
        """The base address, also while the server is stopped."""
        return f"http://127.0.0.1:{self._port}"

    @property
    def resources(self) -> tuple[Resource, ...]:
        """The kinds that are served."""
        return tuple(r for r in RESOURCES if r.plural not in self.without)

    @property
    def running(self) -> bool:
        """Tell whether it is started."""
        return self._server is not None

    def start(self) -> None:
        """Listen; a free port is chosen the first time and kept."""
        self.faults.released = threading.Event()
        self._server = _Server(self, self._port)
        self._port = self._server.server_address[1]
        threading.Thread(
            target=self._server.serve_forever, args=(0.05,), name="apiserver", daemon=True
        ).start()

    def stop(self) -> None:
        """Stop as a killed process does: every connection breaks."""
        server, self._server = self._server, None
        if server:
            self.faults.released.set()
            server.shutdown()
            server.server_close()
            server.break_connections()
            self.store.wake()

    def break_connections(self) -> None:
        """Cut every open connection; new ones are welcome."""
        if self._server:
            self._server.break_connections()

    def forget(self) -> None:
        """Forget past events and unfinished lists: older versions get 410."""
        self.store.forget()
        self.pages.forget()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    allow_reuse_address = True
    request_queue_size = 64

    def __init__(self, api: ApiServer, port: int) -> None:
        self.api = api
        self._open: set[socket.socket] = set()
        self._lock = threading.Lock()
        super().__init__(("127.0.0.1", port), Handler)

    def process_request(self, request: Any, client_address: Any) -> None:
        with self._lock:
            self._open.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        with self._lock:
            self._open.discard(request)
        super().shutdown_request(request)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that goes away in the middle is nothing to report."""

    def break_connections(self) -> None:
        with self._lock:
            connections = list(self._open)
        for connection in connections:
            _cut(connection)


def _cut(connection: socket.socket) -> None:
    try:
        connection.shutdown(socket.SHUT_RDWR)
    except OSError:  # the other side was faster
        return
