"""GPU-hours in the whole playground: the real bot, its meter and the playground's Prometheus."""

import time
from collections.abc import Iterator

import pytest

from bot.playground.fake_slack.person import SlackPerson, everything_said
from bot.playground.play import Playground
from commands.command import Asker


@pytest.fixture(scope="module")
def playground(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Playground]:
    running = Playground(tmp_path_factory.mktemp("play")).start()
    yield running
    running.stop()


@pytest.fixture
def ana(playground: Playground) -> SlackPerson:
    person = SlackPerson(playground.slack, playground.serving, "U0ANA", "C0RESEARCH")
    person.wait_for(playground.connected)
    return person


def test_a_team_sees_its_hours_and_what_idle_cost(ana: SlackPerson) -> None:
    ana.slash("/gpu-usage", "last week")
    said = everything_said(ana.wait_for_text("research held"))
    assert "of them busy" in said
    assert "EUR" in said
    assert "more than the week before" in said or "less than the week before" in said
    assert "Jobs that held most" in said


def test_prometheus_away_is_said_in_time_and_comes_back(
    playground: Playground, ana: SlackPerson
) -> None:
    assert playground.metrics is not None
    playground.metrics.down()
    start = time.monotonic()
    try:
        ana.slash("/gpu-usage", "research 36h")
        said = everything_said(ana.wait_for_text("I can't reach Prometheus since"))
        assert time.monotonic() - start < 5
        assert "44 H100 reserved now" in said
    finally:
        playground.metrics.up()
    time.sleep(2.1)
    ana.slash("/gpu-usage", "research 36h")
    ana.wait_for_text("in the last 36 hours, ")


def test_a_digest_comes_with_its_picture(playground: Playground, ana: SlackPerson) -> None:
    app = playground.app
    assert app is not None
    page = app.backend.page("digest", Asker(time_zone="Europe/Berlin"))
    playground._bot.run(app._slack.show("C0RESEARCH", page))
    message = ana.wait_for_text("of 120 GPUs were busy")
    assert [block["type"] for block in message.blocks].count("image") == 1
    assert "Teams, the idlest first" in everything_said(message)


def test_the_playground_has_a_digest_of_its_own(playground: Playground) -> None:
    assert playground.app is not None
    found = playground.app.backend.store.digests.subscriptions()
    assert [(s.channel, s.ask) for s in found] == [("C0PLATFORM", "digest")]
