"""How an interaction reaches the bot: the protocol of both modes, and retries of events."""

import asyncio
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from bot.playground.fake_slack.faults import Faults

Kind = Literal["events_api", "interactive", "slash_commands"]
ACK_SECONDS = 3.0
RETRY_SECONDS = (0.0, 60.0, 300.0)


class NotAcked(Exception):
    """The bot didn't acknowledge; ``reason`` is Slack's word for it."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Delivery:
    """One payload on its way to the bot, with Slack's retry fields for events."""

    kind: Kind
    payload: dict[str, Any]
    retry: int = 0
    retry_reason: str = ""


class Wire(Protocol):
    """Socket Mode or HTTP."""

    async def send(self, delivery: Delivery) -> Any:
        """Deliver once and return the acknowledgement's payload; raises NotAcked."""
        ...


@dataclass(slots=True)
class Deliverer:
    """Sends interactions once and events up to four times, as Slack does."""

    wire: Wire
    faults: Faults
    retry_seconds: tuple[float, ...] = RETRY_SECONDS
    _tasks: set[asyncio.Task[None]] = field(default_factory=set)

    async def interaction(self, kind: Kind, payload: dict[str, Any]) -> Any:
        """Deliver an interaction or command; a missing acknowledgement is not retried."""
        if self.faults.delay_envelopes:
            await asyncio.sleep(self.faults.delay_envelopes)
        return await self.wire.send(Delivery(kind, payload))

    def event(self, payload: dict[str, Any]) -> None:
        """Deliver an event in the background."""
        task = asyncio.create_task(self._with_retries(payload))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _with_retries(self, payload: dict[str, Any]) -> None:
        reason = ""
        for attempt, pause in enumerate((0.0, *self.retry_seconds)):
            await asyncio.sleep(pause)
            try:
                await self.wire.send(Delivery("events_api", payload, attempt, reason))
            except NotAcked as miss:
                reason = miss.reason
            else:
                return

    def stop(self) -> None:
        """Give up on events that are still to be retried."""
        for task in self._tasks:
            task.cancel()
