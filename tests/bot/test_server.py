"""The HTTP side: health, readiness that names what it lacks, metrics, Slack's signature."""

import asyncio
import hashlib
import hmac
import time
from collections.abc import Callable, Coroutine
from typing import Any
from urllib.parse import urlencode

import aiohttp
import pytest

from bot.metrics import Metrics
from bot.server import Check, Server, application
from tests.bot.stage import Stage


def served(work: Callable[[str], Coroutine[Any, Any, None]], *checks: Check) -> None:
    async def found() -> tuple[Check, ...]:
        return checks

    async def story() -> None:
        server = Server(application(found, Metrics().registry), "127.0.0.1", 0)
        await server.start()
        try:
            await work(f"http://127.0.0.1:{server.port}")
        finally:
            await server.stop()

    asyncio.run(story())


async def get(url: str) -> tuple[int, str]:
    async with aiohttp.ClientSession() as session, session.get(url) as response:
        return response.status, await response.text()


def test_it_is_alive_also_when_it_is_not_ready() -> None:
    async def look(url: str) -> None:
        assert (await get(f"{url}/healthz"))[0] == 200
        status, text = await get(f"{url}/readyz")
        assert status == 503
        assert '"lacks": ["slack"]' in text
        assert "Slack doesn't answer" in text

    served(look, Check("slack", False, "Slack doesn't answer"), Check("store", True, "open"))


def test_it_is_ready_when_everything_is() -> None:
    async def look(url: str) -> None:
        assert (await get(f"{url}/readyz"))[0] == 200

    served(look, Check("slack", True, "connected"))


def test_metrics_are_served_in_prometheus_own_format() -> None:
    async def look(url: str) -> None:
        status, text = await get(f"{url}/metrics")
        assert status == 200
        assert "# TYPE gpubot_ack_seconds histogram" in text

    served(look)


def test_slack_is_not_answered_in_socket_mode() -> None:
    async def look(url: str) -> None:
        address = f"{url}/slack/commands"
        async with aiohttp.ClientSession() as session, session.post(address, data="x") as response:
            assert response.status == 404

    served(look)


@pytest.fixture
def http(staged: Callable[..., Stage]) -> Stage:
    return staged(http=True)


def post(stage: Stage, body: str, **headers: str) -> tuple[int, str]:
    async def send() -> tuple[int, str]:
        url = f"http://127.0.0.1:{stage.server.port}/slack/commands"
        form = {"Content-Type": "application/x-www-form-urlencoded"}
        async with (
            aiohttp.ClientSession() as session,
            session.post(url, data=body, headers=form | headers) as response,
        ):
            return response.status, await response.text()

    status, text = stage.call(send())
    return status, text


def signed(body: str, secret: str = "play", at: float | None = None) -> dict[str, str]:
    stamp = str(int(time.time() if at is None else at))
    digest = hmac.new(secret.encode(), f"v0:{stamp}:{body}".encode(), hashlib.sha256).hexdigest()
    return {"X-Slack-Request-Timestamp": stamp, "X-Slack-Signature": f"v0={digest}"}


def a_command(stage: Stage) -> str:
    fields = {"command": "/gpu-quota", "text": "research", "user_id": "U0ANA", "team_id": "T0PLAY"}
    key = stage.slack.workspace.tickets.response("U0ANA", "C0RESEARCH")
    return urlencode(fields | {"response_url": f"{stage.serving.url}/response/{key}"})


def test_a_signed_request_is_answered(http: Stage) -> None:
    body = a_command(http)
    assert post(http, body, **signed(body))[0] == 200
    http.person("U0ANA").wait_for_text("can start 4 more")


@pytest.mark.parametrize("fault", ["unsigned", "wrong secret", "old", "garbage", "other body"])
def test_a_request_without_a_good_signature_is_refused(http: Stage, fault: str) -> None:
    body = a_command(http)
    headers = {
        "unsigned": {},
        "wrong secret": signed(body, "guess"),
        "old": signed(body, at=time.time() - 400),
        "garbage": signed(body) | {"X-Slack-Request-Timestamp": "yesterday"},
        "other body": signed(body + "x"),
    }[fault]
    assert post(http, body, **headers)[0] == 401
    assert not http.person("U0ANA").messages()


def test_a_captured_request_that_is_sent_again_does_nothing(http: Stage) -> None:
    body = a_command(http)
    headers = signed(body)
    assert post(http, body, **headers)[0] == 200
    assert post(http, body, **headers)[0] == 200
    ana = http.person("U0ANA")
    ana.wait_for_text("can start 4 more")
    time.sleep(0.2)
    assert len(ana.see_ephemerals()) == 1
    assert http.metric("gpubot_duplicates_total", by="signature") == 1
