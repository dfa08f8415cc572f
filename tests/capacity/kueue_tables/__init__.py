"""The figures of Kueue's own test tables, in our notation: each case is named by what it says.

Every module here lists its tables in ``TABLES``; docs/kueue-tables.md is written from them. Tests
take cases with ``each``, which is how we know that a table is run and not only listed.
"""

import importlib
import pkgutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest

VERSION = "v0.19.2"
PAGE = Path(__file__).resolve().parents[3] / "docs" / "kueue-tables.md"
ABOUT = (
    f"Gpubot counts quota, shares, order and flavors as Kueue {VERSION} does. To prove it, the cases "
    "of Kueue's own unit tests run against Gpubot's code: {ours} of {upstream}. The figures are "
    "Kueue's, the notation is ours (`tests/capacity/kueue_tables`)."
)
NOT_SIMULATED = (
    "Not run, because whom fair sharing stops isn't simulated: TestScheduleForFairSharing (22 cases, "
    "pkg/scheduler/scheduler_fs_test.go), TestFairPreemptions (37) and TestMakeClusterQueueOrdering "
    "(7). Where fair sharing is on, the answers say so; shares themselves are counted "
    "(TestDominantResourceShare)."
)
WRITTEN = (
    "This page is written from there (`GPUBOT_UPDATE_GOLDEN=1` with "
    "`tests/capacity/test_kueue_tables.py`); a test fails when it lags."
)
_TAKEN: set[int] = set()


@dataclass(frozen=True)
class Table:
    """One test table of Kueue: its name and file there, how many cases, which of them we run.

    ``parts`` hold ours by name. ``by_hand`` are names of tests (without "test_") that are one case
    each. ``left_out`` are Kueue's that we don't run, each with the reason.
    """

    name: str
    file: str
    upstream: int
    parts: tuple[Mapping[str, object], ...] = ()
    by_hand: tuple[str, ...] = ()
    left_out: Mapping[str, str] = field(default_factory=dict)

    @property
    def run(self) -> int:
        """How many cases we run."""
        return sum(map(len, self.parts)) + len(self.by_hand)

    @property
    def taken(self) -> bool:
        """Whether tests have taken all parts, as far as they were imported."""
        return all(id(part) in _TAKEN for part in self.parts)

    @property
    def row(self) -> str:
        """The table's line on the page."""
        by_reason: dict[str, list[str]] = {}
        for case, why in self.left_out.items():
            by_reason.setdefault(why, []).append(case)
        out = "; ".join(f"{why}: {', '.join(cases)}" for why, cases in by_reason.items())
        return f"| {self.name} | {self.file} | {self.upstream} | {self.run} | {out} |"


def each(part: Mapping[str, object]) -> pytest.MarkDecorator:
    """Give a test every case of a part of a table, as ``case``."""
    _TAKEN.add(id(part))
    return pytest.mark.parametrize("case", part.values(), ids=part.keys())


def tables() -> Iterator[Table]:
    """Yield the tables of every module of this package."""
    for found in sorted(module.name for module in pkgutil.iter_modules(__path__)):
        yield from getattr(importlib.import_module(f"{__name__}.{found}"), "TABLES", ())


def page() -> str:
    """Return docs/kueue-tables.md as the modules say it."""
    every = sorted(tables(), key=lambda table: (table.file, table.name))
    upstream, ours = sum(t.upstream for t in every), sum(t.run for t in every)
    head = [
        "# Kueue's own test tables",
        "",
        ABOUT.format(ours=ours, upstream=upstream),
        "",
        NOT_SIMULATED,
        "",
        WRITTEN,
        "",
    ]
    names = ["| table | file in Kueue | cases there | run here | left out, and why |"]
    return "\n".join([*head, *names, "|---|---|---:|---:|---|", *(t.row for t in every), ""])
