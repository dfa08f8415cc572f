"""What a form may ask for: everything that a view sends is checked, whoever made it."""

from datetime import timedelta

import pytest

from bot import modals
from bot.modals import Form
from bot.request_form import FieldErrors, draft_of
from tests.builders import NOW, a_fleet

RIGHT = {"queue": "research", "card": "h100 nvidia.com/gpu", "to": "40", "why": "ablations"}


def errors(**changes: str) -> dict[str, str]:
    form = Form(**{**RIGHT, **changes})  # type: ignore[arg-type]
    with pytest.raises(FieldErrors) as wrong:
        draft_of(form, a_fleet(), zone="Europe/Berlin", now=NOW, team="research")
    return dict(wrong.value.errors)


def test_a_right_form_is_a_draft() -> None:
    draft = draft_of(Form(**RIGHT), a_fleet(), zone="UTC", now=NOW, team="research")  # type: ignore[arg-type]
    assert (draft.old, draft.new, draft.reason) == ("32", "40", "ablations")


@pytest.mark.parametrize(
    "to", ["", "-1", "1.5", "8Gi", "1e3", "٤٠", "²", "9" * 5_000, "4294967296"]
)
def test_only_a_whole_number_of_cards_is_one(to: str) -> None:
    assert errors(to=to) == {modals.TO: "A whole number of cards, please."}


@pytest.mark.parametrize("why", ["", "\u202e\u200b", "\x00"])
def test_a_reason_that_nobody_can_see_is_none(why: str) -> None:
    assert set(errors(why=why)) == {modals.WHY}


@pytest.mark.parametrize("until", ["0000-13-99", "tomorrow", "9999-12-31", "0001-01-01"])
def test_a_day_that_nobody_means_is_told(until: str) -> None:
    assert set(errors(until=until)) == {modals.UNTIL}


def test_a_day_within_ten_years_is_an_end() -> None:
    until = (NOW + timedelta(days=3_000)).date().isoformat()
    form = Form(**RIGHT, until=until)  # type: ignore[arg-type]
    assert draft_of(form, a_fleet(), zone="UTC", now=NOW, team="research").until is not None


@pytest.mark.parametrize("note", ["{", "[1", '{"seen": [1]', ""])
def test_a_note_that_is_no_json_says_nothing(note: str) -> None:
    assert modals.read({"private_metadata": note}).seen == ""
