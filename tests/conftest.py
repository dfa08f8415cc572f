"""Shared fixtures, and the rule that CI skips nothing."""

import os
import shutil
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
REQUIRE_ALL = os.environ.get("GPUBOT_REQUIRE_ALL") == "1"

if (ROOT / "tests/cluster/fixtures.py").exists():
    pytest_plugins = ["tests.cluster.fixtures"]


@pytest.fixture(autouse=True)
def _no_slack_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Bolt turns OAuth on when it finds these, so tests never see the developer's."""
    for name in list(os.environ):
        if name.startswith(("SLACK_", "GPUBOT_SLACK", "KUBECONFIG")):
            monkeypatch.delenv(name)


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of fixtures, corpus and schemas that outside users don't have."""
    folder = Path(os.environ.get("GPUBOT_SHARED", ROOT.parent / "shared"))
    if not folder.is_dir():
        pytest.skip("no shared folder beside the checkout (set GPUBOT_SHARED)")
    return folder


@pytest.fixture(scope="session")
def chromium() -> str:
    """The path of a real Chromium."""
    found = shutil.which("chromium") or shutil.which("chromium-browser")
    if not found:
        pytest.skip("no Chromium on this machine (Debian: apt-get install chromium)")
    return found


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if REQUIRE_ALL and reporter and reporter.stats.get("skipped") and exitstatus == 0:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if REQUIRE_ALL and terminalreporter.stats.get("skipped"):
        terminalreporter.write_line("GPUBOT_REQUIRE_ALL=1: a skipped test is a failure", red=True)
