"""Where pods may go: a flavor's taints and labels against pods' tolerations and node affinity.

Kueue asks only what a ResourceFlavor can answer: taints that keep pods away, and selectors on
labels that the flavor has (flavorassigner's checkFlavorForPodSets). Whatever else a pod selects
by is left to the scheduler.

[pure]
"""

from collections.abc import Callable, Collection, Mapping
from typing import NamedTuple


class Taint(NamedTuple):
    """A taint; NoSchedule and NoExecute keep pods away that don't tolerate it."""

    key: str
    value: str
    effect: str

    def __str__(self) -> str:
        """Return it as kubectl writes it: "gpu=h100:NoSchedule"."""
        return (
            f"{self.key}={self.value}:{self.effect}" if self.value else f"{self.key}:{self.effect}"
        )


class Toleration(NamedTuple):
    """A toleration; an empty key or effect means any, an empty operator Equal."""

    key: str = ""
    operator: str = ""
    value: str = ""
    effect: str = ""

    def tolerates(self, taint: Taint) -> bool:
        """Tell whether it tolerates a taint (core/v1 ToleratesTaint)."""
        if self.effect not in ("", taint.effect) or self.key not in ("", taint.key):
            return False
        match self.operator:
            case "" | "Equal":
                return self.value == taint.value
            case "Exists":
                return True
            case "Lt" | "Gt":
                return _compare(self.operator, taint.value, self.value)
        return False


class Requirement(NamedTuple):
    """What a node's label must be: In, NotIn, Exists, DoesNotExist, Gt or Lt."""

    key: str
    operator: str
    values: tuple[str, ...] = ()


Terms = tuple[tuple[Requirement, ...], ...]
"""Required node affinity: any of the terms, and of that all requirements; no terms select all."""


def untolerated(taints: Collection[Taint], tolerations: Collection[Toleration]) -> Taint | None:
    """Return the first taint that keeps pods with these tolerations away, if there is one."""
    for taint in taints:
        hard = taint.effect in ("NoSchedule", "NoExecute")
        if hard and not any(toleration.tolerates(taint) for toleration in tolerations):
            return taint
    return None


def selected(labels: Mapping[str, str], selector: Mapping[str, str], terms: Terms) -> bool:
    """Tell whether a node selector and affinity allow a flavor, by the labels that it has.

    A term that asks for nothing the flavor has allows it.
    """
    if any(labels.get(key, value) != value for key, value in selector.items()):
        return False
    return not terms or any(
        all(_holds(each, labels[each.key]) for each in term if each.key in labels) for term in terms
    )


_OPERATORS: Mapping[str, Callable[[str, tuple[str, ...]], bool]] = {
    "In": lambda label, values: label in values,
    "NotIn": lambda label, values: label not in values,
    "Exists": lambda *_: True,
    "Gt": lambda label, values: _compare("Gt", label, *values[:1]),
    "Lt": lambda label, values: _compare("Lt", label, *values[:1]),
}


def _holds(requirement: Requirement, label: str) -> bool:
    """Tell whether a label that is there satisfies a requirement; one of no known kind fails."""
    holds = _OPERATORS.get(requirement.operator)
    return holds is not None and holds(label, requirement.values)


def _compare(operator: str, given: str, bound: str = "") -> bool:
    try:
        difference = int(given) - int(bound)
    except ValueError:
        return False
    return difference > 0 if operator == "Gt" else difference < 0
