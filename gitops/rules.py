"""The approval policy as values: rules, what they match, and what they require.

``gitops.policy_file`` reads them, ``gitops.policy`` applies them. [pure]
"""

import math
from dataclasses import dataclass
from datetime import timedelta
from typing import Literal

Of = Literal["queue", "any lender", "every lender", "any borrower", "every borrower"]


@dataclass(frozen=True, slots=True)
class Group:
    """So many different people of a group."""

    name: str
    count: int = 1


@dataclass(frozen=True, slots=True)
class Owners:
    """So many owners of the queue, or of the queues that lend to it or borrow from it."""

    of: Of
    count: int = 1


@dataclass(frozen=True, slots=True)
class Named:
    """So many of these people."""

    people: tuple[str, ...]
    count: int = 1


@dataclass(frozen=True, slots=True)
class AllOf:
    """Every part; nobody counts for two of them. No parts at all: nobody has to approve."""

    parts: "tuple[Requirement, ...]"


@dataclass(frozen=True, slots=True)
class AnyOf:
    """One of the parts is enough."""

    parts: "tuple[Requirement, ...]"


Requirement = Group | Owners | Named | AllOf | AnyOf
NOBODY = AllOf(())


@dataclass(frozen=True, slots=True)
class Match:
    """Which changes a rule is about: every given condition must hold; empty ones always do.

    Names may hold ``*``. ``asked_by`` are "owner" or "team" (of the queue) or groups. Amounts are
    quantities of the change's resource; a change to or from "no limit" is larger than any.
    ``for_at_most`` only fits a request with an end.
    """

    kinds: tuple[str, ...] = ()
    queues: tuple[str, ...] = ()
    teams: tuple[str, ...] = ()
    flavors: tuple[str, ...] = ()
    resources: tuple[str, ...] = ()
    clusters: tuple[str, ...] = ()
    asked_by: tuple[str, ...] = ()
    change: str = ""
    at_most: str = ""
    percent_at_most: int | None = None
    for_at_most: timedelta | None = None
    edited: bool = False


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule: the first that fits a change says who must approve it."""

    name: str
    match: Match
    needs: Requirement


@dataclass(frozen=True, slots=True)
class Policy:
    """The policy in force; ``hash`` names the file's exact bytes and votes are bound to it.

    ``requesters`` are "team" (of the queue), "anyone" (in people.yaml) or groups.
    """

    hash: str
    rules: tuple[Rule, ...] = ()
    requesters: tuple[str, ...] = ("team",)
    approve_within: timedelta = timedelta(days=3)
    merge_within: timedelta = timedelta(days=1)
    live_within: timedelta = timedelta(minutes=15)
    open_per_person: int = 5
    problems: tuple[str, ...] = ()


def ways(requirement: Requirement) -> int:
    """Return in how many ways a requirement can be met, counting each leaf as one."""
    match requirement:
        case AllOf(parts):
            return math.prod(ways(part) for part in parts)
        case AnyOf(parts):
            return sum(ways(part) for part in parts)
        case _:
            return 1
