"""Who is let in: by ids of our workspace only, as Slack says it now, and nobody in doubt."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from bot.slack_client import SlackDown
from bot.slack_identity import Caller, Gate, caller_of, profile_of
from capacity.errors import Denied, SourceDown

OURS = frozenset({"T0PLAY"})
MEMBER = {"id": "U0ANA", "team_id": "T0PLAY", "tz": "Europe/Lisbon"}
ANA = Caller("U0ANA", ("T0PLAY",))


@dataclass
class Desk:
    """A gate with its clock and the accounts that Slack knows."""

    users: dict[str, Mapping[str, Any]] = field(default_factory=lambda: {"U0ANA": MEMBER})
    at: datetime = datetime(2026, 12, 1, tzinfo=UTC)
    asked: int = 0
    down: bool = False
    slow: float = 0.0

    def gate(self) -> Gate:
        async def info(user: str) -> Mapping[str, Any]:
            self.asked += 1
            await asyncio.sleep(self.slow)
            if self.down:
                raise SlackDown
            return self.users[user]

        return Gate(lambda: OURS, info, lambda: self.at)


@pytest.mark.parametrize(
    ("body", "caller"),
    [
        ({"user_id": "U0ANA", "team_id": "T0PLAY"}, ANA),
        (
            {"user": {"id": "U0ANA", "team_id": "T0OTHER"}, "team": {"id": "T0PLAY"}},
            Caller("U0ANA", ("T0PLAY", "T0OTHER")),
        ),
        (
            {"team_id": "T0PLAY", "event": {"user": "U0ANA", "user_team": "T0OTHER"}},
            Caller("U0ANA", ("T0PLAY", "T0OTHER")),
        ),
        (
            {"team_id": "T0PLAY", "event": {"user": "U0ANA", "source_team": "T0OTHER"}},
            Caller("U0ANA", ("T0PLAY", "T0OTHER")),
        ),
        ({"user": {"id": "U0ANA"}, "team": None}, Caller("U0ANA", ())),
        ({"user_name": "ana", "team_domain": "play"}, Caller("", ())),
    ],
)
def test_an_account_is_read_from_ids_and_every_workspace_that_is_named(
    body: dict[str, Any], caller: Caller
) -> None:
    assert caller_of(body) == caller


@pytest.mark.parametrize(
    "caller",
    [
        Caller("U0ANA", ()),
        Caller("", ("T0PLAY",)),
        Caller("U0ANA", ("T0OTHER",)),
        Caller("U0ANA", ("T0PLAY", "T0OTHER")),
    ],
)
def test_whoever_is_not_wholly_ours_is_refused(caller: Caller) -> None:
    with pytest.raises(Denied):
        Desk().gate().admit(caller)


@pytest.mark.parametrize(
    ("change", "flaw"),
    [
        ({}, ""),
        ({"deleted": True}, "this account is deactivated"),
        ({"is_bot": True}, "bots can't decide"),
        ({"is_workflow_bot": True}, "bots can't decide"),
        ({"is_restricted": True}, "guests can't change anything"),
        ({"is_ultra_restricted": True}, "guests can't change anything"),
        ({"is_stranger": True}, "people of other companies can't change anything"),
        ({"team_id": "T0OTHER"}, "people of other companies can't change anything"),
        ({"team_id": ""}, "people of other companies can't change anything"),
        ({"team_id": "T0OTHER", "enterprise_user": {"enterprise_id": "T0PLAY"}}, ""),
    ],
)
def test_a_flaw_is_what_slack_says_about_the_account(change: dict[str, Any], flaw: str) -> None:
    profile = profile_of(MEMBER | change, OURS)
    assert profile.flaw == flaw


def test_what_slack_says_is_remembered_for_ten_minutes_at_most() -> None:
    desk = Desk()
    gate = desk.gate()

    async def story() -> None:
        await gate.changer(ANA)
        desk.users["U0ANA"] = MEMBER | {"deleted": True}
        desk.at += timedelta(minutes=9, seconds=59)
        await gate.changer(ANA)
        desk.at += timedelta(seconds=1)
        with pytest.raises(Denied, match="deactivated"):
            await gate.changer(ANA)

    asyncio.run(story())
    assert desk.asked == 2


def test_a_changed_account_is_asked_about_anew() -> None:
    desk = Desk()
    gate = desk.gate()

    async def story() -> None:
        await gate.changer(ANA)
        desk.users["U0ANA"] = MEMBER | {"is_restricted": True}
        gate.forget("U0ANA")
        with pytest.raises(Denied, match="guests"):
            await gate.changer(ANA)

    asyncio.run(story())


def test_when_slack_cant_say_who_it_is_nothing_is_changed() -> None:
    gate = Desk(down=True).gate()
    with pytest.raises(SourceDown):
        asyncio.run(gate.changer(ANA))


@pytest.mark.parametrize("desk", [Desk(down=True), Desk(slow=5.0)])
def test_a_question_doesnt_wait_for_slack_to_say_the_time_zone(desk: Desk) -> None:
    assert asyncio.run(desk.gate().welcome(ANA)) == "UTC"


def test_a_guest_may_ask_and_a_stranger_may_not() -> None:
    guest = Desk({"U0ANA": MEMBER | {"is_restricted": True}})
    assert asyncio.run(guest.gate().welcome(ANA)) == "Europe/Lisbon"
    stranger = Desk({"U0ANA": MEMBER | {"is_stranger": True}})
    with pytest.raises(Denied):
        asyncio.run(stranger.gate().welcome(ANA))
