"""The views.* methods."""

from typing import Any

from bot.playground.fake_slack.error import SlackError
from bot.playground.fake_slack.params import Params, needed, structure, word
from bot.playground.fake_slack.validate_views import check_view
from bot.playground.fake_slack.view_book import View, check_hash
from bot.playground.fake_slack.workspace import Workspace


def _body(params: Params, kind: str) -> dict[str, Any]:
    body: dict[str, Any] | None = structure(params, "view", dict, "invalid_arguments")
    if body is None:
        raise SlackError("invalid_arguments", ("missing required field: view",))
    check_view(body, kind)
    return body


def _shown(workspace: Workspace, view: View) -> dict[str, Any]:
    workspace.changed("views")
    return {"view": view.to_json()}


def open_view(workspace: Workspace, params: Params) -> dict[str, Any]:
    """Answer ``views.open``."""
    body = _body(params, "modal")
    user = workspace.tickets.exchange(needed(params, "trigger_id"))
    return _shown(workspace, workspace.views.open(user, body))


def push(workspace: Workspace, params: Params) -> dict[str, Any]:
    """Answer ``views.push``."""
    body = _body(params, "modal")
    user = workspace.tickets.exchange(needed(params, "trigger_id"))
    return _shown(workspace, workspace.views.push(user, body))


def update(workspace: Workspace, params: Params) -> dict[str, Any]:
    """Answer ``views.update``."""
    view = workspace.views.by_id(word(params, "view_id"), word(params, "external_id"))
    body = _body(params, view.body["type"])
    check_hash(view, word(params, "hash"))
    return _shown(workspace, workspace.views.update(view, body))


def publish(workspace: Workspace, params: Params) -> dict[str, Any]:
    """Answer ``views.publish``."""
    user = workspace.user(needed(params, "user_id"))
    if user.deleted or user.bot:
        raise SlackError("not_enabled")
    body = _body(params, "home")
    return _shown(workspace, workspace.views.publish(user.id, body, word(params, "hash")))
