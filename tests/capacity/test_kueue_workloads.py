"""The live store of workloads and its snapshots agree with a plain list, whatever happens."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from hypothesis import given, settings
from hypothesis import strategies as st

from capacity.kueue_workloads import WorkloadStore
from capacity.model import Admission, Condition, LocalQueue, Owner, Workload

T0 = datetime(2026, 12, 1, 14, tzinfo=UTC)
DOORS = {
    ("a", "q"): LocalQueue("a", "q", "research"),
    ("b", "q"): LocalQueue("b", "q", "research"),
    ("a", "r"): LocalQueue("a", "r", "vision"),
}


def workload(name: str, namespace: str = "a", queue: str = "q", **more: object) -> Workload:
    base = Workload(f"uid-{namespace}-{name}", namespace, name, queue, T0, ())
    return replace(base, **more)  # type: ignore[arg-type]


def true(type_: str, at: datetime = T0) -> Condition:
    return Condition(type_, "True", type_, "", at)


def reserving(name: str, queue: str = "research", **more: object) -> Workload:
    held = {"admission": Admission(queue, ()), "conditions": (true("QuotaReserved"),)}
    return workload(name, **(held | more))


def finished(name: str, minute: int = 0) -> Workload:
    done = true("Finished", T0 + timedelta(minutes=minute))
    return reserving(name, conditions=(true("QuotaReserved"), done))


def store_of(*workloads: Workload, **more: int) -> WorkloadStore:
    store = WorkloadStore(**more)
    for one in workloads:
        store.put(one)
    return store


def names(found: object) -> list[str]:
    return sorted(w.name for w in found)  # type: ignore[attr-defined]


def test_pending_is_what_waits_behind_any_door_of_the_queue() -> None:
    store = store_of(
        workload("w1"), workload("w2", "b"), workload("w3", queue="r"), reserving("w4")
    )
    view = store.snapshot(DOORS)
    assert names(view.pending("research")) == ["w1", "w2"]
    assert names(view.pending("vision")) == ["w3"]
    assert names(view.reserving("research")) == ["w4"]
    assert len(view.pending("nowhere")) == len(view.reserving("nowhere")) == 0


def test_a_workload_whose_queue_is_unknown_waits_nowhere_but_is_found_by_name() -> None:
    view = store_of(workload("lost", queue="typo")).snapshot(DOORS)
    assert names(view) == ["lost"]
    assert names(view.named("lost")) == ["lost"]


def test_a_workload_is_found_by_its_own_and_by_its_jobs_name() -> None:
    owner = Owner("Job", "train", "j")
    view = store_of(
        workload("job-train-1", owner=owner), workload("train", "b"), workload("job-x", owner=owner)
    ).snapshot(DOORS)
    assert names(view.named("train")) == ["job-train-1", "job-x", "train"]
    assert names(view.named("job-train-1")) == ["job-train-1"]
    assert view.named("nothing") == ()
    assert sorted(view.names()) == ["job-train-1", "job-x", "train"]
    assert "train" in view.names()
    assert "nothing" not in view.names()


def test_finished_workloads_are_found_by_the_queue_that_they_held_quota_in() -> None:
    store = store_of(finished("old", 1), finished("new", 2), reserving("w"), finished_kept=1)
    assert names(store.snapshot(DOORS).finished("research")) == ["new"]
    store.drop("a", "new")
    assert names(store.snapshot(DOORS).finished("research")) == []


def test_equal_names_in_two_namespaces_are_two_workloads() -> None:
    store = store_of(workload("same"), workload("same", "b"))
    store.drop("a", "same")
    view = store.snapshot(DOORS)
    assert [w.namespace for w in view.named("same")] == ["b"]
    assert len(view) == 1


def test_an_admitted_workload_moves_from_pending_to_reserving() -> None:
    store = store_of(workload("w"))
    store.put(reserving("w"))
    view = store.snapshot(DOORS)
    assert names(view.pending("research")) == []
    assert names(view.reserving("research")) == ["w"]


def test_finished_workloads_hold_nothing_and_the_oldest_go_first() -> None:
    store = store_of(finished("f1", 1), finished("f3", 3), finished("f2", 2), finished_kept=2)
    view = store.snapshot(DOORS)
    assert names(view) == ["f2", "f3"]
    assert names(view.reserving("research")) == []


def test_an_update_of_a_finished_workload_pushes_nothing_out() -> None:
    store = store_of(finished("f1", 1), finished("f2", 2), finished_kept=2)
    for _ in range(5):
        store.put(finished("f2", 2))
    assert names(store.snapshot(DOORS)) == ["f1", "f2"]


def test_a_snapshot_does_not_see_what_comes_later() -> None:
    store = store_of(workload("w1"), reserving("w2"))
    before = store.snapshot(DOORS)
    store.put(reserving("w1"))
    store.drop("a", "w2")
    store.put(workload("w3"))
    assert names(before) == ["w1", "w2"]
    assert names(before.pending("research")) == ["w1"]
    assert names(before.reserving("research")) == ["w2"]
    assert names(store.snapshot(DOORS)) == ["w1", "w3"]


steps = st.lists(
    st.tuples(
        st.sampled_from(["put", "reserve", "finish", "drop", "look"]),
        st.sampled_from(["w1", "w2", "w3"]),
        st.sampled_from(["a", "b"]),
        st.sampled_from(["w1", "job"]),
    ),
    max_size=40,
)


@settings(max_examples=200, deadline=None)
@given(steps)
def test_any_history_leaves_what_a_plain_dict_would_hold(history: list[tuple[str, ...]]) -> None:
    store, plain = WorkloadStore(), {}
    looks = []
    for action, name, namespace, job in history:
        made = {
            "put": workload(name, namespace),
            "reserve": reserving(name, namespace=namespace),
            "finish": replace(finished(name), namespace=namespace, uid=f"uid-{namespace}-{name}"),
        }.get(action)
        if made:
            made = replace(made, owner=Owner("Job", job, "j"))
            store.put(made)
            plain[namespace, name] = made
        elif action == "drop":
            store.drop(namespace, name)
            plain.pop((namespace, name), None)
        else:
            looks.append((store.snapshot(DOORS), dict(plain)))
    for view, held in [*looks, (store.snapshot(DOORS), plain)]:
        done = {k for k, w in held.items() if w.status == "Finished"}
        assert {(w.namespace, w.name): w for w in view} == held
        assert len(view) == len(held)
        pending = {(w.namespace, w.name) for w in view.pending("research")}
        reserving_ = {(w.namespace, w.name) for w in view.reserving("research")}
        assert reserving_ == {k for k, w in held.items() if w.admission} - done
        assert pending == set(held) - reserving_ - done
        for name in ("w1", "w2", "w3", "job"):
            expected = {k for k, w in held.items() if name in (w.name, w.job)}
            assert {(w.namespace, w.name) for w in view.named(name)} == expected
