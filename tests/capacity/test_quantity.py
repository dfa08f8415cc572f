"""Quantities: Kubernetes' grammar, Kueue's units, canonical text."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from capacity.errors import UsageError
from capacity.model import UNLIMITED
from capacity.quantity import canonical, parse, same, to_amount, to_text


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0", "0"),
        ("12", "12"),
        ("+5", "5"),
        ("-5", "-5"),
        (".5", "0.5"),
        ("5.", "5"),
        ("500m", "0.5"),
        ("1u", "0.000001"),
        ("1n", "1e-9"),
        ("1k", "1000"),
        ("1E", "1e18"),
        ("1e3", "1000"),
        ("1E3", "1000"),
        ("1e-3", "0.001"),
        ("36Gi", "38654705664"),
        ("1.5Ki", "1536"),
        ("1Ei", "1152921504606846976"),
        (8, "8"),
        (0.5, "0.5"),
        (1e22, "1e22"),
    ],
)
def test_parse_reads_what_kubernetes_reads(text: str | float, value: str):
    assert parse(text) == Decimal(value)


@pytest.mark.parametrize(
    "text",
    ["", "x", "1x", "1 Gi", "0x10", "1K", "1ki", "--1", "1e", "1e1.5", "١", "1" * 65, True, 1e400],
)
def test_parse_refuses_what_kubernetes_refuses(text: str | float):
    with pytest.raises(UsageError):
        parse(text)


def test_what_is_finer_than_a_billionth_is_rounded_up():
    assert parse("1e-12") == Decimal("1e-9")
    assert parse("0.0000000011") == Decimal("2e-9")
    assert parse("-1e-12") == Decimal("-1e-9")


@pytest.mark.parametrize(
    ("resource", "text", "amount"),
    [
        ("cpu", "2", 2_000),
        ("cpu", "500m", 500),
        ("cpu", "1P", 10**18),
        ("cpu", "1E", UNLIMITED),
        ("cpu", "10P", UNLIMITED),
        ("memory", "512Mi", 512 * 1024 * 1024),
        ("memory", "1E", 10**18),
        ("memory", "10E", UNLIMITED),
        ("example.com/gpu", "8", 8),
        ("cpu", "9223372036854775", UNLIMITED),
        ("cpu", "9223372036854774999m", 9223372036854774999),
        ("memory", "9223372036854775807", UNLIMITED),
        ("memory", "9223372036854775806", UNLIMITED - 1),
        ("cpu", "0.0001", 1),
        ("nvidia.com/gpu", "1.5", 2),
    ],
)
def test_amounts_are_as_in_kueues_test_amount_from_quantity(resource: str, text: str, amount: int):
    assert to_amount(resource, text) == amount


@pytest.mark.parametrize(
    ("text", "stored"),
    [
        ("12000m", "12"),
        ("0.5", "500m"),
        ("1.5Gi", "1536Mi"),
        ("1024Mi", "1Gi"),
        ("512", "512"),
        ("0.5Ki", "512"),
        ("1e3", "1e3"),
        ("10E2", "1e3"),
        ("12000", "12k"),
        ("100", "100"),
        ("1200", "1200"),
        ("0Gi", "0"),
        ("-2048Ki", "-2Mi"),
        ("1E", "1E"),
        ("0.1Ki", "102400m"),
        ("1000E", "1e21"),
    ],
)
def test_canonical_text_is_what_the_api_server_stores(text: str, stored: str):
    assert canonical(text) == stored


@pytest.mark.parametrize(
    ("resource", "amount", "text"),
    [
        ("cpu", 500, "500m"),
        ("cpu", 12_000, "12"),
        ("cpu", 0, "0"),
        ("memory", 36 * 2**30, "36Gi"),
        ("memory", 1000, "1k"),
        ("hugepages-2Mi", 2**21, "2Mi"),
        ("nvidia.com/gpu", 44, "44"),
        ("nvidia.com/gpu", 12_000, "12k"),
        ("memory", UNLIMITED, "unlimited"),
    ],
)
def test_amounts_are_written_as_kueue_writes_them(resource: str, amount: int, text: str):
    assert to_text(resource, amount) == text


def test_quantities_compare_by_value():
    assert same("12000m", "12")
    assert same(12, "12")
    assert same("1Gi", "1024Mi")
    assert not same("1G", "1Gi")


@given(st.sampled_from(["cpu", "memory", "nvidia.com/gpu"]), st.integers(0, 2**53))
def test_text_reads_back_as_the_same_amount(resource: str, amount: int):
    text = to_text(resource, amount)
    assert to_amount(resource, text) == amount
    assert canonical(text) == text


@given(
    st.decimals(0, 10**9, places=3, allow_nan=False),
    st.sampled_from(["", "m", "k", "Ki", "Mi", "Gi", "M", "e2", "e-2"]),
)
def test_canonical_keeps_the_value_and_is_stable(number: Decimal, suffix: str):
    text = f"{number:f}{suffix}"
    assert same(canonical(text), text)
    assert canonical(canonical(text)) == canonical(text)
