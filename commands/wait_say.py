"""How long a job may wait, in words.

[pure]
"""

from commands.estimate import Wait
from commands.ranges import Range
from commands.words import count, span

NO_PROMISE = "no promise"


def wait_words(job: str, wait: Wait) -> str:
    """Return the typical wait with its basis, and whether the job has waited longer already.

    Where no range can be said, that and why.
    """
    typical = wait.typical
    if typical is None:
        return f"How long it takes can't be said: {_few(wait)} in the last 14 days."
    size = f" for {shape(wait)}" if typical.sizes and wait.gpus else ""
    going = f" and {typical.going} that still wait" if typical.going else ""
    basis = f"middle half, by past waits: {typical.basis}{going}; {NO_PROMISE}"
    return f"Typical wait here{size}: {typical.words} ({basis}).{_long(job, wait)}{_slow(wait)}"


def shape(wait: Wait) -> str:
    """Return "16 H100", "1 GPU"."""
    one = wait.gpus == 1 and wait.card == "GPUs"
    return "1 GPU" if one else f"{wait.gpus} {wait.card}"


def _few(wait: Wait) -> str:
    known = f"only {count(wait.known, 'job')}" if wait.known else "no job"
    kind = "" if wait.card == "GPUs" else f" on {wait.card}"
    return f"{known} got quota here{kind}"


def _long(job: str, wait: Wait) -> str:
    if not wait.is_long:
        return ""
    return f" {job} has waited longer than that, {span(wait.waited)}{_more(wait.more)}."


def _slow(wait: Wait) -> str:
    if not wait.is_slow:
        return ""
    return f" It is slower now: {wait.longer} of {wait.line} such jobs wait longer than that."


def _more(more: Range | None) -> str:
    if more is None:
        return "; too few jobs waited as long to say how much more it takes"
    return f"; {count(more.jobs, 'job')} that had waited as long took {more.words} more"
