"""Which of Kueue's test cases run here, and that docs/kueue-tables.md says so."""

import importlib
import os
from pathlib import Path

import pytest

from tests.capacity.kueue_tables import PAGE, Table, page, tables

TESTS = sorted(Path(__file__).parent.glob("test_*.py"))


@pytest.mark.parametrize("table", list(tables()), ids=lambda table: table.name)
def test_every_case_of_a_table_runs_or_is_left_out_for_a_reason(table: Table):
    assert table.upstream == table.run + len(table.left_out)
    assert all(table.left_out.values())


def test_every_listed_case_is_a_test():
    sources = "".join(path.read_text("utf-8") for path in TESTS)
    missing = [n for t in tables() for n in t.by_hand if f"\ndef test_{n}(" not in sources]
    for path in TESTS:
        importlib.import_module(f"tests.capacity.{path.stem}")
    assert missing + [table.name for table in tables() if not table.taken] == []


def test_no_table_is_counted_twice():
    names = [(table.file, table.name) for table in tables()]
    assert len(names) == len(set(names))


def test_the_page_is_what_the_tables_say():
    if os.environ.get("GPUBOT_UPDATE_GOLDEN") == "1":
        PAGE.write_text(page(), "utf-8")
    assert PAGE.read_text("utf-8") == page()
