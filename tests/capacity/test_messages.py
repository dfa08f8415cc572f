"""Kueue's messages: every wording that v0.19 writes, and texts that nobody knows."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from capacity.causes import Kind, Refusal, least_severe, most_severe
from capacity.messages import parse_message, parse_refusal
from capacity.model import UNLIMITED, ResourceGroup
from tests.builders import A100, H100, a_cluster_queue, groups

UNUSED = "insufficient unused quota for nvidia.com/gpu in flavor h100, 12 more needed"
NEVER = (
    "insufficient quota for nvidia.com/gpu in flavor h100, previously considered podsets requests "
    "(8) + current podset request (25) > maximum capacity (24)"
)
TAINT = "untolerated taint {gpu true NoSchedule <nil>} in flavor h100"
TOPOLOGY = (
    'topology "racks" allows to fit only 2 out of 4 pod(s). Total nodes: 9; excluded: '
    'nodeSelector: 2, resource "nvidia.com/gpu": 3, taint "a=b:NoSchedule": 1'
)


def pod_sets(*reasons: str) -> str:
    return "; ".join(
        f"couldn't assign flavors to pod set {name}: {text}"
        for name, text in zip(("driver", "worker", "third"), reasons, strict=False)
    )


@pytest.mark.parametrize(
    ("text", "refusal"),
    [
        (
            UNUSED,
            Refusal(Kind.WAITING_FOR_QUOTA, UNUSED, "h100", "nvidia.com/gpu", needed=12),
        ),
        (
            NEVER,
            Refusal(
                Kind.EXCEEDS_MAX_QUOTA,
                NEVER,
                "h100",
                "nvidia.com/gpu",
                considered=8,
                requested=25,
                capacity=24,
            ),
        ),
        (
            TAINT,
            Refusal(Kind.NO_MATCHING_FLAVOR, TAINT, "h100", detail="{gpu true NoSchedule <nil>}"),
        ),
        (TOPOLOGY, Refusal(Kind.TOPOLOGY_PLACEMENT_FAILED, TOPOLOGY, detail="racks")),
    ],
)
def test_a_flavors_refusal_keeps_its_figures(text: str, refusal: Refusal):
    assert parse_refusal(text) == refusal


@pytest.mark.parametrize(
    ("text", "flavor", "resource"),
    [
        ("flavor h100 doesn't match node affinity", "h100", None),
        ("flavor h100 not found", "h100", None),
        ("flavor h100 does not provide resource cpu", "h100", "cpu"),
        ("resource rdma/hca unavailable in ClusterQueue", None, "rdma/hca"),
        ('Flavor "h100" does not support TopologyAwareScheduling', "h100", None),
        ('Flavor "h100" information missing in TAS cache', "h100", None),
        ('Flavor "h100" does not contain the requested level', "h100", None),
        ('Flavor "h100" supports only TopologyAwareScheduling', "h100", None),
        (
            "could not assign h100 flavor since the original workload is assigned: a100",
            "h100",
            None,
        ),
        (
            "skipping flavor h100 due to WorkloadAllowedResourceFlavorAnnotation annotation",
            "h100",
            None,
        ),
        (
            "skipping flavor h100 as it is not found in the nomination mapping for resource cpu",
            "h100",
            None,
        ),
    ],
)
def test_a_flavor_that_can_t_serve_is_no_matching_flavor(text: str, flavor, resource):
    refusal = parse_refusal(text)
    assert (refusal.kind, refusal.flavor, refusal.resource) == (
        Kind.NO_MATCHING_FLAVOR,
        flavor,
        resource,
    )


@pytest.mark.parametrize(
    "text",
    [
        'topology "racks" doesn\'t allow to fit any of 2 pod(s)',
        'topology "racks" allows to fit only 1 out of 2 slice(s)',
        (
            'topology "racks" doesn\'t allow to fit; 1/2 slice(s) fit on level rack. Total nodes: 3; '
            "excluded: nodeSelector: 1"
        ),
        "no topology domains at level: rack",
        "no requested topology level: rack",
        "no requested topology level for slices: rack",
        "no requested topology level for additional slice layer: rack",
        "podset slice topology block is above the podset topology rack",
        "additional slice layer topology block must be at a lower level than rack",
        "additional slice layer size 3 must evenly divide parent layer size 8",
        "invalid node selectors: map[a:b], reason: no such operator",
        "invalid affinity node selectors: &NodeSelector{}, reason: no such operator",
        "invalid preferred node affinity terms: [], reason: no such operator",
        "invalid podSetUpdate for PodSet main, error: conflict",
        "unable to calculate domain capacities for PodSet main, error: x",
        (
            "Cannot replace the node, because the existing topologyAssignment is invalid, as it "
            "contains the stale domain [n1]"
        ),
        "cannot find replacement assignment for unhealthy node: n1",
    ],
)
def test_what_a_topology_refuses_is_a_placement_that_failed(text: str):
    assert parse_refusal(text).kind is Kind.TOPOLOGY_PLACEMENT_FAILED
    message = parse_message(pod_sets(f"{TAINT}, {text}"))
    assert [refusal.text for refusal in message.refusals] == [TAINT, text]


def test_amounts_are_in_kueues_units():
    cpu = parse_refusal("insufficient unused quota for cpu in flavor x, 500m more needed")
    memory = parse_refusal("insufficient unused quota for memory in flavor x, 36Gi more needed")
    assert (cpu.needed, memory.needed) == (500, 36 * 2**30)
    endless = NEVER.replace("(24)", "(<unlimited>)")
    assert parse_refusal(endless).capacity == UNLIMITED


@pytest.mark.parametrize(
    ("text", "kind", "subject"),
    [
        ("ClusterQueue vision is inactive", Kind.SUSPENDED, "vision"),
        ("ClusterQueue vision is stopped", Kind.SUSPENDED, "vision"),
        ("LocalQueue team is inactive", Kind.SUSPENDED, "team"),
        ("LocalQueue team is stopped", Kind.SUSPENDED, "team"),
        ("ClusterQueue vision not found", Kind.MISCONFIGURED, "vision"),
        ("ClusterQueue vision doesn't exist", Kind.MISCONFIGURED, "vision"),
        ("ClusterQueue  doesn't exist", Kind.MISCONFIGURED, ""),
        ("ClusterQueue vision is terminating or missing", Kind.MISCONFIGURED, "vision"),
        ("LocalQueue typo doesn't exist", Kind.MISCONFIGURED, "typo"),
        ("LocalQueue typo is terminating or missing", Kind.MISCONFIGURED, "typo"),
        ("workload namespace doesn't match ClusterQueue selector", Kind.MISCONFIGURED, None),
        ('workload namespace "x" does not exist: not found', Kind.MISCONFIGURED, "x"),
        ("resources validation failed: spec.x: Invalid value", Kind.MISCONFIGURED, None),
        ("resources didn't satisfy LimitRange constraints: a", Kind.MISCONFIGURED, None),
        ("invalid namespace selector: x", Kind.MISCONFIGURED, None),
        (
            "Workload uses DRA resources but the KueueDRAIntegration feature gate is not enabled",
            Kind.MISCONFIGURED,
            None,
        ),
        (
            "KueueDRAIntegration feature does not support use of resource claims",
            Kind.MISCONFIGURED,
            None,
        ),
        (
            "waiting for all admitted workloads to be in PodsReady condition",
            Kind.WAITING_FOR_PODS_READY,
            None,
        ),
        ("Admission is gated by: a.io/x,b.io/y", Kind.ADMISSION_GATED, "a.io/x,b.io/y"),
        ("Workload requires preemption, but it's gated", Kind.ADMISSION_GATED, None),
        ("Job is on hold", Kind.ON_HOLD, None),
        ("StatefulSet scaled to zero; workload on hold", Kind.ON_HOLD, None),
        ("The workload is deactivated", Kind.DEACTIVATED, None),
        (
            "The workload is deactivated due to exceeding the maximum execution time",
            Kind.DEACTIVATED,
            "exceeding the maximum execution time",
        ),
        ("Workload no longer fits after processing another workload", Kind.WAITING_FOR_QUOTA, None),
        (
            "Workload has overlapping preemption targets with another workload",
            Kind.WAITING_FOR_QUOTA,
            None,
        ),
        (
            (
                "Workload has overlapping preemption targets with another workload, but will fit after "
                "these preemptions complete"
            ),
            Kind.WAITING_FOR_PREEMPTED_WORKLOADS,
            None,
        ),
        ("The workload has failed admission checks", Kind.PENDING_EVALUATION, None),
        ("Workload is pending evaluation in the scheduling queue", Kind.PENDING_EVALUATION, None),
        ("AdmissionGatedBy cleared, waiting for quota reservation", Kind.PENDING_EVALUATION, None),
        (
            "Workload no longer on hold; waiting for quota reservation",
            Kind.PENDING_EVALUATION,
            None,
        ),
        ("A more favorable variant is already admitted", Kind.PENDING_EVALUATION, None),
        ("Target flavor is below LastAcceptableFlavorName", Kind.PENDING_EVALUATION, None),
        ("Failed to admit workload: conflict", Kind.PENDING_EVALUATION, None),
    ],
)
def test_a_message_that_isn_t_about_flavors(text: str, kind: Kind, subject: str | None):
    message = parse_message(text)
    assert (message.text, message.kind, message.subject) == (text, kind, subject)
    assert not message.after_eviction


@pytest.mark.parametrize(
    "text",
    [
        (
            "Preempted to accommodate a workload (UID: a, JobUID: b) due to reclamation within the "
            "cohort; preemptor path: /ml/serving; preemptee path: /ml/research"
        ),
        (
            "Evicted to accommodate a workload (UID: a) due to migration to more favorable resource "
            "flavor"
        ),
        "Exceeded the PodsReady timeout team/job-x-1",
        'Evicted due to AdmissionCheck in Retry state: "prov" (no room)',
        "The ClusterQueue is stopped",
        "The LocalQueue is stopped",
        "Workload was evicted as there was no replacement for unhealthy node(s): n1,n2",
    ],
)
def test_the_text_of_an_eviction_waits_for_the_next_evaluation(text: str):
    message = parse_message(text)
    assert message.kind is Kind.PENDING_EVALUATION
    assert message.after_eviction


def test_a_verdict_copied_from_an_equal_workload_may_be_stale():
    message = parse_message(
        "Bypassed scheduling evaluation because an equivalent workload recently failed"
    )
    assert (message.kind, message.stale) == (Kind.PENDING_EVALUATION, True)


def test_reasons_are_split_where_one_begins_and_not_at_every_comma():
    text = pod_sets(f"{TAINT}, {UNUSED}, {TOPOLOGY}, flavor a100 not found")
    message = parse_message(text)
    assert [refusal.text for refusal in message.refusals] == [
        TAINT,
        UNUSED,
        TOPOLOGY,
        "flavor a100 not found",
    ]


def test_several_pod_sets_keep_their_own_reasons():
    message = parse_message(pod_sets(UNUSED, NEVER))
    assert [(p.pod_set, p.refusals[0].kind) for p in message.pod_sets] == [
        ("driver", Kind.WAITING_FOR_QUOTA),
        ("worker", Kind.EXCEEDS_MAX_QUOTA),
    ]
    assert message.kind is Kind.EXCEEDS_MAX_QUOTA


@pytest.mark.parametrize(
    ("suffix", "counts"),
    [
        (". Pending the preemption of 2 workload(s)", (2, 0, 0)),
        (". Pending the migration of 1 workload(s)", (0, 1, 0)),
        (". Preempting 3 workload(s) failed, will retry.", (0, 0, 3)),
    ],
)
def test_a_preemption_under_way_is_what_it_waits_for(suffix: str, counts):
    message = parse_message(pod_sets(UNUSED) + suffix)
    assert message.kind is Kind.WAITING_FOR_PREEMPTED_WORKLOADS
    assert (message.preempting, message.migrating, message.failed_preemptions) == counts
    assert message.refusals == (parse_refusal(UNUSED),)
    assert message.text.endswith(suffix)


OTHER_FLAVOR = "flavor a100 doesn't match node affinity"


def test_any_flavor_of_a_group_is_enough_so_the_least_severe_counts():
    assert parse_message(pod_sets(f"{UNUSED}, {OTHER_FLAVOR}")).kind is Kind.WAITING_FOR_QUOTA
    assert parse_message(pod_sets(f"{NEVER}, {OTHER_FLAVOR}")).kind is Kind.EXCEEDS_MAX_QUOTA


def test_of_one_flavors_reasons_the_most_severe_counts():
    memory = "insufficient unused quota for memory in flavor h100, 1Gi more needed"
    assert parse_message(pod_sets(f"{NEVER}, {memory}")).kind is Kind.EXCEEDS_MAX_QUOTA


def test_every_resource_group_must_be_served_so_the_most_severe_counts():
    cpu_group = ResourceGroup(("cpu",), groups({A100: (1,)})[0].flavors)
    queue = a_cluster_queue("q", resource_groups=(cpu_group, *groups({H100: (8,)})), cohort=None)
    text = pod_sets(f"{UNUSED}, {OTHER_FLAVOR}")
    assert parse_message(text, queue).kind is Kind.NO_MATCHING_FLAVOR
    one_group = a_cluster_queue("q", {H100: (8,), A100: (8,)})
    assert parse_message(text, one_group).kind is Kind.WAITING_FOR_QUOTA


def test_a_resource_that_the_queue_lacks_is_never_an_alternative():
    lacking = "resource rdma/hca unavailable in ClusterQueue"
    assert parse_message(pod_sets(f"{UNUSED}, {lacking}")).kind is Kind.NO_MATCHING_FLAVOR


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Something new happened",
        "ClusterQueue vision is on fire",
        "couldn't assign flavors to pod set main: ",
        pod_sets(f"{UNUSED}, the moon is full"),
        "failed to assign flavors to pod set main: more than one TAS flavor assigned: a, b",
    ],
)
def test_what_isn_t_known_is_kept_verbatim_and_never_guessed(text: str):
    message = parse_message(text)
    assert (message.text, message.kind) == (text, Kind.UNKNOWN)


@given(st.text(max_size=80))
def test_any_text_is_kept(text: str):
    assert parse_message(text).text == text
    assert parse_message(pod_sets(text)).text == pod_sets(text)


def test_severity_follows_kueues_order():
    assert most_severe([Kind.PENDING_EVALUATION, Kind.ON_HOLD, Kind.MISCONFIGURED]) is Kind.ON_HOLD
    assert least_severe([Kind.EXCEEDS_MAX_QUOTA, Kind.WAITING_FOR_QUOTA]) is Kind.WAITING_FOR_QUOTA
    assert most_severe([]) is None
