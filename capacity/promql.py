"""Safe pieces of PromQL [pure].

prometheus-api-client puts label values between quotes as they are, so a value with a quote reads
another tenant's series. Every value that is not ours goes through these functions.
"""

import re
from collections.abc import Iterable
from datetime import timedelta


def quoted(value: str) -> str:
    """Return a PromQL string literal of exactly this value (escapes as in Go strings)."""
    escaped = value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'


def equals(label: str, value: str) -> str:
    """Return the matcher ``label="value"``."""
    return f"{label}={quoted(value)}"


def one_of(label: str, values: Iterable[str]) -> str:
    """Return the matcher for any of these values; no value at all matches no series.

    Prometheus anchors the whole expression, so nothing but the given values can match. An empty
    value is none: to Prometheus it would be every series without the label.
    """
    chosen = sorted({value for value in values if value})
    if not chosen:
        return f'{label}="",{label}!=""'
    return f"{label}=~{quoted('|'.join(re.escape(value) for value in chosen))}"


def duration(span: timedelta) -> str:
    """Return a PromQL duration in whole seconds ("86400s")."""
    seconds = int(span.total_seconds())
    if seconds <= 0:
        raise ValueError("a PromQL range needs a positive length")
    return f"{seconds}s"
