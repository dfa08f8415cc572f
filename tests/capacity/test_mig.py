"""What slices weigh: sevenths and eighths, quarters on some cards, and never a guess."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from capacity.mig import weight

F = Fraction
H100, A100_40, A30 = "NVIDIA H100 80GB HBM3", "NVIDIA A100-SXM4-40GB", "NVIDIA A30"


@pytest.mark.parametrize(
    ("profile", "model", "compute", "memory", "fair"),
    [
        ("", H100, F(1), F(1), F(1)),
        ("1g.10gb", H100, F(1, 7), F(1, 8), F(1, 7)),
        ("1g.20gb", H100, F(1, 7), F(2, 8), F(2, 8)),
        ("2g.20gb", H100, F(2, 7), F(2, 8), F(2, 7)),
        ("3g.40gb", H100, F(3, 7), F(4, 8), F(4, 8)),
        ("4g.40gb", H100, F(4, 7), F(4, 8), F(4, 7)),
        ("7g.80gb", H100, F(1), F(1), F(1)),
        ("1g.10gb+me", H100, F(1, 7), F(1, 8), F(1, 7)),
        ("1g.5gb", A100_40, F(1, 7), F(1, 8), F(1, 7)),
        ("1g.10gb", A100_40, F(1, 7), F(2, 8), F(2, 8)),
        ("1g.18gb", "NVIDIA H200", F(1, 7), F(1, 8), F(1, 7)),
        ("1g.35gb", "NVIDIA H200", F(1, 7), F(2, 8), F(2, 8)),
        ("1g.35gb", "NVIDIA GB300", F(1, 7), F(1, 8), F(1, 7)),
        ("1g.24gb", "NVIDIA GH200 480GB", F(1, 7), F(2, 8), F(2, 8)),
        ("1g.36gb", "NVIDIA GH200 144G HBM3e", F(1, 7), F(2, 8), F(2, 8)),
        ("1g.24gb", "NVIDIA H100 NVL", F(1, 7), F(2, 8), F(2, 8)),
        ("1g.6gb", A30, F(1, 4), F(1, 4), F(1, 4)),
        ("2g.12gb", A30, F(1, 2), F(1, 2), F(1, 2)),
        ("4g.96gb", "NVIDIA RTX PRO 6000 Blackwell", F(1), F(1), F(1)),
    ],
)
def test_a_slice_weighs_its_share(profile, model, compute, memory, fair) -> None:
    assert weight(profile, model, "compute") == compute
    assert weight(profile, model, "memory") == memory
    assert weight(profile, model) == fair


@pytest.mark.parametrize("layout", [("3g.40gb", "3g.40gb"), ("1g.20gb",) * 4, ("7g.80gb",)])
def test_what_fills_a_card_weighs_a_card(layout) -> None:
    assert sum(weight(profile, H100) for profile in layout) == 1


@pytest.mark.parametrize("profile", ["MIG-INVALID", "5g.50gb", "g.10gb", "1c.3g.40gb", " "])
def test_an_unknown_profile_is_no_guess(profile) -> None:
    with pytest.raises(ValueError, match="MIG profile"):
        weight(profile, H100)


@given(st.sampled_from([1, 2, 3, 4, 7]), st.integers(1, 300), st.sampled_from([H100, A100_40, ""]))
def test_no_slice_weighs_more_than_its_card(compute, gigabytes, model) -> None:
    fair = weight(f"{compute}g.{gigabytes}gb", model)
    assert 0 < fair <= 1
    assert fair >= weight(f"{compute}g.{gigabytes}gb", model, "compute")
