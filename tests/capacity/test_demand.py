"""What workloads ask for and hold."""

from dataclasses import replace

import pytest

from capacity.demand import demand, reserved_by, selects, stray_usage, uncounted
from capacity.model import Admission, FlavorResource, PodSet, PodSetAssignment, ResourceFlavor
from capacity.quota import Tree, can_reserve
from tests.builders import A100, GPU, H100, a_cluster_queue, a_fleet, a_workload


def test_demand_adds_up_pod_sets_without_pods_given_back():
    pod_sets = (PodSet("a", 2, {GPU: 4, "cpu": 500}), PodSet("b", 3, {GPU: 1}))
    workload = replace(a_workload("w"), pod_sets=pod_sets, reclaimable={"a": 1, "b": 9})
    assert demand(workload) == {GPU: 4, "cpu": 500, "pods": 1}


@pytest.mark.parametrize(("back", "kept"), [(0, 10), (1, 6), (2, 3), (3, 0), (9, 0)])
def test_pods_given_back_free_whole_pods_of_what_is_held(back: int, kept: int):
    given = PodSetAssignment("main", 3, {GPU: "h100"}, {GPU: 10, "cpu": 5})
    workload = replace(
        a_workload("w"),
        admission=Admission("research", (given,)),
        reclaimable={"main": back} if back else {},
    )
    assert reserved_by(workload) == {H100: kept}


def test_nothing_is_held_before_quota_is_reserved():
    assert reserved_by(a_workload("w")) == {}


def test_a_selector_is_compared_on_the_flavors_own_labels_only():
    flavor = ResourceFlavor("h100", {"card": "h100"})
    assert selects(PodSet("p", 1, {}, node_selector={"card": "h100", "zone": "x"}), flavor)
    assert selects(PodSet("p", 1, {}), flavor)
    assert not selects(PodSet("p", 1, {}, node_selector={"card": "a100"}), flavor)


def test_a_resource_counts_until_somebody_runs_without_quota_for_it():
    queue = a_cluster_queue("research", {H100: (8,)})
    running = replace(
        a_workload("r", state="Admitted"), pod_sets=(PodSet("main", 1, {GPU: 1, "cpu": 1000}),)
    )
    fleet = a_fleet(queues=[queue], workloads=[running])
    assert uncounted(fleet, ["cpu", "memory", "pods", GPU]) == {"cpu"}
    assert uncounted(a_fleet(queues=[queue], workloads=[]), ["cpu"]) == frozenset()


def test_quota_held_on_a_pair_that_is_no_longer_listed_still_counts_in_the_cohort():
    queues = [
        a_cluster_queue("research", {A100: (8,)}),
        a_cluster_queue("vision", {H100: (16,)}),
    ]
    fleet = a_fleet(queues=queues, workloads=[a_workload("old", 1, 6, state="Admitted")])
    stray = stray_usage(fleet)
    assert stray == {"research": {FlavorResource("h100", GPU): 6}}
    plain, whole = Tree.of(fleet), Tree.build(fleet.cluster_queues.values(), stray=stray)
    assert can_reserve(plain.cluster_queue("vision"), H100) == 16
    assert can_reserve(whole.cluster_queue("vision"), H100) == 10
