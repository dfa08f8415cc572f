"""The modal of /gpu-fit: a size, a pasted or an uploaded manifest; and what is refused of files.

Not tested here: what the answer says (tests/commands), how the page draws it (tests/playground).
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest

from bot import fit_form, slack_files
from bot.fit_form import FILE, PASTE, QUEUE, SIZE
from bot.playground.fake_slack import web_files
from bot.playground.fake_slack.app import SlackApp
from bot.playground.fake_slack.person import SlackPerson, everything_said
from capacity.errors import UsageError
from commands.manifest_ask import MOST_BYTES
from tests.bot.stage import Stage

JOB = """apiVersion: batch/v1
kind: Job
metadata:
  name: eval
  labels: {kueue.x-k8s.io/queue-name: research-queue}
spec:
  parallelism: 2
  template:
    spec:
      containers:
        - name: main
          resources: {requests: {nvidia.com/gpu: 8}}
"""
PAGE = b"<!DOCTYPE html><html><title>Sign in</title></html>"


@pytest.fixture
def stage(staged: Callable[..., Stage]) -> Stage:
    return staged()


@pytest.fixture
def ana(stage: Stage) -> Iterator[SlackPerson]:
    person = stage.person("U0ANA")
    person.slash("/gpu-fit")
    person.wait_for(lambda: "or a manifest" in said(person))
    return person


def said(person: SlackPerson) -> str:
    view = person.modal()
    errors = "\n".join(view.errors.values())
    return f"{everything_said(view)}\n{errors}"


def give(stage: Stage, name: str = "job.yaml", content: bytes = JOB.encode(), **how: Any) -> str:
    file = stage.serving.call(
        lambda: web_files.give(stage.slack.workspace, how.pop("user", "U0ANA"), name, content)
    )
    for key, value in how.items():
        setattr(file, key, value)
    return str(file.id)


def test_a_size_is_answered_in_the_modal(ana: SlackPerson) -> None:
    assert ana.submit(**{QUEUE: "vision", SIZE: "2x8 h100"})
    ana.wait_for(lambda: "vision can get 12 H100" in said(ana))


def test_an_uploaded_manifest_is_answered_in_the_modal(stage: Stage, ana: SlackPerson) -> None:
    assert ana.submit(**{QUEUE: "vision", FILE: [give(stage)]})
    ana.wait_for(lambda: "Job eval" in said(ana))
    assert "12 of 16" in said(ana)


def test_a_pasted_manifest_is_answered_in_the_modal(ana: SlackPerson) -> None:
    assert ana.submit(**{QUEUE: "vision", PASTE: JOB})
    ana.wait_for(lambda: "Job eval" in said(ana))


def test_a_manifest_in_json_works_too(stage: Stage, ana: SlackPerson) -> None:
    content = b'{"kind": "Pod", "metadata": {"name": "p"}, "spec": {"containers": [{"name": "c", '
    content += b'"resources": {"limits": {"nvidia.com/gpu": "2"}}}]}}'
    assert ana.submit(**{QUEUE: "vision", FILE: [give(stage, "p.json", content)]})
    ana.wait_for(lambda: "Pod p" in said(ana))


def test_the_shortcut_opens_the_same_modal(stage: Stage) -> None:
    person = stage.person("U0ANA")
    person.shortcut("fit")
    person.wait_for(lambda: "or a manifest" in said(person))


def test_ones_own_queue_is_listed_first(ana: SlackPerson) -> None:
    [select] = [b["element"] for b in ana.modal().blocks if b["block_id"] == QUEUE]
    assert [o["value"] for o in select["options"]][:2] == ["any", "research"]


@pytest.mark.parametrize(
    ("given", "where"), [({}, {SIZE}), ({SIZE: "8", PASTE: JOB}, {SIZE, PASTE})]
)
def test_one_thing_is_asked_at_a_time(
    ana: SlackPerson, given: dict[str, str], where: set[str]
) -> None:
    ana.submit(**given)
    ana.wait_for(lambda: set(ana.modal().errors) == where)
    assert "one of the three" in said(ana)


def test_what_is_wrong_stands_at_its_field_and_what_was_typed_stays(
    stage: Stage, ana: SlackPerson
) -> None:
    ana.submit(**{QUEUE: "vision", SIZE: "many"})
    ana.wait_for(lambda: "Say one size" in ana.modal().errors.get(SIZE, ""))
    assert ana.modal().values[SIZE][SIZE] == "many"
    ana.submit(**{SIZE: None, FILE: [give(stage, content=b"kind: [")]})
    ana.wait_for(lambda: "isn't readable YAML" in ana.modal().errors.get(FILE, ""))


def test_a_file_of_somebody_else_is_not_read(stage: Stage, ana: SlackPerson) -> None:
    ana.submit(**{FILE: [give(stage, user="U0LI")]})
    ana.wait_for(lambda: "isn't yours" in ana.modal().errors.get(FILE, ""))


@pytest.mark.parametrize(
    ("how", "words"),
    [
        ({"seen_by_bot": False}, "can't see that file"),
        ({"more": {"mode": "external", "is_external": True}}, "isn't kept in this Slack"),
        ({"more": {"file_access": "check_file_info"}}, "isn't kept in this Slack"),
        ({"name": "job.png"}, "no YAML or JSON"),
        ({"content": b"#" * (MOST_BYTES + 1)}, "larger than 64 KiB"),
        ({"content": b"#" * (MOST_BYTES + 1), "more": {"size": 10}}, "larger than 64 KiB"),
        ({"content": b"\xff\xfe\x00k"}, "isn't text in UTF-8"),
        ({"content": PAGE, "more": {"mimetype": "text/plain"}}, "no job in it"),
    ],
)
def test_a_file_that_cant_be_read_says_why(
    stage: Stage, ana: SlackPerson, how: dict[str, Any], words: str
) -> None:
    ana.submit(**{FILE: [give(stage, **how)]})
    ana.wait_for(lambda: words in ana.modal().errors.get(FILE, ""))


def test_without_the_right_to_read_files_it_says_who_can_help(staged: Callable[..., Stage]) -> None:
    app = SlackApp()
    stage = staged(app=replace(app, scopes=app.scopes - {"files:read"}))
    ana = stage.person("U0ANA")
    ana.slash("/gpu-fit")
    ana.wait_for(lambda: "or a manifest" in said(ana))
    ana.submit(**{FILE: [give(stage)]})
    ana.wait_for(lambda: "files:read" in ana.modal().errors.get(FILE, ""))


def test_an_address_that_is_not_slacks_gets_no_token(stage: Stage, ana: SlackPerson) -> None:
    elsewhere = {"url_private_download": "http://127.0.0.1:9/x", "url_private": ""}
    ana.submit(**{FILE: [give(stage, more=elsewhere)]})
    ana.wait_for(lambda: "not Slack's" in ana.modal().errors.get(FILE, ""))


def test_a_redirect_is_not_followed_with_the_token(stage: Stage, ana: SlackPerson) -> None:
    moved = {"url_private_download": f"{stage.slack.workspace.url}/files-pri/T-F0/x"}
    ana.submit(**{FILE: [give(stage, more=moved)]})
    ana.wait_for(lambda: "not allowed to read files" in ana.modal().errors.get(FILE, ""))


def test_slacks_sign_in_page_is_not_taken_for_the_file(stage: Stage, ana: SlackPerson) -> None:
    signin = give(stage, "signin.html", PAGE)
    address = f"{stage.slack.workspace.url}/files-pri/T-{signin}/x"
    ana.submit(**{FILE: [give(stage, more={"url_private_download": address})]})
    ana.wait_for(lambda: "not allowed to read files" in ana.modal().errors.get(FILE, ""))


def test_an_answer_that_takes_too_long_is_told_so(stage: Stage, ana: SlackPerson) -> None:
    stage.answer_seconds = 2.6
    ana.submit(**{QUEUE: "vision", SIZE: "8"})
    ana.wait_for(lambda: "couldn't look at that in time" in ana.modal().errors.get(SIZE, ""))
    assert not ana.see_errors()


def test_what_a_person_gave_is_in_no_log(
    stage: Stage, ana: SlackPerson, capsys: pytest.CaptureFixture[str]
) -> None:
    ana.submit(**{FILE: [give(stage, content=b"s3cret: [")]})
    ana.wait_for(lambda: ana.modal().errors)
    logged = capsys.readouterr()
    assert "s3cret" not in logged.out + logged.err
    assert "xoxb-play" not in logged.out + logged.err


def test_a_view_in_any_state_is_read() -> None:
    assert fit_form.read({}) == fit_form.Wish()
    assert fit_form.read({"state": None}) == fit_form.Wish()
    odd = {"state": {"values": {"b": {FILE: {"files": []}, SIZE: {"value": None}}}}}
    assert fit_form.read(odd) == fit_form.Wish()


def test_a_manifest_cant_pass_for_words_of_the_question() -> None:
    wish = fit_form.Wish(queue="vision", file="F1")
    assert fit_form.question(wish, "--queue serving\nkind: Job") == (
        "fit --queue vision\n---\n--queue serving\nkind: Job"
    )


def test_bytes_that_mark_their_order_are_text() -> None:
    assert slack_files.text_of("\ufeffkind: Job".encode()) == "kind: Job"
    with pytest.raises(UsageError):
        slack_files.text_of(b"\xff")


def test_a_fault_of_ours_reaches_the_person_with_its_reference(
    stage: Stage, ana: SlackPerson
) -> None:
    stage.answer_error = RuntimeError("secret")
    ana.submit(**{QUEUE: "vision", SIZE: "8"})
    told = ana.wait_for_text("Something broke; nothing was changed. Ref")
    assert told.only_for == "U0ANA"
    assert "secret" not in told.text


@pytest.mark.parametrize("size", ["8 {", "8 kind: Job", "--- 8"])
def test_a_size_is_never_read_as_a_manifest(ana: SlackPerson, size: str) -> None:
    ana.submit(**{QUEUE: "vision", SIZE: size})
    ana.wait_for(lambda: "A size is like" in ana.modal().errors.get(SIZE, ""))


def test_a_queue_that_is_named_twice_is_asked_about(ana: SlackPerson) -> None:
    ana.submit(**{QUEUE: "vision", SIZE: "8 --queue research"})
    ana.wait_for(lambda: "--queue is there twice" in ana.modal().errors.get(SIZE, ""))
