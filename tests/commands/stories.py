"""Worlds for the golden pages: each name is a file, each value a question and its world."""

from dataclasses import replace
from datetime import timedelta

from capacity.errors import Gap
from capacity.model import (
    AdmissionCheckState,
    Cohort,
    Condition,
    PodSet,
    Preemption,
    Quota,
    Workload,
)
from tests.builders import (
    A100,
    GPU,
    H100,
    NOW,
    FakeWorld,
    a_cluster_queue,
    a_fleet,
    a_workload,
    ago,
    condition,
    groups,
    the_queues,
    waiting_condition,
    waiting_workloads,
)
from tests.commands.drift_worlds import OLD, OTHER, SAME, by_flux, drift_world

CPU = H100._replace(resource="cpu")
MEMORY = H100._replace(resource="memory")

MANIFEST = """\
apiVersion: jobset.x-k8s.io/v1alpha2
kind: JobSet
metadata:
  name: llm-ft-8
  namespace: research
  labels:
    kueue.x-k8s.io/queue-name: research
spec:
  replicatedJobs:
  - name: worker
    replicas: 2
    template:
      spec:
        parallelism: 1
        completions: 1
        template:
          spec:
            nodeSelector: {gpu.example.com/card: h100}
            containers:
            - name: main
              resources:
                limits: {nvidia.com/gpu: 8}
"""


def world(*queues, workloads=(), cohorts=(), **changes) -> FakeWorld:
    return FakeWorld(a_fleet(queues=queues, workloads=workloads, cohorts=cohorts, **changes))


def with_research(**changes) -> FakeWorld:
    research, *others = the_queues()
    fleet = a_fleet()
    queues = {q.name: q for q in (replace(research, **changes), *others)}
    return FakeWorld(replace(fleet, cluster_queues=queues))


def one_job(*conditions: Condition, **changes) -> FakeWorld:
    """The golden world in which research holds only this waiting job."""
    job = a_workload("train-1", 2, 8, conditions=conditions, **changes)
    return with_job(job)


def with_job(job: Workload) -> FakeWorld:
    fleet = a_fleet()
    others = tuple(w for w in fleet.workloads if w.job != "llm-ft-7")
    return FakeWorld(replace(fleet, workloads=replace(fleet.workloads, items=(job, *others))))


def tree_world() -> FakeWorld:
    """The worked example of hierarchical cohorts, checked against a real controller."""
    return world(
        a_cluster_queue("vision", {H100: (16, 8, 4)}, cohort="research", reserved={H100: 14}),
        a_cluster_queue("nlp", {H100: (16,)}, cohort="research", reserved={H100: 30}),
        a_cluster_queue("prod", {H100: (24, None, 12)}, cohort="org", reserved={H100: 10}),
        cohorts=(
            Cohort("org"),
            Cohort("research", "org", groups({H100: Quota(8, 16, 24)})),
        ),
    )


def preempted_world() -> FakeWorld:
    taker = a_workload(
        "api-canary", 1, 8, queue="serving", state="Admitted", priority=1000, priority_class="high"
    )
    message = (
        f"Preempted to accommodate a workload (UID: {taker.uid}, JobUID: j) due to reclamation "
        "within the cohort; preemptor path: /ml/serving; preemptee path: /ml/research"
    )
    victim = a_workload(
        "eval-9",
        1,
        8,
        created=ago(hours=3),
        conditions=(
            condition("Preempted", "True", "InCohortReclamation", message, ago(minutes=23)),
            condition("Evicted", "True", "Preempted", message, ago(minutes=23)),
            waiting_condition(message),
        ),
        evictions=(("Preempted", 1),),
    )
    fleet = a_fleet()
    items = (taker, victim, *(w for w in fleet.workloads if w.job != "llm-ft-7"))
    return FakeWorld(replace(fleet, workloads=replace(fleet.workloads, items=items)))


def full_world() -> FakeWorld:
    """The golden world with 12 more in vision: nothing is free, and serving can only take back."""
    research, vision, serving = the_queues()
    full = replace(vision, reserved={H100: 22, A100: 24})
    fleet = a_fleet()
    return FakeWorld(replace(fleet, cluster_queues={q.name: q for q in (research, full, serving)}))


EXCEEDS = (
    "couldn't assign flavors to pod set main: insufficient quota for nvidia.com/gpu in flavor "
    "h100, previously considered podsets requests (0) + current podset request (64) > maximum "
    "capacity (48)"
)

RACK = "cloud.provider.com/topology-rack"
NO_PLACE = (
    "couldn't assign flavors to pod set main: flavor a100 doesn't match node affinity, topology "
    '"datacenter" allows to fit only 3 out of 4 pod(s). Total nodes: 12; excluded: resource '
    '"nvidia.com/gpu": 9'
)

DEFAULT = FakeWorld()
KUEUES_ORDER = FakeWorld(
    orders={"research": tuple(w.uid for w in reversed(waiting_workloads()))},
)
PROMETHEUS_LATE = replace(
    a_fleet(), gaps=(Gap("Kueue's workloads", ago(minutes=5), "jobs submitted since then"),)
)

STORIES: dict[str, tuple[str, FakeWorld]] = {
    "quota-research": ("quota research", DEFAULT),
    "quota-own-team": ("quota", DEFAULT),
    "quota-vision": ("quota vision", DEFAULT),
    "quota-serving": ("quota serving", DEFAULT),
    "quota-ml": ("quota ml", DEFAULT),
    "quota-tree": ("quota org", tree_world()),
    "quota-ml-in-full": ("quota ml --show all", DEFAULT),
    "quota-tree-in-full": ("quota org --show all", tree_world()),
    "quota-inner-cohort": ("quota research", tree_world()),
    "quota-subtree": ("quota nlp", tree_world()),
    "quota-stale": ("quota research", FakeWorld(PROMETHEUS_LATE)),
    "quota-stopped": ("quota research", with_research(stop_policy="HoldAndDrain")),
    "quota-inactive": (
        "quota research",
        with_research(
            conditions=(
                condition(
                    "Active",
                    "False",
                    "FlavorNotFound",
                    "Can't admit new workloads: references missing ResourceFlavor(s): b200.",
                ),
            )
        ),
    ),
    "quota-effective": (
        "quota research",
        with_research(effective_resource_groups=groups({H100: (28, 16), A100: (8,)})),
    ),
    "quota-alone": (
        "quota lab",
        world(a_cluster_queue("lab", {H100: (8,)}, cohort=None, reserved={H100: 6})),
    ),
    "quota-over": (
        "quota lab",
        world(a_cluster_queue("lab", {H100: (8,)}, cohort=None, reserved={H100: 12})),
    ),
    "quota-no-borrowing": (
        "quota a",
        world(
            a_cluster_queue("a", {H100: (8, 0)}, reserved={H100: 8}),
            a_cluster_queue("b", {H100: (8,)}, reserved={H100: 2}),
        ),
    ),
    "quota-over-committed": (
        "quota ml",
        world(
            a_cluster_queue("a", {H100: (8,)}, reserved={H100: 14}),
            a_cluster_queue("b", {H100: (4,)}, reserved={H100: 2}),
        ),
    ),
    "quota-loop": (
        "quota a",
        world(
            a_cluster_queue("a", {H100: (8,)}, cohort="x"),
            cohorts=(Cohort("x", "y"), Cohort("y", "x")),
        ),
    ),
    "quota-cpu-only": (
        "quota batch",
        world(
            a_cluster_queue(
                "batch",
                {CPU: (64_000, 16_000), MEMORY: (256 * 2**30,)},
                reserved={CPU: 10_500, MEMORY: 40 * 2**30},
            )
        ),
    ),
    "quota-mixed": (
        "quota lab",
        world(
            a_cluster_queue(
                "lab",
                {H100: (8,), CPU: (96_000,), MEMORY: (1024 * 2**30,)},
                cohort=None,
                reserved={H100: 2, CPU: 16_000, MEMORY: 2**35},
                preemption=Preemption("LowerPriority", "LowerPriority"),
            )
        ),
    ),
    "quota-many-queues": (
        "quota ml 2",
        world(
            *(
                a_cluster_queue(f"team-{i:02}", {H100: (8,)}, reserved={H100: i % 12})
                for i in range(40)
            )
        ),
    ),
    "queue-research": ("queue research", DEFAULT),
    "queue-kueues-order": ("queue research", KUEUES_ORDER),
    "queue-job": ("queue eval-4", DEFAULT),
    "queue-empty": ("queue vision", DEFAULT),
    "queue-cohort": ("queue ml", DEFAULT),
    "queue-long": (
        "queue research 2",
        world(
            a_cluster_queue("research", {H100: (8,)}, reserved={H100: 8}),
            workloads=[
                a_workload(f"job-{i:02}", 1, 4, created=ago(minutes=90 - i), priority=100 - i)
                for i in range(40)
            ],
        ),
    ),
    "queue-stopped": ("queue research", with_research(stop_policy="Hold")),
    "why-waiting": ("why llm-ft-7", DEFAULT),
    "why-behind": ("why eval-3", DEFAULT),
    "why-running": ("why chat", DEFAULT),
    "why-finished": ("why past-3", DEFAULT),
    "why-checks": ("why sweep-2", DEFAULT),
    "why-preempted": ("why eval-9", preempted_world()),
    "why-too-big": (
        "why train-1",
        with_job(a_workload("train-1", 8, 8, conditions=(waiting_condition(EXCEEDS),))),
    ),
    "why-unknown-message": (
        "why train-1",
        one_job(waiting_condition("the moon is in the wrong phase", "Celestial")),
    ),
    "why-backoff": (
        "why train-1",
        one_job(
            condition(
                "Evicted", "True", "PodsReadyTimeout", "Exceeded the PodsReady timeout research/x"
            ),
            condition("Requeued", "False", "PodsReadyTimeout", ""),
            waiting_condition("Exceeded the PodsReady timeout research/x"),
            requeue_count=2,
            requeue_at=NOW + timedelta(minutes=4),
            evictions=(("PodsReadyTimeout", 2),),
        ),
    ),
    "why-deactivated": (
        "why train-1",
        one_job(
            condition(
                "Evicted",
                "True",
                "DeactivatedDueToRequeuingLimitExceeded",
                "The workload is deactivated due to exceeding the maximum number of re-queuing "
                "retries",
            ),
            active=False,
        ),
    ),
    "why-no-queue": (
        "why train-1",
        one_job(
            waiting_condition("LocalQueue nowhere doesn't exist", "Inadmissible"),
            queue_name="nowhere",
        ),
    ),
    "why-pods-not-ready": (
        "why train-1",
        with_job(
            replace(
                (job := a_workload("train-1", 2, 8, state="Admitted", created=ago(hours=1))),
                conditions=(
                    *job.conditions,
                    condition(
                        "PodsReady",
                        "False",
                        "WaitForStart",
                        "Not all pods are ready or succeeded",
                        ago(minutes=12),
                    ),
                ),
            )
        ),
    ),
    "why-no-place": (
        "why train-1",
        with_job(
            a_workload(
                "train-1",
                1,
                8,
                pod_sets=(PodSet("main", 4, {GPU: 1}, topology=f"required {RACK}"),),
                conditions=(waiting_condition(NO_PLACE),),
            )
        ),
    ),
    "why-stands": (
        "why train-1",
        with_job(
            replace(
                (stands := a_workload("train-1", 2, 8, state="Admitted", created=ago(hours=1))),
                admission=replace(
                    stands.admission,
                    assignments=tuple(
                        replace(a, places=(("block-1/rack-3", 1), ("block-1/rack-4", 1)))
                        for a in stands.admission.assignments
                    ),
                ),
            )
        ),
    ),
    "why-rejected-check": (
        "why train-1",
        with_job(
            a_workload(
                "train-1",
                2,
                8,
                state="QuotaReserved",
                admission_checks=(
                    AdmissionCheckState("dws", "Retry", "the zone has no capacity", 2),
                    AdmissionCheckState("budget", "Ready"),
                ),
            )
        ),
    ),
    "why-two-jobs": (
        "why train",
        world(
            a_cluster_queue("research"),
            a_cluster_queue("vision"),
            workloads=(a_workload("train"), a_workload("train", queue="vision", state="Admitted")),
        ),
    ),
    "fit-vision": ("fit 2x8 h100 --queue vision", DEFAULT),
    "fit-any-card": ("fit 2 x 8 vision", DEFAULT),
    "fit-behind-others": ("fit 16 a100", DEFAULT),
    "fit-another-card-behind-others": ("fit 2x8 h100", DEFAULT),
    "fit-fair-sharing": ("fit 2x8 h100 --queue vision", world(*the_queues(), fair_sharing=True)),
    "fit-never": ("fit 64 h100", DEFAULT),
    "fit-beyond-own-quota": ("fit 16 h100 --queue serving --priority high", DEFAULT),
    "fit-by-preemption": ("fit 8 h100 --queue serving", full_world()),
    "fit-manifest": (f"fit\n```\n{MANIFEST}```", DEFAULT),
    "fit-no-quota": (f"fit\n{MANIFEST.replace('gpu: 8', 'gpu: 8, rdma/hca: 1')}", DEFAULT),
    "fit-stopped": ("fit 2 h100", with_research(stop_policy="Hold")),
    "drift": ("drift", drift_world(OTHER, by_flux(OLD, "ClusterQueue/lab dry-run failed"))),
    "drift-none": ("drift", drift_world(SAME, by_flux())),
    "drift-queue": ("drift research", drift_world(OTHER)),
    "drift-queue-none": ("drift Vision", drift_world(SAME, by_flux(OLD))),
    "request": ("request research h100 nominal 40", DEFAULT),
    "help": ("help", DEFAULT),
    "help-fit": ("help fit", DEFAULT),
}
