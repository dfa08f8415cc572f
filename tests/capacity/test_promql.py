"""What is put between quotes stays there: the tenants' isolation hangs on it."""

import re
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from capacity import promql

ANY = st.text(st.characters(exclude_categories=["Cs"]))


def unquoted(literal: str) -> str:
    """Read a PromQL string as Prometheus does (Go's escapes, as far as we write them)."""
    assert literal[0] == literal[-1] == '"'
    return re.sub(r"\\(.)", lambda m: {"n": "\n"}.get(m[1], m[1]), literal[1:-1])


@given(ANY)
def test_a_quoted_value_is_exactly_the_value(value: str) -> None:
    literal = promql.quoted(value)
    assert unquoted(literal) == value
    assert re.fullmatch(r'"(?:[^"\\\n]|\\["\\n])*"', literal)


@given(st.lists(ANY.filter(bool), min_size=1), ANY)
def test_any_of_matches_these_and_nothing_else(values: list[str], other: str) -> None:
    pattern = unquoted(promql.one_of("namespace", values).removeprefix("namespace=~"))
    assert all(re.fullmatch(pattern, value) for value in values)
    assert bool(re.fullmatch(pattern, other)) == (other in values)


def test_nobody_matches_nothing() -> None:
    assert promql.one_of("namespace", ()) == 'namespace="",namespace!=""'
    assert promql.one_of("namespace", ("",)) == 'namespace="",namespace!=""'


def test_equality_is_by_text() -> None:
    assert promql.equals("pod", 'a"b\\c') == 'pod="a\\"b\\\\c"'


def test_a_range_is_whole_and_positive() -> None:
    assert promql.duration(timedelta(days=1)) == "86400s"
    with pytest.raises(ValueError, match="positive"):
        promql.duration(timedelta(milliseconds=999))
