"""The command line as a person uses it: in a process of its own, against a served cluster."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from bot.playground.cluster import PlaygroundCluster
from bot.playground.fake_slack.server import FakeSlack, application
from bot.playground.seeding import make_repository, manifests
from bot.playground.serving import Serving
from bot.sources import utc_now
from gitops.repository import Repository

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def environ(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    folder = tmp_path_factory.mktemp("cli")
    make_repository(folder / "fleet.git", utc_now())
    cluster = PlaygroundCluster(manifests=manifests(Repository(folder / "fleet.git")))
    cluster.start()
    slack = FakeSlack(rate_scale=float("inf"))
    serving = Serving(application(slack))
    serving.start()
    slack.at(serving.url)
    yield {
        "GPUBOT_CLUSTER": "prod-eu",
        "GPUBOT_KUBE_SERVER": cluster.url,
        "GPUBOT_KUBE_TOKEN": cluster.token,
        "GPUBOT_REPOSITORY": str(folder / "fleet.git"),
        "GPUBOT_DATABASE_URL": f"sqlite:///{folder / 'gpubot.db'}",
        "GPUBOT_SLACK_BASE_URL": slack.api_url,
        "GPUBOT_SLACK_BOT_TOKEN": "xoxb-play",
        "GPUBOT_SLACK_APP_TOKEN": "xapp-play",
        "GPUBOT_REQUESTS_CHANNEL": "C0REQUESTS",
    }
    serving.stop()
    cluster.stop()


def gpubot(environ: Mapping[str, str], *words: str) -> subprocess.CompletedProcess[str]:
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("GPUBOT_", "SLACK_"))}
    return subprocess.run(
        [sys.executable, "-m", "bot", *words],
        cwd=ROOT,
        env=clean | dict(environ) | {"COLUMNS": "100"},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_a_question_is_answered_in_plain_text(environ: dict[str, str]) -> None:
    done = gpubot(environ, "ask", "quota research")
    assert done.returncode == 0, done.stderr
    assert "research can start 4 more" in done.stdout
    assert "\x1b" not in done.stdout


def test_json_is_the_answers_data(environ: dict[str, str]) -> None:
    done = gpubot(environ, "ask", "quota", "research", "--json")
    assert json.loads(done.stdout)["as_of"]


def test_as_a_person_their_own_team_is_meant(environ: dict[str, str]) -> None:
    assert "research can start" in gpubot(environ, "ask", "quota", "--as", "ana").stdout
    stranger = gpubot(environ, "ask", "quota", "--as", "nobody")
    assert stranger.returncode == 2
    assert "No person is called nobody" in stranger.stderr


def test_an_error_is_a_sentence_and_an_exit_code(environ: dict[str, str]) -> None:
    done = gpubot(environ, "ask", "quota reserch")
    assert done.returncode == 2
    assert "Did you mean research?" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_cluster_that_is_away_is_said_within_seconds(environ: dict[str, str]) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
    start = time.monotonic()
    done = gpubot(environ | {"GPUBOT_KUBE_SERVER": f"http://127.0.0.1:{port}"}, "ask", "quota ml")
    assert done.returncode == 1
    assert "I can't reach Kueue, cluster prod-eu" in done.stderr
    assert time.monotonic() - start < 20


def test_a_typo_in_a_setting_stops_it(environ: dict[str, str]) -> None:
    done = gpubot(environ | {"GPUBOT_WORKER": "3"}, "ask", "quota ml")
    assert done.returncode == 2
    assert "GPUBOT_WORKER: no such setting" in done.stderr


def test_check_says_what_is_well_and_what_lacks(environ: dict[str, str]) -> None:
    well = gpubot(environ, "check")
    assert well.returncode == 0, well.stdout
    assert "LACKING" not in well.stdout
    lacking = gpubot(environ | {"GPUBOT_SLACK_BOT_TOKEN": "xoxb-wrong"}, "check")
    assert lacking.returncode == 1
    assert "LACKING  bot token: Slack refuses it: invalid_auth" in lacking.stdout
    assert "xoxb" not in lacking.stdout


def test_a_dry_run_prints_the_digest_and_posts_nothing(environ: dict[str, str]) -> None:
    done = gpubot(environ, "digest", "--dry-run", "C0RESEARCH=quota research")
    assert "# to C0RESEARCH: quota research" in done.stdout
    assert "research can start 4 more" in done.stdout
    assert gpubot(environ, "digest").returncode == 2


def test_the_lint_has_nothing_to_block_in_the_seed(environ: dict[str, str]) -> None:
    done = gpubot(environ, "lint")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "error" not in done.stdout


def test_the_audit_of_a_new_bot_holds(environ: dict[str, str]) -> None:
    done = gpubot(environ, "audit", "verify")
    assert done.stdout.startswith("The chain holds: 0 records")


def test_it_runs_until_it_is_told_to_end_and_then_ends_cleanly(environ: dict[str, str]) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("GPUBOT_", "SLACK_"))}
    process = subprocess.Popen(
        [sys.executable, "-m", "bot", "run"],
        cwd=ROOT,
        env=clean | environ | {"GPUBOT_LISTEN_PORT": str(port)},
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert _ready(port), "not ready in time"
        process.send_signal(signal.SIGTERM)
        _, log = process.communicate(timeout=15)
    finally:
        process.kill()
    assert process.returncode == 0
    assert "stopped" in log
    assert "Traceback" not in log
    assert "xoxb-play" not in log


def _ready(port: int) -> bool:
    for _ in range(300):
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/readyz", timeout=2):
                return True
        except OSError:
            time.sleep(0.1)
    return False
