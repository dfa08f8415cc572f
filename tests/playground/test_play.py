"""The main story through the whole playground, told by people at the fake Slack.

The real bot, the in-memory cluster and a local repository; only the browser is missing here.
"""

import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import requests

from bot.playground.cluster import PlaygroundCluster
from bot.playground.fake_slack.messages import Message
from bot.playground.fake_slack.person import SlackPerson, buttons, everything_said
from bot.playground.fake_slack.view_book import View
from bot.playground.page_server import World
from bot.playground.play import External, Playground
from bot.playground.seeding import make_repository


@pytest.fixture(scope="module")
def playground(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Playground]:
    folder: Path = tmp_path_factory.mktemp("play")
    running = Playground(folder).start()
    yield running
    running.stop()


@pytest.fixture
def ana(playground: Playground) -> SlackPerson:
    person = SlackPerson(playground.slack, playground.serving, "U0ANA", "C0RESEARCH")
    person.wait_for(playground.connected)
    return person


def someone(playground: Playground, user: str) -> SlackPerson:
    return SlackPerson(playground.slack, playground.serving, user, "C0REQUESTS")


def request_eight_more(ana: SlackPerson, to: str) -> None:
    ana.slash("/gpu-request", f"research h100 nominal {to}")
    why = ana.wait_for(lambda: _why(open_modal(ana)))
    ana.fill(why, "camera-ready ablations")
    assert ana.submit()
    ana.wait_for(lambda: "is sent" in everything_said(ana.modal()))
    ana.close()


def open_modal(ana: SlackPerson) -> View | None:
    return ana._slack.workspace.views.top(ana.user)


def _why(view: View | None) -> str:
    """The field for the reason, once the bot has put it in place of its loading text."""
    fields = [b["element"] for b in view.blocks if b["type"] == "input"] if view else []
    return next((str(f["action_id"]) for f in fields if f.get("multiline")), "")


def test_a_question_is_answered_for_the_asker_alone(
    playground: Playground, ana: SlackPerson
) -> None:
    ana.slash("/gpu-quota", "research")
    answer = ana.wait_for_text("research can start 4 more H100")
    assert answer.only_for == "U0ANA"
    assert ana.see_errors() == []


def test_from_request_to_live(playground: Playground, ana: SlackPerson) -> None:
    request_eight_more(ana, "40")
    li, otto = someone(playground, "U0LI"), someone(playground, "U0OTTO")
    card = li.wait_for_text("research wants 8 more H100")
    assert "approve" in buttons(card)
    assert "one of platform (" in everything_said(card)
    assert ") or an owner of serving" in everything_said(card)

    otto.click(card, "approve")
    assert "can't" in everything_said(otto.wait_for(otto.see_ephemerals)[-1])
    ana.click(card, "approve")
    ana.wait_for(lambda: [m for m in ana.messages("C0REQUESTS") if m.only_for])

    li.wait_for_text("Pull request #1 opened")
    li.click(card, "approve")
    steps = li.wait_for(lambda: _told(li, card), seconds=30)
    order = ["opened", "approved", "Merged", "Live in prod-eu"]
    places = [next(i for i, s in enumerate(steps) if word in s) for word in order]
    assert places == sorted(places)
    assert "approve" not in buttons(li.wait_for(lambda: _settled(li, card)))

    diff = playground.repository.diff(*_ends(playground))
    changed = [
        line for line in diff.splitlines() if line[:1] in "+-" and line[:3] not in {"+++", "---"}
    ]
    assert [line[0] for line in changed] == ["-", "+"]
    assert changed[0].replace("32", "40", 1)[1:] == changed[1][1:]

    ana.slash("/gpu-quota", "research")
    assert ana.wait_for_text("12 more H100")
    assert [e.words for e in playground.slack.workspace.errors] == []
    refused = [c for c in playground.slack.workspace.calls if c.error]
    assert refused == []


def test_the_picture_beside_the_chat_shows_the_new_quota(playground: Playground) -> None:
    world = playground.page.world
    assert world is not None
    seen = world.look()
    [research] = [
        q
        for panel in seen["picture"]["panels"]
        for q in panel["queues"]
        if (panel["flavor"], q["name"]) == ("h100", "research")
    ]
    assert research["nominal"] == 40
    assert seen["git"]["pulls"][0]["state"] == "merged"
    assert seen["synced"] == seen["git"]["commits"][0]["sha"]


def _told(person: SlackPerson, card: Message) -> list[str]:
    """The steps in the thread, once the last one is there."""
    steps = [everything_said(m) for m in person.see_thread(card)]
    return steps if any("Live in prod-eu" in s for s in steps) else []


def _settled(person: SlackPerson, card: Message) -> Message | None:
    now = next(m for m in person.see_channel() if m.ts == card.ts)
    return now if "Live" in everything_said(now) else None


def _ends(playground: Playground) -> tuple[str, str]:
    newest, *_, seed = playground.repository.log(10)
    return seed["sha"], newest["sha"]


def test_the_same_page_stands_on_a_cluster_that_runs_elsewhere(tmp_path: Path) -> None:
    elsewhere = PlaygroundCluster()
    elsewhere.start()
    repository = tmp_path / "theirs.git"
    make_repository(repository, datetime.now(UTC))
    external = External(elsewhere.config("lab"), repository)
    running = Playground(tmp_path / "ours", external=external).start()
    try:
        world = running.page.world
        assert world is not None
        kim = SlackPerson(running.slack, running.serving, "U0KIM", "C0PLATFORM")
        seen = kim.wait_for(lambda: _look(world) or None)
        assert "speed" not in seen
        assert [q["reserved"] for q in seen["picture"]["panels"][0]["queues"]] == [44, 30, 10]
        kim.wait_for(running.connected)
        kim.slash("/gpu-quota", "ml")
        assert "cluster lab" in everything_said(kim.wait_for_text("are free in ml"))
    finally:
        running.stop()
        elsewhere.stop()


def test_the_command_prints_one_address_and_ends_cleanly() -> None:
    command = [sys.executable, "-m", "bot", "play", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as running:
        assert running.stdout is not None
        said = running.stdout.readline()
        [address] = re.findall(r"http://127\.0\.0\.1:\d+", said)
        assert "Gpubot playground" in requests.get(address, timeout=5).text
        running.send_signal(signal.SIGINT)
        assert running.wait(15) == 0
        assert running.stdout.read() == ""


def _look(world: World) -> dict[str, Any]:
    seen = world.look()
    return seen if seen["picture"]["panels"] else {}


def test_a_port_that_is_taken_is_said_in_a_sentence(playground: Playground) -> None:
    port = playground.url.rpartition(":")[2]
    command = [sys.executable, "-m", "bot", "play", "--port", port]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 2
    assert f"Something else listens on port {port}." in done.stderr
    assert "Traceback" not in done.stderr
