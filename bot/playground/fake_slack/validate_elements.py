"""Interactive elements within Slack's limits, and which block may hold which. [pure]."""

import re
from typing import Any

from bot.playground.fake_slack.validate_shape import (
    Check,
    Report,
    anything,
    array,
    boolean,
    both,
    by_type,
    exactly_one,
    fields,
    integer,
    one_of,
    string,
)
from bot.playground.fake_slack.validate_text import (
    CONFIRM,
    DISPATCH,
    ID,
    IMAGE_ELEMENT,
    OPTION_GROUPS,
    OPTIONS,
    URL,
    option,
    plain_text,
)

_COMMON: dict[str, Check] = {"action_id": ID, "confirm": CONFIRM, "focus_on_load": boolean}
_PICK: dict[str, Check] = {**_COMMON, "placeholder": plain_text(150)}
_TYPE: dict[str, Check] = {
    "action_id": ID,
    "focus_on_load": boolean,
    "placeholder": plain_text(150),
    "dispatch_action_config": DISPATCH,
}
_MANY: dict[str, Check] = {**_PICK, "max_selected_items": integer(1, 100)}


def pattern(regex: str, words: str) -> Check:
    """Accept a string of a form, such as a date."""

    def check(report: Report, path: str, value: Any) -> None:
        if not isinstance(value, str) or not re.fullmatch(regex, value):
            report.add(path, words)

    return check


def all_options(element: dict[str, Any]) -> list[dict[str, Any]]:
    """Return an element's options, whether or not they are in groups."""
    grouped = [o for group in element.get("option_groups") or [] for o in group["options"]]
    return [*(element.get("options") or []), *grouped]


def _initial_is_an_option(report: Report, path: str, value: Any) -> None:
    known = [(o["text"]["text"], o["value"]) for o in all_options(value)]
    chosen = value.get("initial_options") or []
    if value.get("initial_option") is not None:
        chosen = [value["initial_option"]]
    for one in chosen:
        if (one["text"]["text"], one["value"]) not in known:
            report.add(path, "initial option must match one of the options")
    values = [value for _, value in known]
    if len(values) != len(set(values)):
        report.add(path, "option values must be unique")


def _lengths_agree(report: Report, path: str, value: Any) -> None:
    least, most = value.get("min_length") or 0, value.get("max_length") or 3000
    if least > most:
        report.add(path, "min_length must be less than max_length")


_DATE = pattern(r"\d{4}-\d{2}-\d{2}", "must be a date of the form YYYY-MM-DD")
_TIME = pattern(r"([01]\d|2[0-3]):[0-5]\d", "must be a time of the form HH:mm")
_NUMBER = pattern(r"-?\d+(\.\d+)?", "must be a number in a string")
_LIST = {"options": OPTIONS, "option_groups": OPTION_GROUPS}
_ONE_LIST = exactly_one("options", "option_groups")
_ID_LIST = array(ID, 100, 0)

SELECTS: dict[str, Check] = {
    "static_select": both(
        fields({}, {**_PICK, **_LIST, "initial_option": option()}),
        _ONE_LIST,
        _initial_is_an_option,
    ),
    "external_select": fields(
        {}, {**_PICK, "initial_option": option(), "min_query_length": integer(0, 100)}
    ),
    "users_select": fields({}, {**_PICK, "initial_user": ID}),
    "conversations_select": fields(
        {},
        {
            **_PICK,
            "initial_conversation": ID,
            "default_to_current_conversation": boolean,
            "response_url_enabled": boolean,
            "filter": anything,
        },
    ),
    "channels_select": fields(
        {}, {**_PICK, "initial_channel": ID, "response_url_enabled": boolean}
    ),
}
MULTI_SELECTS: dict[str, Check] = {
    "multi_static_select": both(
        fields({}, {**_MANY, **_LIST, "initial_options": OPTIONS}),
        _ONE_LIST,
        _initial_is_an_option,
    ),
    "multi_external_select": fields(
        {}, {**_MANY, "initial_options": OPTIONS, "min_query_length": integer(0, 100)}
    ),
    "multi_users_select": fields({}, {**_MANY, "initial_users": _ID_LIST}),
    "multi_conversations_select": fields({}, {**_MANY, "initial_conversations": _ID_LIST}),
    "multi_channels_select": fields({}, {**_MANY, "initial_channels": _ID_LIST}),
}
PICKERS: dict[str, Check] = {
    "datepicker": fields({}, {**_PICK, "initial_date": _DATE}),
    "timepicker": fields({}, {**_PICK, "initial_time": _TIME, "timezone": string(100)}),
    "datetimepicker": fields({}, {**_COMMON, "initial_date_time": integer(10**9, 10**10 - 1)}),
}
CHOICES: dict[str, Check] = {
    "radio_buttons": both(
        fields(
            {"options": array(option(rich=True), 10)},
            {**_COMMON, "initial_option": option(rich=True)},
        ),
        _initial_is_an_option,
    ),
    "checkboxes": both(
        fields(
            {"options": array(option(rich=True), 10)},
            {**_COMMON, "initial_options": array(option(rich=True), 10)},
        ),
        _initial_is_an_option,
    ),
}
BUTTON: dict[str, Check] = {
    "button": fields(
        {"text": plain_text(75)},
        {
            "action_id": ID,
            "url": URL,
            "value": string(2000),
            "style": one_of("primary", "danger"),
            "confirm": CONFIRM,
            "accessibility_label": string(75),
        },
    ),
    "overflow": fields(
        {"options": array(option(with_url=True), 5)}, {"action_id": ID, "confirm": CONFIRM}
    ),
}
TYPED: dict[str, Check] = {
    "plain_text_input": both(
        fields(
            {},
            {
                **_TYPE,
                "multiline": boolean,
                "initial_value": string(3000),
                "min_length": integer(0, 3000),
                "max_length": integer(1, 3000),
            },
        ),
        _lengths_agree,
    ),
    "number_input": fields(
        {"is_decimal_allowed": boolean},
        {**_TYPE, "initial_value": _NUMBER, "min_value": _NUMBER, "max_value": _NUMBER},
    ),
    "email_text_input": fields({}, {**_TYPE, "initial_value": string(3000)}),
    "url_text_input": fields({}, {**_TYPE, "initial_value": string(3000)}),
}

UPLOAD: dict[str, Check] = {
    "file_input": fields(
        {}, {"action_id": ID, "filetypes": array(string(50, 1), 100), "max_files": integer(1, 10)}
    ),
}

SECTION_ACCESSORY = by_type(
    {"image": IMAGE_ELEMENT, **BUTTON, **SELECTS, **MULTI_SELECTS, **PICKERS, **CHOICES}
)
ACTION_ELEMENT = by_type({**BUTTON, **SELECTS, **PICKERS, **CHOICES})
INPUT_ELEMENT = by_type({**TYPED, **SELECTS, **MULTI_SELECTS, **PICKERS, **CHOICES, **UPLOAD})
