"""Comments and lines that still say the old value after an edit.

[pure]
"""

import re
from typing import NamedTuple

from gitops.manifest_locate import Spot
from gitops.manifest_splice import Splice
from gitops.manifest_text import BREAK, Text

_COMMENT = re.compile(r"(?:^|(?<=\s))#.*")
_SHORTEST = 4


class Mention(NamedTuple):
    """A line, by its number in the file before the edit, and what it says."""

    number: int
    text: str


def stale(spot: Spot, splice: Splice, old: str) -> tuple[Mention, ...]:
    """Return the comments beside an edited value that repeat it.

    Looked at are the line's own comment, those in the same list item before it, and the comment
    lines right above that item.
    """
    source = spot.source
    lines = BREAK.split(source.text)
    last = source.line(splice.start) - 1
    first = min(last, source.line(spot.view.to_file(spot.mapping.start)) - 1)
    while first > 0 and lines[first - 1].lstrip().startswith("#"):
        first -= 1
    word = _word(old)
    found: list[Mention] = []
    for number in range(first, last + 1):
        comment = _COMMENT.search(lines[number], _after(source, splice, number, last))
        if comment and word.search(comment[0]):
            found.append(Mention(number + 1, comment[0].strip()))
    return tuple(found)


def elsewhere(source: Text, splice: Splice, old: str) -> tuple[Mention, ...]:
    """Return the file's other lines that hold the old value as a word (a version kept twice)."""
    if len(old) < _SHORTEST:
        return ()
    word, edited = _word(old), source.line(splice.start) - 1
    return tuple(
        Mention(number + 1, line.strip())
        for number, line in enumerate(BREAK.split(source.text))
        if number != edited and word.search(line)
    )


def _after(source: Text, splice: Splice, number: int, last: int) -> int:
    """Where a comment may start: behind the value on the edited line."""
    if number != last:
        return 0
    text = source.text
    left = max(text.rfind("\n", 0, splice.start), text.rfind("\r", 0, splice.start)) + 1
    return splice.end - left


def _word(value: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![\w.-]){re.escape(value)}(?![\w-]|\.\d)")
