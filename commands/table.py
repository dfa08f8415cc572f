"""Every command, in the order in which help lists them. Parser, help and docs read this table.

[pure]
"""

from typing import Any

from capacity.errors import UsageError
from commands import digest, drift, fit, queue, quota, request, usage, why
from commands import help as help_
from commands.command import Answer, Ask, Command, World
from commands.page import Page

_QUESTIONS: tuple[Command, ...] = (
    quota.COMMAND,
    queue.COMMAND,
    why.COMMAND,
    fit.COMMAND,
    usage.COMMAND,
    digest.COMMAND,
    drift.COMMAND,
    request.COMMAND,
)
COMMANDS: tuple[Command, ...] = (*_QUESTIONS, help_.command_of(_QUESTIONS))
EXAMPLES: tuple[str, ...] = tuple(c.examples[0] for c in _QUESTIONS)[:3]
_BY_WORD = {c.word: c for c in COMMANDS}


def command(word: str) -> Command | None:
    """Return the command of this word, or None."""
    return _BY_WORD.get(word)


def run(ask: Ask, world: World) -> tuple[Any, Page]:
    """Answer a question: the answer's data (for JSON) and its page (for people).

    Raises GpubotError: UsageError for what can't be understood, SourceDown when nothing is known.
    """
    found = command(ask.word)
    if found is None:
        raise UsageError(f"I don't know the word {ask.word!r}.", f"Try: {EXAMPLES[0]}")
    made: Answer = found.answer(ask, world)
    return made, found.page(made)
