"""The digest: first what changed and what to do, then teams, jobs and waiting."""

import json
from datetime import timedelta

import pytest

from bot.blocks import render
from bot.json_ import to_json
from bot.playground.fake_slack.validate_blocks import message_errors
from bot.text import render as render_text
from capacity.errors import SourceDown
from commands.command import Asker
from commands.digest_data import REST
from commands.parse import parse
from commands.table import run
from tests.builders import FakeWorld, ago
from tests.commands.meters import FakeMeter, Run
from tests.commands.test_usage import EUR, RUNS
from tests.golden_files import check

CHANNEL = Asker(time_zone="Europe/Berlin")
ALL = (*RUNS, Run("sandbox", "try-0", 24, 0.0))
QUIET = tuple(r for r in ALL if r.namespace != "research")


def world(**changes) -> FakeWorld:
    return FakeWorld(**{"the_meter": FakeMeter(ALL, QUIET), "the_prices": EUR, **changes})


def ask(text: str, of: FakeWorld):
    return run(parse(text, CHANNEL), of)


WORLDS = {
    "digest": ("digest", world),
    "digest-team": ("digest research", world),
    "digest-yesterday": ("digest yesterday", lambda: world(the_prices=None)),
    "digest-low-coverage": ("digest", lambda: world(the_meter=FakeMeter(ALL, exporter=0.5))),
    "digest-down": ("digest", lambda: world(the_meter=None)),
    "digest-no-gpu": ("digest", lambda: world(the_meter=FakeMeter((), cards=0))),
}


@pytest.mark.parametrize("name", WORLDS)
def test_the_page_is_the_golden_one(name: str) -> None:
    text, make = WORLDS[name]
    answer, page = ask(text, make())
    message = render(page)
    check(f"pages/{name}.txt", render_text(page))
    assert message_errors(message.blocks) == []
    shown = {"answer": to_json(answer), "text": message.text, "blocks": message.blocks}
    check(f"pages/{name}.json", json.dumps(shown, indent=1, ensure_ascii=False) + "\n")


def test_busy_is_the_share_of_all_cards() -> None:
    answer, _ = ask("digest", world())
    assert answer.busy == pytest.approx(answer.ledger.total.busy / (96 * 7 * 24))
    assert answer.cards == pytest.approx(96)
    assert answer.busy_before < answer.busy


def test_a_teams_digest_has_its_hours_only_and_the_clusters_share() -> None:
    answer, _ = ask("digest vision", world())
    assert [team.team for team in answer.teams] == ["vision"]
    assert {job.namespace for job in answer.jobs} == {"vision"}
    assert answer.busy == ask("digest", world())[0].busy


def test_what_is_nobodys_is_said() -> None:
    answer, page = ask("digest", world())
    assert REST in {team.team for team in answer.teams}
    assert "168 h were held in namespaces that no team" in render_text(page).replace("\n", " ")


def test_waiting_is_of_the_jobs_that_started_in_the_window() -> None:
    answer, _ = ask("digest", world())
    research = next(w for w in answer.waits if w.queue == "research")
    assert research.started > 10
    assert timedelta(minutes=10) <= research.median <= research.longest <= timedelta(minutes=130)
    assert research.waiting == 5


def test_without_kueue_the_hours_are_there_and_the_gap_is_told() -> None:
    _, page = ask("digest", world(down=SourceDown("Kueue", ago(minutes=3))))
    assert "I can't reach Kueue" in render_text(page)
    assert "GPUs were busy" in render_text(page)


def test_nobody_is_named_when_too_little_was_measured() -> None:
    _, page = ask("digest", world(the_meter=FakeMeter(ALL, exporter=0.89)))
    shown = render_text(page)
    assert "Look first" not in shown
    assert "notebook" not in shown
