"""A real forge on loopback: Gitea with an administrator and several users, and helpers for its repositories."""

from __future__ import annotations

import getpass
import os
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Self

from tests.cluster.build import path_of
from tests.cluster.process import Process, ProcessError, free_port
from tests.cluster.repository import ADMIN, Repository
from tests.cluster.web import Api, RefusedError, answers, basic

BOT = "gpubot"
USERS = (BOT, "alice", "bob", "carol")
PASSWORD = "a-password-for-tests-only"


class Gitea:
    """Gitea as one process. Its attribute `process` can be stopped and started again by itself."""

    def __init__(self, folder: Path, users: Sequence[str] = USERS) -> None:
        """Besides the administrator `forge-admin` there will be these users."""
        self.folder = folder
        self.users = tuple(users)
        self.url = f"http://127.0.0.1:{free_port()}"
        self._tokens: dict[str, str] = {}
        folder.mkdir(parents=True, exist_ok=True)
        self._environment = {
            "GITEA_WORK_DIR": str(folder),
            "HOME": str(folder),
            "GITEA_CUSTOM": str(folder / "custom"),
        }
        self.process = Process(
            "gitea",
            [path_of("gitea"), "web", "--config", folder / "app.ini"],
            folder / "gitea.log",
            ready=lambda: answers(f"{self.url}/api/healthz"),
            environment=self._environment,
        )

    def start(self) -> Self:
        """Starts Gitea; makes its database and its users the first time."""
        is_new = not (self.folder / "app.ini").exists()
        if is_new:
            (self.folder / "app.ini").write_text(self._settings())
            self._run("migrate")
            who = ("--username", ADMIN, "--password", PASSWORD, "--email", f"{ADMIN}@example.com")
            self._run("admin", "user", "create", "--admin", "--must-change-password=false", *who)
        with ExitStack() as undo:
            undo.callback(self.stop)
            self.process.start()
            if is_new:
                for user in self.users:
                    self._add_user(user)
            undo.pop_all()
        return self

    def stop(self) -> None:
        """Stops Gitea and keeps its data."""
        self.process.stop()

    def token(self, user: str = ADMIN) -> str:
        """An access token of a user for everything that user may do; the same one each time."""
        if user not in self._tokens:
            by_password = Api(f"{self.url}/api/v1", basic(user, PASSWORD))
            made = by_password.post(f"/users/{user}/tokens", {"name": "tests", "scopes": ["all"]})
            self._tokens[user] = made["sha1"]
        return self._tokens[user]

    def api_as(self, user: str = ADMIN) -> Api:
        """Gitea's API (its paths begin after /api/v1), called as a user."""
        return Api(f"{self.url}/api/v1", {"Authorization": f"token {self.token(user)}"})

    def repository(
        self,
        name: str,
        files: Mapping[str, str],
        *,
        owner: str = "platform",
        writers: Sequence[str] | None = None,
    ) -> Repository:
        """Makes a public repository with these files on its branch main; all users may write unless some are named."""
        admin = self.api_as()
        try:
            admin.post("/orgs", {"username": owner})
        except RefusedError as refused:
            if refused.status != 422:  # It is there already.
                raise
        admin.post(
            f"/orgs/{owner}/repos", {"name": name, "auto_init": True, "default_branch": "main"}
        )
        repository = Repository(self, owner, name)
        for user in self.users if writers is None else writers:
            admin.put(f"{repository.path}/collaborators/{user}", {"permission": "write"})
        if files:
            repository.commit(files, "Begin")
        return repository

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

    def _add_user(self, user: str) -> None:
        body = {
            "username": user,
            "email": f"{user}@example.com",
            "password": PASSWORD,
            "must_change_password": False,
        }
        self.api_as().post("/admin/users", body)

    def _run(self, *arguments: str) -> None:
        command: list[str | Path] = [
            path_of("gitea"),
            "--config",
            self.folder / "app.ini",
            *arguments,
        ]
        environment = {**os.environ, **self._environment}
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        if done.returncode:
            raise ProcessError(
                f"gitea {arguments[0]} failed:\n{(done.stdout + done.stderr)[-2000:]}"
            )

    def _settings(self) -> str:
        # As root it starts only when told that this is meant.
        unsafe = "I_AM_BEING_UNSAFE_RUNNING_AS_ROOT = true" if os.geteuid() == 0 else ""
        return f"""\
RUN_USER = {getpass.getuser()}
RUN_MODE = prod
{unsafe}
[server]
HTTP_ADDR = 127.0.0.1
HTTP_PORT = {self.url.rpartition(":")[2]}
ROOT_URL = {self.url}/
STATIC_ROOT_PATH = {path_of("gitea", "static")}
APP_DATA_PATH = {self.folder}/data
DISABLE_SSH = true
OFFLINE_MODE = true
[database]
DB_TYPE = sqlite3
PATH = {self.folder}/gitea.db
[repository]
ROOT = {self.folder}/repositories
DEFAULT_BRANCH = main
[security]
INSTALL_LOCK = true
PASSWORD_HASH_ALGO = pbkdf2_v1
[webhook]
ALLOWED_HOST_LIST = loopback
[service]
DISABLE_REGISTRATION = true
[indexer]
ISSUE_INDEXER_TYPE = db
[actions]
ENABLED = false
[log]
MODE = console
LEVEL = Warn
"""
