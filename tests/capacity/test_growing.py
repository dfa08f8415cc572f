"""An elastic job that grows needs quota for the rest only, and holds what it holds once."""

from dataclasses import replace

from capacity.assign import assign
from capacity.changes import QuotaChange
from capacity.cycle import Floor, Start
from capacity.demand import reserved_by
from capacity.model import PodSet, Workload
from capacity.quota import Tree, usage
from capacity.simulate import simulate
from tests.builders import AS_OF, GPU, H100, a_cluster_queue, a_fleet, a_workload


def job(name: str, pods: int, **changes) -> Workload:
    return a_workload(name, pods, 1, pod_sets=(PodSet("main", pods, {GPU: 1}),), **changes)


def grown(of: Workload, pods: int) -> Workload:
    return replace(job("grown", pods), replaces=f"{of.namespace}/{of.name}")


def starts(nominal: int, *workloads: Workload) -> list[tuple[str, dict]]:
    """Return who starts, and on how much more, once the queue's nominal is this."""
    queue = a_cluster_queue("research", {H100: (4,)}, reserved={H100: 4}, cohort=None)
    fleet = a_fleet(queues=[queue], workloads=workloads)
    outcome = simulate(fleet, [QuotaChange("research", H100, "nominal", nominal)])
    return [(s.workload.job, dict(s.assignment.usage)) for s in outcome.starts]


OLD = job("old", 4, state="Admitted")


def test_a_job_that_grows_starts_once_the_rest_fits():
    assert starts(5, OLD, grown(OLD, 6)) == []
    assert starts(6, OLD, grown(OLD, 6)) == [("grown", {H100: 2})]


def test_without_what_it_replaces_it_needs_all():
    assert starts(9, OLD, job("other", 6)) == []


def test_it_then_holds_all_and_what_it_replaced_holds_nothing():
    queue = a_cluster_queue("research", {H100: (6,)}, reserved={H100: 4}, cohort=None)
    fleet = a_fleet(queues=[queue], workloads=[OLD])
    floor = Floor(fleet, Tree.of(fleet))
    more = grown(OLD, 6)
    floor.start(Start(more, "research", assign(floor.board(), queue, more, AS_OF)))
    assert [(w.job, reserved_by(w)) for w in floor.reserving("research")] == [("grown", {H100: 6})]
    assert usage(floor.tree.cluster_queue("research"), H100) == 6
