"""A real control plane: etcd and kube-apiserver, and on request the controller manager and the scheduler."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from tests.cluster.build import path_of
from tests.cluster.certificates import shared_certificate
from tests.cluster.process import Process, free_port, start_together, wait_until
from tests.cluster.users import ADMIN, GPUBOT, User, kubeconfig, token_file
from tests.cluster.web import Api, answers, bearer

CONTROLLERS = (
    "job-controller,cronjob-controller,deployment-controller,replicaset-controller,statefulset-controller,"
    "daemonset-controller,garbage-collector-controller,namespace-controller,pod-garbage-collector-controller,"
    "ttl-after-finished-controller,resourcequota-controller,node-lifecycle-controller"
)


class ControlPlane:
    """etcd and kube-apiserver (and more) on loopback, each part stoppable and startable on its port.

    Use as a context manager, or call `start` and `stop`. The attributes `etcd`, `api_server`,
    `controller_manager` and `scheduler` are the parts' processes.
    """

    def __init__(
        self,
        folder: Path,
        *,
        users: Sequence[User] = (),
        controllers: bool = True,
        scheduler: bool = True,
    ) -> None:
        self.folder = folder
        self.certificate = shared_certificate()
        self.users = {user.name: user for user in (ADMIN, GPUBOT, *users)}
        self.url = f"https://127.0.0.1:{free_port()}"
        self.api = self.api_as(ADMIN.name)
        folder.mkdir(parents=True, exist_ok=True)
        self.etcd = self._etcd()
        self.api_server = self._api_server()
        self.controller_manager = self._controller_manager() if controllers else None
        self.scheduler = self._scheduler() if scheduler else None

    def start(self) -> Self:
        """Starts all parts that don't run; returns when the API server is ready and the others run.

        Raises:
            ProcessError: naming the part that did not start. The others are stopped then.
        """
        with ExitStack() as undo:
            undo.callback(self.stop)
            self.etcd.start()
            self.api_server.start()
            wait_until(self._has_default_namespace, "the namespace default")
            start_together(*(part for part in (self.controller_manager, self.scheduler) if part))
            undo.pop_all()
        return self

    def stop(self) -> None:
        """Stops all parts; the API server before etcd, whose absence would hold it up for long."""
        for part in (self.scheduler, self.controller_manager, self.api_server, self.etcd):
            if part:
                part.stop()

    def api_as(self, user: str) -> Api:
        """The Kubernetes API, called as one of the users."""
        return Api(self.url, bearer(self.users[user].token))

    def kubeconfig(self, user: str = ADMIN.name) -> Path:
        """A kubeconfig file for one of the users, written on first use."""
        path = self.folder / f"kubeconfig-{self.users[user].token}"
        if not path.exists():
            path.write_text(kubeconfig(self.url, self.certificate, self.users[user]))
        return path

    def kubectl(self, *arguments: str, stdin: str | None = None, user: str = ADMIN.name) -> str:
        """Runs kubectl and returns its output.

        Raises:
            subprocess.CalledProcessError: with kubectl's own words in its notes.
        """
        # A discovery cache would hide the kinds that were defined a moment ago.
        options = ["--kubeconfig", str(self.kubeconfig(user)), "--cache-dir", os.devnull]
        command = [str(path_of("kubernetes", "kubectl")), *options, *arguments]
        done = subprocess.run(command, input=stdin, capture_output=True, text=True, check=False)
        if done.returncode:
            error = subprocess.CalledProcessError(
                done.returncode, command, done.stdout, done.stderr
            )
            error.add_note(done.stderr)
            raise error
        return done.stdout

    def apply(self, *manifests: Mapping[str, Any]) -> None:
        """Creates or changes objects by server-side apply."""
        text = "\n---\n".join(json.dumps(manifest) for manifest in manifests)
        self.kubectl("apply", "--server-side", "--force-conflicts", "-f", "-", stdin=text)

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

    def _has_default_namespace(self) -> bool:
        return bool(self.api.get("/api/v1/namespaces/default"))

    @property
    def etcd_url(self) -> str:
        """The address of etcd, for what has to be in the store faster than the API takes it."""
        return self._etcd_url

    def _etcd(self) -> Process:
        self._etcd_url, peer_url = (f"http://127.0.0.1:{free_port()}" for _ in range(2))
        arguments: list[str | Path] = [path_of("etcd"), "--data-dir", self.folder / "etcd"]
        arguments += ["--unsafe-no-fsync", "--log-level", "error"]
        arguments += [
            "--listen-client-urls",
            self._etcd_url,
            "--advertise-client-urls",
            self._etcd_url,
        ]
        arguments += ["--listen-peer-urls", peer_url]
        url = f"{self._etcd_url}/readyz"
        return Process("etcd", arguments, self.folder / "etcd.log", ready=lambda: answers(url))

    def _api_server(self) -> Process:
        tokens = self.folder / "tokens.csv"
        tokens.write_text(token_file(self.users.values()))
        return Process(
            "kube-apiserver",
            [path_of("kubernetes", "kube-apiserver"), *self._api_server_flags(tokens)],
            self.folder / "kube-apiserver.log",
            ready=lambda: answers(f"{self.url}/readyz", headers=bearer(ADMIN.token)),
            stop_seconds=20,
        )

    def _api_server_flags(self, tokens: Path) -> list[str]:
        cert, key = self.certificate.cert, self.certificate.key
        flags: dict[str, object] = {
            "etcd-servers": self._etcd_url,
            "bind-address": "127.0.0.1",
            "secure-port": self.url.rpartition(":")[2],
            "cert-dir": self.folder,
            "tls-cert-file": cert,
            "tls-private-key-file": key,
            "service-account-issuer": "https://localhost",
            "service-account-key-file": key,
            "service-account-signing-key-file": key,
            "token-auth-file": tokens,
            "authorization-mode": "RBAC",
            "service-cluster-ip-range": "10.0.0.0/24",
            # Pods need no token here, and without this one each namespace would need a service account first.
            "disable-admission-plugins": "ServiceAccount",
            # What aggregated APIs need to believe this server; Kueue's visibility API is one.
            "requestheader-client-ca-file": cert,
            "requestheader-username-headers": "X-Remote-User",
            "requestheader-group-headers": "X-Remote-Group",
            "requestheader-extra-headers-prefix": "X-Remote-Extra-",
            "proxy-client-cert-file": cert,
            "proxy-client-key-file": key,
            # A stop has to be quick, and there are no load balancers here to wait for.
            "shutdown-delay-duration": "0s",
            # Otherwise it waits a minute for watches, which never end by themselves.
            "shutdown-watch-termination-grace-period": "1s",
        }
        return [f"--{name}={value}" for name, value in flags.items()]

    def _controller_manager(self) -> Process:
        return self._client("kube-controller-manager", f"--controllers={CONTROLLERS}")

    def _scheduler(self) -> Process:
        return self._client("kube-scheduler")

    def _client(self, name: str, *more: str) -> Process:
        config = self.kubeconfig()
        flags = [
            f"--kubeconfig={config}",
            f"--authentication-kubeconfig={config}",
            "--leader-elect=false",
        ]
        port = free_port()
        flags += [
            f"--authorization-kubeconfig={config}",
            "--bind-address=127.0.0.1",
            f"--secure-port={port}",
        ]
        flags += [f"--cert-dir={self.folder}", *more]
        url = f"https://127.0.0.1:{port}/healthz"
        return Process(
            name,
            [path_of("kubernetes", name), *flags],
            self.folder / f"{name}.log",
            ready=lambda: answers(url, headers=bearer(ADMIN.token)),
        )
