"""The users.*, usergroups.*, conversations.*, reactions.* methods and the like."""

from typing import Any

from bot.playground.fake_slack.error import SlackError
from bot.playground.fake_slack.params import Params, flag, needed, paged, word
from bot.playground.fake_slack.people import (
    APP,
    BOT,
    BOT_USER,
    TEAM,
    TEAM_DOMAIN,
    Channel,
)
from bot.playground.fake_slack.workspace import Workspace


def auth_test(workspace: Workspace, params: Params) -> dict[str, Any]:
    """Answer ``auth.test``."""
    return {
        "url": f"{workspace.url}/",
        "team": "Gpubot playground",
        "user": "gpubot",
        "team_id": TEAM,
        "user_id": BOT_USER,
        "bot_id": BOT,
        "is_enterprise_install": False,
    }


def api_test(workspace: Workspace, params: Params) -> dict[str, Any]:
    """Answer ``api.test``."""
    return {"args": params}


def team_info(workspace: Workspace, params: Params) -> dict[str, Any]:
    """Answer ``team.info``."""
    return {"team": {"id": TEAM, "name": "Gpubot playground", "domain": TEAM_DOMAIN}}


def bots_info(workspace: Workspace, params: Params) -> dict[str, Any]:
    """Answer ``bots.info``."""
    bot = {"id": BOT, "app_id": APP, "user_id": BOT_USER, "name": "gpubot", "deleted": False}
    return {"bot": bot}


def user_info(workspace: Workspace, params: Params) -> dict[str, Any]:
    """Answer ``users.info``."""
    user = workspace.user(needed(params, "user"))
    return {"user": user.to_json(locale=flag(params, "include_locale"))}


def user_by_email(workspace: Workspace, params: Params) -> dict[str, Any]:
    """Answer ``users.lookupByEmail``."""
    email = needed(params, "email")
    for user in workspace.users.values():
        if user.email == email and not user.deleted:
            return {"user": user.to_json()}
    raise SlackError("users_not_found")


def user_list(workspace: Workspace, params: Params) -> dict[str, Any]:
    """Answer ``users.list``."""
    page, cursor = paged(list(workspace.users.values()), params, 200)
    members = [u.to_json(locale=flag(params, "include_locale")) for u in page]
    return {"members": members, "response_metadata": {"next_cursor": cursor}}


def group_list(workspace: Workspace, params: Params) -> dict[str, Any]:
    """Answer ``usergroups.list``."""
    users = flag(params, "include_users")
    return {"usergroups": [g.to_json(users=users) for g in workspace.groups.values()]}


def group_users(workspace: Workspace, params: Params) -> dict[str, Any]:
    """Answer ``usergroups.users.list``."""
    group = workspace.groups.get(needed(params, "usergroup"))
    if group is None:
        raise SlackError("no_such_subteam")
    return {"users": list(group.users)}


def _visible(workspace: Workspace, channel_id: str) -> Channel:
    channel = workspace.channels.get(channel_id)
    if channel is None or (channel.private and BOT_USER not in channel.members):
        raise SlackError("channel_not_found")
    return channel


def conversation_info(workspace: Workspace, params: Params) -> dict[str, Any]:
    """Answer ``conversations.info``."""
    return {"channel": _visible(workspace, needed(params, "channel")).to_json()}


def conversation_open(workspace: Workspace, params: Params) -> dict[str, Any]:
    """Answer ``conversations.open``."""
    if word(params, "channel"):
        return {"channel": {"id": _visible(workspace, word(params, "channel")).id}}
    users = needed(params, "users").split(",")
    if len(users) > 1:
        raise SlackError("invalid_arguments", ("group messages are not in this workspace",))
    if workspace.user(users[0]).deleted:
        raise SlackError("user_disabled")
    return {"channel": {"id": workspace.channel(users[0]).id}}


def conversation_list(workspace: Workspace, params: Params) -> dict[str, Any]:
    """Answer ``conversations.list``."""
    kinds = word(params, "types", "public_channel").split(",")
    found = [c for c in workspace.channels.values() if _kind(c) in kinds]
    if flag(params, "exclude_archived"):
        found = [c for c in found if not c.archived]
    page, cursor = paged([c for c in found if not c.private or BOT_USER in c.members], params)
    channels = [c.to_json() for c in page]
    return {"channels": channels, "response_metadata": {"next_cursor": cursor}}


def _kind(channel: Channel) -> str:
    if channel.im_with:
        return "im"
    return "private_channel" if channel.private else "public_channel"


def conversation_members(workspace: Workspace, params: Params) -> dict[str, Any]:
    """Answer ``conversations.members``."""
    channel = _visible(workspace, needed(params, "channel"))
    page, cursor = paged(list(channel.members), params)
    return {"members": page, "response_metadata": {"next_cursor": cursor}}


def conversation_join(workspace: Workspace, params: Params) -> dict[str, Any]:
    """Answer ``conversations.join``."""
    channel = _visible(workspace, needed(params, "channel"))
    if channel.private:
        raise SlackError("method_not_supported_for_channel_type")
    if BOT_USER not in channel.members:
        workspace.invite_bot(channel.id)
    return {"channel": workspace.channels[channel.id].to_json()}


def reaction_add(workspace: Workspace, params: Params) -> dict[str, Any]:
    """Answer ``reactions.add``."""
    message = workspace.book.find(needed(params, "channel"), needed(params, "timestamp"))
    who = message.reactions.setdefault(needed(params, "name"), [])
    if BOT_USER in who:
        raise SlackError("already_reacted")
    who.append(BOT_USER)
    workspace.changed("messages")
    return {}


def reaction_remove(workspace: Workspace, params: Params) -> dict[str, Any]:
    """Answer ``reactions.remove``."""
    message = workspace.book.find(needed(params, "channel"), needed(params, "timestamp"))
    who = message.reactions.get(needed(params, "name"), [])
    if BOT_USER not in who:
        raise SlackError("no_reaction")
    who.remove(BOT_USER)
    workspace.changed("messages")
    return {}
