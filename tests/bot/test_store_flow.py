"""The flow on the real store: the main story, a crash at every forge call, and two who race."""

import threading

import pytest

from bot.store import Store
from gitops.audit import verify
from gitops.request import State
from tests.gitops.flow_fakes import KIM, LI, PAT, TOM, World, a_draft
from tests.gitops.test_flow_trouble import CALLS, Crash, finish, once


def test_the_main_story_is_in_the_database_step_by_step(store: Store) -> None:
    world = World(store=store.requests)
    request = world.submit()
    world.decide(request, KIM)
    world.settle()
    world.apply(40)
    world.settle()
    found = world.get(request)
    assert found.state is State.LIVE
    assert found.settled
    assert store.requests.unsettled() == ()
    told = [row.move.kind.value for row in store.outbox.pending_moves()]
    assert told == ["submitted", "voted", "opened", "approved", "merged", "live"]
    revisions = [row.revision for row in store.outbox.pending_moves()]
    assert revisions == sorted(revisions)
    assert verify(store.audit.records()) is None
    assert f"`{store.audit.records()[-2].hash}`" in world.forge.comments[128, "end"]


@pytest.mark.parametrize("call", CALLS)
def test_a_crash_after_any_forge_call_repeats_harmlessly(store: Store, call: str) -> None:
    world = World(store=store.requests)
    world.forge.fail = once(call, True, Crash())
    request = world.submit()
    world.decide(request, KIM)
    finish(world)
    assert world.get(request).state is State.MERGED
    assert len(world.forge.pulls) == 1
    told = [row.move.kind.value for row in store.outbox.pending_moves()]
    assert told == ["submitted", "voted", "opened", "approved", "merged"]


def test_approvers_who_press_at_the_same_moment_are_all_counted_once(store: Store) -> None:
    world = World(store=store.requests)
    request = world.submit(a_draft(new="64"))
    gate = threading.Barrier(8)

    def press(who: object, key: str) -> None:
        gate.wait()
        world.flow.decide(request.id, 1, "approve", who, "", key, world.now)  # type: ignore[arg-type]

    threads = [
        threading.Thread(target=press, args=(who, f"{who.account}-{n}"))
        for who in (LI, TOM, KIM, PAT)
        for n in range(2)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    found = world.get(request)
    assert sorted(v.person for v in found.votes) == ["kim", "li", "pat", "tom"]
    told = [row.move.kind.value for row in store.outbox.pending_moves()]
    assert told.count("voted") == 4
