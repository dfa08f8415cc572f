"""Who may call an API server of ours, and the files that say so."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass

from tests.cluster.certificates import Certificate


@dataclass(frozen=True, slots=True)
class User:
    """Somebody whom the API server knows by a fixed token."""

    name: str
    groups: tuple[str, ...] = ()

    @property
    def token(self) -> str:
        """The bearer token; a readable one, since it is worth nothing outside of the test."""
        return "token-" + "".join(letter if letter.isalnum() else "-" for letter in self.name)


def service_account(namespace: str, name: str) -> User:
    """A service account as the API server's authorizer sees it, without the object and its signed token."""
    groups = ("system:serviceaccounts", f"system:serviceaccounts:{namespace}")
    return User(f"system:serviceaccount:{namespace}:{name}", groups)


ADMIN = User("admin", ("system:masters",))
GPUBOT = service_account("gpubot", "gpubot")
"""The restricted user that the bot is; known to every control plane, allowed nothing until RBAC says so."""


def token_file(users: Iterable[User]) -> str:
    """The text of the API server's token file."""
    return "".join(
        f'{user.token},{user.name},{user.name},"{",".join(user.groups)}"\n' for user in users
    )


def kubeconfig(url: str, certificate: Certificate, user: User) -> str:
    """The text of a kubeconfig file for one user."""
    cluster = {"server": url, "certificate-authority-data": certificate.bundle}
    whole = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "test",
        "clusters": [{"name": "test", "cluster": cluster}],
        "users": [{"name": "test", "user": {"token": user.token}}],
        "contexts": [{"name": "test", "context": {"cluster": "test", "user": "test"}}],
    }
    return json.dumps(whole)
