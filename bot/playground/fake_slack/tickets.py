"""Trigger ids and response URLs: rights that expire."""

import secrets
from dataclasses import dataclass, field

from bot.playground.fake_slack.clock import Clock
from bot.playground.fake_slack.error import SlackError
from bot.playground.fake_slack.messages import Message

TRIGGER_SECONDS = 3.0
RESPONSE_SECONDS = 30 * 60.0
RESPONSE_USES = 5


@dataclass(slots=True)
class Trigger:
    """The right to open one view for a person within three seconds."""

    user: str
    issued: float
    used: bool = False


@dataclass(slots=True)
class ResponseTicket:
    """The right to answer an interaction five times within half an hour."""

    user: str
    channel: str
    issued: float
    message: Message | None = None
    uses: int = 0


@dataclass(slots=True)
class Tickets:
    """All rights that were given out."""

    clock: Clock
    triggers: dict[str, Trigger] = field(default_factory=dict)
    responses: dict[str, ResponseTicket] = field(default_factory=dict)

    def trigger(self, user: str) -> str:
        """Issue a trigger id."""
        key = f"{secrets.randbelow(10**12)}.{secrets.randbelow(10**12)}.{secrets.token_hex(16)}"
        self.triggers[key] = Trigger(user, self.clock.now())
        return key

    def exchange(self, key: str) -> str:
        """Use a trigger id up and return whose it was."""
        trigger = self.triggers.get(key)
        if trigger is None:
            raise SlackError("invalid_trigger_id")
        if trigger.used:
            raise SlackError("exchanged_trigger_id")
        if self.clock.now() - trigger.issued > TRIGGER_SECONDS:
            raise SlackError("expired_trigger_id")
        trigger.used = True
        return trigger.user

    def response(self, user: str, channel: str, message: Message | None = None) -> str:
        """Issue a response URL's secret part."""
        key = secrets.token_urlsafe(18)
        self.responses[key] = ResponseTicket(user, channel, self.clock.now(), message)
        return key

    def respond(self, key: str) -> ResponseTicket:
        """Use a response URL once; refuse the sixth use and any after half an hour."""
        ticket = self.responses.get(key)
        if ticket is None or self.clock.now() - ticket.issued > RESPONSE_SECONDS:
            raise SlackError("expired_url")
        if ticket.uses >= RESPONSE_USES:
            raise SlackError("used_url")
        ticket.uses += 1
        return ticket
