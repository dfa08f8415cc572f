"""Text objects, options and confirm dialogs within Slack's limits. [pure]."""

from typing import Any

from bot.playground.fake_slack.validate_shape import (
    Check,
    Report,
    anything,
    array,
    boolean,
    both,
    by_type,
    fields,
    one_of,
    string,
)

ID = string(255)
URL = string(3000, 1)


def plain_text(at_most: int) -> Check:
    """Accept a ``plain_text`` object."""
    return by_type(
        {"plain_text": fields({"text": string(at_most, 1)}, {"emoji": boolean})},
    )


def text_object(at_most: int) -> Check:
    """Accept a ``plain_text`` or ``mrkdwn`` object."""
    return by_type(
        {
            "plain_text": fields({"text": string(at_most, 1)}, {"emoji": boolean}),
            "mrkdwn": fields({"text": string(at_most, 1)}, {"verbatim": boolean}),
        }
    )


def option(*, with_url: bool = False, rich: bool = False) -> Check:
    """Accept an option; only overflow menus take a ``url``, only boxes and radios take mrkdwn."""
    words = text_object(75) if rich else plain_text(75)
    optional = {"description": words, **({"url": URL} if with_url else {})}
    return fields({"text": words, "value": string(150)}, optional)


OPTIONS = array(option(), 100)
OPTION_GROUPS = array(fields({"label": plain_text(75), "options": OPTIONS}), 100)

CONFIRM = fields(
    {"title": plain_text(100), "text": text_object(300), "confirm": plain_text(30)},
    {"deny": plain_text(30), "style": one_of("primary", "danger")},
)

DISPATCH = fields(
    {},
    {"trigger_actions_on": array(one_of("on_enter_pressed", "on_character_entered"), 2)},
)

IMAGE_SOURCE = {"image_url": URL, "slack_file": anything, "alt_text": string(2000)}


def _has_one_picture(report: Report, path: str, value: Any) -> None:
    if (value.get("image_url") is None) == (value.get("slack_file") is None):
        report.add(path, "must define either `image_url` or `slack_file`")
    url = value.get("image_url") or "https://"
    if not url.startswith(("https://", "http://")):
        report.add(f"{path}/image_url", "must be a valid URL")


IMAGE_ELEMENT = both(
    fields({"alt_text": IMAGE_SOURCE["alt_text"]}, IMAGE_SOURCE),
    _has_one_picture,
)
IMAGE_BLOCK = both(
    fields(
        {"alt_text": IMAGE_SOURCE["alt_text"]},
        {**IMAGE_SOURCE, "title": plain_text(2000), "block_id": ID},
    ),
    _has_one_picture,
)
