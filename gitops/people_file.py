"""``gpubot/people.yaml`` to People: strictly, all problems at once, and empty when there is one.

Who may approve hangs on this map, so an account that two people claim is a problem, not a choice.
[pure]
"""

import re
from collections.abc import Callable, Iterable

from gitops.people import People, PersonEntry, Team
from gitops.strict_yaml import Block, load

PATH = "gpubot/people.yaml"
_SLACK = re.compile(r"[UW][A-Z0-9]{2,20}")
_ID = re.compile(r"[a-z0-9][a-z0-9._-]{0,62}")


def parse(raw: bytes | None) -> People:
    """Return the map; a missing or faulty file gives an empty one that carries the problems."""
    if raw is None:
        return People(problems=("the file is missing",))
    top = load(raw, "the file")
    top.only("people", "teams", "groups")
    people = {name: _person(name, block) for name, block in top.named("people")}
    teams = {name: _team(name, block, people) for name, block in top.named("teams")}
    groups = {
        name: _members(top.block("groups"), name, people) for name in top.block("groups").values
    }
    _unique(top, "Slack id", people, lambda p: p.slack)
    _unique(top, "forge login", people, lambda p: p.forge.casefold())
    _one_team_per_queue(top, teams.values())
    if not people and not top.problems:
        top.problems.append("the file names nobody")
    if top.problems:
        return People(problems=tuple(top.problems))
    return People(people, teams, groups)


def _person(name: str, block: Block) -> PersonEntry:
    block.only("name", "slack", "forge", "email")
    if not _ID.fullmatch(name):
        block.wrong(block.line, f"{name!r} is no id: use a-z, 0-9, '.', '_' and '-'")
    slack = block.text("slack")
    if slack and not _SLACK.fullmatch(slack):
        block.wrong(block.line, f"{name}: {slack!r} is no Slack user id (they look like U012ABC)")
    return PersonEntry(
        name, block.text("name", name), slack, block.text("forge"), block.text("email")
    )


def _team(name: str, block: Block, people: dict[str, PersonEntry]) -> Team:
    block.only("members", "owners", "cluster_queues", "namespaces", "channel")
    return Team(
        name,
        _members(block, "members", people),
        _members(block, "owners", people),
        block.texts("cluster_queues"),
        block.texts("namespaces"),
        block.text("channel"),
    )


def _members(block: Block, key: str, people: dict[str, PersonEntry]) -> tuple[str, ...]:
    named = block.texts(key)
    line = block.values[key].line if key in block.values else block.line
    for person in named:
        if person not in people:
            block.wrong(line, f"{person!r} in {key!r} is not one of the people")
    return named


def _unique(
    top: Block, what: str, people: dict[str, PersonEntry], account: Callable[[PersonEntry], str]
) -> None:
    seen: dict[str, str] = {}
    for person in people.values():
        name = account(person)
        if name and name in seen:
            top.problems.append(f"{seen[name]} and {person.id} have the same {what} {name}")
        seen.setdefault(name, person.id)


def _one_team_per_queue(top: Block, teams: Iterable[Team]) -> None:
    seen: dict[str, str] = {}
    for team in teams:
        for queue in team.cluster_queues:
            if queue in seen:
                top.problems.append(f"teams {seen[queue]} and {team.name} both list queue {queue}")
            seen.setdefault(queue, team.name)
