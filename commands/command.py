"""[pure] Ask, Answer and the things every command needs.

A command is one module: ``answer(ask, world) -> <its own frozen Answer dataclass>`` and
``page(answer) -> Page``. ``commands.table.COMMANDS`` lists them all; help, parser, Slack manifest
and docs read that table.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Protocol

from capacity.delivery import Deliveries
from capacity.errors import Gap
from capacity.model import Fleet
from commands.history import Recorded
from commands.page import Page
from gitops.index import Index
from gitops.people import People
from gitops.prices import Prices


@dataclass(frozen=True, slots=True)
class Asker:
    """Who asks: a person's id in people.yaml ("" when unknown) and their teams."""

    person: str = ""
    teams: tuple[str, ...] = ()
    time_zone: str = "UTC"


@dataclass(frozen=True, slots=True)
class Ask:
    """A parsed question: the command's word, its arguments and ``--name value`` options."""

    word: str
    args: tuple[str, ...] = ()
    options: Mapping[str, str] = field(default_factory=dict)
    asker: Asker = Asker()
    attachment: str = ""


class Answer(Protocol):
    """What every answer carries beside its own data."""

    @property
    def as_of(self) -> datetime: ...
    @property
    def source(self) -> str: ...
    @property
    def gaps(self) -> tuple[Gap, ...]: ...


class World(Protocol):
    """What commands may look at; filled by ``bot.wiring``, faked by hand in tests."""

    def now(self) -> datetime: ...
    def fleet(self) -> Fleet:
        """A consistent read of the cluster; raises SourceDown if it never was readable."""
        ...

    def people(self) -> People:
        """The people map of the GitOps repository."""
        ...

    def pending_order(self, cluster_queue: str) -> tuple[str, ...] | None:
        """Uids of pending workloads in Kueue's order (visibility API); None if it is absent."""
        ...

    def past(self, cluster_queues: Collection[str]) -> Recorded:
        """What was written down of these queues' jobs, beside what the cluster still shows."""
        ...

    def meter(self) -> Any:
        """The GPU meter (``commands.usage_data.Meter``); its queries raise SourceDown."""
        ...

    def prices(self) -> Prices | None:
        """What a GPU-hour costs, by the GitOps repository; None when it doesn't say."""
        ...

    def repository_index(self) -> Index:
        """What the tip of the GitOps repository holds; raises SourceDown when it can't be read."""
        ...

    def deliveries(self) -> Deliveries:
        """What Flux or Argo CD say of that repository; empty where neither is installed."""
        ...


@dataclass(frozen=True, slots=True)
class Command:
    """One question people can ask, and how it is answered and shown.

    ``options`` are the names that may follow ``--``; anything else there is a mistake.
    """

    word: str
    usage: str
    summary: str
    examples: tuple[str, ...]
    answer: Callable[[Ask, World], Any]
    page: Callable[[Any], Page]
    options: tuple[str, ...] = ()
