"""Answers that come back outside the Web API: acknowledgements and response URLs."""

from typing import Any

from bot.playground.fake_slack.error import SlackError
from bot.playground.fake_slack.messages import Message
from bot.playground.fake_slack.params import Params, flag, word
from bot.playground.fake_slack.people import BOT_USER
from bot.playground.fake_slack.tickets import ResponseTicket
from bot.playground.fake_slack.validate_views import check_view
from bot.playground.fake_slack.view_book import View
from bot.playground.fake_slack.web_chat import contents
from bot.playground.fake_slack.workspace import Workspace


def respond(workspace: Workspace, key: str, params: Params) -> None:
    """Do what a post to a response URL asks; raises SlackError when it is used up or too old."""
    answer(workspace, workspace.tickets.respond(key), params)


def answer(workspace: Workspace, ticket: ResponseTicket, params: Params) -> None:
    """Post, replace or delete a message for the person who has this ticket."""
    if flag(params, "delete_original"):
        workspace.delete(_original(ticket))
        return
    text, blocks = contents(workspace, params)
    if flag(params, "replace_original"):
        workspace.edit(_original(ticket), text, blocks)
        return
    in_channel = word(params, "response_type") == "in_channel"
    message = workspace.post(
        ticket.channel,
        BOT_USER,
        text,
        blocks,
        thread_ts=word(params, "thread_ts"),
        only_for="" if in_channel else ticket.user,
    )
    ticket.message = ticket.message or message


def _original(ticket: ResponseTicket) -> Message:
    if ticket.message is None or ticket.message.deleted:
        raise SlackError("message_not_found")
    return ticket.message


def apply_submission(workspace: Workspace, view: View, ack: Any) -> None:
    """Do what the acknowledgement of a submission says with the modal; raises SlackError."""
    action = ack.get("response_action") if isinstance(ack, dict) else None
    match action:
        case None:
            workspace.views.close(view.user)
        case "clear":
            workspace.views.close(view.user, all_of_them=True)
        case "errors":
            view.errors = _field_errors(view, ack.get("errors"))
        case "update":
            check_view(ack.get("view"), "modal")
            workspace.views.update(view, ack["view"])
        case "push":
            check_view(ack.get("view"), "modal")
            workspace.views.push(view.user, ack["view"])
        case _:
            raise SlackError("invalid_arguments", (f"unknown response_action: {action}",))


def _field_errors(view: View, errors: Any) -> dict[str, str]:
    inputs = {b["block_id"] for b in view.blocks if b["type"] == "input"}
    if not isinstance(errors, dict) or not errors or not set(errors) <= inputs:
        raise SlackError("invalid_arguments", ("errors must name input blocks of the view",))
    return {block: str(words) for block, words in errors.items()}
