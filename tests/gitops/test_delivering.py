"""From the controllers' status to the thread: what is told about a merge, and that it is told once."""

from dataclasses import replace
from datetime import timedelta

import pytest

from capacity.delivery import Deliveries, Delivery
from gitops.delivering import Delivering, Tracker, delivering, paths_of
from gitops.events import Delivered
from gitops.machine import advance
from gitops.moves import Move, MoveKind
from gitops.request import Request, State
from tests.bot.stage import a_request
from tests.gitops.flow_fakes import KIM, START, World, a_draft

FIRST, MERGE, LATER = "1" * 40, "2" * 40, "3" * 40
ORDER = (FIRST, MERGE, LATER)
STRANGE = "f" * 40
PROD = Delivery("Flux", "flux-system/prod", "", "clusters/prod", fetched=FIRST, applied=FIRST)


class Line:
    """A history without branches."""

    def includes(self, commit: str, ancestor: str) -> bool:
        known = commit in ORDER and ancestor in ORDER
        return known and ORDER.index(commit) >= ORDER.index(ancestor)


def one(**changes: object) -> Delivering:
    found = delivering([replace(PROD, speaker="K", **changes)], MERGE, Line())  # type: ignore[arg-type]
    assert found is not None
    return found


@pytest.mark.parametrize("commit", [MERGE, LATER])
def test_a_commit_with_the_merge_in_it_brings_the_merge(commit: str) -> None:
    assert one(applied=commit).applied == commit


def test_a_merge_that_the_mirror_does_not_have_yet_is_known_by_its_name() -> None:
    request = replace(a_request(merge_sha=STRANGE), diff="+++ b/clusters/prod/q.yaml\n")
    applied = replace(PROD, applied=STRANGE, fetched=STRANGE)
    told = Tracker(lambda: Deliveries((applied,)), Line()).of(request)
    assert told is not None
    assert told.applied == STRANGE


def test_a_commit_that_the_mirror_does_not_have_yet_is_worth_a_moment() -> None:
    assert one(applied=STRANGE, ready=True, since=START).at_work_since == START


def test_a_failure_on_the_merge_is_certainly_about_it() -> None:
    found = one(attempted=MERGE, ready=False, message="no")
    assert (found.message, found.certain, found.applied) == ("no", True, "")


def test_a_failure_from_before_the_merge_may_be_about_something_else() -> None:
    assert not one(attempted=FIRST, ready=False, message="no").certain


def test_a_repository_that_is_not_fetched_certainly_holds_the_merge_up() -> None:
    found = delivering(
        [replace(PROD, speaker="GitRepository x/y", ready=False, message="refused")], MERGE, Line()
    )
    assert found is not None
    assert found.certain


def test_what_is_suspended_will_not_come() -> None:
    found = one(paused="Kustomization x/y suspended")
    assert (found.message, found.certain) == ("Kustomization x/y suspended", True)


def test_the_one_that_lacks_the_merge_speaks_for_all() -> None:
    done = replace(PROD, name="a", applied=MERGE)
    stuck = replace(PROD, name="b", attempted=MERGE, message="no")
    found = delivering([done, stuck], MERGE, Line())
    assert found is not None
    assert found.message == "no"


def test_only_what_follows_our_repository_and_covers_the_file_counts() -> None:
    request = replace(
        a_request(merge_sha=MERGE), diff="--- a/clusters/prod/q.yaml\n+++ b/clusters/prod/q.yaml\n"
    )
    other_folder = replace(PROD, path="apps", message="no")
    other_repository = replace(PROD, name="x/other", fetched=STRANGE, applied=STRANGE, message="no")
    found = Deliveries((other_folder, other_repository, replace(PROD, applied=MERGE)))
    told = Tracker(lambda: found, Line()).of(request)
    assert told is not None
    assert told.applied == MERGE
    assert Tracker(lambda: Deliveries((other_repository,)), Line()).of(request) is None
    assert Tracker(lambda: found, Line()).of(a_request()) is None


def test_a_controller_ahead_of_our_mirror_still_follows_our_repository() -> None:
    request = replace(a_request(merge_sha=MERGE), diff="+++ b/clusters/prod/q.yaml\n")
    ahead = replace(PROD, fetched=STRANGE, attempted=STRANGE, applied=STRANGE, since=START)
    said = [PROD]
    tracker = Tracker(lambda: Deliveries(tuple(said)), Line())
    assert tracker.of(request) is not None
    said[0] = ahead
    told = tracker.of(request)
    assert told is not None
    assert told.at_work(START + timedelta(seconds=9))


def test_a_base_outside_of_every_folder_is_everybodys() -> None:
    request = replace(a_request(merge_sha=MERGE), diff="+++ b/base/q.yaml\n")
    told = Tracker(lambda: Deliveries((PROD,)), Line()).of(request)
    assert told is not None
    assert not told.applied


def test_the_paths_of_a_diff_are_told_once_each() -> None:
    assert paths_of("--- a/x y.yaml\n+++ b/x y.yaml\n@@\n- a/b\n+++ b/z.yaml\t2026\n") == (
        "x y.yaml",
        "z.yaml",
    )


def merged(state: State = State.MERGED) -> Request:
    return a_request(state=state, merge_sha=MERGE, merged_at=START)


def tell(request: Request, *news: Delivering) -> tuple[Request, list[Move]]:
    moves: list[Move] = []
    for item in news:
        request, told = advance(request, Delivered(item), START)
        moves += told
    return request, moves


def test_applied_is_told_once() -> None:
    done = Delivering("Flux", "K", applied=MERGE)
    request, moves = tell(merged(), done, done, replace(done, applied=LATER))
    assert [(move.kind, move.text, move.new) for move in moves] == [
        (MoveKind.APPLIED, "Flux", MERGE)
    ]
    assert request.state is State.MERGED


def test_a_failure_is_told_once_in_the_controllers_words() -> None:
    stuck = Delivering("Flux", "K x/y", message="timeout after 30.1s at 3f2a9c1", certain=True)
    again = replace(stuck, message="timeout after 29.8s at e07bbbb")
    other = replace(stuck, message="not found")
    _, moves = tell(merged(), stuck, again, other, stuck)
    assert [move.text for move in moves] == [stuck.message, "not found", stuck.message]
    assert (moves[0].kind, moves[0].old, moves[0].new) == (MoveKind.STUCK, "K x/y", "Flux")


def test_an_uncertain_failure_is_told_when_it_is_late() -> None:
    perhaps = Delivering("Flux", "K", message="no")
    assert tell(merged(), perhaps)[1] == []
    assert len(tell(merged(State.OVERDUE), perhaps)[1]) == 1


@pytest.mark.parametrize("state", [State.OPEN, State.LIVE, State.CLOSED])
def test_a_delivery_means_nothing_where_nothing_is_awaited(state: State) -> None:
    request, moves = tell(merged(state), Delivering("Flux", "K", applied=MERGE))
    assert (request.state, moves) == (state, [])


def test_the_flow_tells_applied_before_live_and_waits_a_moment_for_it() -> None:
    world = World()
    said: list[Delivering | None] = [Delivering("Flux", "K", at_work_since=START)]
    world.flow = replace(world.flow, delivering=lambda _: said[0])
    request = world.submit(a_draft())
    world.ticks()
    world.decide(world.get(request), KIM)
    world.settle()
    assert world.get(request).state is State.MERGED
    world.apply(40)
    said[0] = Delivering("Flux", "K", at_work_since=world.now)
    world.pass_time(seconds=1)
    world.flow.tick(world.now)
    assert world.get(request).state is State.MERGED
    said[0] = Delivering("Flux", "K", applied=MERGE)
    world.ticks()
    assert world.kinds()[-2:] == ["applied", "live"]
    assert world.get(request).chores.applied == MERGE


def test_a_controller_that_stays_at_work_does_not_hold_the_news_up() -> None:
    busy = Delivering("Flux", "K", at_work_since=START)
    assert busy.at_work(START + timedelta(seconds=9))
    assert not busy.at_work(START + timedelta(seconds=10))
