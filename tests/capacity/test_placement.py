"""Taints, tolerations and node affinity as Kubernetes reads them, on the labels of a flavor."""

import pytest

from capacity.demand import selects
from capacity.model import PodSet, ResourceFlavor
from capacity.placement import Requirement, Taint, Toleration, selected, untolerated

SPOT = Taint("instance", "spot", "NoSchedule")


@pytest.mark.parametrize(
    ("toleration", "tolerates"),
    [
        (Toleration("instance", "Equal", "spot", "NoSchedule"), True),
        (Toleration("instance", "", "spot"), True),
        (Toleration("instance", "Equal", "other"), False),
        (Toleration("other", "Exists"), False),
        (Toleration("instance", "Exists"), True),
        (Toleration("", "Exists"), True),
        (Toleration("instance", "Exists", "", "NoExecute"), False),
        (Toleration("instance", "Unknown", "spot"), False),
    ],
)
def test_a_toleration_must_match_key_value_and_effect(toleration: Toleration, tolerates: bool):
    assert toleration.tolerates(SPOT) is tolerates
    assert untolerated([SPOT], [toleration]) == (None if tolerates else SPOT)


@pytest.mark.parametrize(
    ("operator", "bound", "tolerates"),
    [
        ("Gt", "4", True),
        ("Gt", "5", False),
        ("Lt", "6", True),
        ("Lt", "5", False),
        ("Lt", "x", False),
    ],
)
def test_a_toleration_may_compare_numbers(operator: str, bound: str, tolerates: bool):
    assert (
        Toleration("level", operator, bound).tolerates(Taint("level", "5", "NoSchedule"))
        is tolerates
    )


def test_only_hard_taints_keep_pods_away():
    soft = Taint("instance", "spot", "PreferNoSchedule")
    assert untolerated([soft], []) is None
    assert untolerated([soft, SPOT._replace(effect="NoExecute")], []) is not None


LABELS = {"type": "two", "cards": "8"}


@pytest.mark.parametrize(
    ("requirement", "holds"),
    [
        (Requirement("type", "In", ("one", "two")), True),
        (Requirement("type", "In", ("one",)), False),
        (Requirement("type", "NotIn", ("one",)), True),
        (Requirement("type", "NotIn", ("two",)), False),
        (Requirement("type", "Exists"), True),
        (Requirement("type", "DoesNotExist"), False),
        (Requirement("cards", "Gt", ("7",)), True),
        (Requirement("cards", "Gt", ("8",)), False),
        (Requirement("cards", "Lt", ("9",)), True),
        (Requirement("cards", "Lt", ()), False),
        (Requirement("type", "Gt", ("7",)), False),
        (Requirement("type", "Unknown", ("two",)), False),
    ],
)
def test_a_requirement_on_a_label_of_the_flavor(requirement: Requirement, holds: bool):
    assert selected(LABELS, {}, ((requirement,),)) is holds


def test_any_term_is_enough_and_all_its_requirements_must_hold():
    two, one = Requirement("type", "In", ("two",)), Requirement("type", "In", ("one",))
    assert selected(LABELS, {}, ((one,), (two,)))
    assert not selected(LABELS, {}, ((one, two),))
    assert not selected(LABELS, {"type": "one"}, ((two,),))


def test_what_a_flavor_has_no_label_for_is_left_to_the_scheduler():
    zone, one = Requirement("zone", "In", ("x",)), Requirement("type", "In", ("one",))
    assert selected(LABELS, {"zone": "x"}, ((zone,), (one,)))
    assert not selected(LABELS, {}, ((zone, one),))


def test_a_flavor_tolerates_for_its_pods_and_unknown_tolerations_refuse_nothing():
    tainted = ResourceFlavor("f", {}, (SPOT,))
    own = ResourceFlavor("f", {}, (SPOT,), tolerations=(Toleration("instance", "Exists"),))
    plain = PodSet("p", 1, {}, tolerations=())
    assert [selects(plain, tainted), selects(plain, own)] == [False, True]
    assert selects(PodSet("p", 1, {}), tainted)
