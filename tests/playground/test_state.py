"""What payloads say of the fields people filled in, kind by kind."""

from typing import Any

import pytest

from bot.playground.fake_slack.fields import form_errors
from bot.playground.fake_slack.state import Value, chosen, initial, kept, to_state

TEA = {"text": {"type": "plain_text", "text": "Tea"}, "value": "tea"}
CAKE = {"text": {"type": "plain_text", "text": "Cake"}, "value": "cake"}

CASES: list[tuple[dict[str, Any], Value, dict[str, Any]]] = [
    ({"type": "plain_text_input"}, "words", {"value": "words"}),
    ({"type": "plain_text_input"}, "", {"value": None}),
    ({"type": "number_input"}, "8", {"value": "8"}),
    ({"type": "static_select", "options": [TEA, CAKE]}, "cake", {"selected_option": CAKE}),
    ({"type": "static_select", "options": [TEA]}, None, {"selected_option": None}),
    (
        {"type": "static_select", "option_groups": [{"label": {}, "options": [TEA]}]},
        "tea",
        {"selected_option": TEA},
    ),
    ({"type": "radio_buttons", "options": [TEA]}, "tea", {"selected_option": TEA}),
    ({"type": "checkboxes", "options": [TEA, CAKE]}, ["tea"], {"selected_options": [TEA]}),
    ({"type": "multi_static_select", "options": [TEA]}, None, {"selected_options": []}),
    ({"type": "datepicker"}, "2026-12-24", {"selected_date": "2026-12-24"}),
    ({"type": "timepicker"}, None, {"selected_time": None}),
    ({"type": "datetimepicker"}, "1796130192", {"selected_date_time": 1796130192}),
    ({"type": "users_select"}, "U0ANA", {"selected_user": "U0ANA"}),
    ({"type": "multi_users_select"}, None, {"selected_users": []}),
    ({"type": "conversations_select"}, "C0", {"selected_conversation": "C0"}),
]


@pytest.mark.parametrize(("element", "value", "expected"), CASES)
def test_a_value_becomes_what_slack_calls_it(
    element: dict[str, Any], value: Value, expected: dict[str, Any]
) -> None:
    assert chosen(element, value) == expected


def test_an_option_typed_into_an_external_select_is_taken_as_it_is() -> None:
    option = chosen({"type": "external_select"}, "far")["selected_option"]
    assert option["value"] == "far"


def block(block_id: str, action_id: str, **element: Any) -> dict[str, Any]:
    full = {"type": "plain_text_input", "action_id": action_id, **element}
    return {"type": "input", "block_id": block_id, "element": full}


def test_values_are_kept_where_both_ids_stay_and_start_anew_elsewhere() -> None:
    before = {"a": {"x": "typed"}, "b": {"y": "gone"}}
    after = [block("a", "x", initial_value="first"), block("b", "z", initial_value="new")]
    assert kept(before, after) == {"a": {"x": "typed"}, "b": {"z": "new"}}
    assert to_state(after, kept(before, after))["b"]["z"]["value"] == "new"


def test_initial_values_of_every_kind_are_read() -> None:
    assert initial({"type": "static_select", "initial_option": TEA}) == "tea"
    assert initial({"type": "checkboxes", "initial_options": [TEA, CAKE]}) == ["tea", "cake"]
    assert initial({"type": "datetimepicker", "initial_date_time": 1796130192}) == "1796130192"
    assert initial({"type": "datepicker"}) is None


FORMS: list[tuple[dict[str, Any], Value, str]] = [
    ({}, None, "Please complete this required field."),
    ({"min_length": 3}, "ab", "Please enter at least 3 characters."),
    ({"max_length": 3}, "abcd", "Please enter at most 3 characters."),
    ({"type": "number_input", "is_decimal_allowed": False}, "x", "Please enter a number."),
    ({"type": "number_input", "is_decimal_allowed": False}, "1.5", "Please enter a whole number."),
    (
        {"type": "number_input", "is_decimal_allowed": True, "min_value": "2"},
        "1.5",
        "Please enter a number of at least 2.",
    ),
    ({"type": "email_text_input"}, "nobody", "Please enter a valid email address."),
    ({"type": "url_text_input"}, "nowhere", "Please enter a valid URL."),
]


@pytest.mark.parametrize(("element", "value", "words"), FORMS)
def test_the_client_refuses_a_field_before_it_is_sent(
    element: dict[str, Any], value: Value, words: str
) -> None:
    one = block("a", "x", **element)
    assert form_errors([one], {"a": {"x": value}}) == {"a": words}
    assert form_errors([{**one, "optional": True}], {"a": {"x": None}}) == {}
