"""Databases for the store's tests: SQLite always, PostgreSQL when its programs are here."""

import os
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from bot.store import Store, open_store


@pytest.fixture(scope="session")
def postgres_url() -> Iterator[str]:
    """A throw-away PostgreSQL server (GPUBOT_TEST_POSTGRES names another); ends with the session."""
    given = os.environ.get("GPUBOT_TEST_POSTGRES")
    if given:
        yield given
        return
    programs = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    if not programs:
        pytest.skip("PostgreSQL's programs are not installed, and GPUBOT_TEST_POSTGRES is not set")
    yield from _server(programs[-1].parent)


def _server(programs: Path) -> Iterator[str]:
    user = "postgres" if os.geteuid() == 0 else None  # it refuses to run as root
    home = Path(tempfile.mkdtemp(prefix="gpubot-pg-"))
    if user:
        shutil.chown(home, user)
    data, port = home / "data", _free_port()
    log = (home / "log").open("wb")
    run = {"user": user, "cwd": home, "stdout": log, "stderr": log}
    subprocess.run(
        [programs / "initdb", "-D", data, "-U", "gpubot", "-A", "trust"], check=True, **run
    )
    options = {
        "unix_socket_directories": str(home),
        "fsync": "off",
        "listen_addresses": "127.0.0.1",
    }
    flags = [part for key, value in options.items() for part in ("-c", f"{key}={value}")]
    server = subprocess.Popen([programs / "postgres", "-D", data, "-p", str(port), *flags], **run)
    try:
        _wait(port, server)
        yield f"postgresql://gpubot@127.0.0.1:{port}/postgres"
    finally:
        server.terminate()
        server.wait(20)
        log.close()
        shutil.rmtree(home, ignore_errors=True)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _wait(port: int, server: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline and server.poll() is None:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.1)
    raise RuntimeError("PostgreSQL did not start")


@pytest.fixture(params=["sqlite", "postgresql"])
def store_url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """An empty database of each kind."""
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path}/gpubot.db"
        return
    from sqlalchemy import create_engine, text

    server = request.getfixturevalue("postgres_url")
    name = f"t{abs(hash(tmp_path)):x}"
    engine = create_engine(
        server.replace("postgresql://", "postgresql+psycopg://"), isolation_level="AUTOCOMMIT"
    )
    with engine.connect() as connection:
        connection.execute(text(f"CREATE DATABASE {name}"))
    yield server.rsplit("/", 1)[0] + f"/{name}"
    with engine.connect() as connection:
        connection.execute(text(f"DROP DATABASE {name} WITH (FORCE)"))
    engine.dispose()


@pytest.fixture
def store(store_url: str) -> Iterator[Store]:
    """An open store on each kind of database."""
    opened = open_store(store_url)
    yield opened
    opened.close()
