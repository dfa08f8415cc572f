"""Slash commands, one root with words and an alias for each, and what nothing else listens to."""

import re
from typing import Any

from slack_bolt.async_app import AsyncApp

from bot.slack_ask import Asking, question
from bot.slack_edge import Edge
from bot.slack_fit import Fitting
from bot.slack_request import Requesting
from capacity.errors import UsageError

GPU = re.compile(r"^/gpu(-[a-z]+)?$")
ANYTHING = re.compile("")


def register(app: AsyncApp, asking: Asking, requesting: Requesting, fitting: Fitting) -> None:
    """Attach ``/gpu <word> ...`` and ``/gpu-<word> ...``; "request" and bare "fit" open modals."""

    async def command(ack: Any, body: dict[str, Any]) -> None:
        await ack()
        text = question(str(body["command"]), str(body.get("text") or ""))
        word, _, rest = text.partition(" ")
        if word.casefold() == "request":
            await requesting.open(body, rest)
        elif word.casefold() == "fit" and not rest.strip():
            await fitting.open(body)
        else:
            await asking.command(body, text)

    app.command(GPU)(command)


def register_rest(app: AsyncApp, edge: Edge) -> None:
    """Attach, last of all, to buttons and modals of older versions: they are told so."""

    async def stale(ack: Any, body: dict[str, Any]) -> None:
        await ack()

        async def work() -> None:
            raise UsageError("That is from another time; nothing was changed.", "Ask /gpu help.")

        await edge.guarded("stale", work, edge.teller(body))

    app.action(ANYTHING)(stale)
    app.view(ANYTHING)(stale)
