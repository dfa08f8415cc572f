"""The account's arithmetic: nothing is lost, nothing is negative, unknown is never idle."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from capacity.usage import (
    DeviceMinutes,
    Hours,
    RequestedMinutes,
    SpanFacts,
    Window,
)
from capacity.usage_sum import ledger

T0 = datetime(2026, 3, 9, tzinfo=UTC)
WINDOW = Window(T0, T0 + timedelta(days=1))
(DAY,) = WINDOW.spans()
H100 = "NVIDIA H100 80GB HBM3"

minutes = st.floats(0, 1440)
pods = st.sampled_from(["a", "b", "c"])
profiles = st.sampled_from(["", "1g.10gb", "3g.40gb", "unknown"])
devices = st.lists(
    st.builds(
        DeviceMinutes, st.just("ns"), pods, st.just("GPU-1"), profiles, st.just(H100), minutes
    )
)
requests = st.lists(
    st.builds(
        RequestedMinutes,
        st.just("ns"),
        pods,
        st.sampled_from(["nvidia_com_gpu", "nvidia_com_mig_1g_10gb", "nvidia_com_gpu_shared"]),
        minutes,
    )
)
facts = st.builds(
    SpanFacts,
    st.just(DAY),
    devices.map(tuple),
    devices.map(tuple),
    devices.map(tuple),
    st.one_of(st.none(), requests.map(tuple)),
    minutes,
)


@given(facts)
def test_held_is_busy_idle_and_unknown_and_none_is_negative(found: SpanFacts) -> None:
    account = ledger(WINDOW, [found])
    for hours in (account.total, *(p.hours for p in account.pods), *(h for _, h in account.days)):
        assert min(hours.held, hours.busy, hours.idle, hours.unknown) >= -1e-9
        assert hours.held == pytest.approx(hours.busy + hours.idle + hours.unknown)
    assert account.total.held == pytest.approx(sum(p.hours.held for p in account.pods))
    assert account.total.held == pytest.approx(sum(h.held for _, h in account.days))
    assert 0 <= account.coverage <= 1 + 1e-9


@given(facts)
def test_requests_never_make_more_idle_than_was_measured(found: SpanFacts) -> None:
    without = ledger(WINDOW, [SpanFacts(DAY, found.held, found.busy, found.measured, None, 0)])
    with_them = ledger(WINDOW, [found])
    assert with_them.total.idle >= without.total.idle - 1e-9
    assert with_them.total.held >= without.total.held - 1e-9
    seen = sum(d.minutes for d in found.measured) / 60
    assert with_them.total.idle <= seen + 1e-9


def one(**counted) -> SpanFacts:
    rows = {
        kind: (DeviceMinutes("ns", "a", "GPU-1", "", H100, counted.get(kind, 0.0)),)
        for kind in ("held", "busy", "measured")
    }
    asked = counted.get("requested")
    requested = None if asked is None else (RequestedMinutes("ns", "a", "nvidia_com_gpu", asked),)
    return SpanFacts(DAY, **rows, requested=requested, exporter_minutes=counted.get("seen", 1440))


def test_what_was_requested_but_not_measured_is_unknown() -> None:
    account = ledger(WINDOW, [one(held=600, busy=300, measured=600, requested=1200)])
    assert account.total == Hours(20, 5, 5, 10)
    assert account.coverage == pytest.approx(0.5)


def test_without_requests_the_exporters_minutes_are_the_coverage() -> None:
    account = ledger(WINDOW, [one(held=720, busy=0, measured=720, seen=720)])
    assert account.total.unknown == 0
    assert account.coverage == pytest.approx(0.5)
    assert account.requested_hours is None


@pytest.mark.parametrize(
    ("asked", "differ"), [(630, False), (632, True), (568, True), (None, False)]
)
def test_witnesses_differ_above_five_percent(asked, differ) -> None:
    account = ledger(WINDOW, [one(held=600, measured=600, requested=asked)])
    assert account.witnesses_differ is differ


def test_a_profile_that_cant_be_read_is_named_and_left_out() -> None:
    row = DeviceMinutes("ns", "a", "GPU-1", "9x", H100, 600)
    account = ledger(WINDOW, [SpanFacts(DAY, (row,), (), (row,), None, 1440)])
    assert account.unreadable == ("9x",)
    assert account.total == Hours()


def test_a_sliced_card_is_as_many_hours_as_its_slices_weigh() -> None:
    rows = tuple(DeviceMinutes("ns", p, "GPU-1", "3g.40gb", H100, 60) for p in ("a", "b"))
    assert ledger(WINDOW, [SpanFacts(DAY, rows, (), rows, None, 1440)]).total == Hours(1, 0, 1, 0)


def test_warnings_are_kept_once() -> None:
    spans = [SpanFacts(DAY, (), (), (), None, 0, warnings=("partial", "partial"))] * 2
    assert ledger(WINDOW, spans).warnings == ("partial",)


@pytest.mark.parametrize(
    ("day", "hours"), [("2026-03-29", [23]), ("2026-10-25", [25]), ("2026-03-30", [24])]
)
def test_days_are_cut_at_the_zones_midnights(day, hours) -> None:
    start = datetime.fromisoformat(day).replace(tzinfo=UTC)
    window = Window(start - timedelta(days=1), start + timedelta(days=2), "Europe/Berlin")
    spans = window.spans()
    whole = [s.minutes / 60 for s in spans[1:-1]]
    assert hours[0] in whole
    assert sum(s.minutes for s in spans) == 72 * 60
