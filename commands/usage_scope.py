"""Whose GPU-hours a question is about: the namespaces of a team, a queue, a cohort, or all.

[pure]
"""

from dataclasses import dataclass

from capacity.errors import Gap, SourceDown, UnknownName
from capacity.model import Fleet
from commands.command import Ask, World
from commands.scope import Scope, find, scope_of
from gitops.people import People, Team

EVERYBODY = {"all", "everybody", "everyone", "cluster"}


@dataclass(frozen=True, slots=True)
class Whose:
    """The name that was asked about and its namespaces; ``namespaces`` None is everybody's.

    ``queues`` are its ClusterQueues. ``also`` are other ClusterQueues that the same namespaces can
    send jobs to: their hours are in the account too. ``others`` are the asker's further teams.
    """

    name: str
    namespaces: tuple[str, ...] | None
    queues: tuple[str, ...] = ()
    also: tuple[str, ...] = ()
    others: tuple[str, ...] = ()

    @property
    def asked(self) -> str:
        """The word that asks about it again."""
        return "all" if self.namespaces is None else self.name


def known_fleet(world: World) -> tuple[Fleet | None, tuple[Gap, ...]]:
    """Return the cluster if it can be read, and what its absence leaves out."""
    try:
        fleet = world.fleet()
    except SourceDown as down:
        return None, (Gap(down.source, down.since, "queues, and whose job a pod was"),)
    return fleet, fleet.gaps


def whose(ask: Ask, fleet: Fleet | None, people: People) -> Whose:
    """Return whose hours the first argument means, or the asker's own team's without one.

    A team's namespaces are those of people.yaml, or else where its queues' LocalQueues are. Raises
    UnknownName and UsageError as ``commands.scope``; without a cluster only teams are known.
    """
    if ask.args and ask.args[0].casefold() in EVERYBODY:
        return Whose("The cluster", None, tuple(fleet.cluster_queues) if fleet else ())
    if fleet is None:
        return _of_team(_team(ask, people))
    scope = find(ask.args[0], fleet, people) if ask.args else scope_of(ask, fleet, people)
    team = people.teams.get(scope.name)
    of_queues = _namespaces(scope.queues, fleet)
    namespaces = (team.namespaces if team and scope.kind != "cohort" else ()) or of_queues
    return Whose(
        scope.name, namespaces, scope.queues, _also(namespaces, scope, fleet), scope.others
    )


def _team(ask: Ask, people: People) -> Team:
    wanted = ask.args[:1] or ask.asker.teams[:1]
    for team in people.teams.values():
        if wanted and team.name.casefold() == wanted[0].casefold():
            return team
    raise UnknownName("team", "".join(wanted), tuple(people.teams)[:3])


def _of_team(team: Team) -> Whose:
    return Whose(team.name, team.namespaces, team.cluster_queues)


def _namespaces(queues: tuple[str, ...], fleet: Fleet) -> tuple[str, ...]:
    local = fleet.local_queues.values()
    return tuple(sorted({lq.namespace for lq in local if lq.cluster_queue in queues}))


def _also(namespaces: tuple[str, ...], scope: Scope, fleet: Fleet) -> tuple[str, ...]:
    local = (lq for lq in fleet.local_queues.values() if lq.namespace in namespaces)
    return tuple(sorted({lq.cluster_queue for lq in local} - set(scope.queues)))
