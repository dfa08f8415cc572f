"""Slack's limits on blocks and views, one case each: just within, and just beyond."""

from typing import Any

import pytest

from bot.playground.fake_slack.error import SlackError
from bot.playground.fake_slack.validate_blocks import check_message_blocks, message_errors
from bot.playground.fake_slack.validate_views import view_errors


def plain(text: str) -> dict[str, Any]:
    return {"type": "plain_text", "text": text}


def mrkdwn(text: str) -> dict[str, Any]:
    return {"type": "mrkdwn", "text": text}


def section(text: str = "x", **more: Any) -> dict[str, Any]:
    return {"type": "section", "text": mrkdwn(text), **more}


def button(**more: Any) -> dict[str, Any]:
    return {"type": "button", "text": plain("Go"), **more}


def option(text: str = "a", value: str = "a") -> dict[str, Any]:
    return {"text": plain(text), "value": value}


def select(count: int = 1, **more: Any) -> dict[str, Any]:
    options = [option(f"o{i}", f"v{i}") for i in range(count)]
    return {"type": "static_select", "action_id": "s", "options": options, **more}


def actions(*elements: dict[str, Any]) -> dict[str, Any]:
    return {"type": "actions", "elements": list(elements)}


def rich(*elements: dict[str, Any]) -> dict[str, Any]:
    return {"type": "rich_text", "elements": list(elements)}


def line(*parts: dict[str, Any]) -> dict[str, Any]:
    return {"type": "rich_text_section", "elements": list(parts)}


def words(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


def table(rows: int = 1, columns: int = 1, text: str = "x") -> dict[str, Any]:
    cells = [{"type": "raw_text", "text": text} for _ in range(columns)]
    return {"type": "table", "rows": [cells for _ in range(rows)]}


def confirm(**more: Any) -> dict[str, Any]:
    return {"title": plain("Sure?"), "text": mrkdwn("Really"), "confirm": plain("Yes"), **more}


def field(element: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"type": "input", "label": plain("Label"), "element": element, **more}


def typed(**more: Any) -> dict[str, Any]:
    return {"type": "plain_text_input", "action_id": "t", **more}


def image(**more: Any) -> dict[str, Any]:
    return {"type": "image", "image_url": "https://example.com/a.png", "alt_text": "A", **more}


FINE: dict[str, list[dict[str, Any]]] = {
    "section at its limit": [section("x" * 3000)],
    "ten fields": [{"type": "section", "fields": [mrkdwn("x" * 100)] * 10}],
    "header": [{"type": "header", "text": plain("x" * 150)}],
    "fifty blocks": [{"type": "divider"}] * 50,
    "25 actions": [actions(*(button(action_id=str(i)) for i in range(25)))],
    "button at its limits": [actions(button(value="x" * 2000, accessibility_label="x" * 75))],
    "100 options": [actions(select(100))],
    "ten context elements": [{"type": "context", "elements": [mrkdwn("x")] * 10}],
    "table at its limits": [table(100, 20, "xxxxx")],
    "rich text with all": [
        rich(
            line(
                words("a"),
                {"type": "user", "user_id": "U1"},
                {"type": "date", "timestamp": 1, "format": "{time}", "fallback": "t"},
                {"type": "link", "url": "https://example.com"},
            ),
            {"type": "rich_text_list", "style": "bullet", "elements": [line(words("a"))]},
            {"type": "rich_text_preformatted", "elements": [words("a")]},
            {"type": "rich_text_quote", "elements": [words("a")]},
        )
    ],
    "image": [image(title=plain("t"))],
    "markdown": [{"type": "markdown", "text": "x" * 12_000}],
    "confirm at its limits": [actions(button(confirm=confirm(text=mrkdwn("x" * 300))))],
    "initial option": [actions(select(3, initial_option=option("o1", "v1")))],
}

BEYOND: dict[str, tuple[list[dict[str, Any]], str]] = {
    "section too long": ([section("x" * 3001)], "must be less than 3001"),
    "section empty": ([section("")], "must be more than 0"),
    "section without words": ([{"type": "section"}], "either `text` or `fields`"),
    "eleven fields": ([{"type": "section", "fields": [mrkdwn("x")] * 11}], "no more than 10"),
    "field too long": ([{"type": "section", "fields": [mrkdwn("x" * 2001)]}], "than 2001"),
    "header too long": ([{"type": "header", "text": plain("x" * 151)}], "than 151"),
    "header in mrkdwn": ([{"type": "header", "text": mrkdwn("x")}], "unsupported type: mrkdwn"),
    "51 blocks": ([{"type": "divider"}] * 51, "no more than 50 items"),
    "26 actions": ([actions(*([button()] * 26))], "no more than 25"),
    "no actions": ([actions()], "no fewer than 1"),
    "button label": ([actions({**button(), "text": plain("x" * 76)})], "than 76"),
    "button value": ([actions(button(value="x" * 2001))], "than 2001"),
    "button url": ([actions(button(url="https://" + "x" * 3000))], "than 3001"),
    "button style": ([actions(button(style="warning"))], "must be one of"),
    "button in mrkdwn": ([actions({**button(), "text": mrkdwn("x")})], "unsupported type"),
    "accessibility label": ([actions(button(accessibility_label="x" * 76))], "than 76"),
    "confirm title": ([actions(button(confirm=confirm(title=plain("x" * 101))))], "than 101"),
    "confirm text": ([actions(button(confirm=confirm(text=mrkdwn("x" * 301))))], "than 301"),
    "confirm button": ([actions(button(confirm=confirm(deny=plain("x" * 31))))], "than 31"),
    "action id": ([actions(button(action_id="x" * 256))], "than 256"),
    "block id": ([section(block_id="x" * 256)], "than 256"),
    "twice the same action id": ([actions(button(action_id="a"), button(action_id="a"))], "exist"),
    "twice the same block id": ([section(block_id="b"), section(block_id="b")], "already exists"),
    "101 options": ([actions(select(101))], "no more than 100"),
    "no options": ([actions({"type": "static_select", "action_id": "s"})], "must define either"),
    "option text": ([actions(select(0, options=[option("x" * 76)]))], "than 76"),
    "option value": ([actions(select(0, options=[option("a", "x" * 151)]))], "than 151"),
    "initial option unknown": ([actions(select(1, initial_option=option("q", "q")))], "must match"),
    "placeholder": ([actions(select(1, placeholder=plain("x" * 151)))], "than 151"),
    "overflow of six": (
        [actions({"type": "overflow", "options": [option(str(i), str(i)) for i in range(6)]})],
        "no more than 5",
    ),
    "eleven radio buttons": (
        [
            actions(
                {"type": "radio_buttons", "options": [option(str(i), str(i)) for i in range(11)]}
            )
        ],
        "no more than 10",
    ),
    "bad date": ([actions({"type": "datepicker", "initial_date": "1.12.2026"})], "YYYY-MM-DD"),
    "eleven in a context": ([{"type": "context", "elements": [mrkdwn("x")] * 11}], "than 10"),
    "button in a context": ([{"type": "context", "elements": [button()]}], "unsupported type"),
    "input in actions": ([actions(typed())], "unsupported type: plain_text_input"),
    "multi select in actions": ([actions({"type": "multi_users_select"})], "unsupported type"),
    "101 rows": ([table(101)], "no more than 100"),
    "21 columns": ([table(1, 21)], "no more than 20"),
    "an empty cell": ([table(1, 1, "")], "more than 0"),
    "cells too long together": ([table(2, 1, "x" * 5001)], "exceed 10000"),
    "ragged rows": ([{"type": "table", "rows": table(1, 1)["rows"] + table(1, 2)["rows"]}], "same"),
    "image without words": ([{"type": "image", "image_url": "https://e.com"}], "alt_text"),
    "image of nothing": ([{"type": "image", "alt_text": "x"}], "slack_file"),
    "image at no address": ([image(image_url="data:image/png;base64,x")], "valid URL"),
    "rich text list": (
        [rich({"type": "rich_text_list", "style": "dash", "elements": [line(words("a"))]})],
        "must be one of",
    ),
    "rich text too deep": (
        [
            rich(
                {
                    "type": "rich_text_list",
                    "style": "bullet",
                    "indent": 9,
                    "elements": [line(words("a"))],
                }
            )
        ],
        "between 0 and 8",
    ),
    "rich text of nothing": ([rich(line(words("")))], "more than 0"),
    "mention in a code block": (
        [rich({"type": "rich_text_preformatted", "elements": [{"type": "user", "user_id": "U"}]})],
        "unsupported type: user",
    ),
    "markdown too long": ([{"type": "markdown", "text": "x" * 12_001}], "than 12001"),
    "markdown too long together": ([{"type": "markdown", "text": "x" * 6001}] * 2, "exceeds 12000"),
    "unknown block": ([{"type": "chart"}], "unsupported type: chart"),
    "unknown property": ([section(colour="red")], "invalid additional property: colour"),
    "text is not text": ([section(7)], "must be a string"),  # type: ignore[arg-type]
    "blocks are not a list": ({"type": "divider"}, "must be an array"),  # type: ignore[dict-item]
    "a block without a type": ([{}], "missing required field: type"),
}


@pytest.mark.parametrize("name", FINE)
def test_what_is_within_the_limits_passes(name: str) -> None:
    assert message_errors(FINE[name]) == []


@pytest.mark.parametrize("name", BEYOND)
def test_what_is_beyond_a_limit_is_refused_with_its_place(name: str) -> None:
    blocks, expected = BEYOND[name]
    errors = message_errors(blocks)
    assert any(expected in e for e in errors), errors
    assert all("[json-pointer:/blocks" in e for e in errors)


def test_a_message_carries_one_table() -> None:
    with pytest.raises(SlackError) as refusal:
        check_message_blocks([table(), table()])
    assert refusal.value.error == "invalid_attachments"


def test_many_fine_blocks_can_be_too_long_together() -> None:
    check_message_blocks([section("x" * 2500)] * 5)
    with pytest.raises(SlackError) as refusal:
        check_message_blocks([section("x" * 2500)] * 6)
    assert refusal.value.error == "msg_blocks_too_long"


def modal(*blocks: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"type": "modal", "title": plain("Title"), "blocks": list(blocks), **more}


VIEWS: dict[str, tuple[dict[str, Any], str]] = {
    "title": (modal(title=plain("x" * 25)), "than 25"),
    "submit": (modal(submit=plain("x" * 25)), "than 25"),
    "close": (modal(close=plain("x" * 25)), "than 25"),
    "private metadata": (modal(private_metadata="x" * 3001), "than 3001"),
    "callback id": (modal(callback_id="x" * 256), "than 256"),
    "external id": (modal(external_id="x" * 256), "than 256"),
    "101 blocks": (modal(*([{"type": "divider"}] * 101)), "no more than 100"),
    "fields but no submit": (modal(field(typed())), "missing required field: submit"),
    "a table": (modal(table()), "unsupported type: table"),
    "markdown": (modal({"type": "markdown", "text": "x"}), "unsupported type: markdown"),
    "no title": ({"type": "modal", "blocks": []}, "missing required field: title"),
    "a Home tab": ({"type": "home", "blocks": []}, "unsupported type: home"),
    "a label": (modal(field(typed(), label=plain("x" * 2001)), submit=plain("Go")), "than 2001"),
    "a hint": (modal(field(typed(), hint=plain("x" * 2001)), submit=plain("Go")), "than 2001"),
    "a placeholder": (
        modal(field(typed(placeholder=plain("x" * 151))), submit=plain("Go")),
        "than 151",
    ),
    "max length": (modal(field(typed(max_length=3001)), submit=plain("Go")), "between 1 and 3000"),
    "lengths": (
        modal(field(typed(min_length=9, max_length=3)), submit=plain("Go")),
        "min_length must be less",
    ),
    "a number that is none": (
        modal(
            field({"type": "number_input", "is_decimal_allowed": False, "initial_value": "x"}),
            submit=plain("Go"),
        ),
        "must be a number",
    ),
    "two fields with focus": (
        modal(
            field(typed(focus_on_load=True)),
            field(typed(focus_on_load=True)),
            submit=plain("Go"),
        ),
        "only one element can have focus_on_load",
    ),
    "a button as a field": (modal(field(button()), submit=plain("Go")), "unsupported type: button"),
}


@pytest.mark.parametrize("name", VIEWS)
def test_a_modal_beyond_a_limit_is_refused(name: str) -> None:
    view, expected = VIEWS[name]
    errors = view_errors(view, "modal")
    assert any(expected in e for e in errors), errors


def test_a_modal_and_a_home_tab_within_the_limits_pass() -> None:
    view = modal(
        section("x"),
        field(typed(min_length=3, max_length=3000), hint=plain("hint"), optional=True),
        field({"type": "datepicker", "action_id": "d", "initial_date": "2026-12-01"}),
        field({"type": "multi_users_select", "action_id": "u", "max_selected_items": 3}),
        submit=plain("x" * 24),
        private_metadata="x" * 3000,
    )
    assert view_errors(view, "modal") == []
    assert view_errors({"type": "home", "blocks": [{"type": "divider"}] * 100}, "home") == []


def test_a_home_tab_has_no_title() -> None:
    errors = view_errors({"type": "home", "blocks": [], "title": plain("x")}, "home")
    assert errors == ["invalid additional property: title [json-pointer:/view]"]
