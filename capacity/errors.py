"""What can go wrong, named for what the caller or the person does next.

GpubotError                 anything a person is told about: a sentence and a next step
├── UsageError              the question or the input is off: say it differently
│   └── UnknownName         no such queue, team, cohort or job: pick one of the nearest
├── Denied                  the person may not do this: ask one who may
├── Conflict                the world moved since it was looked at: look again
├── Refused                 the change can't be made safely here: do it by hand, there
└── SourceDown              a source doesn't answer: a partial answer, or try again
"""

from dataclasses import dataclass
from datetime import datetime


class GpubotError(Exception):
    """An error with a sentence for a person; the log gets ``detail``.

    ``sentence`` says what happened and what was or wasn't changed, ``next_step`` what to do now
    (both without secrets or tracebacks).
    """

    def __init__(self, sentence: str, next_step: str = "", *, detail: str = "") -> None:
        super().__init__(sentence)
        self.sentence = sentence
        self.next_step = next_step
        self.detail = detail


class UsageError(GpubotError):
    """The words can't be understood as they stand."""


class UnknownName(UsageError):
    """No object has this name; ``nearest`` holds the closest existing names, best first."""

    def __init__(self, kind: str, name: str, nearest: tuple[str, ...] = ()) -> None:
        hint = f"Did you mean {' or '.join(nearest)}?" if nearest else ""
        super().__init__(f"No {kind} is called {name!r}.", hint)
        self.kind = kind
        self.name = name
        self.nearest = nearest


class Denied(GpubotError):
    """The person lacks the right; the sentence names who has it."""


class Conflict(GpubotError):
    """A precondition no longer holds: nothing was changed."""


class Refused(GpubotError):
    """The change is not safe to make by machine; the sentence names the reason and the place."""


class SourceDown(GpubotError):
    """A source doesn't answer. ``since`` is when it was last heard from.

    Without it the sentence says ``otherwise``: that it never was, or, where nobody keeps it, "now".
    """

    def __init__(
        self,
        source: str,
        since: datetime | None,
        *,
        otherwise: str = "and never could since I started",
        detail: str = "",
    ) -> None:
        when = f"since {since:%H:%M} UTC" if since else otherwise
        super().__init__(f"I can't reach {source} {when}.", "It recovers by itself.", detail=detail)
        self.source = source
        self.since = since


@dataclass(frozen=True, slots=True)
class Gap:
    """A part that an answer lacks: which source, since when, and what is therefore missing."""

    source: str
    since: datetime | None
    missing: str
