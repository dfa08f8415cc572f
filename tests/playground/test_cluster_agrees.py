"""The simulated cluster does what the bot's what-if foretells: two ways to the same cycle."""

from datetime import UTC, datetime, timedelta

from hypothesis import event, given, settings
from hypothesis import strategies as st

from bot.playground.cluster.job import Job, Spec, State
from bot.playground.cluster.manifests import objects
from bot.playground.cluster.objects import ObjectStore
from bot.playground.cluster.playground import seed_manifests
from bot.playground.cluster.publish import apply, publish
from bot.playground.cluster.rules import Rules, read_rules
from bot.playground.cluster.world import World
from capacity import decode
from capacity.kueue_workloads import WorkloadStore
from capacity.model import Fleet, Workload
from capacity.simulate import simulate

T0 = datetime(2026, 12, 1, 14, tzinfo=UTC)
MINUTE = timedelta(minutes=1)


def seeded() -> tuple[ObjectStore, Rules]:
    store = ObjectStore()
    for plural, body in objects(seed_manifests()[1]):
        apply(store, plural, body, T0)
    return store, read_rules(store)


def fleet_of(store: ObjectStore, world: World, hidden: Job) -> tuple[Fleet, Workload]:
    """What the bot would read, and the workload of a job that it doesn't know yet."""
    publish(store, world, T0)
    rules = read_rules(store)
    workloads = WorkloadStore()
    read = [decode.workload(raw) for raw in store.snapshot("workloads").bodies]
    for workload in read:
        if workload.uid != hidden.uid:
            workloads.put(workload)
    fleet = Fleet(
        cluster="prod-eu",
        as_of=world.now,
        cluster_queues=rules.cluster_queues,
        cohorts=rules.cohorts,
        local_queues=rules.local_queues,
        flavors=rules.flavors,
        priority_classes={},
        workloads=workloads.snapshot(rules.local_queues),
    )
    return fleet, next(w for w in read if w.uid == hidden.uid)


specs = st.builds(
    Spec,
    queue=st.sampled_from(["research", "vision", "serving"]),
    name=st.uuids().map(lambda u: u.hex[:6]),
    pods=st.integers(1, 4),
    gpus=st.sampled_from([1, 4, 6, 8, 8]),
    runs=st.just(timedelta(days=9)),
    on=st.sampled_from(["h100", "h100", "a100"]),
    priority=st.sampled_from([0, 0, 10]),
    check=st.just(timedelta(seconds=30)),
)


@settings(max_examples=40, deadline=None)
@given(st.lists(specs, min_size=5, max_size=12), specs)
def test_who_starts_and_who_makes_way_is_what_the_what_if_said(
    before: list[Spec], probe: Spec
) -> None:
    store, rules = seeded()
    world = World(rules, T0)
    for number, spec in enumerate(before):
        at = T0 + number * 10 * MINUTE
        world.advance(at)
        world.submit(spec, at)
        world.schedule(at)
    at = T0 + timedelta(hours=4)
    world.advance(at)
    holding = {j.uid for j in world.jobs if j.holds}
    job = world.submit(probe, at)
    fleet, workload = fleet_of(store, world, job)
    told = {start.workload.uid: start for start in simulate(fleet, extra=[workload]).starts}
    world.schedule(at)
    stopping = {j.uid for j in world.jobs if j.state is State.STOPPING}
    assert stopping <= holding
    event("preempts" if stopping else "starts" if job.state.holds else "waits")
    if job.uid not in told:
        assert job.state is State.WAITING
        return
    victims = {v.workload.uid for v in told[job.uid].assignment.victims}
    others = {v.workload.uid for s in told.values() for v in s.assignment.victims}
    assert victims <= stopping <= others
    world.advance(at + MINUTE)
    assert job.state.holds
