"""What the rules about the whole tree look at: before, after, the live fleet, the platform.

[pure]
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from capacity.model import ClusterQueue, FlavorResource, Fleet, Quota, quotas
from capacity.quota import Tree
from gitops.declared import Declared, declared
from gitops.index_entry import Manifest
from gitops.lint_finding import Finding, Severity


@dataclass(frozen=True, slots=True)
class Platform:
    """What the platform promises: how much there is, and what nobody may fall below.

    ``capacity`` is what exists physically by (flavor, resource); ``minimum`` the nominal quota
    that a queue keeps. ``overcommit_blocks`` makes promising more than there is an error.
    """

    capacity: Mapping[FlavorResource, int] = field(default_factory=dict)
    minimum: Mapping[tuple[str, FlavorResource], int] = field(default_factory=dict)
    overcommit_blocks: bool = False
    drain_confirmed: bool = False


@dataclass(frozen=True)
class State:
    """The objects of one cluster, read as model values."""

    manifests: Sequence[Manifest]

    @cached_property
    def declared(self) -> Declared:
        """ClusterQueues and Cohorts."""
        return declared(self.manifests)

    @cached_property
    def tree(self) -> Tree:
        """Their tree, without usage."""
        return self.declared.tree()

    @cached_property
    def potentials(self) -> Mapping[str, Mapping[FlavorResource, int]]:
        """The most that each queue can ever have."""
        return self.tree.potentials()

    @cached_property
    def queues(self) -> Mapping[str, ClusterQueue]:
        """ClusterQueues by name."""
        return {queue.name: queue for queue in self.declared.cluster_queues}

    @cached_property
    def named(self) -> Mapping[tuple[str, str, str], Manifest]:
        """Every object by kind, namespace and name."""
        return {(m.kind, m.namespace, m.name): m for m in self.manifests}

    def same(self, manifest: Manifest) -> Manifest | None:
        """Return the object of the same identity in this state."""
        return self.named.get((manifest.kind, manifest.namespace, manifest.name))

    def quotas(self, queue: str) -> Mapping[FlavorResource, Quota]:
        """Return a queue's quotas; empty if there is no such queue."""
        return quotas(self.queues[queue]) if queue in self.queues else {}

    def finding(self, rule: str, severity: Severity, kind: str, name: str, message: str) -> Finding:
        """Make a finding about an object of this state."""
        manifest = self.named.get((kind, "", name))
        place = manifest.place if manifest is not None else ""
        return Finding(rule, severity, f"{kind} {name}", "", message, place)


@dataclass(frozen=True)
class Situation:
    """A change of the whole: what was, what will be, and what is live."""

    before: State
    after: State
    fleet: Fleet | None
    platform: Platform
