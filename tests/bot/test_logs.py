"""No secret in any log line, whoever writes it and however it is nested."""

import io
import json
import logging

import pytest
import structlog

from bot.logs import HIDDEN, configure, redact, reference

SECRETS = [
    "xoxb-2151-98-AbCd",
    "xoxe.xoxp-1-Mi0yLTk",
    "xapp-1-A02-31-abcdef",
    "ghp_16C7e42F292c6912E7",
    "github_pat_11AAA_bbb",
    "glpat-aBc123-xyz",
    "https://hooks.slack.com/commands/T1/2/abc",
    "https://hooks.slack-gov.com/actions/T1/2/abc",
]


@pytest.mark.parametrize("secret", SECRETS)
def test_a_secret_is_hidden_wherever_it_stands(secret: str) -> None:
    for text in (secret, f"token={secret} and more", json.dumps({"a": [secret]})):
        assert secret not in redact(text)
        assert HIDDEN in redact(text)


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("Authorization: Bearer abc.def-123456", "Authorization: Bearer [hidden]"),
        ("postgresql://gpubot:hunter2@db/gpubot", "postgresql://[hidden]@db/gpubot"),
        ("response_url: http://127.0.0.1:1/response/9", "response_url[hidden]"),
        ("the bearer of bad news", "the bearer of bad news"),
        ("boxox-shaped xylophone", "boxox-shaped xylophone"),
    ],
)
def test_what_is_hidden_and_what_is_left(text: str, left: str) -> None:
    assert redact(text) == left


@pytest.mark.parametrize("form", ["console", "json"])
def test_tracebacks_and_foreign_loggers_are_redacted_too(form: str) -> None:
    stream = io.StringIO()
    configure("INFO", form, stream)
    try:
        raise RuntimeError(f"no access with {SECRETS[0]}")
    except RuntimeError:
        structlog.get_logger("ours").exception("broken", token=SECRETS[2])
        logging.getLogger("foreign").exception("broken %s", SECRETS[3])
    lines = stream.getvalue()
    assert "RuntimeError" in lines
    assert not [secret for secret in SECRETS if secret in lines]


def test_slacks_libraries_never_log_their_payloads() -> None:
    configure("DEBUG", "console", io.StringIO())
    assert not logging.getLogger("slack_bolt.AsyncApp").isEnabledFor(logging.DEBUG)
    assert not logging.getLogger("slack_sdk.web").isEnabledFor(logging.DEBUG)


def test_a_reference_can_be_read_out() -> None:
    assert len({reference() for _ in range(200)}) == 200
    assert not set("01OI") & set("".join(reference() for _ in range(200)))
