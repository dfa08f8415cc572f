"""Each payload is dispatched once; one that comes again gets the first one's answer.

Slack may deliver an envelope on the old and on the new connection, and a captured HTTP request
stays valid for five minutes. Two different answers to one submission would confuse its modal.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Coroutine
from typing import Any

from slack_bolt.response import BoltResponse

from bot.metrics import Metrics

MOST = 10_000


class Once:
    """Answers by key (an envelope's id, a request's signature); the oldest are forgotten."""

    def __init__(self, metrics: Metrics, by: str) -> None:
        self._duplicates = metrics.duplicates.labels(by)
        self._answers: OrderedDict[str, asyncio.Future[BoltResponse]] = OrderedDict()

    async def answer(self, key: str, dispatch: Coroutine[Any, Any, BoltResponse]) -> BoltResponse:
        """Return the answer of ``dispatch``, or the one that this key got before."""
        answer = self._answers.get(key)
        if answer is None:
            answer = asyncio.ensure_future(dispatch)
            self._answers[key] = answer
            if len(self._answers) > MOST:
                self._answers.popitem(last=False)
        else:
            dispatch.close()
            self._duplicates.inc()
        return await asyncio.shield(answer)
