"""The wire to the API server: the official client's configuration and pool, raw bytes out.

The client knows kubeconfigs, in-cluster accounts, exec plugins and certificates; its models are
not used, because they cost ten times what an answer needs.
"""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

import urllib3
from kubernetes import client
from kubernetes import config as kube_config
from kubernetes.config.config_exception import ConfigException

from capacity.errors import UsageError

_CONNECT_SECONDS = 3.0
_POOL = 16


@dataclass(frozen=True, slots=True)
class ClusterConfig:
    """How to reach a cluster: a server with a token, else a kubeconfig, else the pod's account.

    ``visibility_url`` is the base URL of Kueue's own visibility server, for clusters where it is
    not registered as an aggregated API; ``cluster`` is the name that answers show.
    """

    cluster: str = "default"
    server: str | None = None
    token: str | None = field(default=None, repr=False)
    ca_file: str | None = None
    verify_tls: bool = True
    kubeconfig: str | None = None
    context: str | None = None
    visibility_url: str | None = None


class ApiError(Exception):
    """The API server refused or didn't answer; ``status`` is its HTTP code, 0 without an answer."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(f"{status} {message}" if status else message)
        self.status = status
        self.message = message


class Api:
    """Read-only requests with the rights of one account. Safe to share between threads."""

    def __init__(self, config: ClusterConfig) -> None:
        self._configuration = _configuration(config)
        self._pool = client.ApiClient(self._configuration).rest_client.pool_manager
        self._host = str(self._configuration.host).rstrip("/")

    def get(
        self, path: str, query: Mapping[str, object] | None = None, *, seconds: float = 30.0
    ) -> bytes:
        """Return the body of a GET; raises ApiError. A path may be a whole URL."""
        try:
            response = self._request(path, query or {}, seconds, stream=False)
            return bytes(response.data)
        except (urllib3.exceptions.HTTPError, OSError) as error:
            raise ApiError(0, _reason(error)) from error

    @contextmanager
    def stream(
        self, path: str, query: Mapping[str, object], *, silence: float
    ) -> Iterator["Stream"]:
        """Open a watch; it fails with ApiError after ``silence`` seconds without a byte."""
        try:
            response = self._request(path, query, silence, stream=True)
        except (urllib3.exceptions.HTTPError, OSError) as error:
            raise ApiError(0, _reason(error)) from error
        try:
            yield Stream(response)
        finally:
            response.close()

    def _request(
        self, path: str, query: Mapping[str, object], seconds: float, *, stream: bool
    ) -> urllib3.BaseHTTPResponse:
        url = path if "://" in path else self._host + path
        response = self._pool.request(
            "GET",
            f"{url}?{urlencode(query)}" if query else url,
            headers=self._headers(),
            timeout=urllib3.Timeout(connect=min(seconds, _CONNECT_SECONDS), read=seconds),
            preload_content=not stream,
            retries=False,
            redirect=False,
        )
        if response.status != 200:
            body = response.data
            raise ApiError(response.status, _message(body) or str(response.reason))
        return response

    def _headers(self) -> dict[str, str]:
        headers = {"Accept": "application/json", "User-Agent": "gpubot"}
        settings: Any = self._configuration.auth_settings()
        for setting in settings.values():
            if setting["in"] == "header" and setting["value"]:
                headers[setting["key"]] = setting["value"]
        return headers


class Stream:
    """Lines of a watch, as they come."""

    def __init__(self, response: urllib3.BaseHTTPResponse) -> None:
        self._response = response

    def lines(self) -> Iterator[bytes]:
        """Yield whole lines until the server closes; raises ApiError when the connection breaks."""
        rest = b""
        try:
            for chunk in self._response.stream(1 << 16, decode_content=False):
                *whole, rest = (rest + chunk).split(b"\n")
                yield from filter(None, whole)
        except (urllib3.exceptions.HTTPError, OSError, ValueError) as error:
            raise ApiError(0, _reason(error)) from error

    def interrupt(self) -> None:
        """End a read that waits in another thread; a stream that has ended stays as it is."""
        with suppress(ValueError, RuntimeError, OSError):
            self._response.shutdown()


def _configuration(config: ClusterConfig) -> client.Configuration:
    found = client.Configuration()
    load: Any = kube_config
    try:
        if config.server:
            _direct(found, config)
        elif config.kubeconfig or config.context:
            load.load_kube_config(
                config_file=config.kubeconfig,
                context=config.context,
                client_configuration=found,
                persist_config=False,
            )
        else:
            load.load_incluster_config(client_configuration=found)
    except (ConfigException, OSError) as error:
        raise UsageError(
            f"I can't read how to reach the cluster {config.cluster}.",
            "Set a kubeconfig, or a server and a token, or run inside the cluster.",
            detail=str(error),
        ) from error
    found.connection_pool_maxsize = _POOL
    return found


def _direct(found: Any, config: ClusterConfig) -> None:
    found.host = config.server
    found.ssl_ca_cert = config.ca_file
    found.verify_ssl = config.verify_tls
    if config.token:
        found.api_key = {"authorization": f"Bearer {config.token}"}


def _message(body: bytes) -> str:
    """Return the message of a Status object; a proxy may have answered with anything else."""
    try:
        status = json.loads(body)
    except ValueError:
        return body[:200].decode("utf-8", "replace").strip()
    return str(status.get("message") or "") if isinstance(status, dict) else ""


def _reason(error: Exception) -> str:
    """Return the innermost cause in words: "Connection refused" says more than its wrappers."""
    cause: BaseException = error
    while (inner := getattr(cause, "reason", None) or cause.__cause__) and isinstance(
        inner, BaseException
    ):
        cause = inner
    return f"{type(cause).__name__}: {cause}"
