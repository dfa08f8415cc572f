"""Settings: strict, documented, and silent about secrets."""

import ast
import inspect
import re
from pathlib import Path

import pytest

from bot import settings as module
from bot.settings import Settings, load
from capacity.errors import UsageError

TOKENS = {"GPUBOT_SLACK_BOT_TOKEN": "xoxb-1-secret", "GPUBOT_SLACK_APP_TOKEN": "xapp-1-secret"}


def test_nothing_set_gives_a_bot_that_can_be_asked_on_the_terminal() -> None:
    settings = load({})
    assert settings.slack_bot_token is None
    assert settings.listen_host == "127.0.0.1"


def test_the_environment_wins_over_the_file(tmp_path: Path) -> None:
    file = tmp_path / "gpubot.toml"
    file.write_text('cluster = "prod-eu"\nworkers = 3\nslack_team_ids = ["T1"]\n')
    settings = load({"GPUBOT_CONFIG": str(file), "GPUBOT_WORKERS": "5"})
    assert (settings.cluster, settings.workers, settings.slack_team_ids) == ("prod-eu", 5, ("T1",))


@pytest.mark.parametrize(
    ("environ", "words"),
    [
        ({"GPUBOT_SLAK_MODE": "socket"}, "GPUBOT_SLAK_MODE: no such setting"),
        ({"GPUBOT_WORKERS": "many"}, "GPUBOT_WORKERS"),
        ({"GPUBOT_SLACK_BOT_TOKEN": "xoxb-1"}, "needs GPUBOT_SLACK_APP_TOKEN"),
        (
            {"GPUBOT_SLACK_BOT_TOKEN": "xoxb-1", "GPUBOT_SLACK_MODE": "http"},
            "needs GPUBOT_SLACK_SIGNING_SECRET",
        ),
        ({"GPUBOT_SLACK_TEAM_IDS": '["T0PLAY"]'}, "ids of workspaces"),
        ({"GPUBOT_DIGEST_TIME_ZONE": "Mars/Olympus"}, "GPUBOT_DIGEST_TIME_ZONE"),
        ({"GPUBOT_SLACK_BASE_URL": "slack.com"}, "GPUBOT_SLACK_BASE_URL"),
        ({"GPUBOT_CONFIG": "/nowhere.toml"}, "not a file"),
        ({"SLACK_CLIENT_ID": "1", "SLACK_CLIENT_SECRET": "2"}, "SLACK_CLIENT_ID"),
    ],
)
def test_a_fault_is_named_at_start(environ: dict[str, str], words: str) -> None:
    with pytest.raises(UsageError) as caught:
        load(environ)
    assert words in caught.value.sentence


def test_no_secret_is_printed_by_settings_or_by_their_faults() -> None:
    assert "pa55" not in repr(load({"GPUBOT_DATABASE_URL": "postgresql://u:pa55@db/gpubot"}))
    assert "-secret" not in repr(load(TOKENS))
    with pytest.raises(UsageError) as caught:
        load({"GPUBOT_SLACK_BOT_TOKEN": "hunter2", "GPUBOT_WORKERS": "0"})
    assert "hunter2" not in str(caught.value)
    assert "hunter2" not in str(caught.value.__cause__)


def test_every_field_says_what_it_means() -> None:
    body = ast.parse(inspect.getsource(Settings)).body[0]
    assert isinstance(body, ast.ClassDef)
    undocumented = []
    for field, after in zip(body.body, body.body[1:], strict=False):
        documented = isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant)
        if isinstance(field, ast.AnnAssign) and not documented:
            undocumented.append(ast.unparse(field.target))
    assert not undocumented


def test_only_the_settings_read_the_environment() -> None:
    root = Path(module.__file__).parents[1]
    readers = [
        str(path.relative_to(root))
        for package in ("bot", "commands", "gitops", "capacity")
        for path in sorted((root / package).rglob("*.py"))
        if re.search(r"os\.(environ|getenv)", path.read_text("utf-8"))
    ]
    assert readers == ["bot/settings.py"]
