"""What changed between two snapshots is found by looking only where something changed."""

from hypothesis import given
from hypothesis import strategies as st

from capacity.kueue_changes import changes
from capacity.kueue_workloads import WorkloadStore, WorkloadView
from capacity.model import Workload
from tests.builders import ListedWorkloads, a_workload

NAMES = ("a", "b", "c")
SPACES = ("research", "vision")


def told(before: WorkloadView | ListedWorkloads, after: WorkloadView | ListedWorkloads):
    return sorted(
        ((old.uid if old else "", new.uid if new else "") for old, new in changes(before, after)),
    )


def test_what_came_changed_and_went_is_told_once() -> None:
    store = WorkloadStore()
    store.put(a_workload("stays"))
    store.put(a_workload("goes"))
    store.put(a_workload("changes"))
    before = store.snapshot({})
    store.put(a_workload("comes"))
    store.put(a_workload("changes", priority=9))
    store.drop("research", "job-goes-1a2b3")
    after = store.snapshot({})
    uid = "uid-research-{}".format
    assert told(before, after) == [
        ("", uid("comes")), (uid("changes"), uid("changes")), (uid("goes"), ""),
    ]  # fmt: skip
    assert told(after, after) == []
    assert told(after, store.snapshot({})) == []


def test_a_job_made_anew_under_its_name_went_and_came() -> None:
    store = WorkloadStore()
    store.put(a_workload("a", uid="first"))
    before = store.snapshot({})
    store.put(a_workload("a", uid="second"))
    assert told(before, store.snapshot({})) == [("", "second"), ("first", "")]


def test_shards_that_nothing_happened_in_are_not_looked_into() -> None:
    class Counted(dict[str, Workload]):
        looks = 0

        def keys(self):
            Counted.looks += 1
            return super().keys()

    quiet = Counted(a=a_workload("a"))
    one, other = ({7: quiet, 8: {}} for _ in range(2))
    views = [WorkloadView(own, {}, {}, {}, {}, 1, {}) for own in (one, other)]
    assert list(changes(*views)) == []
    assert Counted.looks == 0


writes = st.lists(
    st.tuples(
        st.sampled_from(("put", "drop", "anew")), st.sampled_from(SPACES), st.sampled_from(NAMES)
    ),
    max_size=12,
)


@given(writes, writes)
def test_it_tells_what_comparing_everything_tells(first: list, then: list) -> None:
    store, count = WorkloadStore(), 0

    def apply(steps: list) -> WorkloadView:
        nonlocal count
        for deed, space, name in steps:
            count += 1
            if deed == "drop":
                store.drop(space, name)
            else:
                uid = f"{space}/{name}" + (f"/{count}" if deed == "anew" else "")
                made = a_workload(name, queue=space, name=name, uid=uid, priority=count)
                store.put(made)
        return store.snapshot({})

    before = apply(first)
    everything = ListedWorkloads(tuple(before))
    after = apply(then)
    assert told(before, after) == told(everything, ListedWorkloads(tuple(after)))
