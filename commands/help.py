"""/gpu-help: what can be asked, with examples to copy.

[pure]
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from capacity.errors import Gap, UsageError
from commands.command import Ask, Command, World
from commands.nearest import nearest
from commands.page import Action, Bold, Bullets, Code, Line, Page, Paragraph

_EXAMPLES = 3


@dataclass(frozen=True, slots=True)
class Entry:
    """One command as help shows it."""

    word: str
    usage: str
    summary: str
    examples: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class HelpAnswer:
    """All commands, or the one that was asked about (``about``)."""

    entries: tuple[Entry, ...]
    about: str
    as_of: datetime
    source: str = "Gpubot"
    gaps: tuple[Gap, ...] = ()


def command_of(questions: Sequence[Command]) -> Command:
    """Return the help command for these other commands."""

    def answer(ask: Ask, world: World) -> HelpAnswer:
        return answer_for(ask, world.now(), (*questions, command))

    command = Command(
        word="help",
        usage="/gpu-help [word]",
        summary="this list, or one command in full",
        examples=("/gpu-help", "/gpu-help fit"),
        answer=answer,
        page=page,
    )
    return command


def answer_for(ask: Ask, now: datetime, commands: Sequence[Command]) -> HelpAnswer:
    """Answer with all commands or the named one; raises UsageError for an unknown word."""
    entries = tuple(Entry(c.word, c.usage, c.summary, c.examples) for c in commands)
    if not ask.args:
        return HelpAnswer(entries, "", now)
    word = ask.args[0].casefold().removeprefix("/").removeprefix("gpu-")
    chosen = tuple(entry for entry in entries if entry.word == word)
    if not chosen:
        near = nearest(word, [entry.word for entry in entries])
        hint = f"Did you mean {near[0]}?" if near else "Ask /gpu-help for the list."
        raise UsageError(f"I don't know the word {ask.args[0]!r}.", hint)
    return HelpAnswer(chosen, chosen[0].word, now)


def page(answer: HelpAnswer) -> Page:
    """Show each command in a line, and three examples to copy."""
    if answer.about:
        return _one(answer.entries[0])
    examples = [e.examples[0] for e in answer.entries if e.examples and e.word != "help"]
    return Page(
        headline=(Bold("Ask me what GPUs you can use, why a job waits, or for more quota."),),
        parts=(
            Bullets(tuple(_line(entry) for entry in answer.entries)),
            Paragraph((Bold("Try: "), *_spread(examples[:_EXAMPLES]))),
        ),
        actions=(Action("My quota", "ask", "quota"), Action("My queue", "ask", "queue")),
        footer=("Without a name I answer for your own team. /gpu WORD works too: /gpu quota",),
    )


def _one(entry: Entry) -> Page:
    return Page(
        headline=(Code(entry.usage), f": {entry.summary}."),
        parts=(Bullets(tuple((Code(example),) for example in entry.examples)),),
        footer=("Ask /gpu-help for all commands.",),
    )


def _line(entry: Entry) -> Line:
    return (Code(entry.usage), f"  {entry.summary}")


def _spread(examples: list[str]) -> Line:
    spans: list[Code | str] = []
    for example in examples:
        spans += [Code(example), "  "]
    return tuple(spans[:-1])
