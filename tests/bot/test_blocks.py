"""What Slack gets, judged by the playground's Slack, which has Slack's limits and error words."""

import json
from datetime import UTC, datetime

from hypothesis import given, settings
from hypothesis import strategies as st

from bot.blocks import MOST_JSON, Message, render, size
from bot.playground.fake_slack.validate_blocks import message_errors, view_block_errors
from bot.text import render as render_text
from commands.page import (
    Action,
    Bar,
    Bold,
    Bullets,
    Chart,
    Code,
    Diff,
    Facts,
    Link,
    Page,
    Paragraph,
    Person,
    Quote,
    Table,
    Time,
)

MOMENT = datetime(2026, 12, 1, 14, 3, 12, tzinfo=UTC)
NASTY = "<!channel> & <http://evil|Approve> *Approved* `x` \u202eevil\u200b"


def texts(value):
    """Every string under a key that Slack parses as mrkdwn, and every raw one."""
    if isinstance(value, dict):
        if value.get("type") == "mrkdwn":
            yield value["text"]
        for child in value.values():
            yield from texts(child)
    elif isinstance(value, list):
        for child in value:
            yield from texts(child)


def blocks_of(kind: str, message: Message) -> list[dict]:
    return [b for b in message.blocks if b["type"] == kind]


def test_the_headline_comes_first_and_the_footer_last():
    message = render(Page((Bold("4 free."),), (Paragraph(("x",)),), footer=("as of now",)))
    assert message.blocks[0]["elements"][0]["elements"] == [
        {"type": "text", "text": "4 free.", "style": {"bold": True}}
    ]
    assert message.blocks[-1]["type"] == "context"
    assert "4 free." in message.text


def test_nothing_from_outside_is_parsed_anywhere():
    page = Page(
        (NASTY,),
        (
            Facts(((NASTY, (NASTY, Bold(NASTY), Code(NASTY), Link(NASTY, "https://a.b/|c>d"))),)),
            Quote(NASTY, NASTY),
            Table((NASTY,), (((NASTY,),),), caption=NASTY),
            Diff(NASTY, (NASTY,)),
            Bullets(((NASTY,),)),
        ),
        (Action(NASTY, "ask", "queue"),),
        footer=(NASTY, Person("x"), Link("bad", "javascript:alert(1)")),
    )
    message = render(page)
    for parsed in [message.text, *texts(message.blocks)]:
        without_ours = parsed.replace("<https://a.b/%7Cc&gt;d|", "").replace("\u2060", "")
        assert "<!" not in without_ours
        assert "<http" not in without_ours
        assert "\u202e" not in parsed
        assert "\u200b" not in parsed
    fields = blocks_of("section", message)[0]["fields"][0]["text"]
    assert "\u2060*Approved" in fields
    assert "javascript" not in json.dumps(message.blocks)


def test_people_are_mentioned_by_slack_id_only_and_named_when_unknown():
    page = Page((Person("li"), " and ", Person("zoe")), footer=(Person("li"),))
    message = render(page, who={"li": "U0LI"}.get)
    assert message.blocks[0]["elements"][0]["elements"] == [
        {"type": "user", "user_id": "U0LI"},
        {"type": "text", "text": " and "},
        {"type": "text", "text": "@zoe"},
    ]
    assert message.blocks[-1]["elements"][0]["text"] == "<@U0LI>"
    assert "U0LI" not in message.text


def test_moments_are_shown_in_the_readers_zone_with_utc_as_fallback():
    message = render(Page((Time(MOMENT),), footer=(Time(MOMENT, clock=True),)))
    date = message.blocks[0]["elements"][0]["elements"][0]
    assert (date["type"], date["fallback"]) == ("date", "2026-12-01 14:03 UTC")
    assert message.blocks[-1]["elements"][0]["text"] == (
        f"<!date^{int(MOMENT.timestamp())}^{{time_secs}}|14:03:12 UTC>"
    )


def test_an_empty_cell_is_a_space_because_slack_refuses_empty_text():
    message = render(Page(("t",), (Table(("a", "b"), ((("",), ("1",)),), numeric=(1,)),)))
    table = blocks_of("table", message)[0]
    assert table["rows"][1][0] == {"type": "raw_text", "text": " "}
    assert table["column_settings"][1] == {"align": "right", "is_wrapped": False}


def test_only_the_first_table_is_a_table_block_and_views_have_none():
    table = Table(("a",), ((("1",),),), caption="first")
    page = Page(("t",), (table, Table(("b",), ((("2",),),), caption="second")))
    assert len(blocks_of("table", render(page))) == 1
    assert "second" in json.dumps(render(page).blocks)
    assert not blocks_of("table", render(page, view=True))


def test_rows_that_do_not_fit_are_counted_with_the_question_that_shows_them():
    rows = tuple(((f"job-{i}",), ("2 x 8",), ("41 min",), ("why " * 10,)) for i in range(400))
    page = Page(
        ("t",),
        (Table(("job", "needs", "waits", "why"), rows, more="queue research 2"),),
        (Action("Next", "ask", "queue research 2"),),
        footer=("as of",),
    )
    message = render(page)
    shown = len(blocks_of("table", message)[0]["rows"]) - 1
    assert f"{400 - shown} more rows; ask /gpu queue research 2" in json.dumps(message.blocks)
    assert message.blocks[-2]["type"] == "actions"


def test_parts_that_do_not_fit_are_counted():
    message = render(Page(("t",), tuple(Paragraph((f"{i} " * 400,)) for i in range(80))))
    assert "more parts cut" in json.dumps(message.blocks[-1])


def test_equal_actions_get_different_ids_in_a_block():
    actions = tuple(Action(str(i), "ask", f"queue q{i}") for i in range(30))
    elements = blocks_of("actions", render(Page(("t",), actions=actions)))[0]["elements"]
    assert [e["action_id"] for e in elements[:3]] == ["ask", "ask.2", "ask.3"]
    assert len({e["action_id"] for e in elements}) == 25


def test_a_chart_is_its_picture_with_the_words_as_alt_text_or_the_words():
    chart = Chart("Week", ("Mon",), (("busy", (1.0,)),), "h", "busy 1 h on Monday")
    page = Page(("t",), (chart,))
    assert "busy 1 h on Monday" in json.dumps(render(page).blocks)
    image = blocks_of("image", render(page, images={"Week": "F123"}))[0]
    assert (image["slack_file"], image["alt_text"]) == ({"id": "F123"}, "busy 1 h on Monday")
    image = blocks_of("image", render(page, images={"Week": "https://a/b.png"}))[0]
    assert image["image_url"] == "https://a/b.png"


def test_a_bar_says_its_parts_in_words():
    message = render(Page(("t",), (Bar((("own", 32), ("borrowed", 12), ("left", 4))),)))
    drawn, _, said = message.blocks[1]["elements"][0]["elements"]
    assert drawn["text"] == "█" * 20 + "▒" * 8 + "·" * 2
    assert said["text"] == "32 own | 12 borrowed | 4 left"


def test_a_danger_button_asks_again():
    action = Action("Reject", "reject", "42.3", style="danger", confirm="Reject request 42?")
    button = blocks_of("actions", render(Page(("t",), actions=(action,))))[0]["elements"][0]
    assert button["confirm"]["text"]["text"] == "Reject request 42?"
    assert button["style"] == "danger"


spans = st.one_of(
    st.text(max_size=60),
    st.builds(Bold, st.text(max_size=30)),
    st.builds(Code, st.text(max_size=30)),
    st.builds(Person, st.text(min_size=1, max_size=20)),
    st.builds(Time, st.just(MOMENT)),
    st.builds(Link, st.text(max_size=50), st.just("https://example.com/x")),
)
lines = st.lists(spans, max_size=6).map(tuple)
parts = st.one_of(
    st.builds(Paragraph, lines),
    st.builds(Bullets, st.lists(lines, max_size=4).map(lambda i: i * 8).map(tuple)),
    st.builds(
        Facts,
        st.lists(st.tuples(st.text(max_size=30), lines), max_size=5).map(lambda p: tuple(p * 5)),
        st.text(max_size=40),
    ),
    st.integers(1, 24).flatmap(
        lambda n: st.builds(
            Table,
            st.lists(st.text(max_size=20), min_size=n, max_size=n).map(tuple),
            st.lists(st.lists(lines, min_size=n, max_size=n).map(tuple), max_size=5).map(
                lambda rows: tuple(rows * 30)
            ),
            st.text(max_size=30),
            st.just((0,)),
        )
    ),
    st.builds(
        Bar,
        st.lists(st.tuples(st.text(max_size=9), st.integers(-5, 10**9)), max_size=6).map(tuple),
    ),
    st.builds(Quote, st.text(max_size=60).map(lambda t: t * 90), st.text(max_size=30)),
    st.builds(
        Diff,
        st.text(max_size=60),
        st.lists(st.text(max_size=30), max_size=9).map(lambda d: tuple(d * 12)),
    ),
)
pages = st.builds(
    Page,
    lines,
    st.lists(parts, max_size=8).map(tuple),
    st.lists(
        st.builds(Action, st.text(max_size=120), st.just("ask"), st.text(max_size=60)),
        max_size=9,
    ).map(lambda actions: tuple(actions * 4)),
    lines,
    st.lists(lines, max_size=3).map(tuple),
)


@settings(max_examples=25, deadline=None)
@given(pages)
def test_no_page_is_ever_above_slacks_limits(page: Page):
    message = render(page)
    assert size(message.blocks) <= 13_200
    assert len(message.blocks) <= 50
    assert 0 < len(message.text) <= 4_000
    assert len(blocks_of("table", message)) <= 1
    assert message_errors(message.blocks) == []
    assert view_block_errors(render(page, view=True).blocks) == []
    for block in message.blocks:
        check(block)


def check(block: dict) -> None:
    match block["type"]:
        case "section":
            assert 1 <= len(block["fields"]) <= 10
            assert all(0 < len(f["text"]) <= 2_000 for f in block["fields"])
        case "actions":
            assert 1 <= len(block["elements"]) <= 25
            assert all(0 < len(e["text"]["text"]) <= 75 for e in block["elements"])
        case "context":
            assert 1 <= len(block["elements"]) <= 10
            assert all(e["text"] for e in block["elements"])
        case "table":
            assert len(block["rows"]) <= 100
            assert all(len(row) <= 20 for row in block["rows"])
            cells = [c for row in block["rows"] for c in row]
            assert sum(len(c.get("text", "")) for c in cells) <= 10_000
            assert all(c.get("text", "x") for c in cells)
    assert '"text": ""' not in json.dumps(block)


@settings(max_examples=25, deadline=None)
@given(pages, st.integers(30, 120))
def test_the_terminal_never_gets_a_control_character(page: Page, width: int):
    shown = render_text(page, width)
    assert all(c in "\n\t" or c.isprintable() or c.isspace() for c in shown)


def test_the_budget_is_below_slacks():
    assert MOST_JSON <= 13_200
