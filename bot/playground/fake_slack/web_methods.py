"""Every Web API method that the fake knows, with its scope and rate tier."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from bot.playground.fake_slack import web_chat, web_files, web_people, web_views
from bot.playground.fake_slack.limits import TIER_2, TIER_3, TIER_4
from bot.playground.fake_slack.params import Params
from bot.playground.fake_slack.workspace import Workspace

SPECIAL = 600
"""Methods whose limit Slack does not put in a tier: hundreds a minute."""


@dataclass(frozen=True, slots=True)
class Method:
    """A Web API method: what answers it, the bot scope it needs, calls per minute."""

    answer: Callable[[Workspace, Params], dict[str, Any]]
    scope: str
    per_minute: int


METHODS = {
    "api.test": Method(web_people.api_test, "", SPECIAL),
    "auth.test": Method(web_people.auth_test, "", SPECIAL),
    "blocks.validate": Method(web_chat.validate, "", TIER_3),
    "bots.info": Method(web_people.bots_info, "users:read", TIER_3),
    "chat.delete": Method(web_chat.delete, "chat:write", TIER_3),
    "chat.getPermalink": Method(web_chat.permalink, "", SPECIAL),
    "chat.postEphemeral": Method(web_chat.post_ephemeral, "chat:write", TIER_4),
    "chat.postMessage": Method(web_chat.post_message, "chat:write", SPECIAL),
    "chat.update": Method(web_chat.update, "chat:write", TIER_3),
    "conversations.info": Method(web_people.conversation_info, "channels:read", TIER_3),
    "conversations.join": Method(web_people.conversation_join, "channels:join", TIER_3),
    "conversations.list": Method(web_people.conversation_list, "channels:read", TIER_2),
    "conversations.members": Method(web_people.conversation_members, "channels:read", TIER_4),
    "conversations.open": Method(web_people.conversation_open, "im:write", TIER_3),
    "files.completeUploadExternal": Method(web_files.complete, "files:write", TIER_4),
    "files.getUploadURLExternal": Method(web_files.upload_url, "files:write", TIER_4),
    "files.info": Method(web_files.info, "files:read", TIER_4),
    "reactions.add": Method(web_people.reaction_add, "reactions:write", TIER_3),
    "reactions.remove": Method(web_people.reaction_remove, "reactions:write", TIER_2),
    "team.info": Method(web_people.team_info, "team:read", TIER_3),
    "usergroups.list": Method(web_people.group_list, "usergroups:read", TIER_2),
    "usergroups.users.list": Method(web_people.group_users, "usergroups:read", TIER_2),
    "users.info": Method(web_people.user_info, "users:read", TIER_4),
    "users.list": Method(web_people.user_list, "users:read", TIER_2),
    "users.lookupByEmail": Method(web_people.user_by_email, "users:read.email", TIER_3),
    "views.open": Method(web_views.open_view, "", TIER_4),
    "views.publish": Method(web_views.publish, "", TIER_4),
    "views.push": Method(web_views.push, "", TIER_4),
    "views.update": Method(web_views.update, "", TIER_4),
}

CONNECTIONS_OPEN = "apps.connections.open"
