"""The audit chain: any change, gap or reorder breaks it."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from gitops.audit import GENESIS, Entry, Record, chain, verify
from tests.gitops.flow_fakes import START


def records(count: int) -> list[Record]:
    found: list[Record] = []
    previous = GENESIS
    for seq in range(1, count + 1):
        record = chain(seq, previous, Entry(START, "voted", "slack:U0LI", "li", 42, text=f"{seq}"))
        found.append(record)
        previous = record.hash
    return found


def test_an_untouched_chain_holds() -> None:
    assert verify(records(20)) is None
    assert verify([]) is None


@given(st.integers(0, 9), st.sampled_from(["person", "account", "text", "action", "outcome"]))
def test_any_changed_field_breaks_the_chain_at_that_record(index: int, name: str) -> None:
    chained = records(10)
    entry = replace(chained[index].entry, **{name: "somebody else"})
    chained[index] = replace(chained[index], entry=entry)
    assert verify(chained) == f"Record {index + 1} was changed after it was written."


def test_removed_and_reordered_records_break_it() -> None:
    chained = records(5)
    assert verify(chained[:2] + chained[3:]) == "Record 3 is missing."
    assert verify([chained[0], replace(chained[2], seq=2)]) is not None
    assert verify(chained[1:]) == "Record 1 is missing."


def test_a_rewritten_chain_holds_but_has_another_head() -> None:
    rewritten = chain(1, GENESIS, Entry(START, "voted", "slack:U0EVE", "eve", 42))
    assert verify([rewritten]) is None
    assert rewritten.hash != records(1)[0].hash


def test_the_time_zone_a_moment_is_written_in_does_not_matter() -> None:
    from datetime import timedelta, timezone

    entry = Entry(START, "voted", "a", "b", 1)
    elsewhere = replace(entry, at=START.astimezone(timezone(timedelta(hours=2))))
    assert chain(1, GENESIS, entry).hash == chain(1, GENESIS, elsewhere).hash
