"""Stretches in the database: each once, better known ones win, old ones go."""

from dataclasses import replace
from datetime import timedelta
from uuid import UUID

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bot.store import Store
from bot.store_history import KEPT
from commands.history import Stretch
from tests.builders import NOW, ago
from tests.commands.test_estimate import a_stretch, some, stretches

SINCE = ago(hours=14 * 24)


def read(store: Store, most: int = 1000, cluster: str = "prod-eu"):
    return store.history.read(cluster, SINCE, most)


def test_a_stretch_comes_back_as_it_was(store: Store) -> None:
    going = a_stretch("g", 5, ended_at=None, end="", reason="", admitted_at=None)
    given_up = a_stretch("w", 5, reserved_at=None, end="withdrawn", flavor="")
    written = [*some(5), going, given_up]
    store.history.record("prod-eu", written, NOW)
    kept = read(store)
    assert sorted(kept.latest, key=lambda s: s.uid) == sorted(written, key=lambda s: s.uid)
    assert (kept.going, kept.until) == ((going,), NOW)


def test_nothing_is_counted_twice_however_often_it_is_seen(store: Store) -> None:
    for _ in range(3):
        store.history.record("prod-eu", some(20), NOW)
    assert len(read(store).latest) == 20


def test_clusters_do_not_mix(store: Store) -> None:
    store.history.record("prod-eu", some(3), NOW)
    store.history.record("prod-us", some(2), ago(hours=1))
    assert [len(read(store, cluster=c).latest) for c in ("prod-eu", "prod-us", "dev")] == [3, 2, 0]
    assert read(store, cluster="dev").until is None


def test_an_end_that_was_seen_stays_and_one_that_nobody_saw_gives_way(store: Store) -> None:
    ended = a_stretch("a", 5)
    going = replace(ended, ended_at=None, end="", reason="")
    lost = replace(ended, ended_at=ago(hours=19.5), end="lost", reason="")

    def after(*seen: Stretch) -> Stretch:
        for stretch in seen:
            store.history.record("prod-eu", [stretch], NOW)
        return read(store).latest[0]

    assert after(going) == going
    assert after(lost) == lost
    assert after(going) == going
    assert after(lost, ended) == ended
    assert after(lost) == after(going) == ended


def test_until_moves_forward_only_and_only_when_all_is_written(store: Store) -> None:
    store.history.record("prod-eu", some(1), None)
    assert read(store).until is None
    store.history.record("prod-eu", [], ago(hours=2))
    store.history.record("prod-eu", [], ago(hours=3))
    assert read(store).until == ago(hours=2)


def test_the_latest_are_read_and_everything_that_goes_on(store: Store) -> None:
    old = a_stretch("old", 5, reserved_at=ago(hours=900), ended_at=None, end="", reason="")
    gone = a_stretch("gone", 5, reserved_at=ago(hours=900), ended_at=ago(hours=400))
    late = [a_stretch(f"s{i}", 5, reserved_at=ago(hours=15 - i)) for i in range(5)]
    store.history.record("prod-eu", [old, gone, *late], NOW)
    kept = read(store, most=2)
    assert [s.uid for s in kept.latest] == ["s4", "s3"]
    assert kept.going == (old,)
    assert {s.uid for s in read(store).latest} == {"old", *(s.uid for s in late)}


def test_after_thirty_days_a_stretch_is_forgotten_but_not_while_it_goes_on(store: Store) -> None:
    old = NOW - KEPT - timedelta(seconds=1)
    ended = a_stretch("a", 5, reserved_at=old, ended_at=old)
    going = a_stretch("b", 5, reserved_at=old, ended_at=None, end="", reason="")
    store.history.record("prod-eu", [ended, going, *some(3)], NOW)
    store.history.record("gone-away", [going], old)
    assert store.history.prune(NOW) == 2
    assert {s.uid for s in read(store).latest} == {"b", "s0", "s1", "s2"}
    assert read(store, cluster="gone-away").latest == ()


def test_the_number_is_bounded_by_what_ended_first(store: Store) -> None:
    ended = [a_stretch(f"s{i}", 5, ended_at=ago(hours=19 - i)) for i in range(10)]
    going = a_stretch("g", 5, reserved_at=ago(hours=99), ended_at=None, end="", reason="")
    store.history.record("prod-eu", [*ended, going], NOW)
    assert store.history.prune(NOW, most=4) == 7
    assert {s.uid for s in read(store).latest} == {"s7", "s8", "s9", "g"}
    assert store.history.prune(NOW, most=4) == 0


@settings(
    max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.uuids(), st.lists(stretches(), max_size=20, unique_by=lambda s: s.uid))
def test_whatever_is_written_is_read(store: Store, cluster: UUID, written: list[Stretch]) -> None:
    store.history.record(str(cluster), written, NOW)
    kept = store.history.read(str(cluster), ago(hours=24 * 365), 1000)
    assert sorted(kept.latest, key=lambda s: s.uid) == sorted(written, key=lambda s: s.uid)
    assert {s.uid for s in kept.going} == {s.uid for s in written if not s.end}
