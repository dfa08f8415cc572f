"""Windows: the asker's days, whole minutes, and the period before."""

from datetime import UTC, datetime, timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from capacity.errors import UsageError
from commands.window import is_window, parse

NOW = datetime(2026, 12, 1, 14, 3, 14, tzinfo=UTC)  # a Tuesday
BERLIN = "Europe/Berlin"


def at(*when: int) -> datetime:
    return datetime(*when, tzinfo=UTC)


@pytest.mark.parametrize(
    ("said", "zone", "start", "end", "before"),
    [
        ("", "UTC", at(2026, 11, 24, 14, 3), at(2026, 12, 1, 14, 3), at(2026, 11, 17, 14, 3)),
        ("7d", BERLIN, at(2026, 11, 24, 14, 3), at(2026, 12, 1, 14, 3), at(2026, 11, 17, 14, 3)),
        ("24h", BERLIN, at(2026, 11, 30, 14, 3), at(2026, 12, 1, 14, 3), at(2026, 11, 29, 14, 3)),
        ("last 2 weeks", "UTC", at(2026, 11, 17, 14, 3), at(2026, 12, 1, 14, 3), at(2026, 11, 3, 14, 3)),
        ("last week", BERLIN, at(2026, 11, 22, 23), at(2026, 11, 29, 23), at(2026, 11, 15, 23)),
        ("last week", "UTC", at(2026, 11, 23), at(2026, 11, 30), at(2026, 11, 16)),
        ("this week", "UTC", at(2026, 11, 30), at(2026, 12, 1, 14, 3), at(2026, 11, 23)),
        ("yesterday", "America/New_York", at(2026, 11, 30, 5), at(2026, 12, 1, 5), at(2026, 11, 29, 5)),
        ("today", "Asia/Tokyo", at(2026, 11, 30, 15), at(2026, 12, 1, 14, 3), at(2026, 11, 29, 15)),
        ("2026-W48", "UTC", at(2026, 11, 23), at(2026, 11, 30), at(2026, 11, 16)),
        ("week 48", "UTC", at(2026, 11, 23), at(2026, 11, 30), at(2026, 11, 16)),
        ("w53", "UTC", at(2020, 12, 28), at(2021, 1, 4), at(2020, 12, 21)),
        ("2026-11-01..2026-11-08", "UTC", at(2026, 11, 1), at(2026, 11, 8), at(2026, 10, 25)),
        ("2026-11-05", BERLIN, at(2026, 11, 4, 23), at(2026, 11, 5, 23), at(2026, 11, 3, 23)),
        ("last month", "UTC", at(2026, 11, 1), at(2026, 12, 1), at(2026, 10, 1)),
    ],
)  # fmt: skip
def test_words_mean_the_askers_days(said, zone, start, end, before) -> None:
    now = NOW if said != "w53" else at(2021, 3, 1)
    period = parse(said.split(), now, zone)
    assert (period.window.start, period.window.end, period.before.start) == (start, end, before)
    assert is_window(said.split()) or not said


def test_what_is_not_over_is_compared_with_the_same_part_of_the_one_before() -> None:
    period = parse(["this", "week"], NOW)
    assert period.before.end == at(2026, 11, 24, 14, 3)


@pytest.mark.parametrize(
    ("now", "hours"),
    [(at(2026, 3, 31, 12), 167), (at(2026, 10, 27, 12), 169), (at(2026, 7, 7, 12), 168)],
)
def test_a_week_with_a_change_of_clocks_has_its_own_length(now, hours) -> None:
    period = parse(["last", "week"], now, BERLIN)
    assert period.window.hours == hours
    assert len(period.window.spans()) == 7
    assert sum(span.minutes for span in period.window.spans()) == hours * 60


@pytest.mark.parametrize(
    "said",
    [
        "tomorrow", "2027-01-01", "2026-W60", "2026-02-30", "2026-11-08..2026-11-01", "0d", "90d",
        "2026-01-01..2026-06-01", "9999w", "2026-12-02..2026-12-05", "next week", "0000-01-01",
        "0001-W01",
    ],
)  # fmt: skip
def test_what_is_no_window_says_so_with_examples(said) -> None:
    with pytest.raises(UsageError) as told:
        parse(said.split(), NOW, BERLIN)
    assert "last week" in told.value.next_step


def test_at_midnight_today_has_not_begun() -> None:
    with pytest.raises(UsageError, match="hasn't begun"):
        parse(["today"], at(2026, 12, 1, 0, 0, 40))


@given(
    st.integers(0, 3 * 365 * 24 * 3600).map(lambda s: at(2024, 1, 1) + timedelta(seconds=s)),
    st.sampled_from([BERLIN, "America/New_York", "Asia/Kolkata", "Pacific/Apia", "UTC"]),
    st.sampled_from(["", "7d", "24h", "last week", "this week", "yesterday", "last month"]),
)
def test_every_window_is_past_whole_and_meets_the_one_before(now, zone, said) -> None:
    try:
        period = parse(said.split(), now, zone)
    except UsageError:
        assert now.astimezone(ZoneInfo(zone)).hour == 0
        return
    window = period.window
    assert window.start < window.end <= now
    assert window.end.second == window.end.microsecond == 0
    assert period.before.end <= window.start
    spans = window.spans()
    assert (spans[0].start, spans[-1].end) == (window.start, window.end)
    assert all(a.end == b.start for a, b in pairwise(spans))
    assert all(timedelta(0) < s.end - s.start <= timedelta(hours=25) for s in spans)
