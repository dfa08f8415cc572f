"""How the bot is known to GitHub: a token, or an App whose tokens live for an hour."""

import threading
from dataclasses import dataclass, field

import requests
from github import Auth, Github, GithubException

from gitops.forge import ForgeDown

NAME = "GitHub"
PUBLIC = "https://github.com"
_SECONDS = 15


def api_of(url: str) -> str:
    """Return the REST address of github.com, or of an Enterprise Server by its web address."""
    url = url.rstrip("/")
    return "https://api.github.com" if url == PUBLIC else f"{url}/api/v3"


@dataclass(frozen=True, slots=True)
class FixedToken:
    """A token that a person made for the bot's account."""

    token: str = field(repr=False)

    def __call__(self) -> str:
        return self.token


class AppToken:
    """The installation token of a GitHub App, renewed before it ends; safe for threads.

    ``key`` is the App's private key (PEM). Raises ForgeDown when none can be had: whether GitHub is
    away or the key is wrong, the next try may do.
    """

    def __init__(self, api: str, app_id: int, installation: int, key: str) -> None:
        auth = Auth.AppAuth(app_id, key).get_installation_auth(installation)
        # Waiting and retrying are the flow's own: no retries in here.
        github = Github(auth=auth, base_url=api, timeout=_SECONDS, retry=None)
        self._auth = auth.withRequester(github.requester)
        self._lock = threading.Lock()

    def __call__(self) -> str:
        with self._lock:
            try:
                return self._auth.token
            except GithubException as error:
                raise ForgeDown(NAME, detail=f"no App token: HTTP {error.status}") from None
            except (requests.RequestException, RuntimeError) as error:
                raise ForgeDown(NAME, detail=f"no App token: {type(error).__name__}") from None
