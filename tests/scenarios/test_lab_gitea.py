"""`make lab` as people start it: the page on Gitea, Flux, Kueue and nodes, from question to live."""

from collections.abc import Iterator

import pytest

from bot.playground.fake_slack.person import SlackPerson, everything_said
from tests.cluster.fixtures import require
from tests.cluster.stack import NEEDS
from tests.lab.hosting import PROGRAMS
from tests.lab.lab import Lab

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(400)]


@pytest.fixture(scope="module")
def hosted_lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    require(*NEEDS, *PROGRAMS)
    folder = tmp_path_factory.mktemp("lab")
    with Lab(folder, rate_scale=float("inf"), gitea=True) as running:
        yield running


def test_the_page_shows_gitea_and_the_change_goes_live(hosted_lab: Lab) -> None:
    lab = hosted_lab
    ana, kim = (
        SlackPerson(lab.playground.slack, lab.playground.serving, user, "C0REQUESTS")
        for user in ("U0ANA", "U0KIM")
    )
    ana.slash("/gpu-drift")
    ana.wait_for_text("agree on")
    ana.slash("/gpu-request", "research h100 nominal 40")
    ana.wait_for(lambda: "→" in everything_said(ana.modal()))
    assert ana.submit(why="camera-ready ablations")
    card = ana.wait_for_text("camera-ready ablations")

    def thread() -> str:
        return "\n".join(everything_said(message) for message in kim.see_thread(card))

    kim.wait_for(lambda: "opened, checks running" in thread(), seconds=30)
    kim.click(card, "approve")
    kim.wait_for(lambda: "Live in prod-eu" in thread(), seconds=60)
    assert "Flux applied" in thread()

    world = lab.playground.page.world
    assert world is not None

    def newest() -> str:
        return "\n".join(world.look()["git"]["commits"][0]["diff"])

    kim.wait_for(lambda: "nominalQuota: 40" in newest(), seconds=20)
