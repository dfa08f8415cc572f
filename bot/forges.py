"""Which forge the settings name, and the repository that it keeps."""

from collections.abc import Callable
from datetime import datetime
from pathlib import Path

from bot.settings import Settings
from bot.webhooks import Hook
from gitops.forge import Forge
from gitops.forge_invite import InvitingForge
from gitops.gitea import GiteaForge
from gitops.github import GithubForge
from gitops.github_access import AppToken, FixedToken, api_of
from gitops.gitlab import GitlabForge
from gitops.localgit import LocalForge
from gitops.repository import Remote, Repository

# The name that goes with a token when Git itself asks.
_USERS = {"github": "x-access-token", "gitlab": "oauth2", "gitea": "gpubot"}
LABELS = ("gpu-quota",)


def repository_of(settings: Settings) -> Repository:
    """Return the GitOps repository: the bare one itself, or the mirror of the forge's."""
    path = Path(settings.repository or ".")
    base = settings.repository_branch
    if settings.forge == "local":
        return Repository(path, base=base)
    url = f"{settings.forge_address}/{settings.forge_repository}.git"
    remote = Remote(url, token_of(settings), _USERS[settings.forge])
    return Repository(path, base=base, remote=remote)


def forge_of(settings: Settings, repository: Repository, now: Callable[[], datetime]) -> Forge:
    """Return where pull requests are made; owners of the changed files are asked to look."""
    base = settings.repository_branch
    if settings.forge == "local":
        return LocalForge(
            repository.path, base=base, url=settings.pull_url, protected=True, clock=now
        )
    url, name, token = settings.forge_address, settings.forge_repository, token_of(settings)
    forge: Forge
    if settings.forge == "github":
        forge = GithubForge(name, token, url=url, base=base)
    elif settings.forge == "gitlab":
        forge = GitlabForge(name, token, url=url, base=base)
    else:
        forge = GiteaForge(url, name, token(), base=base)
    return InvitingForge(forge, repository, LABELS)


def token_of(settings: Settings) -> Callable[[], str]:
    """Return what gives the token of the moment: a GitHub App's lives for an hour."""
    if settings.forge_app_key_file is not None:
        key = settings.forge_app_key_file.read_text("utf-8")
        api = api_of(settings.forge_address)
        return AppToken(api, settings.forge_app_id, settings.forge_app_installation, key)
    return FixedToken(settings.forge_token.get_secret_value() if settings.forge_token else "")


def hook_of(settings: Settings) -> Hook | None:
    """Return whose webhooks are listened to; None without a secret, or without a forge."""
    if settings.forge_webhook_secret is None or settings.forge == "local":
        return None
    return Hook(settings.forge, settings.forge_webhook_secret.get_secret_value())
