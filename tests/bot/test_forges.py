"""The settings' forge: what is made of them, what they refuse, and that no secret ever shows."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from bot.forges import forge_of, hook_of, repository_of
from bot.settings import load
from capacity.errors import UsageError
from gitops.forge_invite import InvitingForge
from gitops.gitea import GiteaForge
from gitops.github import GithubForge
from gitops.gitlab import GitlabForge
from gitops.localgit import LocalForge

TOKEN = "t0ken-of-the-bot-account"
SECRET = "a-secret-of-sixteen"


def environment(kind: str, folder: Path, **more: str) -> dict[str, str]:
    said = {
        "GPUBOT_FORGE": kind,
        "GPUBOT_FORGE_REPOSITORY": "acme/fleet",
        "GPUBOT_FORGE_TOKEN": TOKEN,
        "GPUBOT_REPOSITORY": str(folder / "mirror.git"),
    }
    return said | more


@pytest.mark.parametrize(
    ("kind", "made", "url"),
    [
        ("github", GithubForge, ""),
        ("github", GithubForge, "https://github.example.com"),
        ("gitlab", GitlabForge, ""),
        ("gitea", GiteaForge, "https://git.example.com/"),
    ],
)
def test_each_forge_is_made_of_its_settings(
    kind: str, made: type, url: str, tmp_path: Path
) -> None:
    settings = load(environment(kind, tmp_path, GPUBOT_FORGE_URL=url))
    forge = forge_of(settings, repository_of(settings), lambda: datetime.now(UTC))
    assert isinstance(forge, InvitingForge)
    assert isinstance(forge.forge, made)
    assert TOKEN not in repr(settings)


def test_without_one_it_is_the_bare_repository_itself(tmp_path: Path) -> None:
    settings = load({"GPUBOT_REPOSITORY": str(tmp_path), "GPUBOT_FORGE_WEBHOOK_SECRET": SECRET})
    forge = forge_of(settings, repository_of(settings), lambda: datetime.now(UTC))
    assert isinstance(forge, LocalForge)
    assert hook_of(settings) is None


def test_a_webhook_is_listened_to_with_a_secret_only(tmp_path: Path) -> None:
    assert hook_of(load(environment("github", tmp_path))) is None
    settings = load(environment("github", tmp_path, GPUBOT_FORGE_WEBHOOK_SECRET=SECRET))
    hook = hook_of(settings)
    assert hook is not None
    assert hook.kind == "github"
    assert SECRET not in repr(settings)


@pytest.mark.parametrize(
    ("kind", "change", "said"),
    [
        ("github", {"GPUBOT_FORGE_TOKEN": None}, "GPUBOT_FORGE_TOKEN"),
        ("github", {"GPUBOT_REPOSITORY": None}, "GPUBOT_REPOSITORY"),
        ("gitlab", {"GPUBOT_FORGE_REPOSITORY": None}, "GPUBOT_FORGE_REPOSITORY"),
        ("gitlab", {"GPUBOT_FORGE_REPOSITORY": "fleet/../../x?"}, "GPUBOT_FORGE_REPOSITORY"),
        ("gitea", {}, "GPUBOT_FORGE_URL"),
        ("gitea", {"GPUBOT_FORGE_URL": "ssh://x"}, "GPUBOT_FORGE_URL"),
        ("github", {"GPUBOT_FORGE_APP_ID": "1"}, "a GitHub App needs"),
        ("github", {"GPUBOT_FORGE_WEBHOOK_SECRET": "short"}, "at least 16"),
        ("bitbucket", {}, "GPUBOT_FORGE"),
    ],
)
def test_half_a_forge_is_refused_at_start(
    kind: str, change: dict[str, str | None], said: str, tmp_path: Path
) -> None:
    wished = environment(kind, tmp_path) | change
    with pytest.raises(UsageError, match=said) as refused:
        load({name: value for name, value in wished.items() if value is not None})
    assert TOKEN not in refused.value.sentence
