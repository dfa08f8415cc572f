"""Questions in Slack, from the asker's chair."""

import io
import time

import pytest

from bot.playground.fake_slack.person import buttons, everything_said
from bot.slack_ask import mentioned, question
from tests.bot.stage import Stage


def test_a_slash_command_is_answered_to_the_asker_alone(stage: Stage) -> None:
    ana, li = stage.person("U0ANA"), stage.person("U0LI")
    ana.slash("/gpu-quota", "research")
    answer = ana.wait_for_text("can start 4 more")
    assert answer.only_for == "U0ANA"
    assert not li.messages()
    assert not ana.see_errors()


def test_the_root_command_and_the_alias_ask_the_same(stage: Stage) -> None:
    ana = stage.person("U0ANA")
    ana.slash("/gpu", "quota research")
    ana.wait_for_text("can start 4 more")


def test_without_a_name_the_askers_own_team_is_meant(stage: Stage) -> None:
    ana = stage.person("U0ANA")
    ana.slash("/gpu-quota")
    ana.wait_for_text("research can start 4 more")


def test_sharing_asks_anew_and_shows_everybody_who_shared(stage: Stage) -> None:
    ana, li = stage.person("U0ANA"), stage.person("U0LI")
    ana.slash("/gpu-quota", "research")
    answer = ana.wait_for_text("can start 4 more")
    share = next(a for a, label in buttons(answer).items() if label == "Share here")
    ana.click(answer, share)
    shared = li.wait_for_text("can start 4 more")
    assert not shared.only_for
    assert "<@U0ANA>" in everything_said(shared)
    assert "Share here" not in buttons(shared).values()


def test_a_mention_is_answered_in_its_thread_for_all(stage: Stage) -> None:
    ana, li = stage.person("U0ANA"), stage.person("U0LI")
    asked = ana.say("<@U0GPUBOT> quota research")
    answer = li.wait_for_text("can start 4 more")
    assert answer.thread_ts == asked.ts


def test_an_unknown_name_offers_the_nearest_as_a_button(stage: Stage) -> None:
    ana = stage.person("U0ANA")
    ana.slash("/gpu-quota", "reserch")
    told = ana.wait_for_text("Did you mean")
    first = next(a for a, label in buttons(told).items() if label == "Show research")
    ana.click(told, first)
    ana.wait_for_text("can start 4 more")


def test_a_source_that_is_down_is_said_in_a_sentence(stage: Stage) -> None:
    from capacity.errors import SourceDown

    stage.world.down = SourceDown("Kueue, cluster prod-eu", None)
    ana = stage.person("U0ANA")
    ana.slash("/gpu-quota", "research")
    ana.wait_for_text("I can't reach Kueue, cluster prod-eu")


def test_a_slow_answer_is_acked_in_time(stage: Stage) -> None:
    stage.answer_seconds = 3.5
    ana = stage.person("U0ANA")
    start = time.monotonic()
    ana.slash("/gpu-quota", "research")
    assert time.monotonic() - start < 1
    assert not ana.see_errors()
    ana.wait_for_text("can start 4 more")


def test_when_too_many_ask_the_next_one_is_told_so(staged: object) -> None:
    stage: Stage = staged(size=1, waiting=1)  # type: ignore[operator]
    stage.answer_seconds = 1.0
    ana = stage.person("U0ANA")
    for _ in range(4):
        ana.slash("/gpu-quota", "research")
    refused = {"what": "ask", "outcome": "BusyError"}
    ana.wait_for(lambda: stage.metric("gpubot_outcomes_total", **refused) >= 1)
    stage.answer_seconds = 0.0
    ana.wait_for_text("can start 4 more")


def test_a_fault_of_ours_gives_a_reference_and_no_trace(
    stage: Stage, log_lines: io.StringIO
) -> None:
    stage.answer_error = RuntimeError("token xoxb-123456-secret leaked")
    ana = stage.person("U0ANA")
    ana.slash("/gpu-quota", "research")
    told = ana.wait_for_text("Something broke; nothing was changed. Ref ")
    assert "xoxb" not in everything_said(told)
    reference = told.text.rpartition("Ref ")[2].split()[0]
    assert reference in log_lines.getvalue()
    assert "RuntimeError" in log_lines.getvalue()
    assert "xoxb-123456" not in log_lines.getvalue()


def test_a_stranger_of_another_company_is_refused(stage: Stage) -> None:
    sten = stage.person("U0STEN")
    sten.slash("/gpu-quota", "research")
    sten.wait_for_text("only answer people of this workspace")


def test_an_envelope_that_comes_twice_is_answered_once(stage: Stage) -> None:
    stage.slack.faults.duplicate_envelopes = 1
    ana = stage.person("U0ANA")
    ana.slash("/gpu-quota", "research")
    ana.wait_for_text("can start 4 more")
    time.sleep(0.2)
    assert len(ana.see_ephemerals()) == 1
    assert stage.metric("gpubot_duplicates_total", by="envelope_id") == 1


@pytest.mark.parametrize(
    ("command", "text", "asked"),
    [
        ("/gpu", "quota research", "quota research"),
        ("/gpu-quota", "research", "quota research"),
        ("/gpu-quota", "", "quota"),
        ("/gpu", "", ""),
    ],
)
def test_command_and_text_make_the_question(command: str, text: str, asked: str) -> None:
    assert question(command, text) == asked


def test_a_mention_is_read_without_the_bots_name_and_slacks_entities() -> None:
    assert mentioned("hey <@U0GPUBOT>  why a&lt;b&gt; &amp;lt;") == "hey why a<b> &lt;"


def test_a_manifest_in_a_mention_keeps_its_lines():
    manifest = "kind: Job\nspec:\n  parallelism: 2"
    assert mentioned(f"<@U0GPUBOT> fit\n{manifest}") == f"fit\n{manifest}"
