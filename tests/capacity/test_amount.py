"""Kueue's TestAmountArithmetic (8 cases), and what saturation must never do."""

from hypothesis import given
from hypothesis import strategies as st

from capacity.amount import SMALLEST, add, clip, subtract
from capacity.model import UNLIMITED

amounts = st.one_of(
    st.integers(-100, 100), st.integers(SMALLEST, UNLIMITED), st.sampled_from([UNLIMITED, SMALLEST])
)


def test_bounded_plus_unlimited_is_unlimited():
    assert add(5, UNLIMITED) == UNLIMITED


def test_a_sum_that_overflows_becomes_unlimited():
    assert add(UNLIMITED - 5, 100) == UNLIMITED
    assert add(UNLIMITED - 1, 100) == UNLIMITED


def test_unlimited_minus_bounded_stays_unlimited():
    assert subtract(UNLIMITED, 1000) == UNLIMITED


def test_unlimited_is_greater_than_every_bounded_amount():
    assert UNLIMITED > UNLIMITED - 1


def test_unlimited_minus_unlimited_is_zero():
    assert subtract(UNLIMITED, UNLIMITED) == 0


def test_bounded_minus_unlimited_is_the_smallest_amount():
    assert subtract(1000, UNLIMITED) == SMALLEST


@given(amounts, amounts)
def test_results_never_leave_64_bits(a: int, b: int):
    assert SMALLEST <= add(a, b) <= UNLIMITED
    assert SMALLEST <= subtract(a, b) <= UNLIMITED


@given(st.integers(-(2**50), 2**50), st.integers(-(2**50), 2**50))
def test_bounded_amounts_add_and_subtract_exactly(a: int, b: int):
    assert add(a, b) == a + b
    assert subtract(a, b) == a - b


@given(st.lists(st.integers(0, UNLIMITED), max_size=6))
def test_an_exact_sum_clipped_once_equals_a_sum_clipped_at_each_step(parts: list[int]):
    stepwise = 0
    for part in parts:
        stepwise = add(stepwise, part)
    assert clip(sum(parts)) == stepwise
