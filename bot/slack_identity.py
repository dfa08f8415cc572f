"""Who is it? Answered from ids that Slack signs, never from names or addresses.

A payload names a workspace and a user; both must be ours. To change something the account must
also be a full, living member now (asked of Slack, remembered for at most ten minutes), and exactly
one person of ``gpubot/people.yaml`` must have its id. Anything missing or ambiguous is a no.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from capacity.errors import Denied, GpubotError

PATIENCE = 0.6  # seconds
REMEMBERED = timedelta(minutes=10)
MOST_REMEMBERED = 10_000


@dataclass(frozen=True, slots=True)
class Caller:
    """An account as a payload names it: ``homes`` are all workspaces and organisations it names."""

    user: str
    homes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Profile:
    """What Slack says about an account now.

    ``flaw`` is why it may not change anything ("" if it may); ``outside`` that it isn't of this
    workspace at all (any more) and is not even answered.
    """

    user: str
    time_zone: str
    flaw: str
    outside: bool


def caller_of(body: Mapping[str, Any]) -> Caller:
    """Return the account behind a slash command, an interaction or an event."""
    event = body.get("event") or {}
    user = body.get("user") or event.get("user") or body.get("user_id") or ""
    person = user if isinstance(user, Mapping) else {"id": user}
    homes = (
        _id(body.get("team")) or body.get("team_id"),
        person.get("team_id") or event.get("user_team"),
        event.get("source_team"),
    )
    return Caller(str(person.get("id", "")), tuple(str(home) for home in homes if home))


def profile_of(user: Mapping[str, Any], allowed: frozenset[str]) -> Profile:
    """Read ``users.info``: guests, bots, strangers and the deactivated have a flaw."""
    enterprise = (user.get("enterprise_user") or {}).get("enterprise_id", "")
    homes = {user.get("team_id", ""), enterprise}
    guest = user.get("is_restricted") or user.get("is_ultra_restricted")
    stranger = user.get("is_stranger") or not homes & allowed
    flaws = {
        "this account is deactivated": user.get("deleted"),
        "bots can't decide": user.get("is_bot") or user.get("is_workflow_bot"),
        "people of other companies can't change anything": stranger,
        "guests can't change anything": guest,
    }
    return Profile(
        user=str(user.get("id", "")),
        time_zone=str(user.get("tz") or "UTC"),
        flaw=next((words for words, true in flaws.items() if true), ""),
        outside=bool(stranger or user.get("deleted")),
    )


class Gate:
    """Lets accounts of the ``allowed`` workspaces in; ``info`` asks Slack for an account."""

    def __init__(
        self,
        allowed: Callable[[], frozenset[str]],
        info: Callable[[str], Awaitable[Mapping[str, Any]]],
        now: Callable[[], datetime],
    ) -> None:
        self._allowed = allowed
        self._info = info
        self._now = now
        self._known: dict[str, tuple[datetime, Profile]] = {}

    def admit(self, caller: Caller) -> None:
        """Raise Denied unless every workspace that the payload names is ours."""
        if not caller.user or not caller.homes or not set(caller.homes) <= self._allowed():
            raise _outside(f"{caller} is not of {sorted(self._allowed())}")

    async def welcome(self, caller: Caller) -> str:
        """Admit somebody who asks, and return their time zone; doesn't wait long for Slack."""
        self.admit(caller)
        try:
            async with asyncio.timeout(PATIENCE):
                profile = await self.profile(caller.user)
        except (GpubotError, TimeoutError):  # a question doesn't fail for want of the clock
            return "UTC"
        if profile.outside:
            raise _outside(f"{caller}: {profile.flaw}")
        return profile.time_zone

    async def profile(self, user: str) -> Profile:
        """Return what Slack says about the account, at most ten minutes old."""
        known = self._known.get(user)
        if known and self._now() - known[0] < REMEMBERED:
            return known[1]
        profile = profile_of(await self._info(user), self._allowed())
        if len(self._known) >= MOST_REMEMBERED:
            self._known.clear()
        self._known[user] = (self._now(), profile)
        return profile

    def forget(self, user: str) -> None:
        """Ask Slack again next time (the account was changed or deactivated)."""
        self._known.pop(user, None)

    async def changer(self, caller: Caller) -> None:
        """Raise Denied unless the account is a full member of this workspace now."""
        self.admit(caller)
        flaw = (await self.profile(caller.user)).flaw
        if flaw:
            raise Denied(f"You can't do this: {flaw}. Nothing was changed.")


def _outside(detail: str) -> Denied:
    return Denied("I only answer people of this workspace; nothing was changed.", detail=detail)


def _id(team: Any) -> str:
    return str(team.get("id") or "") if isinstance(team, Mapping) else ""
