"""Whose queue a question is about: a name that a person typed, or the asker's own team.

[pure]
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from capacity.errors import UnknownName, UsageError
from capacity.model import Fleet
from commands.command import Ask
from commands.nearest import nearest
from gitops.people import People


@dataclass(frozen=True, slots=True)
class Scope:
    """What was asked about: its kind, its name, and the ClusterQueues that it means.

    ``own`` tells that no name was given and the asker's team stood in for it; ``others`` are the
    asker's further teams then.
    """

    kind: Literal["queue", "team", "cohort"]
    name: str
    queues: tuple[str, ...]
    own: bool = False
    others: tuple[str, ...] = ()


def scope_of(ask: Ask, fleet: Fleet, people: People, *, cohorts: bool = True) -> Scope:
    """Return what the first argument names, or the asker's own team when there is none.

    A name is, in this order, a ClusterQueue, a team with queues here, a cohort, a LocalQueue, a
    namespace; case doesn't count. Raises UnknownName with the nearest names, UsageError for an
    asker without team.
    """
    if ask.args:
        return find(ask.args[0], fleet, people, cohorts=cohorts)
    return _own(ask, fleet, people)


def no_more(ask: Ask, most: int) -> None:
    """Raise UsageError for words beyond those that the question takes, rather than ignore them."""
    if len(ask.args) > most:
        word = ask.args[most]
        taken = " ".join(ask.args[:most])
        raise UsageError(
            f"I don't understand {word!r} here.",
            f"Ask one thing at a time: /gpu {ask.word} {taken}",
        )


def find(name: str, fleet: Fleet, people: People, *, cohorts: bool = True) -> Scope:
    """Return what a name means; raises UnknownName."""
    found = lookup(name, fleet, people, cohorts=cohorts)
    if found is None:
        kind = "queue, team or cohort" if cohorts else "queue or team"
        raise UnknownName(kind, name, nearest(name, known_names(fleet, people, cohorts=cohorts)))
    return found


def lookup(name: str, fleet: Fleet, people: People, *, cohorts: bool = True) -> Scope | None:
    """Return what a name means, or None."""
    queue = _same(name, fleet.cluster_queues)
    if queue:
        return Scope("queue", queue, (queue,))
    team = _same(name, people.teams)
    queues = people.teams[team].cluster_queues if team else ()
    known = tuple(q for q in queues if q in fleet.cluster_queues)
    if team and known:
        return Scope("team", team, known)
    by_cohort = cohort_members(fleet)
    cohort = _same(name, by_cohort) if cohorts else None
    if cohort:
        return Scope("cohort", cohort, by_cohort[cohort])
    return _by_local_queue(name, fleet) or (Scope("team", team, ()) if team else None)


def known_names(fleet: Fleet, people: People, *, cohorts: bool = True) -> tuple[str, ...]:
    """Return every name that a question may be about."""
    names = [*fleet.cluster_queues, *people.teams]
    names += cohort_members(fleet) if cohorts else ()
    return tuple(dict.fromkeys(names))


def cohort_members(fleet: Fleet) -> dict[str, tuple[str, ...]]:
    """Return every cohort, also one that is only named, with the queues directly in it."""
    found: dict[str, list[str]] = {name: [] for name in fleet.cohorts}
    for cohort in fleet.cohorts.values():
        if cohort.parent:
            found.setdefault(cohort.parent, [])
    for queue in fleet.cluster_queues.values():
        if queue.cohort:
            found.setdefault(queue.cohort, []).append(queue.name)
    return {name: tuple(queues) for name, queues in found.items()}


def _own(ask: Ask, fleet: Fleet, people: People) -> Scope:
    teams = [t for t in ask.asker.teams if t in people.teams]
    word = ask.word
    if not teams:
        example = next(iter(fleet.cluster_queues), "research")
        raise UsageError(
            _unknown(ask, people),
            f"Name a queue, for example: /gpu {word} {example}. To be known, ask the platform team "
            "to add you with your Slack id to gpubot/people.yaml in the GitOps repository.",
        )
    first = find(teams[0], fleet, people)
    return Scope(first.kind, first.name, first.queues, own=True, others=tuple(teams[1:]))


def _unknown(ask: Ask, people: People) -> str:
    if people.problems:
        return f"I can't tell who is who: gpubot/people.yaml is faulty ({people.problems[0]})."
    if ask.asker.person:
        return "I don't know which team you are in."
    return "I don't know you yet, so I can't tell which queue is yours."


def _by_local_queue(name: str, fleet: Fleet) -> Scope | None:
    wanted = name.casefold()
    found = [lq for lq in fleet.local_queues.values() if lq.name.casefold() == wanted]
    found = found or [lq for lq in fleet.local_queues.values() if lq.namespace == wanted]
    queues = tuple(dict.fromkeys(lq.cluster_queue for lq in found))
    known = tuple(q for q in queues if q in fleet.cluster_queues)
    if not known:
        return None
    if len(known) == 1:
        return Scope("queue", known[0], known)
    return Scope("team", name, known)


def _same(name: str, names: Mapping[str, object] | Iterable[str]) -> str | None:
    """Return the name itself where it exists, else the first that differs only in case."""
    if isinstance(names, Mapping) and name in names:
        return name
    folded = name.casefold()
    return next((n for n in names if n.casefold() == folded), None)
