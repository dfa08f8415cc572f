"""Pages on a terminal, and answers as JSON."""

import json
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from enum import StrEnum
from typing import Any

import pytest

from bot.json_ import to_json
from bot.text import bar, display_width, render, table_lines
from capacity.model import UNLIMITED, Quota
from commands.page import Action, Bold, Facts, Page, Paragraph, Person, Quote, Table
from commands.parse import parse
from commands.table import run
from tests.builders import ANA, H100, FakeWorld


@dataclass(frozen=True)
class Sample:
    kind: Any
    at: datetime = datetime(2026, 12, 1, 14, 3, 12, tzinfo=UTC)
    amounts: dict = field(default_factory=lambda: {H100: 4})
    pair: tuple = H100
    price: Decimal = Decimal("2.50")
    quota: Quota = field(default_factory=lambda: Quota(UNLIMITED, None, 0))
    took: timedelta = timedelta(seconds=90)
    names: frozenset = frozenset({"b", "a"})


def test_a_table_is_aligned_and_numbers_stand_right():
    table = Table(("queue", "own"), ((("a",), ("8",)), (("longer",), ("120",))), numeric=(1,))
    assert table_lines(table, 80) == ["queue   own", "------  ---", "a         8", "longer  120"]


def test_a_wide_table_is_narrowed_to_the_terminal():
    table = Table(("job", "why"), ((("j",), ("word " * 30,)),))
    assert max(map(len, table_lines(table, 40))) <= 40


def test_wide_characters_count_double():
    assert display_width("日本") == 4
    table = Table(("a", "b"), ((("日本",), ("x",)), (("ab",), ("y",))))
    assert table_lines(table, 40)[2:] == ["日本  x", "ab    y"]


def test_prose_is_wrapped_and_long_addresses_stay_whole():
    url = "https://example.com/" + "x" * 60
    shown = render(Page(("word " * 30 + url,)), width=40)
    assert url in shown
    assert all(len(line) <= 40 for line in shown.splitlines() if url not in line)


def test_a_bar_is_exact_for_small_amounts_and_in_proportion_for_large_ones():
    assert bar([("own", 3), ("left", 2)], 40) == ("███▒▒", "3 own | 2 left")
    drawn, said = bar([("own", 1_000_000), ("left", 1)], 40)
    assert len(drawn) <= 42
    assert drawn.count("▒") == 1
    assert said == "1000000 own | 1 left"
    assert bar([("own", 0)], 40)[0] == ""


def test_people_are_named_and_colour_is_off_unless_asked():
    page = Page((Bold("done by "), Person("li")), (Paragraph(("x",)),))
    assert render(page) == "done by @li\n\nx\n"
    assert render(page, name={"li": "Li Wang"}.__getitem__).startswith("done by Li Wang")
    assert render(page, colour=True).startswith("\x1b[1m")


def test_escape_sequences_in_data_never_reach_the_terminal():
    page = Page(("\x1b[2J\x9b31mred",), (Quote("a\x1b]0;t\x07b"), Facts((("k\x1b", ("v\r",)),))))
    shown = render(page)
    assert not set(shown) & set("\x1b\x9b\x07\r")


def test_buttons_become_the_words_to_type():
    page = Page(
        ("x",),
        actions=(
            Action("Queue", "ask", "queue research"),
            Action("Ask for more", "request", "research h100"),
            Action("Open", "open", url="https://example.com"),
            Action("Approve", "approve", "42.3"),
        ),
    )
    shown = render(page)
    assert "- Queue: queue research" in shown
    assert "- Ask for more: /gpu-request research h100 in Slack" in shown
    assert "https://example.com" in shown
    assert "Approve" not in shown


def test_json_has_exact_figures_iso_moments_and_flat_keys():
    class Kind(StrEnum):
        A = "a"

    made = to_json(Sample(kind=Kind.A))
    assert json.loads(json.dumps(made)) == {
        "at": "2026-12-01T14:03:12+00:00",
        "amounts": {"h100/nvidia.com/gpu": 4},
        "pair": "h100/nvidia.com/gpu",
        "price": "2.50",
        "quota": {"nominal": "unlimited", "borrowing_limit": None, "lending_limit": 0},
        "took": 90.0,
        "names": ["a", "b"],
        "kind": "a",
    }


def test_what_has_no_json_form_is_an_error_not_a_guess():
    with pytest.raises(TypeError):
        to_json(Sample(kind=object()))
    with pytest.raises(TypeError):
        to_json("text")


def test_every_answer_is_json():
    for text in ("quota", "quota ml", "queue", "queue ml", "why llm-ft-7", "fit 8 h100", "help"):
        answer, _ = run(parse(text, ANA), FakeWorld())
        made = json.loads(json.dumps(to_json(answer)))
        assert {"as_of", "source", "gaps"} <= set(made)
