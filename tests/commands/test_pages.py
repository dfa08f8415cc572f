"""What people see, as files: read tests/golden/pages to judge the words.

The figures of research, vision and serving were seen on the live controller.
"""

import json

import pytest

from bot.blocks import render
from bot.json_ import to_json
from bot.playground.fake_slack.validate_blocks import message_errors
from bot.text import render as render_text
from commands.parse import parse
from commands.table import run
from tests.builders import ANA, FakeWorld
from tests.commands.stories import STORIES
from tests.golden_files import check


@pytest.mark.parametrize("name", STORIES)
def test_the_page_is_the_golden_one(name: str):
    text, world = STORIES[name]
    answer, page = run(parse(text, ANA), world)
    message = render(page, who={"ana": "U0ANA"}.get)
    check(f"pages/{name}.txt", render_text(page))
    assert message_errors(message.blocks) == []
    shown = {"answer": to_json(answer), "text": message.text, "blocks": message.blocks}
    check(f"pages/{name}.json", json.dumps(shown, indent=1, ensure_ascii=False) + "\n")


@pytest.mark.parametrize("name", STORIES)
def test_every_answer_says_when_and_from_where(name: str):
    text, world = STORIES[name]
    _, page = run(parse(text, ANA), world)
    if name.startswith("help"):
        return
    footer = render_text(page).strip().rsplit("\n\n", 1)[-1]
    assert footer.startswith("as of 14:03:12 UTC (2 s ago) · Kueue, cluster prod-eu")


@pytest.mark.parametrize("name", [n for n in STORIES if n.startswith(("quota", "queue", "fit"))])
def test_the_first_words_name_no_kueue_field(name: str):
    text, world = STORIES[name]
    _, page = run(parse(text, ANA), world)
    first = render_text(page).split("\n\n", 1)[0]
    for jargon in ("ClusterQueue", "nominalQuota", "flavorsReservation", "available("):
        assert jargon not in first


def test_the_world_is_that_of_the_examples():
    answer, _ = run(parse("quota research", ANA), FakeWorld())
    research = answer.queues[0].pairs[0]
    assert (research.can_reserve, research.borrowed, research.most_ever) == (4, 12, 48)
