"""Users, user groups and channels of the fake workspace, as Slack describes them. [pure]."""

from dataclasses import dataclass
from typing import Any

TEAM = "T0PLAY"
TEAM_DOMAIN = "gpubot-play"
APP = "A0GPUBOT"
BOT = "B0GPUBOT"
BOT_USER = "U0GPUBOT"


@dataclass(frozen=True, slots=True)
class User:
    """A person or bot; ``role`` is what the playground page says about them."""

    id: str
    name: str
    real_name: str
    role: str = ""
    time_zone: str = "Europe/Berlin"
    tz_offset: int = 3600
    locale: str = "en-US"
    team: str = TEAM
    admin: bool = False
    restricted: bool = False
    ultra_restricted: bool = False
    stranger: bool = False
    deleted: bool = False
    bot: bool = False

    @property
    def email(self) -> str:
        """The address in the profile; strangers and bots show none."""
        return "" if self.stranger or self.bot else f"{self.name}@example.com"

    def to_json(self, *, locale: bool = False) -> dict[str, Any]:
        """Return the user object of ``users.info``."""
        return {
            "id": self.id,
            "team_id": self.team,
            "name": self.name,
            "real_name": self.real_name,
            "deleted": self.deleted,
            "is_admin": self.admin,
            "is_owner": False,
            "is_bot": self.bot,
            "is_restricted": self.restricted,
            "is_ultra_restricted": self.ultra_restricted,
            "is_stranger": self.stranger,
            "is_app_user": False,
            "tz": self.time_zone,
            "tz_label": self.time_zone,
            "tz_offset": self.tz_offset,
            "profile": self._profile(),
            "updated": 0,
            **({"locale": self.locale} if locale else {}),
        }

    def _profile(self) -> dict[str, Any]:
        shown = {"real_name": self.real_name, "display_name": self.name, "title": self.role}
        return {**shown, **({"email": self.email} if self.email else {})}


@dataclass(frozen=True, slots=True)
class UserGroup:
    """A user group (@platform) and its members."""

    id: str
    handle: str
    name: str
    users: tuple[str, ...]

    def to_json(self, *, users: bool) -> dict[str, Any]:
        """Return the user group object of ``usergroups.list``."""
        body = {"id": self.id, "team_id": TEAM, "handle": self.handle, "name": self.name}
        full = {**body, "is_usergroup": True, "date_delete": 0, "user_count": len(self.users)}
        return {**full, "users": list(self.users)} if users else full


@dataclass(frozen=True, slots=True)
class Channel:
    """A channel, or a direct message between one person and the bot (``im_with``)."""

    id: str
    name: str = ""
    topic: str = ""
    members: tuple[str, ...] = ()
    private: bool = False
    archived: bool = False
    im_with: str = ""

    def to_json(self) -> dict[str, Any]:
        """Return the conversation object of ``conversations.info``."""
        if self.im_with:
            return {"id": self.id, "is_im": True, "user": self.im_with, "is_archived": False}
        return {
            "id": self.id,
            "name": self.name,
            "is_channel": not self.private,
            "is_group": self.private,
            "is_im": False,
            "is_private": self.private,
            "is_archived": self.archived,
            "is_ext_shared": False,
            "is_member": BOT_USER in self.members,
            "num_members": len(self.members),
            "topic": {"value": self.topic},
            "context_team_id": TEAM,
        }
