"""The app manifest against its published schema and against the code: all that is used, no more."""

import ast
import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from bot.playground.fake_slack.web_methods import METHODS
from bot.slack_commands import GPU
from commands.table import COMMANDS

ROOT = Path(__file__).resolve().parents[2]
# Scopes that a payload needs, beside those of the methods that are called.
BY_EVENT = {"app_mention": "app_mentions:read", "user_change": "users:read", "app_home_opened": ""}


@pytest.fixture(scope="module")
def manifest() -> dict[str, Any]:
    loaded = yaml.safe_load((ROOT / "app-manifest.yaml").read_text("utf-8"))
    assert isinstance(loaded, dict)
    return loaded


def strings_in_calls(function: str) -> set[str]:
    """First string arguments of every ``….function("…")`` in the Slack modules."""
    found = set()
    for path in (ROOT / "bot").glob("slack*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if (
                isinstance(node, ast.Call)
                and getattr(node.func, "attr", "") == function
                and node.args
                and isinstance(node.args[0], ast.Constant)
            ):
                found.add(str(node.args[0].value))
    return found


@pytest.mark.shared
def test_it_is_valid_against_slacks_schema(manifest: dict[str, Any], shared: Path) -> None:
    schema = json.loads((shared / "schemas/slack-manifest.schema.2.json").read_text("utf-8"))
    errors = jsonschema.Draft7Validator(schema).iter_errors(manifest)
    assert [f"{list(e.path)}: {e.message}" for e in errors] == []


def test_there_is_a_slash_command_for_each_question_and_for_requests(
    manifest: dict[str, Any],
) -> None:
    declared = [c["command"] for c in manifest["features"]["slash_commands"]]
    words = {c.word for c in COMMANDS} | {"request"}
    assert sorted(declared) == sorted({"/gpu", *(f"/gpu-{word}" for word in words)})
    assert all(GPU.match(command) and len(command) <= 32 for command in declared)


def test_it_subscribes_to_the_events_that_are_listened_to(manifest: dict[str, Any]) -> None:
    declared = set(manifest["settings"]["event_subscriptions"]["bot_events"])
    assert declared == strings_in_calls("event")


def test_it_asks_for_the_scopes_that_are_used(manifest: dict[str, Any]) -> None:
    called = strings_in_calls("call")
    assert called <= set(METHODS)
    needed = {METHODS[name].scope for name in called} | {"commands"}
    needed |= {BY_EVENT[event] for event in strings_in_calls("event")}
    assert set(manifest["oauth_config"]["scopes"]["bot"]) == needed - {""}


def test_its_shortcuts_are_those_that_are_listened_to(manifest: dict[str, Any]) -> None:
    declared = [s["callback_id"] for s in manifest["features"]["shortcuts"]]
    assert sorted(declared) == sorted(strings_in_calls("shortcut"))


def test_nothing_of_it_is_reachable_from_outside(manifest: dict[str, Any]) -> None:
    assert manifest["settings"]["socket_mode_enabled"] is True
    assert "url" not in json.dumps(manifest)
