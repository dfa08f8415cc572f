"""The forge, the repository or the bot fails at any step: nothing is lost, nothing is doubled."""

from collections.abc import Callable

import pytest

from gitops.forge import ForgeConflict, ForgeDenied, ForgeDown, ForgeMissing
from gitops.request import State
from tests.gitops.flow_fakes import ANA, KIM, PAT, QUEUES, World, a_draft, queue_file

CALLS = ("open", "read", "status", "comment", "merge", "close")


class Crash(BaseException):
    """The process is gone: no code of ours may catch it."""


def once(call: str, after: bool, error: BaseException) -> Callable[[str, bool], None]:
    """Fail at one call, once, before or after it took effect."""
    left = [error]

    def fail(name: str, done: bool) -> None:
        if (name, done) == (call, after) and left:
            raise left.pop()

    return fail


def finish(world: World) -> None:
    for _ in range(3):
        world.pass_time(minutes=2)
        try:
            world.settle()
        except Crash:
            continue


def assert_merged_once(world: World, request_id: int) -> None:
    request = world.store.get(request_id)
    assert request.state is State.MERGED
    assert len(world.forge.pulls) == 1
    assert world.repo.trees[world.repo.head()][QUEUES] == queue_file(a_draft(), "40")
    merges = [
        sha for sha in world.repo.ancestors(world.repo.head()) if len(world.repo.parents[sha]) == 2
    ]
    assert len(merges) == 1
    for kind in ("opened", "voted", "approved", "merged"):
        assert world.kinds().count(kind) == 1, world.kinds()
    assert request.branch not in world.repo.branches
    assert len(world.forge.comments) == 2


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("call", CALLS)
def test_a_crash_around_any_forge_call_ends_in_one_pull_request_and_one_merge(
    call: str, after: bool
) -> None:
    world = World()
    world.forge.fail = once(call, after, Crash())
    request = world.submit()
    world.decide(request, KIM)
    finish(world)
    assert_merged_once(world, request.id)


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize(
    "error",
    [ForgeDown("GitHub"), ForgeDenied("GitHub says no (403).", "Fix the token.")],
    ids=["down", "denied"],
)
def test_a_failure_at_any_forge_call_is_tried_again(
    call: str, after: bool, error: Exception
) -> None:
    world = World()
    world.forge.fail = once(call, after, error)
    request = world.submit()
    world.decide(request, KIM)
    finish(world)
    assert_merged_once(world, request.id)
    assert world.kinds().count("trouble") == 1
    assert world.get(request).trouble is None


def test_a_long_outage_is_told_once_and_waits_longer_each_time() -> None:
    world = World()

    def down(call: str, after: bool) -> None:
        raise ForgeDown("GitHub", world.now)

    world.forge.fail = down
    request = world.submit()
    world.decide(request, KIM)
    for _ in range(600):
        world.pass_time(seconds=1)
        world.flow.tick(world.now)
    assert world.kinds() == ["submitted", "voted", "trouble"]
    assert world.get(request).trouble.attempts == len(world.forge.calls) == 6
    assert "can't reach GitHub" in world.get(request).trouble.sentence
    world.forge.fail = lambda call, after: None
    finish(world)
    assert_merged_once(world, request.id)
    assert "recovered" in world.kinds()


def test_a_rate_limit_is_respected() -> None:
    world = World()
    world.forge.fail = once("open", False, ForgeDown("GitHub", retry_after=120))
    request = world.submit()
    world.flow.tick(world.now)
    assert (world.get(request).trouble.retry_at - world.now).total_seconds() == 121


def test_a_forbidden_merge_keeps_the_approvals_and_expires_by_its_own_clock() -> None:
    world = World()

    def protected(call: str, after: bool) -> None:
        if call == "merge":
            raise ForgeDenied("GitHub says the branch is protected (403).")

    world.forge.fail = protected
    request = world.submit()
    world.decide(request, KIM)
    world.settle()
    assert world.get(request).standing_votes
    assert world.kinds().count("trouble") == 1
    world.pass_time(days=2)
    world.settle()
    world.pass_time(minutes=6)
    world.settle()
    assert world.get(request).state is State.EXPIRED
    assert world.get(request).settled


def test_a_conflict_that_shows_only_at_the_merge_is_said() -> None:
    world = World()
    request = world.submit()
    world.ticks()
    world.decide(request, KIM)
    world.forge.fail = once("merge", False, ForgeConflict("merge-conflict", "It conflicts."))
    world.settle()
    assert "conflicted" in world.kinds()
    world.settle()
    assert "unconflicted" in world.kinds()
    assert world.get(request).state is State.MERGED


def test_a_pull_request_that_vanished_is_trouble_until_it_expires() -> None:
    world = World()
    request = world.submit()
    world.ticks()

    def gone(call: str, after: bool) -> None:
        if call == "read":
            raise ForgeMissing("It is gone.")

    world.forge.fail = gone
    world.settle()
    assert world.get(request).trouble.step == "read"
    assert world.get(request).state is State.OPEN


def test_a_repository_that_is_down_stops_nothing_but_what_needs_it() -> None:
    world = World()
    request = world.submit()
    world.ticks()
    world.repo.down = True
    world.settle()
    assert world.get(request).trouble.step == "repository"
    world.repo.down = False
    world.decide(request, KIM)
    world.pass_time(minutes=6)
    world.settle()
    assert world.get(request).state is State.MERGED
    assert world.kinds().count("recovered") == 1


def test_a_cluster_that_is_down_delays_live_and_is_said_once() -> None:
    world = World()
    request = world.submit()
    world.decide(request, KIM)
    world.cluster_down = True
    finish(world)
    assert world.get(request).state is State.MERGED
    assert world.kinds().count("trouble") == 1
    world.cluster_down = False
    world.apply(40)
    finish(world)
    assert world.get(request).state is State.LIVE
    assert world.get(request).settled


def test_a_cancellation_while_the_pull_request_is_being_opened_closes_it_again() -> None:
    world = World()
    request = world.submit()
    done: list[bool] = []

    def cancel_meanwhile(call: str, after: bool) -> None:
        if call == "open" and after and not done:
            done.append(True)
            world.flow.cancel(request.id, ANA, "", "c1", world.now)

    world.forge.fail = cancel_meanwhile
    world.settle()
    assert world.get(request).state is State.CANCELLED
    assert world.get(request).settled
    assert world.forge.pulls[128].state == "closed"


def test_a_crash_after_opening_then_a_cancellation_closes_the_orphan() -> None:
    world = World()
    world.forge.fail = once("open", True, Crash())
    request = world.submit()
    with pytest.raises(Crash):
        world.flow.tick(world.now)
    world.flow.cancel(request.id, ANA, "", "c1", world.now)
    world.settle()
    assert world.get(request).settled
    assert world.forge.pulls[128].state == "closed"


def test_a_push_between_opening_and_recording_is_noticed() -> None:
    world = World()
    world.forge.fail = once("open", True, Crash())
    request = world.submit()
    world.decide(request, KIM)
    with pytest.raises(Crash):
        world.flow.tick(world.now)
    world.forge.push_by_hand(128, {QUEUES: b"evil\n"})
    world.settle()
    opened = world.get(request)
    assert opened.facts.edited
    assert opened.state is State.OPEN
    assert not opened.standing_votes
    world.decide(opened, KIM)
    assert world.decide(opened, PAT).request.state is State.APPROVED
