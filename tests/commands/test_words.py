"""How amounts, durations and lists are said, and how near names are found."""

import time
from datetime import timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from capacity.model import UNLIMITED, FlavorResource
from commands.nearest import nearest
from commands.words import amount, card, count, is_gpu, listing, number, span
from tests.builders import GPU


@pytest.mark.parametrize(
    ("flavor", "resource", "said"),
    [
        ("h100", GPU, "H100"),
        ("mi300x", "amd.com/gpu", "MI300X"),
        ("spot-pool", GPU, "GPUs (spot-pool)"),
        ("a100", "nvidia.com/mig-1g.10gb", "MIG 1g.10gb (a100)"),
        ("default", "cpu", "CPU (default)"),
        ("default", "memory", "memory (default)"),
    ],
)
def test_a_card_is_called_as_people_call_it(flavor, resource, said):
    assert card(FlavorResource(flavor, resource)) == said


@pytest.mark.parametrize(
    ("resource", "gpu"),
    [
        (GPU, True),
        ("amd.com/gpu", True),
        ("nvidia.com/mig-3g.40gb", True),
        ("gpu.intel.com/i915", True),
        ("cpu", False),
        ("memory", False),
        ("example.com/gpubotany", True),
    ],
)
def test_what_counts_as_a_gpu(resource, gpu):
    assert is_gpu(resource) == gpu


@pytest.mark.parametrize(
    ("resource", "units", "said"),
    [
        (GPU, 44, "44"),
        (GPU, 12000, "12000"),
        ("cpu", 53500, "53.5"),
        ("cpu", 96000, "96"),
        ("memory", 36 * 2**30, "36Gi"),
        (GPU, UNLIMITED, "unlimited"),
    ],
)
def test_numbers(resource, units, said):
    assert number(resource, units) == said


def test_an_amount_has_its_card():
    assert amount(FlavorResource("h100", GPU), 4) == "4 H100"


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        (-5, "0 s"),
        (12, "12 s"),
        (41 * 60, "41 min"),
        (3600, "1 h"),
        (3600 * 3 + 300, "3 h 5 min"),
        (3600 * 20 + 300, "20 h"),
        (86400 * 2 + 3600 * 4, "2 d 4 h"),
        (86400 * 30, "30 d"),
    ],
)
def test_durations(seconds, said):
    assert span(timedelta(seconds=seconds)) == said


def test_lists_and_counts():
    assert listing([]) == ""
    assert listing(["a"]) == "a"
    assert listing(["a", "b"], "or") == "a or b"
    assert listing(["a", "b", "c"]) == "a, b and c"
    assert listing(list("abcdefgh")) == "a, b, c, d, e and 3 more"
    assert (count(1, "job"), count(0, "job"), count(2, "queue")) == ("1 job", "0 jobs", "2 queues")


def test_the_same_name_in_other_case_comes_first_then_what_begins_so():
    assert nearest("RESEARCH", ["research-b", "research"])[0] == "research"
    assert nearest("res", ["vision", "research"]) == ("research",)
    assert nearest("xyzzy", ["vision", "research"]) == ()


@settings(max_examples=100, deadline=None)
@given(st.text(max_size=20), st.lists(st.text(max_size=20), max_size=20))
def test_nearest_gives_at_most_three_of_the_names(word, names):
    found = nearest(word, names)
    assert len(found) <= 3
    assert set(found) <= set(names)


def test_nearest_is_quick_among_100_000_names():
    names = [f"train-{i:06}" for i in range(100_000)]
    started = time.perf_counter()
    assert nearest("train-00001x", names)
    assert time.perf_counter() - started < 3
