"""Git against the cluster, object by object: by value, both ways, and never a guess."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from capacity.errors import Gap, UnknownName
from capacity.model import Fleet, LocalQueue, Quota
from gitops.drift import Drift, drift
from tests.builders import H100, a_fleet, groups
from tests.commands.drift_worlds import (
    FILE,
    OTHER,
    RESEARCH,
    SAME,
    a_queue,
    an_index,
    without_priorities,
)


def found(text: str, fleet: Fleet | None = None) -> Drift:
    return drift(an_index({FILE: text}), fleet or without_priorities())


def test_the_same_values_in_other_spellings_are_no_drift() -> None:
    same = found(SAME)
    assert same == Drift(compared=8, guessed=True)


def test_a_changed_quota_is_shown_with_its_line() -> None:
    (one,) = found(SAME.replace('"32"', '"33"')).differences
    assert (str(one.subject), one.field) == (
        "ClusterQueue research",
        "h100 nvidia.com/gpu nominalQuota",
    )
    assert (one.in_git, one.live) == ("33", "32")
    line = int(one.place.removeprefix(f"{FILE}:"))
    assert SAME.splitlines()[line - 1].strip() == 'nominalQuota: "32"'


def test_a_limit_that_only_one_side_has_is_not_set_on_the_other() -> None:
    (one,) = found(SAME.replace("              borrowingLimit: 16\n", "")).differences
    assert (one.field, one.in_git, one.live) == (
        "h100 nvidia.com/gpu borrowingLimit",
        "not set",
        "16",
    )


def test_a_default_that_is_left_out_is_the_default() -> None:
    assert found(SAME.replace("  queueingStrategy: StrictFIFO\n", "")).differences[0].in_git == (
        "BestEffortFIFO"
    )
    spelt = SAME.replace("name: vision\nspec:", "name: vision\nspec:\n  stopPolicy: None")
    assert found(spelt).differences == ()


def test_a_live_queue_in_no_file_and_a_file_that_is_not_live_are_told() -> None:
    other = found(OTHER)
    assert [str(one) for one in other.unmanaged] == [
        "ClusterQueue serving",
        "LocalQueue serving/serving",
    ]
    assert [str(one.subject) for one in other.not_live] == [
        "ClusterQueue robots",
        "ClusterQueue lab",
    ]


def test_a_template_is_not_compared() -> None:
    text = SAME.replace('"32"', "'{{ .Values.quota }}'")
    (one,) = found(text).unclear
    assert (str(one.subject), one.why) == (
        "ClusterQueue research",
        "written with a template or a mistake",
    )


def test_an_object_defined_twice_is_not_compared() -> None:
    (one,) = found(SAME + a_queue("research", RESEARCH)).unclear
    assert one.why.startswith("defined in 2 places: ")


def test_a_local_queue_whose_namespace_comes_from_elsewhere_is_not_called_unmanaged() -> None:
    text = SAME.replace("{name: vision, namespace: vision}", "{name: vision}")
    whole = found(text)
    assert [str(one.subject) for one in whole.unclear] == ["LocalQueue vision"]
    assert whole.unmanaged == ()


def test_a_kind_that_could_not_be_read_is_no_news() -> None:
    gap = Gap("Kueue", None, "local queues (403 forbidden)")
    blind = replace(without_priorities(), local_queues={}, gaps=(gap,))
    assert found(SAME, blind).not_live == ()
    assert len(found(SAME, replace(blind, gaps=())).not_live) == 3


def test_files_of_another_cluster_are_not_compared() -> None:
    index = an_index({FILE: SAME, "clusters/lab/queues.yaml": OTHER})
    with pytest.raises(UnknownName, match="prod-eu"):
        drift(index, without_priorities())
    assert drift(index, without_priorities(), "prod").differences == ()


def test_an_unmanaged_local_queue_is_told_with_its_namespace() -> None:
    fleet = without_priorities()
    more = dict(fleet.local_queues) | {("x", "side"): LocalQueue("x", "side", "research")}
    whole = found(SAME, replace(fleet, local_queues=more))
    assert [str(one) for one in whole.unmanaged] == ["LocalQueue x/side"]


@given(st.integers(0, 500), st.integers(0, 500))
def test_a_difference_is_told_exactly_when_the_amounts_differ(git: int, live: int) -> None:
    fleet = without_priorities()
    research = replace(
        fleet.cluster_queues["research"],
        resource_groups=groups({H100: Quota(live, 16), H100._replace(flavor="a100"): Quota(8)}),
    )
    fleet = replace(fleet, cluster_queues=dict(fleet.cluster_queues) | {"research": research})
    told = found(SAME.replace('"32"', f'"{git}"'), fleet).differences
    assert bool(told) == (git != live)


def test_priority_classes_count_too() -> None:
    assert [str(one) for one in found(SAME, a_fleet()).unmanaged] == [
        "WorkloadPriorityClass high",
        "WorkloadPriorityClass low",
    ]
