"""Simulated time goes at its speed, stands still when told to, and never goes back."""

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from bot.playground.cluster.clock import FASTEST, SimulatedClock

T0 = datetime(2026, 12, 1, 14, tzinfo=UTC)


class Ticks:
    def __init__(self) -> None:
        self.at = 0.0

    def __call__(self) -> float:
        return self.at


def test_time_goes_at_its_speed() -> None:
    ticks = Ticks()
    clock = SimulatedClock(T0, 60, ticks)
    ticks.at = 2
    assert clock.now() == T0 + timedelta(minutes=2)
    clock.set_speed(1)
    ticks.at = 3
    assert clock.now() == T0 + timedelta(minutes=2, seconds=1)


def test_a_paused_clock_stands_still_and_goes_on_from_there() -> None:
    ticks = Ticks()
    clock = SimulatedClock(T0, 10, ticks)
    clock.pause()
    ticks.at = 100
    clock.set_speed(20)
    assert clock.now() == T0
    assert clock.paused
    clock.resume()
    ticks.at = 101
    assert clock.now() == T0 + timedelta(seconds=20)


def test_speed_has_bounds() -> None:
    clock = SimulatedClock(T0, 1e9, Ticks())
    assert clock.speed == FASTEST
    clock.set_speed(0)
    assert clock.speed == 0.1


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["speed", "pause", "resume", "wait"]),
            st.floats(0, 1000),
            st.floats(0, 10),
        )
    )
)
def test_time_never_goes_back(steps: list[tuple[str, float, float]]) -> None:
    ticks = Ticks()
    clock = SimulatedClock(T0, 1, ticks)
    last = clock.now()
    for action, speed, wait in steps:
        ticks.at += wait
        if action == "speed":
            clock.set_speed(speed)
        elif action != "wait":
            getattr(clock, action)()
        assert clock.now() >= last
        last = clock.now()
