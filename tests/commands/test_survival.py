"""The product-limit estimate: published totals, an independent algorithm, and what must never happen."""

from datetime import timedelta
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commands.survival import Curve, Spell

# E. A. Gehan (Biometrika 52, 1965): weeks in remission of 21 patients on 6-MP and of 21 without.
# A plus marks those whose remission still lasted.
WITH_6_MP = "6 6 6 6+ 7 9+ 10 10+ 11+ 13 16 17+ 19+ 20+ 22 23 25+ 32+ 32+ 34+ 35+"
WITHOUT = "1 1 2 2 3 4 4 5 5 8 8 8 8 11 11 12 12 15 17 22 23"
# The example of Kaplan and Meier's own paper, section 2, in tenths.
KAPLAN_MEIER = "8 10+ 27+ 31 54 70+ 92 121+"


def minutes(number: float) -> timedelta:
    return timedelta(minutes=number)


def spells(text: str) -> list[Spell]:
    return [Spell(minutes(float(t.rstrip("+"))), not t.endswith("+")) for t in text.split()]


def share_left(curve: Curve, at: float) -> float:
    """The estimate itself, read off by asking for shares: the least that is reached by then."""
    low, high = 0.0, 1.0
    for _ in range(40):
        middle = (low + high) / 2
        reached = curve.until(middle)
        low, high = (low, middle) if reached and reached <= minutes(at) else (middle, high)
    return high


@pytest.mark.parametrize(
    ("weeks", "left"),
    [(6, 0.857), (7, 0.807), (10, 0.753), (13, 0.690), (16, 0.627), (22, 0.538), (23, 0.448)],
)
def test_the_published_curve_of_gehans_patients(weeks: int, left: float) -> None:
    assert share_left(Curve(spells(WITH_6_MP)), weeks) == pytest.approx(left, abs=0.0006)


@pytest.mark.parametrize(("at", "left"), [(8, 7 / 8), (31, 7 / 10), (54, 21 / 40), (92, 21 / 80)])
def test_the_example_of_kaplans_and_meiers_paper(at: int, left: float) -> None:
    assert share_left(Curve(spells(KAPLAN_MEIER)), at) == pytest.approx(left, abs=1e-6)


def test_published_quartiles_and_those_that_were_never_reached() -> None:
    treated, others = Curve(spells(WITH_6_MP)), Curve(spells(WITHOUT))
    assert [others.until(s) for s in (0.75, 0.5, 0.25)] == [minutes(m) for m in (4, 8, 12)]
    assert [treated.until(s) for s in (0.75, 0.5, 0.25)] == [minutes(13), minutes(23), None]
    assert (treated.ends(), treated.going()) == (9, 12)


def test_without_anything_going_on_the_quartiles_are_those_of_the_sample() -> None:
    curve = Curve(Spell(minutes(m)) for m in range(1, 41))
    assert [curve.until(s) for s in (0.75, 0.5, 0.25)] == [minutes(m) for m in (10, 20, 30)]


def test_a_jammed_queue_does_not_look_quick() -> None:
    quick = [Spell(minutes(m)) for m in range(1, 13)]
    jammed = [*quick, *(Spell(minutes(600 + m), ended=False) for m in range(60))]
    assert Curve(quick).until(0.25) == minutes(9)
    assert Curve(jammed).until(0.75) is None
    assert Curve(jammed).reached(10) == minutes(650)


def test_what_has_reached_an_age_is_compared_with_what_reached_it() -> None:
    curve = Curve(Spell(minutes(m)) for m in range(1, 41))
    assert curve.until(0.5, minutes(20)) == minutes(10)
    assert (curve.ends(minutes(20)), curve.ends(minutes(40))) == (20, 0)
    assert curve.until(0.5, minutes(40)) is None


def test_what_came_into_view_late_does_not_count_before() -> None:
    """Ten that lasted 10 and were seen from the start; ninety that came into view at 50."""
    late = [Spell(minutes(100), entered=minutes(50))] * 90
    curve = Curve([*([Spell(minutes(10))] * 10), *([Spell(minutes(60))] * 10), *late])
    assert curve.until(0.5) == minutes(10)
    assert Curve(late).until(0.5) == minutes(100)
    assert Curve([Spell(minutes(10), entered=minutes(10))]).ends() == 0


def test_something_that_took_no_time_is_counted() -> None:
    curve = Curve([Spell(minutes(0)), Spell(minutes(5))])
    assert (curve.ends(), curve.until(0.5)) == (2, minutes(0))


def test_nothing_known_says_nothing() -> None:
    curve = Curve([])
    assert (curve.until(0.5), curve.ends(), curve.going(), curve.reached(1)) == (
        None, 0, 0, timedelta(0),
    )  # fmt: skip


lengths = st.integers(0, 30)
samples = st.lists(st.tuples(lengths, st.booleans()), max_size=40)


def curve_of(sample: list[tuple[int, bool]]) -> Curve:
    return Curve(Spell(minutes(length), ended) for length, ended in sample)


def by_passing_on(sample: list[tuple[int, bool]], share: Fraction) -> int | None:
    """B. Efron's way (5th Berkeley Symposium, 1967): what isn't over passes its weight to the right.

    Exact, and nothing like ours: the same figures are no accident.
    """
    ordered = sorted(sample, key=lambda each: (each[0], not each[1]))
    weights = [Fraction(1, max(1, len(sample)))] * len(sample)
    for at, (_, ended) in enumerate(ordered):
        if not ended and at + 1 < len(ordered):
            more = weights[at] / (len(ordered) - at - 1)
            weights[at + 1 :] = [weight + more for weight in weights[at + 1 :]]
            weights[at] = Fraction(0)
    left = Fraction(1)
    for (length, ended), weight in zip(ordered, weights, strict=True):
        if ended:
            left -= weight
        if ended and left <= share:
            return length
    return None


@given(samples, st.sampled_from([Fraction(1, 4), Fraction(1, 2), Fraction(3, 4)]))
def test_efrons_algorithm_gives_the_same(sample: list[tuple[int, bool]], share: Fraction) -> None:
    theirs = by_passing_on(sample, share)
    assert curve_of(sample).until(float(share)) == (None if theirs is None else minutes(theirs))


@given(samples, lengths)
def test_one_more_that_still_goes_on_never_makes_it_look_quicker(
    sample: list[tuple[int, bool]], length: int
) -> None:
    before, after = curve_of(sample), curve_of([*sample, (length, False)])
    for share in (0.75, 0.25):
        was, now = before.until(share), after.until(share)
        assert now is None or (was is not None and now >= was)


@given(samples, lengths)
def test_an_age_leaves_what_would_be_left_if_only_those_that_reached_it_were_there(
    sample: list[tuple[int, bool]], age: int
) -> None:
    there = [(length - age, ended) for length, ended in sample if length > age]
    for share in (0.75, 0.5, 0.25):
        assert curve_of(sample).until(share, minutes(age)) == curve_of(there).until(share)
    assert curve_of(sample).ends(minutes(age)) == curve_of(there).ends()
    assert curve_of(sample).going(minutes(age)) == curve_of(there).going()


@given(samples)
def test_everything_is_counted_once(sample: list[tuple[int, bool]]) -> None:
    assert curve_of(sample).ends() + curve_of(sample).going() == len(sample)
