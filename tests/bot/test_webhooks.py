"""Webhooks over real HTTP: who is believed, and what is done (nothing but an early look)."""

import asyncio
import hashlib
import hmac
from collections.abc import Mapping
from typing import Any

import aiohttp
import pytest
from prometheus_client import CollectorRegistry

from bot.server import Check, Server, application
from bot.webhooks import Deliveries, Hook, Kind, genuine, webhook

PATH = "/forge/webhook"
SECRET = "a secret of the tests"
BODY = '{"action": "closed", "näme": 1}'.encode()


def signed(kind: Kind, secret: str = SECRET, body: bytes = BODY, **more: str) -> dict[str, str]:
    digest = hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()
    by_kind = {
        "github": {"X-Hub-Signature-256": f"sha256={digest}", "X-GitHub-Delivery": "1"},
        "gitea": {"X-Gitea-Signature": digest, "X-Gitea-Delivery": "1"},
        "gitlab": {"X-Gitlab-Token": secret, "Idempotency-Key": "1"},
    }
    return by_kind[kind] | more


async def nothing() -> tuple[Check, ...]:
    return ()


def deliver(kind: Kind, *deliveries: tuple[Mapping[str, str], bytes]) -> tuple[list[int], int]:
    """Return the statuses of deliveries over HTTP, and how many hints came of them."""

    async def story() -> tuple[list[int], int]:
        hints: list[None] = []
        handler = webhook(Hook(kind, SECRET), lambda: hints.append(None))
        app = application(nothing, CollectorRegistry(), forge=handler)
        server = Server(app, "127.0.0.1", 0)
        await server.start()
        try:
            async with aiohttp.ClientSession(f"http://127.0.0.1:{server.port}") as client:
                statuses = []
                for headers, body in deliveries:
                    async with client.post(PATH, data=body, headers=headers) as answer:
                        statuses.append(answer.status)
        finally:
            await server.stop()
        return statuses, len(hints)

    return asyncio.run(story())


KINDS: tuple[Any, ...] = ("github", "gitea", "gitlab")


@pytest.mark.parametrize("kind", KINDS)
def test_a_genuine_delivery_is_a_hint_and_its_repeat_is_none(kind: Kind) -> None:
    same = (signed(kind), BODY)
    name = {"github": "X-GitHub-Delivery", "gitea": "X-Gitea-Delivery"}.get(kind, "Idempotency-Key")
    other = (signed(kind) | {name: "2"}, BODY)
    assert deliver(kind, same, same, other) == ([202, 202, 202], 2)


@pytest.mark.parametrize("kind", KINDS)
def test_without_the_secret_nothing_happens(kind: Kind) -> None:
    wrong = (signed(kind, "another secret"), BODY)
    assert deliver(kind, wrong, ({}, BODY), (wrong[0], b"")) == ([401, 401, 401], 0)


def test_a_signature_is_about_the_raw_body_and_of_its_own_forge() -> None:
    for kind in ("github", "gitea"):
        assert genuine(kind, SECRET, signed(kind), BODY)
        assert not genuine(kind, SECRET, signed(kind), BODY + b" ")
    assert not genuine("github", SECRET, signed("gitea"), BODY)
    bare = {"X-Hub-Signature-256": signed("gitea")["X-Gitea-Signature"]}
    assert not genuine("github", SECRET, bare, BODY)
    assert not genuine("gitlab", SECRET, {"X-Gitlab-Token": "\udcff"}, BODY)


def test_a_thousand_deliveries_are_remembered() -> None:
    deliveries = Deliveries()
    assert all(deliveries.is_new(str(n)) for n in range(1000))
    assert not deliveries.is_new("0")
    assert deliveries.is_new("1000")
    assert deliveries.is_new("0")
    assert deliveries.is_new("")
    assert deliveries.is_new("")


def test_without_a_secret_there_is_no_such_address_and_it_never_prints() -> None:
    paths = {r.canonical for r in application(nothing, CollectorRegistry()).router.resources()}
    assert paths == {"/healthz", "/readyz", "/metrics"}
    assert SECRET not in repr(Hook("gitea", SECRET))
