"""Kueue's own cases of whom it stops (docs/kueue-tables.md)."""

from dataclasses import replace
from datetime import UTC, datetime

from capacity.model import Admission, Condition, PodSet, PodSetAssignment, Workload
from capacity.preempt import victims
from capacity.preempt_candidates import Asker
from capacity.quota import Tree
from tests.capacity.kueue_tables import each, hierarchies
from tests.capacity.kueue_tables.hierarchies import Held
from tests.capacity.kueue_tables.notation import amounts

NOW = datetime(2026, 12, 1, 9, tzinfo=UTC)


def running(name: str, held: Held) -> Workload:
    used = amounts(held.amounts)
    flavors = {pair.resource: pair.flavor for pair in used}
    usage = {pair.resource: amount for pair, amount in used.items()}
    conditions = [Condition("QuotaReserved", "True", "QuotaReserved", "", NOW)]
    if held.evicted:
        conditions.append(Condition("Evicted", "True", "Preempted", "", NOW))
    return Workload(
        uid=name,
        namespace="",
        name=name,
        queue_name="",
        created=NOW,
        pod_sets=(PodSet("main", 1, {}),),
        priority=held.priority,
        conditions=tuple(conditions),
        admission=Admission(held.queue, (PodSetAssignment("main", 1, flavors, usage),)),
    )


@each(hierarchies.CASES)
def test_who_is_stopped_in_a_tree_of_cohorts(case: hierarchies.Case):
    tree = Tree.build(case.queues, case.cohorts)
    for held in case.held.values():
        tree.add_usage(held.queue, amounts(held.amounts))
    holding = {
        q.name: [running(n, held) for n, held in case.held.items() if held.queue == q.name]
        for q in case.queues
    }
    target = next(q for q in case.queues if q.name == case.target)
    wanted = amounts(case.wanted)
    asker = Asker(replace(target), wanted, case.priority, NOW, NOW)
    found = victims(tree, lambda name: holding[name], asker, set(wanted))
    assert {victim.workload.name: victim.reason for victim in found} == case.want
