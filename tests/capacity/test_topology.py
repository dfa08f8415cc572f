"""What Kueue says of topology: the room that lacks, the level that is asked for, where pods stand."""

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from capacity import decode
from capacity.decode_places import MOST, places
from capacity.decode_workload_wire import (
    LevelNamesWire,
    NamesWire,
    PlacesWire,
    PodCountsWire,
    SliceWire,
)
from capacity.explain import explain
from capacity.quota import Tree
from capacity.topology import Room, Wish, room, wish
from tests.builders import a_fleet, a_workload, condition

SOME = 'topology "tree" allows to fit only 3 out of 8 pod(s)'
STATS = '. Total nodes: 12; excluded: resource "nvidia.com/gpu": 4, nodeSelector: 5'
SLICES = 'topology "tree" doesn\'t allow to fit any of 2 slice(s)'


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (SOME, Room("tree", 3, 8, "pod")),
        (SOME + STATS, Room("tree", 3, 8, "pod", 12, STATS.partition("excluded: ")[2])),
        (SLICES, Room("tree", 0, 2, "slice")),
        ('topology "tree" doesn\'t allow to fit', None),
        ("no topology domains at level: rack", None),
    ],
)
def test_the_room_that_lacks_is_read_from_kueues_words(text: str, found: Room | None):
    said = f"couldn't assign flavors to pod set main: {text}"
    job = a_workload("job", conditions=(condition("QuotaReserved", "False", "Pending", said),))
    fleet = a_fleet(workloads=(job,))
    assert room(explain(job, fleet, Tree.of(fleet))) == found


@pytest.mark.parametrize(
    ("asked", "found", "level"),
    [
        ("required cloud.provider.com/topology-rack", "required", "rack"),
        ("preferred kubernetes.io/hostname", "preferred", "node"),
        ("required example.com/block", "required", "block"),
    ],
)
def test_a_level_is_told_in_a_word(asked: str, found: str, level: str):
    [pods] = a_workload("job").pod_sets
    told = wish([pods, replace(pods, topology=asked)])
    assert told == Wish(found, asked.partition(" ")[2])
    assert told.level == level


def test_pods_that_may_stand_anywhere_wish_for_nothing():
    [pods] = a_workload("job").pod_sets
    assert wish([replace(pods, topology="unconstrained"), pods]) is None


def test_what_must_goes_before_what_should():
    [pods] = a_workload("job").pod_sets
    both = [replace(pods, topology="preferred a/b"), replace(pods, topology="required a/c")]
    assert wish(both) == Wish("required", "a/c")


NAMES = st.lists(st.text("abc0123456789-", min_size=1, max_size=6), min_size=1, max_size=30)


@given(NAMES, st.data())
def test_compressed_places_are_what_they_were_before(names: list[str], data: st.DataObject):
    pods = data.draw(st.lists(st.integers(1, 9), min_size=len(names), max_size=len(names)))
    told = SliceWire(
        len(names),
        [
            LevelNamesWire(universal="b1"),
            LevelNamesWire(individual=NamesWire("rack-", ".x", names)),
        ],
        PodCountsWire(individual=pods),
    )
    expected = [(f"b1/rack-{n}.x", p) for n, p in zip(names, pods, strict=True)]
    assert places(PlacesWire([told])) == tuple(expected)


def test_places_of_one_count_and_too_many_of_them():
    roots = [str(n) for n in range(MOST + 5)]
    told = SliceWire(
        len(roots), [LevelNamesWire(individual=NamesWire(roots=roots))], PodCountsWire(universal=2)
    )
    found = places(PlacesWire([told]))
    assert len(found) == MOST
    assert found[0] == ("0", 2)


def test_a_list_that_is_too_short_ends_without_a_guess():
    told = SliceWire(3, [LevelNamesWire(individual=NamesWire(roots=["a"]))], PodCountsWire())
    assert places(PlacesWire([told])) == (("a", 0),)


def test_the_older_version_lists_each_place():
    body = {
        "apiVersion": "kueue.x-k8s.io/v1beta1",
        "metadata": {
            "name": "w",
            "namespace": "n",
            "uid": "u",
            "creationTimestamp": "2026-11-01T00:00:00Z",
        },
        "spec": {"podSets": [{"name": "main", "count": 2, "template": {"spec": {}}}]},
        "status": {
            "admission": {
                "clusterQueue": "q",
                "podSetAssignments": [
                    {
                        "name": "main",
                        "count": 2,
                        "topologyAssignment": {
                            "levels": ["rack"],
                            "domains": [{"values": ["r1"], "count": 2}],
                        },
                    }
                ],
            }
        },
    }
    found = decode.workload(json.dumps(body).encode())
    assert found.admission
    assert found.admission.assignments[0].places == (("r1", 2),)


def test_a_slice_that_claims_a_billion_places_costs_no_more_than_those_that_are_kept():
    told = SliceWire(2**31 - 1, [LevelNamesWire(universal="a")], PodCountsWire(universal=1))
    assert places(PlacesWire([told])) == (("a", 1),) * MOST
