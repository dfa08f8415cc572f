"""Slash commands: one root with words, and an alias for each word."""

import re
from typing import Any

from slack_bolt.async_app import AsyncApp

from bot.slack_ask import Asking, question
from bot.slack_request import Requesting

GPU = re.compile(r"^/gpu(-[a-z]+)?$")


def register(app: AsyncApp, asking: Asking, requesting: Requesting) -> None:
    """Attach ``/gpu <word> ...`` and ``/gpu-<word> ...``; "request" opens the modal."""

    async def command(ack: Any, body: dict[str, Any]) -> None:
        await ack()
        text = question(str(body["command"]), str(body.get("text") or ""))
        word, _, rest = text.partition(" ")
        if word.casefold() == "request":
            await requesting.open(body, rest)
        else:
            await asking.command(body, text)

    app.command(GPU)(command)
