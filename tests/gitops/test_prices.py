"""Prices: strict, and the most specific card wins."""

from decimal import Decimal

import pytest

from gitops.prices import parse

FILE = b"""\
currency: EUR
default: 2
per_gpu_hour:
  h100: 2.50
  a100: 1.40
  a100 40gb: 1.10
"""


@pytest.mark.parametrize(
    ("model", "price"),
    [
        ("NVIDIA H100 80GB HBM3", "2.50"),
        ("NVIDIA A100-SXM4-80GB", "1.40"),
        ("NVIDIA A100-SXM4-40GB", "1.10"),
        ("Tesla T4", "2"),
        ("", "2"),
    ],
)
def test_a_card_costs_what_its_most_specific_entry_says(model: str, price: str) -> None:
    prices = parse(FILE)
    assert prices is not None
    assert prices.of(model) == Decimal(price)


def test_without_a_default_an_unknown_card_has_no_price() -> None:
    prices = parse(b"currency: USD\nper_gpu_hour: {h100: 3}\n")
    assert prices is not None
    assert prices.of("Tesla T4") is None


def test_no_file_is_no_prices() -> None:
    assert parse(None) is None


@pytest.mark.parametrize(
    ("raw", "problem"),
    [
        (b"default: 2\n", "lacks 'currency'"),
        (b"currency: euro\ndefault: 2\n", "three letters"),
        (b"currency: EUR\n", "no price"),
        (b"currency: EUR\ndefault: -1\n", "must be a price"),
        (b"currency: EUR\ndefault: 1e3\n", "must be a price"),
        (b"currency: EUR\nper_gpu_hour: {h100: about 2}\n", "must be a price"),
        (b"currency: EUR\nper_gpu_hour: {'--': 2}\n", "names no card"),
        (b"currency: EUR\ndefault: 2\ndiscount: 3\n", "unknown key 'discount'"),
        (b"", "empty"),
        (b"[", "expected"),
    ],
)
def test_a_faulty_file_gives_no_price_and_says_why(raw: bytes, problem: str) -> None:
    prices = parse(raw)
    assert prices is not None
    assert prices.of("NVIDIA H100 80GB HBM3") is None
    assert any(problem in told for told in prices.problems), prices.problems
