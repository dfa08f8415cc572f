"""The Web API over HTTP: reads arguments in any of Slack's encodings, then checks and answers."""

import asyncio
import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from aiohttp import web

from bot.playground.fake_slack.app import SlackApp
from bot.playground.fake_slack.error import SlackError
from bot.playground.fake_slack.faults import ApiFault, Faults
from bot.playground.fake_slack.limits import TIER_1, Limits
from bot.playground.fake_slack.params import Params
from bot.playground.fake_slack.web_methods import (
    CONNECTIONS_OPEN,
    METHODS,
)
from bot.playground.fake_slack.workspace import ApiCall, Workspace

BODY_BYTES = 4 * 2**20
OPENS_AT_ONCE = 10
"""Tier 1 says one a minute and more now and then; a refresh needs two."""


class RateLimitedError(SlackError):
    """Too many calls: try again in ``seconds``."""

    def __init__(self, seconds: int) -> None:
        super().__init__("ratelimited")
        self.seconds = seconds


@dataclass(slots=True)
class WebApi:
    """Answers ``/api/<method>``."""

    workspace: Workspace
    app: SlackApp
    limits: Limits
    faults: Faults
    open_socket: Callable[[], str]

    async def handle(self, request: web.Request) -> web.StreamResponse:
        """Answer one call, or let the fault that waits for it happen."""
        method = request.match_info["method"]
        params = await read_params(request)
        token = _token(request, params)
        fault = self.faults.next_for(method)
        if fault and fault.seconds:
            await asyncio.sleep(fault.seconds)
        if fault and not fault.after and _breaks(fault):
            self._note(method, params, "fault")
            return broken(request, fault)
        response = self._answer(method, params, token)
        return broken(request, fault) if fault and _breaks(fault) else response

    def _answer(self, method: str, params: Params, token: str) -> web.Response:
        try:
            body = {"ok": True, **self._result(method, params, token)}
        except RateLimitedError as refusal:
            self._note(method, params, refusal.error)
            headers = {"Retry-After": str(refusal.seconds)}
            return web.json_response(refusal.to_json(), status=429, headers=headers)
        except SlackError as refusal:
            self._note(method, params, refusal.error)
            return web.json_response(refusal.to_json())
        self._note(method, params, "")
        return web.json_response(body, headers={"X-OAuth-Scopes": ",".join(self.app.scopes)})

    def _result(self, method: str, params: Params, token: str) -> dict[str, Any]:
        if method == CONNECTIONS_OPEN:
            self._authenticate(token, self.app.app_token)
            self._refuse_for(self.limits.seconds_to_wait(method, TIER_1 / 60, OPENS_AT_ONCE))
            return {"url": self.open_socket()}
        if method not in METHODS:
            raise SlackError("unknown_method", req_method=method)
        known = METHODS[method]
        self._authenticate(token, self.app.bot_token)
        if known.scope and known.scope not in self.app.scopes:
            provided = ",".join(sorted(self.app.scopes))
            raise SlackError("missing_scope", needed=known.scope, provided=provided)
        self._count(method, known.per_minute)
        if method == "chat.postMessage":
            self._refuse_for(self.limits.post(str(params.get("channel"))))
        return known.answer(self.workspace, params)

    def _authenticate(self, token: str, expected: str) -> None:
        if not token:
            raise SlackError("not_authed")
        if token == expected:
            return
        ours = token in {self.app.bot_token, self.app.app_token}
        raise SlackError("not_allowed_token_type" if ours else "invalid_auth")

    def _count(self, method: str, per_minute: int) -> None:
        self._refuse_for(self.limits.method(method, per_minute))

    def _refuse_for(self, seconds: int) -> None:
        if seconds:
            raise RateLimitedError(seconds)

    def _note(self, method: str, params: Params, error: str) -> None:
        shown = {k: v for k, v in params.items() if k != "token"}
        self.workspace.calls.append(ApiCall(method, shown, self.workspace.clock.now(), error))


async def read_params(request: web.Request) -> Params:
    """Return a call's arguments from the query and from a form or JSON body."""
    params: Params = dict(request.query)
    if request.content_type == "application/json":
        raw = await request.text()
        try:
            body = json.loads(raw) if raw else {}
        except json.JSONDecodeError:
            return params
        return {**params, **body} if isinstance(body, dict) else params
    return {**params, **dict(await request.post())}


def _token(request: web.Request, params: Params) -> str:
    header = request.headers.get("Authorization", "")
    return header.removeprefix("Bearer ").strip() or str(params.get("token") or "")


def _breaks(fault: ApiFault) -> bool:
    return bool(fault.drop or fault.status or fault.error)


def broken(request: web.Request, fault: ApiFault) -> web.Response:
    """Return what the caller gets of a call that a fault hits; close the connection for a drop."""
    if fault.drop and request.transport is not None:
        request.transport.abort()
    if fault.error:
        return web.json_response({"ok": False, "error": fault.error})
    headers = {"Retry-After": str(fault.retry_after)} if fault.status == 429 else {}
    body = {"ok": False, "error": "ratelimited" if fault.status == 429 else "internal_error"}
    return web.json_response(body, status=fault.status or 500, headers=headers)
