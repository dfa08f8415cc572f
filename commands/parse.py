"""Words to a question: forgiving about case, quotes, dashes and Slack's mentions.

[pure]
"""

import re
from collections.abc import Sequence

from capacity.errors import UsageError
from commands.command import Ask, Asker, Command
from commands.nearest import nearest
from commands.table import COMMANDS, EXAMPLES, command

_TOKEN = re.compile(r"\"([^\"]*)\"|'([^']*)'|“([^”]*)”|‘([^’]*)’|(\S+)")
_MENTION = re.compile(r"<(?:[@#]|!subteam\^)\w+(?:\|@?([^>|]*))?>")
_DASHES = re.compile(r"^(?:--|[–—])(?=\w)")
_MANIFEST = re.compile(
    r"```|(?<!\S)(?:(?:apiVersion|kind|metadata|spec)\s*:(?!\S)|---(?!\S)|#\s|\{)"
)
_LONGEST_WORD = 253
_MOST_WORDS = 40


def parse(text: str, asker: Asker) -> Ask:
    """Return the question that a text asks; an empty text asks for help.

    The first word is the command (any case, or its unique beginning), or one of the asker's own
    teams, which asks for its quota. A pasted manifest after the words, on their line or the next,
    is the attachment. Raises UsageError for words that mean nothing, with the nearest ones.
    """
    said, attachment = _split(text)
    words = _words(said)
    if not words:
        return Ask("help", asker=asker, attachment=attachment)
    if any(words[0].casefold() == team.casefold() for team in asker.teams):
        words.insert(0, "quota")
    found = _command(words[0])
    args, options = _arguments(found, words[1:])
    return Ask(found.word, tuple(args), options, asker, attachment)


def _split(text: str) -> tuple[str, str]:
    start = _MANIFEST.search(text)
    if start is None:
        return text, ""
    return text[: start.start()], text[start.start() :].strip("\n")


def holds_manifest(text: str) -> bool:
    """Tell whether words would be read as a manifest from some place on."""
    return _MANIFEST.search(text) is not None


def _words(text: str) -> list[str]:
    words = []
    for found in _TOKEN.finditer(_MENTION.sub(lambda m: m[1] or "", text)):
        quoted = next((g for g in found.groups()[:-1] if g is not None), None)
        word = found[5].strip("\"'“”‘’`,").lstrip("@") if quoted is None else quoted.strip()
        if word:
            words.append(word)
    if len(words) > _MOST_WORDS or any(len(word) > _LONGEST_WORD for word in words):
        raise UsageError("That is too long for a question.", f"Try: {EXAMPLES[0]}")
    return words


def _command(word: str) -> Command:
    wanted = word.casefold().removeprefix("/").removeprefix("gpu-")
    exact = command(wanted)
    if exact is not None:
        return exact
    begun = [c for c in COMMANDS if wanted and c.word.startswith(wanted)]
    if len(begun) == 1:
        return begun[0]
    raise UsageError(f"I don't know the word {word!r}.", _suggestion(wanted, begun))


def _suggestion(word: str, begun: Sequence[Command]) -> str:
    near = tuple(c.word for c in begun) or nearest(word, (c.word for c in COMMANDS))
    if near:
        return f"Did you mean {' or '.join(near)}? For example: {_example(near[0])}"
    return f"Try one of: {'; '.join(EXAMPLES)}."


def _example(word: str) -> str:
    found = command(word)
    return found.examples[0] if found else EXAMPLES[0]


def _arguments(found: Command, words: Sequence[str]) -> tuple[list[str], dict[str, str]]:
    args: list[str] = []
    options: dict[str, str] = {}
    rest = iter(words)
    for word in rest:
        if not _DASHES.match(word):
            args.append(word)
            continue
        name, equals, value = _DASHES.sub("", word).partition("=")
        name = _option(found, name.casefold())
        value = value if equals else next(rest, "")
        if not value or _DASHES.match(value):
            raise UsageError(f"--{name} needs a value.", f"For example: {found.examples[0]}")
        if name in options:
            raise UsageError(f"--{name} is there twice.", "Give it once.")
        options[name] = value.lstrip("@")
    return args, options


def _option(found: Command, name: str) -> str:
    if name in found.options:
        return name
    near = nearest(name, found.options)
    known = f"It knows {', '.join('--' + o for o in found.options)}." if found.options else ""
    hint = f"Did you mean --{near[0]}?" if near else known or f"It takes none: {found.usage}"
    raise UsageError(f"/gpu {found.word} has no option --{name}.", hint)
