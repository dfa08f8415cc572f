"""Modals and Home tabs within Slack's limits. [pure]."""

import json
from typing import Any

from bot.playground.fake_slack.error import SlackError
from bot.playground.fake_slack.validate_blocks import view_block_errors
from bot.playground.fake_slack.validate_shape import (
    Report,
    anything,
    boolean,
    by_type,
    fields,
    string,
)
from bot.playground.fake_slack.validate_text import ID, plain_text

VIEW_BYTES = 250_000

_COMMON = {"callback_id": ID, "external_id": ID, "private_metadata": string(3000)}
_MODAL = fields(
    {"title": plain_text(24), "blocks": anything},
    {
        **_COMMON,
        "submit": plain_text(24),
        "close": plain_text(24),
        "clear_on_close": boolean,
        "notify_on_close": boolean,
        "submit_disabled": boolean,
    },
)
_HOME = fields({"blocks": anything}, _COMMON)


def view_errors(view: Any, kind: str) -> list[str]:
    """Return what is wrong with a view of this kind ("modal" or "home")."""
    report = Report()
    by_type({"modal": _MODAL} if kind == "modal" else {"home": _HOME})(report, "/view", view)
    if report.errors:
        return report.errors
    errors = view_block_errors(view["blocks"])
    has_input = any(b.get("type") == "input" for b in view["blocks"])
    if not errors and kind == "modal" and has_input and view.get("submit") is None:
        errors = ["missing required field: submit [json-pointer:/view]"]
    return errors


def check_view(view: Any, kind: str) -> None:
    """Raise the error that views.* methods answer for this view, if any."""
    errors = view_errors(view, kind)
    if errors:
        raise SlackError("invalid_arguments", tuple(errors))
    if len(json.dumps(view)) > VIEW_BYTES:
        raise SlackError("view_too_large")
