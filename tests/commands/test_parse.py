"""How forgiving the parser is, and that nothing typed ever breaks it or a command."""

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from bot.blocks import render, size
from bot.json_ import to_json
from capacity.errors import GpubotError, UnknownName, UsageError
from commands.command import Asker
from commands.manifest_ask import unfenced
from commands.parse import parse
from commands.table import COMMANDS, EXAMPLES, command, run
from tests.builders import ANA, OTTO, FakeWorld, some_people

WORLD = FakeWorld()


@pytest.mark.parametrize(
    ("text", "word", "args"),
    [
        ("quota research", "quota", ("research",)),
        ("  QUOTA   Research ", "quota", ("Research",)),
        ("queue research 2", "queue", ("research", "2")),
        ("/gpu-why llm-ft-7", "why", ("llm-ft-7",)),
        ("quo @research", "quota", ("research",)),
        ('quota "research"', "quota", ("research",)),
        ("quota “research”", "quota", ("research",)),
        ("quota 'research", "quota", ("research",)),
        ("quota <!subteam^S012|@research>", "quota", ("research",)),
        ("quota <#C012|research>", "quota", ("research",)),
        ("research", "quota", ("research",)),
        ("help fit", "help", ("fit",)),
        ("", "help", ()),
        (" \n ", "help", ()),
    ],
)
def test_words_are_understood(text: str, word: str, args: tuple[str, ...]):
    ask = parse(text, ANA)
    assert (ask.word, ask.args) == (word, args)


@pytest.mark.parametrize(
    "text",
    ["fit 2x8 h100 --queue vision", "fit 2x8 h100 --queue=vision", "fit 2x8 —queue vision h100"],
)
def test_options_are_understood_with_equals_and_with_the_phones_long_dash(text: str):
    ask = parse(text, ANA)
    assert (ask.args, ask.options) == (("2x8", "h100"), {"queue": "vision"})


def test_a_pasted_manifest_is_the_attachment():
    ask = parse("fit --queue vision\n```\nkind: Job\nspec: {}\n```", ANA)
    assert ask.options == {"queue": "vision"}
    assert unfenced(ask.attachment) == "\nkind: Job\nspec: {}\n"
    assert parse("fit\nkind: Job", ANA).attachment == "kind: Job"


@pytest.mark.parametrize(
    "manifest",
    [
        "apiVersion: batch/v1\nkind: Job",
        "# my job\nkind: Job",
        "---\nkind: Job",
        "metadata:\n  name: a\nkind: Job",
        '{"kind": "Job"}',
    ],
)
def test_a_manifest_may_begin_on_the_commands_own_line(manifest: str):
    ask = parse(f"fit vision {manifest}", ANA)
    assert (ask.args, ask.attachment) == (("vision",), manifest)


def test_an_unknown_word_gets_the_nearest_with_an_example():
    with pytest.raises(UsageError) as caught:
        parse("quoat research", ANA)
    assert "quota" in caught.value.next_step
    assert "/gpu-quota research" in caught.value.next_step


def test_a_word_that_is_like_nothing_gets_three_examples():
    with pytest.raises(UsageError) as caught:
        parse("zzz", ANA)
    assert all(example in caught.value.next_step for example in EXAMPLES)


def test_a_beginning_that_fits_several_words_lists_them():
    with pytest.raises(UsageError) as caught:
        parse("qu research", ANA)
    assert "quota or queue" in caught.value.next_step


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("fit 2x8 --queu vision", "--queue"),
        ("fit 2x8 --bogus vision", "--flavor"),
        ("quota --x y", "--show"),
        ("queue --x y", "/gpu-queue"),
        ("fit 2x8 --queue", "/gpu-fit"),
        ("fit 2x8 --queue --flavor h100", "/gpu-fit"),
    ],
)
def test_wrong_options_say_what_is_right(text: str, hint: str):
    with pytest.raises(UsageError) as caught:
        parse(text, ANA)
    assert hint in caught.value.next_step


def test_an_endless_word_is_refused():
    with pytest.raises(UsageError):
        parse("quota " + "a" * 1000, ANA)


@pytest.mark.parametrize(
    ("text", "nearest"),
    [
        ("quota reserch", "research"),
        ("quota RESERCH", "research"),
        ("queue llm-ft-8", "llm-ft-7"),
        ("why llm-ft", "llm-ft-7"),
        ("why research/llm-ft", "research/llm-ft-7"),
        ("fit 2x8 h10 --queue vision", "h100"),
        ("fit 2x8 h100 --queue visoin", "vision"),
        ("fit 2x8 h100 --priority hgh", "high"),
    ],
)
def test_a_name_that_does_not_exist_gets_the_nearest(text: str, nearest: str):
    with pytest.raises(UnknownName) as caught:
        run(parse(text, ANA), WORLD)
    assert nearest in caught.value.nearest
    assert caught.value.name in text


def test_a_stranger_is_told_how_to_be_known_and_gets_answers_about_named_queues():
    with pytest.raises(UsageError) as caught:
        run(parse("quota", OTTO), WORLD)
    assert "gpubot/people.yaml" in caught.value.next_step
    answer, _ = run(parse("quota research", OTTO), WORLD)
    assert answer.queues[0].queue == "research"


def test_somebody_in_several_teams_gets_one_and_buttons_for_the_others():
    both = Asker("rae", ("research", "vision"))
    _, page = run(parse("quota", both), WORLD)
    assert ("Show vision", "quota vision") in [(a.label, a.value) for a in page.actions]
    assert "several teams" in str(page.notices)


def test_names_are_found_in_any_case():
    answer, _ = run(parse("quota ML", ANA), WORLD)
    assert answer.cohort == "ml"


def test_every_command_has_an_example_that_parses_to_it():
    for found in COMMANDS:
        for text in found.examples:
            assert parse(text, ANA).word == found.word
            assert command(found.word) is found


def test_every_button_of_every_answer_asks_something_that_is_understood():
    for text in ("quota", "quota ml", "queue", "why llm-ft-7", "why eval-3", "fit 64 h100", "help"):
        _, page = run(parse(text, ANA), WORLD)
        for action in page.actions:
            if action.action == "ask":
                run(parse(action.value, ANA), WORLD)


words = st.one_of(
    st.sampled_from([c.word for c in COMMANDS]),
    st.sampled_from(["research", "ml", "vision", "llm-ft-7", "research/eval-3", "h100", "2x8"]),
    st.sampled_from(["--queue", "--priority", "--flavor", "2", "0", "999999", "```", "kind: Job"]),
    st.text(max_size=12),
)


def attempt(text: str, asker: Asker):
    try:
        return run(parse(text, asker), WORLD)
    except GpubotError as error:
        return error


@settings(max_examples=300, deadline=None)
@given(st.lists(words, max_size=6).map(" ".join), st.sampled_from([ANA, OTTO]))
@example("fit 1x1 \x00", ANA)
@example("why /", ANA)
@example("queue ²", ANA)
@example("fit ²x8", ANA)
@example("request ٣", ANA)
def test_any_text_gives_an_answer_within_slacks_limits_or_a_sentence(text: str, asker: Asker):
    result = attempt(text, asker)
    if isinstance(result, GpubotError):
        assert result.sentence
    else:
        assert size(render(result[1]).blocks) <= 13_200
        to_json(result[0])


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=300), st.sampled_from([c.word for c in COMMANDS]))
def test_any_text_after_any_word_never_breaks(text: str, word: str):
    attempt(f"{word} {text}", ANA)


def test_people_of_the_world_are_known():
    assert [t.name for t in some_people().teams_of("ana")] == ["research"]
