"""Every block and element once, as a message and as a modal."""

from typing import Any


def plain(text: str) -> dict[str, Any]:
    return {"type": "plain_text", "text": text}


def mrkdwn(text: str) -> dict[str, Any]:
    return {"type": "mrkdwn", "text": text}


def options(*names: str) -> list[dict[str, Any]]:
    return [{"text": plain(n), "value": n.lower()} for n in names]


def line(*parts: dict[str, Any]) -> dict[str, Any]:
    return {"type": "rich_text_section", "elements": list(parts)}


def words(text: str, **style: bool) -> dict[str, Any]:
    return {"type": "text", "text": text, **({"style": style} if style else {})}


RICH = {
    "type": "rich_text",
    "elements": [
        line(
            words("Bold", bold=True),
            words(" and "),
            words("code", code=True),
            words(" by "),
            {"type": "user", "user_id": "U0ANA"},
            words(" in "),
            {"type": "channel", "channel_id": "C0REQUESTS"},
            words(" at "),
            {
                "type": "date",
                "timestamp": 1796130192,
                "format": "{date_num} {time}",
                "fallback": "t",
            },
            words(" "),
            {"type": "emoji", "name": "tada"},
        ),
        {
            "type": "rich_text_list",
            "style": "bullet",
            "elements": [line(words("first")), line(words("second"))],
        },
        {
            "type": "rich_text_list",
            "style": "ordered",
            "indent": 1,
            "elements": [line(words("nested"))],
        },
        {
            "type": "rich_text_preformatted",
            "elements": [words("-  nominalQuota: 32\n+  nominalQuota: 40")],
        },
        {"type": "rich_text_quote", "elements": [words("quoted <b>not bold</b>")]},
    ],
}

CONFIRM = {
    "title": plain("Are you sure?"),
    "text": mrkdwn("This takes *8 GPUs* away."),
    "confirm": plain("Take them"),
    "deny": plain("Leave them"),
    "style": "danger",
}

MESSAGE: list[dict[str, Any]] = [
    {"type": "header", "text": plain("A header")},
    {
        "type": "section",
        "text": mrkdwn(
            "*bold* _italic_ ~strike~ `code` <https://example.com|a link> <@U0LI> <#C0RESEARCH> "
            "<!date^1796130192^{date_short_pretty} {time}|fallback> :white_check_mark:\n> a quote\n"
            "```fenced &lt;code&gt;```\n1 &lt; 2 &amp;&amp; snake_case_name 2*3*4"
        ),
        "accessory": {
            "type": "button",
            "action_id": "side",
            "text": plain("Beside"),
            "accessibility_label": "A button beside the text",
        },
    },
    {"type": "section", "fields": [mrkdwn("*Own*\n32"), mrkdwn("*Borrowed*\n12")]},
    {"type": "divider"},
    RICH,
    {
        "type": "table",
        "column_settings": [{"is_wrapped": True}, {"align": "right"}],
        "rows": [
            [{"type": "raw_text", "text": "queue"}, {"type": "raw_text", "text": "own"}],
            [{"type": "raw_text", "text": "research"}, {"type": "raw_text", "text": "32"}],
            [
                {"type": "rich_text", "elements": [line(words("vision", bold=True))]},
                {"type": "raw_number", "value": 24},
            ],
        ],
    },
    {
        "type": "actions",
        "elements": [
            {"type": "button", "action_id": "go", "text": plain("Go"), "style": "primary"},
            {
                "type": "button",
                "action_id": "take",
                "text": plain("Take"),
                "style": "danger",
                "confirm": CONFIRM,
            },
            {"type": "static_select", "action_id": "pick", "options": options("Tea", "Cake")},
            {"type": "datepicker", "action_id": "day", "initial_date": "2026-12-24"},
            {"type": "overflow", "action_id": "more", "options": options("Edit", "Delete")},
        ],
    },
    {"type": "image", "image_url": "https://example.com/a.png", "alt_text": "a picture elsewhere"},
    {"type": "markdown", "text": "## Heading\n- **bold** item\n- [link](https://example.com)"},
    {"type": "context", "elements": [mrkdwn("as of *now*"), plain("small print")]},
]


def field(block_id: str, kind: str, **element: Any) -> dict[str, Any]:
    return {
        "type": "input",
        "block_id": block_id,
        "label": plain(block_id.capitalize()),
        "element": {"type": kind, "action_id": block_id, **element},
        "optional": True,
    }


MODAL: dict[str, Any] = {
    "type": "modal",
    "title": plain("All fields"),
    "submit": plain("Send"),
    "close": plain("Cancel"),
    "blocks": [
        field("words", "plain_text_input", placeholder=plain("Say something"), max_length=20),
        field("story", "plain_text_input", multiline=True, initial_value="Once"),
        field("number", "number_input", is_decimal_allowed=False, min_value="1"),
        field("drink", "static_select", options=options("Tea", "Coffee"), placeholder=plain("Any")),
        field("foods", "multi_static_select", options=options("Cake", "Pie", "Bread")),
        field("day", "datepicker", initial_date="2026-12-24"),
        field("hour", "timepicker", initial_time="09:30"),
        field("size", "radio_buttons", options=options("Small", "Large")),
        field("extras", "checkboxes", options=options("Milk", "Sugar")),
        field("who", "users_select"),
        field("where", "channels_select"),
    ],
}
