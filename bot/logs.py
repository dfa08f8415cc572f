"""Logging: structlog on the standard library, and no secret in any line.

Libraries put tokens into exceptions and addresses into debug lines, so the redaction works on the
finished text of every line, tracebacks included, rather than on what we remember to mark.
"""

import logging
import re
import secrets
import sys
from typing import TextIO

import structlog

HIDDEN = "[hidden]"
SECRETS = re.compile(
    r"xox[a-z](?:\.xox[a-z])?-[\w-]+"  # Slack's bot, user, refresh and configuration tokens
    r"|xapp-[\w-]+"
    r"|gh[a-z]_\w+|github_pat_\w+|glpat-[\w-]+"
    r"|https?://hooks\.slack(?:-gov)?\.com/\S+"  # a response_url is a right to post
    r"|(?<=response_url)[\"']?\s*[:=]\s*[\"']?https?://[^\s\"']+"
    r"|(?i:(?<=bearer )|(?<=basic ))[\w.~+/=-]{6,}"
    r"|(?<=://)[^\s/:@]*:[^\s/@]+(?=@)"  # user:password@host
)
# Their DEBUG lines print whole payloads, with response addresses and what people typed.
CHATTY = ("slack_bolt", "slack_sdk", "aiohttp.access", "urllib3", "kubernetes")
# Says every second that a job ran.
DULL = ("apscheduler", "alembic")


def redact(text: str) -> str:
    """Return the text with every token, password and response address hidden."""
    return SECRETS.sub(HIDDEN, text)


def reference() -> str:
    """Return a short id that a person can read out and that finds the log line."""
    alphabet = "23456789ABCDEFGHJKLMNPQRSTUVWXYZ"  # nothing that is misread: no 0/O, 1/I
    return "".join(secrets.choice(alphabet) for _ in range(6))


class Redacting(logging.Formatter):
    """Formats like the inner formatter, then hides secrets in the result."""

    def __init__(self, inner: logging.Formatter) -> None:
        super().__init__()
        self._inner = inner

    def format(self, record: logging.LogRecord) -> str:
        return redact(self._inner.format(record))


def configure(level: str, form: str, stream: TextIO | None = None) -> None:
    """Send every logger, ours and the libraries', through one redacting handler."""
    shared: list[structlog.typing.Processor] = [
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]
    structlog.configure(
        processors=[*shared, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=True,
    )
    handler = logging.StreamHandler(stream or sys.stderr)
    handler.setFormatter(Redacting(_formatter(form, shared)))
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level)
    for name in DULL:
        logging.getLogger(name).setLevel(logging.WARNING)
    for name in CHATTY:
        logging.getLogger(name).setLevel(max(logging.INFO, logging.getLevelName(level)))


def _formatter(form: str, shared: list[structlog.typing.Processor]) -> logging.Formatter:
    last: list[structlog.typing.Processor]
    if form == "json":
        last = [structlog.processors.format_exc_info, structlog.processors.JSONRenderer()]
    else:
        plain = structlog.dev.plain_traceback
        last = [structlog.dev.ConsoleRenderer(colors=False, exception_formatter=plain)]
    return structlog.stdlib.ProcessorFormatter(
        foreign_pre_chain=shared,
        processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, *last],
    )
