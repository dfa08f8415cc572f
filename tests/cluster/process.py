"""Processes that never outlive their owner, that say when they are ready, and whose failures quote their log."""

from __future__ import annotations

import atexit
import ctypes
import os
import random
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPException
from pathlib import Path
from types import TracebackType
from typing import Self

_LOG_TAIL_LINES = 30
_POLL_SECONDS = 0.05
_PR_SET_PDEATHSIG = 1
_libc = ctypes.CDLL(None, use_errno=True)
# Linux sends the parent-death signal when the *thread* that forked ends. One thread that lives as long as the
# interpreter starts everything, so that a stack may be started from a short-lived thread.
_spawner = ThreadPoolExecutor(max_workers=1, thread_name_prefix="spawner")
_running: list[Process] = []
_given_ports: set[int] = set()


class ProcessError(RuntimeError):
    """A program did not start, or did not become ready in time; the text names it and quotes the end of its log."""


class Process:
    """One program: started, waited for, stopped by its process id, and startable again with the same arguments."""

    def __init__(
        self,
        name: str,
        arguments: Sequence[str | Path],
        log: Path,
        *,
        ready: Callable[[], bool],
        environment: Mapping[str, str] | None = None,
        start_seconds: float = 120,
        stop_seconds: float = 10,
    ) -> None:
        self.name = name
        self.arguments = [str(argument) for argument in arguments]
        self.log = log
        self._ready = ready
        self._environment = dict(environment or {})
        self._start_seconds = start_seconds
        self._stop_seconds = stop_seconds
        self._child: subprocess.Popen[bytes] | None = None

    @property
    def pid(self) -> int | None:
        """The process id, None while it doesn't run."""
        return self._child.pid if self._child and self._child.poll() is None else None

    def spawn(self) -> None:
        """Starts the program and returns at once; `wait_ready` follows, so that several can start side by side."""
        if self.pid is not None:
            return
        with self.log.open("ab") as log:
            self._child = _spawner.submit(self._popen, log.fileno()).result()
        _running.append(self)

    def wait_ready(self) -> Self:
        """Waits until the program says that it is ready.

        Raises:
            ProcessError: when it exits before, or isn't ready in time. It is stopped then.
        """
        deadline = time.monotonic() + self._start_seconds
        while not _holds(self._ready):
            if self.pid is None:
                raise self._failure("exited before it was ready")
            if time.monotonic() > deadline:
                self.stop()
                raise self._failure(f"was not ready after {self._start_seconds:.0f} s")
            time.sleep(_POLL_SECONDS)
        return self

    def start(self) -> Self:
        """Starts the program and waits until it is ready."""
        self.spawn()
        return self.wait_ready()

    def stop(self) -> None:
        """Ends the program: asks, waits, then kills; returns once its process is gone. Harmless when it doesn't run."""
        child, self._child = self._child, None
        if child is None:
            return
        _running.remove(self)
        # Only while it is unreaped: its id may belong to another process afterwards.
        if child.poll() is None:
            child.terminate()
            try:
                child.wait(self._stop_seconds)
            except subprocess.TimeoutExpired:
                child.kill()
                child.wait()

    def kill(self) -> None:
        """Ends the program without a warning, as a crash of its machine would."""
        if self._child is not None and self._child.poll() is None:
            self._child.kill()
        self.stop()

    def log_tail(self, lines: int = _LOG_TAIL_LINES) -> str:
        """The last lines that the program wrote."""
        if not self.log.exists():
            return ""
        return "\n".join(self.log.read_text(errors="replace").splitlines()[-lines:])

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

    def _popen(self, log: int) -> subprocess.Popen[bytes]:
        parent = os.getpid()

        def die_with_parent() -> None:
            if sys.platform == "linux":
                _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
            if os.getppid() != parent:  # It died between the fork and the call above.
                os._exit(1)

        return subprocess.Popen(
            self.arguments,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            env={**os.environ, **self._environment},
            preexec_fn=die_with_parent,  # noqa: PLW1509 - it makes two system calls and takes no lock
            # Ctrl-C must reach the owner only, who then stops the parts in their order.
            start_new_session=True,
        )

    def _failure(self, what: str) -> ProcessError:
        return ProcessError(f"{self.name} {what}; the end of its log:\n{self.log_tail()}")


def start_together(*processes: Process) -> None:
    """Starts programs that don't wait for each other, and returns when all are ready."""
    for process in processes:
        process.spawn()
    for process in processes:
        process.wait_ready()


def wait_until(condition: Callable[[], bool], what: str, seconds: float = 60) -> None:
    """Waits until a condition holds; a connection that fails counts as "not yet".

    Raises:
        TimeoutError: naming what was waited for.
    """
    deadline = time.monotonic() + seconds
    while not _holds(condition):
        if time.monotonic() > deadline:
            raise TimeoutError(f"not within {seconds:.0f} s: {what}")
        time.sleep(_POLL_SECONDS)


def free_port() -> int:
    """A port of 127.0.0.1 that is free now and that this process has not given out before.

    Taken from below the range that the kernel uses for outgoing connections, so that a part which is stopped and
    started again finds its port still free.
    """
    while True:
        port = random.randint(15000, 32000)
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
        if port not in _given_ports:
            _given_ports.add(port)
            return port


def running_pids() -> list[int]:
    """The process ids of everything that was started here and still runs."""
    return [pid for process in _running if (pid := process.pid) is not None]


def stop_everything() -> None:
    """Stops whatever still runs, the newest first; a net below the owners' own stopping."""
    for process in reversed(_running.copy()):
        process.stop()


def _holds(condition: Callable[[], bool]) -> bool:
    try:
        return condition()
    except (
        OSError,
        HTTPException,
    ):  # OSError has urllib's errors too: refused, reset, timed out, 4xx and 5xx.
        return False


atexit.register(stop_everything)
