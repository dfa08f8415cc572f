"""The whole way of a request on a real Gitea with branch protection, and all that people do there."""

from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest

from gitops.audit import verify
from gitops.request import State
from tests.cluster.forge import Gitea
from tests.forges.real import STATUS, GiteaWorld, merge_when_checked
from tests.gitops.flow_fakes import ANA, KIM, PAT, QUEUES, a_draft

pytestmark = pytest.mark.cluster
numbers = count(1)
MERGED = ["submitted", "opened", "voted", "approved", "merged"]


@pytest.fixture
def world(gitea: Gitea, tmp_path: Path) -> Iterator[GiteaWorld]:
    made = GiteaWorld(tmp_path, gitea, f"flow-{next(numbers)}")
    yield made
    made.real_store.close()


def test_the_main_story_ends_in_one_merge_with_its_trailers(world: GiteaWorld) -> None:
    before = world.hosted.read(QUEUES)
    request = world.opened()
    page = world.pull(request)
    assert page["title"] == f"{request.title} (request {request.id})"
    assert "camera-ready ablations" in page["body"]
    assert page["user"]["login"] == "gpubot"
    status = world.api().get(f"{world.hosted.path}/commits/{page['head']['sha']}/status")
    assert [(s["context"], s["status"]) for s in status["statuses"]] == [(STATUS, "pending")]
    world.decide(request, KIM)
    merged = world.finish(request, State.MERGED)
    assert world.hosted.read(QUEUES) == before.replace("nominalQuota: 32", "nominalQuota: 40", 1)
    message = world.api().get(f"{world.hosted.path}/git/commits/{merged.merge_sha}")["commit"]
    assert "Requested-by: Ana Ruiz <slack:U0ANA; forge:carol>" in message["message"]
    assert "Approved-by: Kim Larsen <slack:U0KIM; forge:alice> at " in message["message"]
    assert world.branches() == ["main"]
    assert len(world.comments(request)) == 2
    world.apply(40)
    world.settle()
    assert world.get(request).settled
    assert world.told() == [*MERGED, "live"]
    assert verify(world.real_store.audit.records()) is None


def test_a_review_on_gitea_counts_as_that_person_and_the_requesters_does_not(
    world: GiteaWorld,
) -> None:
    request = world.opened()
    world.review(request, "carol", "APPROVED", "mine is best")
    world.settle()
    assert world.get(request).state is State.OPEN
    assert not world.get(request).votes
    world.review(request, "alice", "APPROVED", "fine")
    assert world.finish(request, State.MERGED).state is State.MERGED
    assert [(v.person, v.account) for v in world.get(request).votes] == [("kim", "forge:alice")]


def test_a_rejection_on_gitea_ends_it_and_cleans_up(world: GiteaWorld) -> None:
    request = world.opened()
    world.review(request, "bob", "REQUEST_CHANGES", "not this quarter")
    assert world.finish(request, State.REJECTED).state is State.REJECTED
    assert world.pull(request)["state"] == "closed"
    assert world.branches() == ["main"]


def test_a_push_by_hand_voids_the_approvals(world: GiteaWorld) -> None:
    request = world.opened()
    world.decide(request, KIM)
    world.edit(request.branch, "nominalQuota: 40", "nominalQuota: 400")
    world.settle()
    pushed = world.get(request)
    assert (pushed.state, pushed.facts.edited) == (State.OPEN, True)
    assert "nominalQuota: 400" in pushed.diff
    assert not pushed.standing_votes
    world.decide(pushed, KIM)
    world.decide(pushed, PAT)
    assert world.finish(request, State.MERGED).state is State.MERGED
    assert "nominalQuota: 400" in world.hosted.read(QUEUES)


def test_the_same_line_changed_on_main_is_a_conflict(world: GiteaWorld) -> None:
    request = world.opened()
    world.api().delete(f"{world.hosted.path}/branch_protections/main")
    world.edit("main", "nominalQuota: 32", "nominalQuota: 33", "forge-admin")
    assert world.finish(request, State.CONFLICTED).state is State.CONFLICTED
    world.flow.cancel(request.id, ANA, "I ask anew", "c1", world.now)
    world.finish(request, State.CANCELLED)
    assert world.branches() == ["main"]


def test_closed_by_hand_is_over(world: GiteaWorld) -> None:
    request = world.opened()
    number = world.pull(request)["number"]
    world.api("bob").patch(f"{world.hosted.path}/pulls/{number}", {"state": "closed"})
    assert world.finish(request, State.CLOSED).state is State.CLOSED
    assert world.branches() == ["main"]
    again = world.submit(a_draft())
    world.ticks()
    assert len(world.pulls()) == 2
    assert world.get(again).state is State.OPEN


def test_merged_by_hand_names_who_did_it(world: GiteaWorld) -> None:
    request = world.opened()
    world.api().delete(f"{world.hosted.path}/branch_protections/main")
    page = world.pull(request)
    merge_when_checked(world.hosted, page["number"], page["head"]["sha"], user="bob")
    merged = world.finish(request, State.MERGED)
    assert merged.state is State.MERGED
    assert merged.merge_sha == world.hosted.head()
    moves = [row.move for row in world.real_store.outbox.pending_moves(1000)]
    assert [move.by for move in moves if move.kind.value == "merged-by-hand"] == ["pat"]


CALLS = ("open_pull_request", "read", "set_status", "comment", "merge", "close")


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("call", CALLS)
def test_gitea_down_at_any_step_loses_and_doubles_nothing(
    world: GiteaWorld, gitea: Gitea, call: str, after: bool
) -> None:
    outages: list[str] = []

    def stop(name: str, done: bool) -> None:
        if (name, done) == (call, after) and not outages:
            outages.append(name)
            gitea.process.stop()

    world.adapter.around = stop
    request = world.submit()
    try:
        for _ in range(12):
            if outages:
                break
            if world.get(request).state is State.OPEN:
                world.decide(request, KIM, key="the one click")
            world.pass_time(seconds=6)
            world.ticks()
        assert outages == [call]
        world.pass_time(seconds=60)
        world.ticks(3)
        assert world.get(request).trouble is not None
    finally:
        gitea.process.start()
    if not world.get(request).votes:
        world.finish(request, State.OPEN, 5)
        world.decide(world.get(request), KIM, key="the one click")
    assert world.finish(request, State.MERGED, 40).state is State.MERGED
    assert len(world.pulls()) == 1
    assert world.branches() == ["main"]
    assert len(world.comments(request)) == 2
    assert [kind for kind in world.told() if kind in MERGED] == MERGED
    assert verify(world.real_store.audit.records()) is None
