"""The button of a job that hasn't started: "Tell me when it starts".

Its value names the Workload by its uid, and the question that showed it. Whom it concerns is who
presses it, so that nobody can be told, or stopped from being told, by another.

[pure]
"""

import re
from dataclasses import dataclass, replace

from capacity.errors import UsageError
from commands.page import Action, Page

TELL, STOP = "tell", "untell"
_VALUE = re.compile(
    r"(?P<uid>[A-Za-z0-9-]{1,64}) (?P<word>why|queue) "
    r"(?P<namespace>[a-z0-9-]{1,63})/(?P<job>[a-z0-9.-]{1,253})"
)


@dataclass(frozen=True, slots=True)
class Wished:
    """What such a button names: a Workload, its job, and the question to ask anew."""

    uid: str
    namespace: str
    job: str
    question: str


def tell_me(uid: str, question: str) -> Action:
    """Return the button; ``question`` is "why namespace/job" or "queue namespace/job"."""
    return Action("Tell me when it starts", TELL, f"{uid} {question}")


def dont_tell_me(value: str, label: str = "Stop telling me") -> Action:
    """Return the button that takes the other's wish back."""
    return Action(label, STOP, value)


def wished(value: str) -> Wished:
    """Read a button's value; raises UsageError for anything else."""
    found = _VALUE.fullmatch(value)
    if found is None:
        raise UsageError("This button is from another time.", "Ask /gpu help for what I know now.")
    uid, word, namespace, job = found.groups()
    return Wished(uid, namespace, job, f"{word} {namespace}/{job}")


def as_wished(page: Page, uids: frozenset[str]) -> Page:
    """Return the page for somebody who is told already about these Workloads."""
    return replace(page, actions=tuple(_as_wished(action, uids) for action in page.actions))


def _as_wished(action: Action, uids: frozenset[str]) -> Action:
    told = action.action == TELL and action.value.partition(" ")[0] in uids
    return dont_tell_me(action.value) if told else action
