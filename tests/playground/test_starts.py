"""The story of a job that is waited for, through the whole playground: click, approval, message."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from bot.playground.fake_slack.messages import Message
from bot.playground.fake_slack.person import SlackPerson, buttons, everything_said
from bot.playground.play import Playground
from tests.playground.test_play import request_eight_more, someone

TELL, STOP = "Tell me when it starts", "Stop telling me"


@pytest.fixture
def playground(tmp_path: Path) -> Iterator[Playground]:
    running = Playground(tmp_path).start()
    yield running
    running.stop()


def press(person: SlackPerson, message: Message, label: str) -> None:
    [action] = [a for a, said in buttons(message).items() if said == label]
    person.click(message, action)


def direct(person: SlackPerson) -> list[Message]:
    return person.messages("@me")


def test_who_waits_is_told_when_the_approved_quota_lets_the_job_in(playground: Playground) -> None:
    ana = SlackPerson(playground.slack, playground.serving, "U0ANA", "C0RESEARCH")
    li, kim = someone(playground, "U0LI"), someone(playground, "U0KIM")
    ana.wait_for(playground.connected)
    ana.slash("/gpu-why", "llm-ft-7")
    answer = ana.wait_for_text("llm-ft-7 waits because it needs 16 H100")
    press(ana, answer, TELL)
    ana.wait_for(lambda: STOP in buttons(answer).values())

    request_eight_more(ana, "44")
    card = li.wait_for_text("research wants 12 more H100")
    for person in (li, kim):
        person.click(card, "approve")
    ana.wait_for(lambda: _job_has_quota(playground), seconds=30)
    assert direct(ana) == [], "a reservation alone is no start: a check still looks at the nodes"
    assert playground.cluster is not None
    playground.cluster.set_speed(60)
    [message] = ana.wait_for(lambda: direct(ana), seconds=30)
    playground.cluster.set_speed(1)
    assert "llm-ft-7 has its 16 H100 and starts: Kueue admitted it" in everything_said(message)
    assert direct(li) == []
    press(ana, message, "Queue")
    ana.wait_for(lambda: len(direct(ana)) == 2)
    refused = [c for c in playground.slack.workspace.calls if c.error]
    assert (refused, playground.slack.workspace.errors) == ([], [])


def _job_has_quota(playground: Playground) -> bool:
    assert playground.app is not None
    fleet = playground.app.backend.sources.world.fleet()
    return any(w.is_true("QuotaReserved") for w in fleet.workloads.named("llm-ft-7"))
