"""What saturation must never do; Kueue's own cases are in test_quota_tables.py."""

from hypothesis import given
from hypothesis import strategies as st

from capacity.amount import SMALLEST, add, clip, subtract
from capacity.model import UNLIMITED

amounts = st.one_of(
    st.integers(-100, 100), st.integers(SMALLEST, UNLIMITED), st.sampled_from([UNLIMITED, SMALLEST])
)


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
