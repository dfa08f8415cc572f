"""Charts: pictures of a phone's width, uploaded for channels, said in words where they can't be."""

import struct
import subprocess
import sys

import pytest

from bot import charts
from bot.playground.fake_slack.faults import ApiFault
from commands.page import Chart, Page
from tests.bot.stage import Stage

DAYS = tuple(f"Day {n}" for n in range(7))
CHART = Chart(
    "GPU-hours by day",
    DAYS,
    tuple((name, (5.0, 0.0, 3.0, 2.0, 8.0, 1.0, 4.0)) for name in ("busy", "idle", "unknown")),
    "GPU-hours",
    "Day 0 5 busy, 5 idle",
)
PAGE = Page(("A week",), (CHART,))


def size(png: bytes) -> tuple[int, int]:
    assert png[:8] == b"\x89PNG\r\n\x1a\n"
    width, height = struct.unpack(">II", png[16:24])
    return width, height


@pytest.mark.parametrize(
    "chart",
    [
        CHART,
        Chart("none", (), (("busy", ()),), "h", "nothing"),
        Chart("zero", ("a",), (("busy", (0.0,)),), "h", "nothing"),
        Chart("$x^2$ <b> \\frac", ("a",) * 62, (("busy", (1.0,) * 62),), "h", "a name is a name"),
    ],
)
def test_a_chart_is_a_picture_of_a_steady_size(chart: Chart) -> None:
    assert size(charts.png(chart)) == (1000, 620)


def test_nothing_is_drawn_with_before_a_picture_is_wanted() -> None:
    code = "import bot.slack, sys; sys.exit('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def shown(stage: Stage) -> list[dict]:
    message = stage.person("U0ANA", "C0RESEARCH").messages()[-1]
    return list(message.blocks)


def images(blocks: list[dict]) -> list[dict]:
    return [block for block in blocks if block["type"] == "image"]


def test_a_channel_gets_the_picture_with_its_words(stage: Stage) -> None:
    stage.call(stage.bot.show("C0RESEARCH", PAGE))
    (image,) = images(shown(stage))
    assert image["alt_text"] == CHART.alt
    (file,) = stage.slack.workspace.files.values()
    assert file.id == image["slack_file"]["id"]
    assert size(file.content) == (1000, 620)
    assert file.alt == CHART.alt


@pytest.mark.parametrize("method", ["files.getUploadURLExternal", "files.completeUploadExternal"])
@pytest.mark.parametrize("error", ["missing_scope", "file_uploads_disabled"])
def test_without_the_right_to_upload_the_chart_is_said(
    stage: Stage, method: str, error: str
) -> None:
    stage.slack.faults.fail(method, ApiFault(error=error))
    stage.call(stage.bot.show("C0RESEARCH", PAGE))
    blocks = shown(stage)
    assert not images(blocks)
    assert CHART.alt in str(blocks)


def test_a_picture_that_slack_has_not_taken_in_yet_is_tried_again(stage: Stage) -> None:
    stage.slack.faults.fail("chat.postMessage", ApiFault(error="invalid_blocks"))
    stage.call(stage.bot.show("C0RESEARCH", PAGE))
    assert len(images(shown(stage))) == 1
    assert len(stage.person("U0ANA", "C0RESEARCH").messages()) == 1


def test_a_picture_that_slack_never_takes_in_is_said(stage: Stage) -> None:
    stage.slack.faults.fail("chat.postMessage", ApiFault(error="invalid_blocks"), 3)
    stage.call(stage.bot.show("C0RESEARCH", PAGE))
    assert not images(shown(stage))


def test_a_page_without_charts_uploads_nothing(stage: Stage) -> None:
    stage.call(stage.bot.show("C0RESEARCH", Page(("hello",))))
    assert not stage.slack.workspace.files
