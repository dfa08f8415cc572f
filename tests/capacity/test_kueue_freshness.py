"""How old an answer is, and what it lacks, from what the watches and the pulse said when."""

from datetime import UTC, datetime, timedelta

from capacity.kueue_freshness import Freshness
from capacity.kueue_kinds import ACCESS, CLUSTER_QUEUES, COHORTS, KINDS, WORKLOADS

T0 = datetime(2026, 12, 1, 14, tzinfo=UTC)


def at(seconds: float) -> datetime:
    return T0 + timedelta(seconds=seconds)


def all_read() -> Freshness:
    fresh = Freshness()
    for kind in KINDS:
        fresh.of[kind.plural].read = True
        fresh.confirm(kind, T0)
        fresh.opened(kind, T0)
    fresh.pulse("", T0)
    return fresh


def told(fresh: Freshness) -> list[tuple[datetime | None, str]]:
    return [(gap.since, gap.missing) for gap in fresh.gaps("Kueue")]


def test_nothing_read_is_of_no_time() -> None:
    fresh = Freshness()
    assert fresh.as_of() is None
    assert not fresh.settled()
    assert fresh.healthy_since is None


def test_the_stalest_kind_decides() -> None:
    fresh = all_read()
    fresh.closed(WORKLOADS, "", T0)
    fresh.pulse("", at(60))
    assert fresh.as_of() == T0


def test_an_open_silent_watch_is_as_fresh_as_the_last_pulse() -> None:
    fresh = all_read()
    fresh.pulse("", at(60))
    assert fresh.as_of() == at(60)
    assert told(fresh) == []


def test_a_failed_pulse_stops_the_clock_and_is_one_gap() -> None:
    fresh = all_read()
    fresh.pulse("", at(60))
    fresh.pulse("refused", at(65))
    assert fresh.as_of() == at(60)
    assert told(fresh) == [(at(60), "changes since then to anything")]
    fresh.pulse("", at(70))
    assert told(fresh) == []


def test_a_watch_that_ended_as_usual_is_no_gap() -> None:
    fresh = all_read()
    fresh.closed(WORKLOADS, "", at(5))
    assert told(fresh) == []


def test_one_failing_kind_is_named() -> None:
    fresh = all_read()
    fresh.pulse("", at(60))
    fresh.closed(WORKLOADS, "500 boom", at(61))
    fresh.pulse("", at(65))
    assert told(fresh) == [(at(60), "changes since then to workloads")]
    assert fresh.as_of() == at(60)


def test_a_right_that_was_taken_away_is_told() -> None:
    fresh = all_read()
    fresh.closed(WORKLOADS, "403 cannot watch workloads", at(1), refused=True)
    assert told(fresh) == [
        (T0, "changes since then to workloads (403 cannot watch workloads)"),
    ]


def test_what_never_was_read_is_told_with_its_reason() -> None:
    fresh = all_read()
    fresh.of[WORKLOADS.plural].read = False
    fresh.closed(WORKLOADS, "403 cannot list workloads", at(1))
    fresh.of[COHORTS.plural].absent, fresh.of[COHORTS.plural].read = True, False
    assert told(fresh) == [
        (None, "cohorts (the cluster has no such kind)"),
        (None, "workloads (403 cannot list workloads)"),
    ]


def test_unreadable_objects_are_counted_and_the_first_is_named() -> None:
    fresh = all_read()
    fresh.of[CLUSTER_QUEUES.plural].unreadable = {"a": "a: odd", "b": "b: odd"}
    assert told(fresh) == [(None, "2 cluster queues (a: odd)")]


def test_health_begins_when_the_last_trouble_ends() -> None:
    fresh = all_read()
    assert fresh.healthy_since == T0
    fresh.closed(WORKLOADS, "500 boom", at(10))
    assert fresh.healthy_since is None
    fresh.opened(WORKLOADS, at(20))
    assert fresh.healthy_since == at(20)


def test_access_is_read_only() -> None:
    assert {verb for rule in ACCESS for verb in rule.verbs} == {"get", "list", "watch"}
    assert {r for rule in ACCESS for r in rule.resources} >= {kind.plural for kind in KINDS}


def test_a_kind_is_whole_while_all_of_it_is_read_and_followed() -> None:
    fresh = all_read()
    assert fresh.whole(WORKLOADS)
    fresh.closed(WORKLOADS, "", at(5))
    assert not fresh.whole(WORKLOADS)
    fresh.opened(WORKLOADS, at(6))
    fresh.closed(COHORTS, "500 boom", at(7))
    assert fresh.whole(WORKLOADS), "another kind's trouble isn't its own"


def test_a_kind_is_not_whole_while_anything_of_it_may_be_missing() -> None:
    for lacking in ("read", "watching"):
        fresh = all_read()
        setattr(fresh.of[WORKLOADS.plural], lacking, False)
        assert not fresh.whole(WORKLOADS), lacking
    fresh = all_read()
    fresh.of[WORKLOADS.plural].unreadable["team/odd"] = "odd"
    assert not fresh.whole(WORKLOADS)
    fresh = all_read()
    fresh.pulse("refused", at(5))
    assert not fresh.whole(WORKLOADS)
    fresh.pulse("", at(10))
    assert fresh.whole(WORKLOADS)
