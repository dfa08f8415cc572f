"""The simulated cluster admits, preempts and places as Kueue and a scheduler would."""

from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.playground.cluster.job import GPU, Job, Spec, State
from bot.playground.cluster.manifests import objects
from bot.playground.cluster.objects import ObjectStore
from bot.playground.cluster.playground import seed_manifests
from bot.playground.cluster.publish import apply, publish
from bot.playground.cluster.rules import read_rules
from bot.playground.cluster.scenario import QUIET, begin
from bot.playground.cluster.world import World
from capacity import decode
from capacity.model import FlavorResource, Quota, effective_resource_groups
from capacity.quota import available, borrowed, can_reserve, potential_available, usage

T0 = datetime(2026, 12, 1, 14, tzinfo=UTC)
H100 = FlavorResource("h100", GPU)
MINUTE = timedelta(minutes=1)


@pytest.fixture
def store() -> ObjectStore:
    made = ObjectStore()
    for plural, body in objects(seed_manifests()[1]):
        apply(made, plural, body, T0)
    return made


@pytest.fixture
def empty(store: ObjectStore) -> World:
    return World(read_rules(store), T0 - timedelta(hours=1))


@pytest.fixture
def world(empty: World) -> World:
    begin(empty, T0, seed=7)
    empty.schedule(T0)
    return empty


def spec(queue: str, name: str, pods: int, gpus: int, **more: object) -> Spec:
    made = Spec(queue, name, pods, gpus, timedelta(hours=1), on="h100", check=MINUTE)
    return replace(made, **more)  # type: ignore[arg-type]


def named(world: World, name: str) -> Job:
    return next(job for job in world.jobs if job.spec.name == name)


def reserved(world: World) -> dict[str, int]:
    held = world.held(s for s in State if s.holds)
    return {queue: amounts.get(H100, 0) for queue, amounts in held.items()}


def with_nominal(world: World, queue: str, nominal: int) -> None:
    rules = world.rules
    old = rules.cluster_queues[queue]
    group = old.resource_groups[0]
    first = replace(group.flavors[0], resources={GPU: Quota(nominal, 16)})
    new = replace(old, resource_groups=(replace(group, flavors=(first, *group.flavors[1:])),))
    world.rules = replace(rules, cluster_queues={**rules.cluster_queues, queue: new})


def test_the_start_is_the_example_of_the_documentation(world: World) -> None:
    assert reserved(world) == {"research": 44, "vision": 10, "serving": 30}
    tree = world.tree()
    free = {q: can_reserve(tree.cluster_queue(q), H100) for q in reserved(world)}
    assert free == {"research": 4, "vision": 12, "serving": 12}
    assert borrowed(tree.cluster_queue("research"), H100) == 12
    assert potential_available(tree.cluster_queue("research"), H100) == 48
    waiting = [job.spec.name for job in world.pending("research")]
    assert waiting == ["llm-ft-7", "eval-3", "eval-4", "ablation-1", "ablation-2"]


def test_the_first_in_line_is_told_what_it_lacks_and_the_rest_nothing(world: World) -> None:
    told = named(world, "llm-ft-7").conditions["QuotaReserved"]
    assert told.message == (
        "couldn't assign flavors to pod set main: flavor a100 doesn't match node affinity, "
        "insufficient unused quota for nvidia.com/gpu in flavor h100, 12 more needed"
    )
    assert told.at == T0 - timedelta(minutes=41) + timedelta(seconds=1)
    assert named(world, "eval-3").conditions == {}


def test_nothing_changes_in_the_quiet_time(world: World) -> None:
    before = {job.spec.name: job.state for job in world.jobs}
    world.advance(T0 + QUIET - 3 * MINUTE)
    assert {job.spec.name: job.state for job in world.jobs} == before


def test_twelve_more_nominal_start_the_gang_at_once(world: World) -> None:
    with_nominal(world, "research", 44)
    world.schedule(T0)
    assert named(world, "llm-ft-7").state is State.RESERVED
    # 60 of 60 that research may hold: what names no card goes on a100, or waits.
    assert reserved(world)["research"] == 60
    assert named(world, "eval-3").flavor == "a100"


def test_eight_more_nominal_start_it_when_eval_1_is_done(world: World) -> None:
    with_nominal(world, "research", 40)
    world.schedule(T0)
    gang = named(world, "llm-ft-7")
    assert "4 more needed" in gang.conditions["QuotaReserved"].message
    world.advance(T0 + 44 * MINUTE)
    assert gang.state is State.WAITING
    world.advance(T0 + 46 * MINUTE)
    assert gang.state is State.RESERVED
    world.advance(T0 + 49 * MINUTE)
    assert gang.state is State.RUNNING
    assert len([r for r in world.pods.runs() if r.job == "llm-ft-7"]) == 2


def test_without_a_change_the_gang_still_waits_when_eval_1_is_done(world: World) -> None:
    world.advance(T0 + 60 * MINUTE)
    assert named(world, "eval-1").state is State.FINISHED
    assert named(world, "llm-ft-7").state is State.WAITING


def test_a_job_goes_through_all_its_states(empty: World) -> None:
    job = empty.submit(spec("research", "j", 2, 4), T0)
    empty.schedule(T0)
    assert (job.state, job.check_state) == (State.RESERVED, "Pending")
    assert job.conditions["Admitted"].reason == "UnsatisfiedAdmissionChecks"
    empty.advance(T0 + MINUTE)
    assert (job.state, job.check_state) == (State.STARTING, "Ready")
    assert job.conditions["PodsReady"].status == "False"
    empty.advance(T0 + 2 * MINUTE)
    assert job.state is State.RUNNING
    empty.advance(T0 + 62 * MINUTE)
    assert job.state is State.FINISHED
    assert job.conditions["Finished"].reason == "Succeeded"
    assert [(r.start, r.end) for r in empty.pods.runs()] == [(T0 + MINUTE, T0 + 62 * MINUTE)] * 2
    assert reserved(empty) == {}


def test_a_strict_queue_waits_for_its_first_and_a_best_effort_one_passes_it(empty: World) -> None:
    for queue in ("research", "vision"):
        empty.submit(spec(queue, f"{queue}-big", 12, 8), T0)
        empty.submit(spec(queue, f"{queue}-small", 1, 1), T0 + MINUTE)
    empty.schedule(T0 + MINUTE)
    assert named(empty, "research-small").state is State.WAITING
    assert named(empty, "vision-small").state.holds


def test_more_than_can_ever_fit_is_told_so(empty: World) -> None:
    job = empty.submit(spec("research", "huge", 7, 8), T0)
    empty.schedule(T0)
    assert job.conditions["QuotaReserved"].message == (
        "couldn't assign flavors to pod set main: flavor a100 doesn't match node affinity, "
        "insufficient quota for nvidia.com/gpu in flavor h100, previously considered podsets "
        "requests (0) + current podset request (56) > maximum capacity (48)"
    )


def test_higher_priority_goes_first_then_the_older(empty: World) -> None:
    for name, priority, age in (("young", 0, 1), ("old", 0, 9), ("high", 5, 0)):
        empty.submit(spec("research", name, 6, 8, priority=priority), T0 - age * MINUTE)
    assert [j.spec.name for j in empty.pending("research")] == ["high", "old", "young"]


def lend_everything(world: World) -> tuple[Job, Job, Job]:
    """Research borrows 16, vision and serving fill most of the rest."""
    old = world.submit(spec("research", "old", 4, 8), T0 - 9 * MINUTE)
    world.schedule(T0 - 9 * MINUTE)
    new = world.submit(spec("research", "new", 2, 8), T0 - 8 * MINUTE)
    world.schedule(T0 - 8 * MINUTE)
    world.advance(T0 - 5 * MINUTE)
    world.submit(spec("vision", "v", 3, 8), T0 - 5 * MINUTE)
    world.schedule(T0 - 5 * MINUTE)
    taker = world.submit(spec("serving", "api", 4, 8), T0)
    return old, new, taker


def test_serving_takes_back_what_it_lent_and_the_youngest_borrower_goes(empty: World) -> None:
    old, new, taker = lend_everything(empty)
    empty.schedule(T0)
    assert taker.state is State.WAITING
    told = taker.conditions["QuotaReserved"].message
    assert told.endswith("8 more needed. Pending the preemption of 1 workload(s)")
    assert (old.state, new.state) == (State.RUNNING, State.STOPPING)
    assert new.conditions["Preempted"].reason == "InCohortReclamation"
    assert new.conditions["Evicted"].message == (
        f"Preempted to accommodate a workload (UID: {taker.uid}, JobUID: {taker.job_uid}) due to "
        "reclamation within the cohort; preemptor path: /ml/serving; preemptee path: /ml/research"
    )
    assert reserved(empty)["research"] == 48
    empty.advance(T0 + MINUTE)
    assert taker.state.holds
    assert new.state is State.WAITING
    assert (new.evictions, new.conditions["Requeued"].reason) == (1, "Preempted")
    assert reserved(empty) == {"research": 32, "vision": 24, "serving": 32}


def test_a_preempted_job_keeps_its_place_and_its_progress_and_history(empty: World) -> None:
    _, new, taker = lend_everything(empty)
    empty.schedule(T0)
    later = empty.submit(spec("research", "later", 1, 1), T0 + MINUTE)
    empty.advance(T0 + 2 * MINUTE)
    assert [j.spec.name for j in empty.pending("research")] == ["new", "later"]
    assert new.left < new.spec.runs
    empty.advance(T0 + 70 * MINUTE)
    assert taker.state is State.FINISHED
    assert new.state.holds
    assert new.conditions["Evicted"].message.startswith("Previously: Preempted to accommodate")
    assert later.state.holds or later.state is State.FINISHED
    runs = [r for r in empty.pods.runs() if r.job == "new"]
    assert len({r.pod for r in runs}) == len(runs) == 4


def test_vision_never_takes_back(empty: World) -> None:
    empty.submit(spec("research", "r", 6, 8), T0 - 9 * MINUTE)
    empty.submit(spec("serving", "s", 5, 8), T0 - 9 * MINUTE)
    empty.schedule(T0 - 8 * MINUTE)
    job = empty.submit(spec("vision", "v", 3, 8), T0)
    empty.schedule(T0)
    assert job.conditions["QuotaReserved"].message.endswith("16 more needed")
    assert all(j.state is not State.STOPPING for j in empty.jobs)


def test_quota_promised_twice_is_reserved_but_its_pods_wait_for_cards(empty: World) -> None:
    with_nominal(empty, "research", 100)
    empty.submit(spec("research", "all", 12, 8), T0)
    over = empty.submit(spec("research", "over", 1, 4), T0 + MINUTE)
    empty.schedule(T0 + MINUTE)
    empty.advance(T0 + 5 * MINUTE)
    assert over.state is State.ADMITTED
    assert over.conditions["PodsReady"].status == "False"
    empty.advance(T0 + 80 * MINUTE)
    assert over.state is State.RUNNING


def test_a_held_queue_admits_nobody(empty: World) -> None:
    held = replace(empty.rules.cluster_queues["vision"], stop_policy="Hold")
    queues = {**empty.rules.cluster_queues, "vision": held}
    empty.rules = replace(empty.rules, cluster_queues=queues)
    job = empty.submit(spec("vision", "v", 1, 1), T0)
    empty.schedule(T0)
    assert job.state is State.WAITING


def test_the_status_is_what_kueue_would_write(world: World, store: ObjectStore) -> None:
    publish(store, world, T0)
    queue = decode.cluster_queue(store.get("clusterqueues", "", "research") or b"")
    assert queue.reserved[H100] == 44
    assert queue.admitted[H100] == 42
    assert queue.reported_borrowed[H100] == 12
    assert (queue.pending_workloads, queue.reserving_workloads, queue.admitted_workloads) == (
        5,
        4,
        3,
    )
    assert queue.conditions[0].message == "Can admit new workloads"
    door = decode.local_queue(store.get("localqueues", "research", "research") or b"")
    assert (door.pending_workloads, door.reserved[H100]) == (5, 44)
    found = {w.job: w for b in store.snapshot("workloads").bodies if (w := decode.workload(b))}
    assert found["llm-ft-7"].owner is not None
    assert found["llm-ft-7"].owner.kind == "JobSet"
    assert found["sweep-2"].status == "QuotaReserved"
    assert found["sweep-2"].admission_checks[0].state == "Pending"
    assert found["llm-pretrain"].status == "Admitted"
    before = store.version
    publish(store, world, T0)
    assert store.version == before


jobs = st.lists(
    st.builds(
        spec,
        st.sampled_from(["research", "vision", "serving"]),
        st.uuids().map(lambda u: u.hex[:6]),
        st.integers(1, 5),
        st.integers(1, 8),
        priority=st.sampled_from([0, 0, 10]),
        runs=st.integers(5, 200).map(lambda m: timedelta(minutes=m)),
    ),
    max_size=15,
)


@settings(max_examples=40, deadline=None)
@given(jobs)
def test_no_history_breaks_the_books(submitted: list[Spec]) -> None:
    store = ObjectStore()
    for plural, body in objects(seed_manifests()[1]):
        apply(store, plural, body, T0)
    world = World(read_rules(store), T0)
    for number, one in enumerate(submitted):
        at = T0 + number * 7 * MINUTE
        world.advance(at)
        world.submit(one, at)
        world.schedule(at)
        check_books(world)
    world.advance(T0 + timedelta(days=30))
    left = [j for j in world.jobs if j.state is not State.FINISHED]
    tree = world.tree()
    for job in left:
        assert job.spec.total > potential_available(
            tree.cluster_queue(job.spec.queue), H100
        ) or any(other.spec.queue == job.spec.queue for other in left if other is not job)


def check_books(world: World) -> None:
    tree = world.tree()
    for name, queue in world.rules.cluster_queues.items():
        node = tree.cluster_queue(name)
        assert available(node, H100) >= 0
        assert usage(node, H100) <= potential_available(node, H100)
        assert effective_resource_groups(queue)
    taken = Counter(gpu.uuid for r in world.pods.runs() if r.end is None for gpu in r.gpus)
    assert all(count == 1 for count in taken.values())
