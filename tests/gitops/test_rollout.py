"""Merged is not live: what the cluster shows decides, by value."""

from dataclasses import replace
from datetime import timedelta

from capacity.errors import Gap
from gitops.rollout import Differs, Live, Overdue, Waiting, check, observe
from tests.gitops.flow_fakes import START, World, a_draft

LATE = START + timedelta(hours=1)


def test_the_old_value_is_waited_for_and_then_overdue() -> None:
    fleet = World().live
    assert check(a_draft(), fleet, LATE, START) == Waiting()
    assert check(a_draft(), fleet, LATE, LATE) == Overdue(LATE)


def test_a_stale_or_partial_view_of_the_cluster_is_never_overdue() -> None:
    fleet = replace(World().live, gaps=(Gap("Kueue", None, "everything"),))
    assert check(a_draft(), fleet, LATE, LATE) == Waiting()


def test_the_new_value_is_live_however_it_is_spelt() -> None:
    world = World()
    world.apply(40)
    for spelling in ("40", "40000m", "0.04k"):
        found = check(a_draft(new=spelling), world.live, LATE, START)
        assert found == Live(world.live.as_of)


def test_a_third_value_differs() -> None:
    world = World()
    world.apply(36)
    assert check(a_draft(), world.live, LATE, START) == Differs("36")


def test_limits_that_are_not_set_are_no_limit() -> None:
    fleet = World().live
    borrowing = a_draft(kind="borrowing", old="16", new=None)
    assert observe(borrowing, fleet) == "16"
    assert check(borrowing, fleet, LATE, START) == Waiting()
    lending = a_draft(kind="lending", old="8", new=None)
    assert observe(lending, fleet) == "no limit"
    assert check(lending, fleet, LATE, START) == Live(fleet.as_of)


def test_a_queue_or_flavor_that_is_not_there_is_waited_for() -> None:
    fleet = World().live
    for draft in (a_draft(cluster_queue="nope"), a_draft(flavor="nope"), a_draft(resource="cpu")):
        assert observe(draft, fleet) == "not set"
        assert check(draft, fleet, LATE, START) == Waiting()
