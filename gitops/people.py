"""Who is who: people, teams and groups of ``gpubot/people.yaml``.

The file is parsed by ``gitops.people_file``; here are the values, and whose an account is. [pure]
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal


@dataclass(frozen=True, slots=True)
class Actor:
    """Who acts, as the edge saw it: an account id, never a name and never a claim of a right.

    ``account`` is a Slack user id, a forge login, or (``terminal``) a person's id, given by an
    operator who has the machine anyway.
    """

    via: Literal["slack", "forge", "terminal"]
    account: str


@dataclass(frozen=True, slots=True)
class PersonEntry:
    """One person: the canonical id that Slack and forge accounts map to."""

    id: str
    name: str
    slack: str = ""
    forge: str = ""
    email: str = ""


@dataclass(frozen=True, slots=True)
class Team:
    """A team: its members, its owners, and the queues and namespaces it answers for."""

    name: str
    members: tuple[str, ...] = ()
    owners: tuple[str, ...] = ()
    cluster_queues: tuple[str, ...] = ()
    namespaces: tuple[str, ...] = ()
    channel: str = ""


@dataclass(frozen=True, slots=True)
class People:
    """The whole map; an empty one knows nobody and so allows nothing.

    ``problems`` are those of the file it was read from; a file with problems gives an empty map.
    """

    people: Mapping[str, PersonEntry] = field(default_factory=dict)
    teams: Mapping[str, Team] = field(default_factory=dict)
    groups: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    problems: tuple[str, ...] = ()

    def by_slack(self, user: str) -> PersonEntry | None:
        """Return the one person with this Slack user id; None if none or more than one has it."""
        found = [p for p in self.people.values() if p.slack and p.slack == user]
        return found[0] if len(found) == 1 else None

    def by_forge(self, login: str) -> PersonEntry | None:
        """Return the one person with this forge login (case doesn't count), else None."""
        wanted = login.casefold()
        found = [p for p in self.people.values() if p.forge and p.forge.casefold() == wanted]
        return found[0] if len(found) == 1 else None

    def find(self, actor: Actor) -> PersonEntry | None:
        """Return the person that the account belongs to; None when unknown or ambiguous."""
        match actor.via:
            case "slack":
                return self.by_slack(actor.account)
            case "forge":
                return self.by_forge(actor.account)
            case "terminal":
                return self.people.get(actor.account)

    def teams_of(self, person: str) -> tuple[Team, ...]:
        """Return the teams that the person is a member or owner of."""
        return tuple(t for t in self.teams.values() if person in t.members + t.owners)

    def team_of_queue(self, cluster_queue: str) -> Team | None:
        """Return the team that answers for this ClusterQueue, if any."""
        return next((t for t in self.teams.values() if cluster_queue in t.cluster_queues), None)

    def owners_of_queue(self, cluster_queue: str) -> tuple[str, ...]:
        """Return the ids of those who own this ClusterQueue, through all teams that list it."""
        teams = (t for t in self.teams.values() if cluster_queue in t.cluster_queues)
        return tuple(dict.fromkeys(owner for team in teams for owner in team.owners))
