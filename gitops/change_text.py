"""The words of a change: title, body and commit message, in which people's words can't act.

[pure]
"""

import json
import re
import unicodedata
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from gitops.index_entry import Place
from gitops.request import Draft

_NOT_SET = "not set"


class Effect(NamedTuple):
    """What becomes of one queue: its own quota, and the most it can ever have."""

    queue: str
    own_before: str
    ever_before: str
    own_after: str
    ever_after: str


def title(draft: Draft) -> str:
    """Return one line: which queue, what, from what to what."""
    what = {
        "nominal": "own quota",
        "borrowing": "borrowing limit",
        "lending": "lending limit",
    }[draft.kind]
    resource = draft.resource.rpartition("/")[2]
    old, new = draft.old or "no limit", draft.new or "no limit"
    return _flat(f"{draft.cluster_queue}: {what} of {draft.flavor} {resource} {old} -> {new}")


def message(draft: Draft, places: Sequence[Place]) -> str:
    """Return the commit message; its trailers hold names and values only, nobody's prose."""
    files = "\n".join(f"{place}: {draft.field} {_change(draft)}" for place in places)
    trailers = [("Requested-by", draft.requester), ("Quota-Restore", _restore(draft))]
    if draft.until is not None:
        trailers.append(("Quota-Expires", f"{draft.until:%Y-%m-%dT%H:%M:%SZ}"))
    last = "\n".join(f"{name}: {_flat(value)}" for name, value in trailers if value)
    return f"{title(draft)}\n\n{files}\n\n{last}\n"


def body(draft: Draft, places: Sequence[Place], effects: Iterable[Effect]) -> str:
    """Return the pull request's body in Markdown.

    The requester's words stand in a code block, where no forge acts on them.
    """
    until = f"{draft.until:%Y-%m-%d %H:%M} UTC" if draft.until else "no end"
    facts = [
        ("Queue", f"`{draft.cluster_queue}`" + (f" in `{draft.cluster}`" if draft.cluster else "")),
        ("Field", f"`{draft.field}` of `{draft.resource}` in flavor `{draft.flavor}`"),
        ("Before", f"`{draft.old or _NOT_SET}`"),
        ("After", f"`{draft.new or _NOT_SET}`"),
        ("Until", until),
        ("Where", ", ".join(f"`{place}`" for place in places)),
        ("Asked for by", f"`{draft.requester}`" if draft.requester else "-"),
    ]
    table = ["| | |", "|---|---|", *(f"| {name} | {_cell(value)} |" for name, value in facts)]
    parts = ["\n".join(table), f"Why:\n\n{fenced(draft.reason or '(no reason given)')}"]
    parts += _table_of(list(effects))
    parts.append(_record(draft, places))
    return "\n\n".join(parts)


def _table_of(effects: Sequence[Effect]) -> list[str]:
    if not effects:
        return []
    lines = ["| Queue | Own | Most it can ever have |", "|---|---|---|"]
    for effect in effects:
        own = _arrow(effect.own_before, effect.own_after)
        ever = _arrow(effect.ever_before, effect.ever_after)
        lines.append(f"| `{effect.queue}` | {own} | {ever} |")
    return ["\n".join(lines)]


def _arrow(before: str, after: str) -> str:
    return before if before == after else f"{before} -> **{after}**"


def fenced(words: str) -> str:
    """Put a person's words into a code block that they can't end: nothing in it acts."""
    kept = (c for c in words if c in "\n\t" or unicodedata.category(c)[0] != "C")
    text = "".join(kept).strip()
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}text\n{text}\n{fence}"


def _record(draft: Draft, places: Sequence[Place]) -> str:
    """Return what a machine needs to undo the change, invisible to people."""
    record: dict[str, Any] = {
        "cluster": draft.cluster,
        "target": draft.target,
        "paths": [place.path for place in places],
        "old": draft.old,
        "new": draft.new,
        "until": draft.until.isoformat() if draft.until else None,
    }
    text = json.dumps(record, sort_keys=True).replace("-", "\\u002d").replace(">", "\\u003e")
    return f"<!-- gpubot {text} -->"


def _restore(draft: Draft) -> str:
    return f"{draft.field}={draft.old or 'unset'}" if draft.until else ""


def _change(draft: Draft) -> str:
    return f"{draft.old or _NOT_SET} -> {draft.new or _NOT_SET}"


def _flat(words: str) -> str:
    """Return words on one line, without control and format characters."""
    kept = (c for c in words if c.isspace() or unicodedata.category(c)[0] != "C")
    return " ".join("".join(kept).split())


def _cell(words: str) -> str:
    return _flat(words).replace("|", "\\|")
