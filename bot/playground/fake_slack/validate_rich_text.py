"""Rich text blocks within Slack's limits. [pure]."""

from bot.playground.fake_slack.validate_shape import (
    Check,
    anything,
    array,
    boolean,
    by_type,
    fields,
    integer,
    one_of,
    string,
)
from bot.playground.fake_slack.validate_text import ID, URL

_STYLE = fields(
    {},
    dict.fromkeys(
        ("bold", "italic", "strike", "code", "underline", "highlight", "client_highlight"), boolean
    ),
)
_STYLED: dict[str, Check] = {"style": _STYLE}
_TEXT = fields({"text": string(12_000, 1)}, _STYLED)
_LINK = fields({"url": URL}, {**_STYLED, "text": string(12_000), "unsafe": boolean})

PARTS: dict[str, Check] = {
    "text": _TEXT,
    "link": _LINK,
    "channel": fields({"channel_id": ID}, _STYLED),
    "user": fields({"user_id": ID}, _STYLED),
    "usergroup": fields({"usergroup_id": ID}, _STYLED),
    "team": fields({"team_id": ID}, _STYLED),
    "emoji": fields(
        {"name": string(100, 1)}, {**_STYLED, "unicode": string(100), "skin_tone": anything}
    ),
    "date": fields(
        {"timestamp": integer(0, 10**11), "format": string(500, 1)},
        {**_STYLED, "url": URL, "fallback": string(500, 1)},
    ),
    "broadcast": fields({"range": one_of("here", "channel", "everyone")}, _STYLED),
    "color": fields({"value": string(20, 1)}, _STYLED),
}

_PARTS = array(by_type(PARTS), 1000)
_SECTION = fields({"elements": _PARTS})
_BORDER: dict[str, Check] = {"border": integer(0, 1)}

_ELEMENTS: dict[str, Check] = {
    "rich_text_section": _SECTION,
    "rich_text_list": fields(
        {
            "style": one_of("bullet", "ordered"),
            "elements": array(by_type({"rich_text_section": _SECTION}), 1000),
        },
        {**_BORDER, "indent": integer(0, 8), "offset": integer(0, 10_000)},
    ),
    "rich_text_preformatted": fields(
        {"elements": array(by_type({"text": _TEXT, "link": _LINK}), 1000)},
        {**_BORDER, "language": string(50)},
    ),
    "rich_text_quote": fields({"elements": _PARTS}, _BORDER),
}

RICH_TEXT = fields({"elements": array(by_type(_ELEMENTS), 1000)}, {"block_id": ID})
