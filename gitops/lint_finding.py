"""What the lint reports, and how a rule reports it.

[pure]
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, Literal

from capacity.errors import UsageError
from capacity.quantity import parse
from gitops.index_entry import Manifest
from gitops.piece import Unquoted

Severity = Literal["error", "warning"]


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is wrong or worth knowing about an object after the change.

    ``rule`` names it ("K7" is Kueue's or its API server's, "P1" the platform's), ``field`` is the
    path in the object, ``message`` is in upstream's words where upstream has any. ``known`` means
    that it was so before the change: it then blocks nothing.
    """

    rule: str
    severity: Severity
    subject: str
    field: str
    message: str
    place: str = ""
    known: bool = False

    @property
    def blocks(self) -> bool:
        """Whether the change must not be made."""
        return self.severity == "error" and not self.known

    @property
    def sentence(self) -> str:
        """The finding for people: what, where, why."""
        field = f" {self.field}" if self.field else ""
        place = f" ({self.place})" if self.place else ""
        return f"{self.subject}{field}: {self.message}{place}."

    @property
    def key(self) -> tuple[str, ...]:
        """What makes it the same finding before and after a change."""
        return self.rule, self.subject, self.field, self.message


@dataclass(frozen=True, slots=True)
class Report:
    """Collects what rules find about one object; ``update`` tells that it exists already."""

    manifest: Manifest
    update: bool = False
    findings: list[Finding] = field(default_factory=list)

    @property
    def spec(self) -> Mapping[str, Any]:
        """The object's spec; empty when it has none or a template stands there."""
        return mapping(self.manifest.data.get("spec"))

    def error(self, rule: str, path: str, message: str) -> None:
        """Report what the cluster would refuse, or what breaks it."""
        self._add(rule, "error", path, message)

    def warn(self, rule: str, path: str, message: str) -> None:
        """Report what is accepted, but probably not meant."""
        self._add(rule, "warning", path, message)

    def invalid(self, rule: str, path: str, value: object, message: str) -> None:
        """Report an error in the API server's form."""
        self.error(rule, path, f"Invalid value: {_shown(value)}: {message}")

    def one_of(self, rule: str, path: str, value: object, allowed: tuple[str, ...]) -> None:
        """Report a value that isn't one of those allowed; absent and templated ones are fine."""
        if value is None or templated(value) or value in allowed:
            return
        choices = ", ".join(f'"{choice}"' for choice in allowed)
        self.error(rule, path, f"Unsupported value: {_shown(value)}: supported values: {choices}")

    def _add(self, rule: str, severity: Severity, path: str, message: str) -> None:
        found = self.manifest
        name = f"{found.namespace}/{found.name}" if found.namespace else found.name
        self.findings.append(
            Finding(rule, severity, f"{found.kind} {name}", path, message, found.place)
        )


Rule = Callable[[Report], None]


def templated(value: object) -> bool:
    """Tell whether a value is, or has, a template expression: nothing can be said about it."""
    return isinstance(value, str) and ("{{" in value or "${" in value or "%{" in value)


def mapping(value: object) -> Mapping[str, Any]:
    """Return the value if it is a mapping, else an empty one."""
    return value if isinstance(value, dict) else {}


def listed(value: object) -> list[Any]:
    """Return the value if it is a list, else an empty one."""
    return value if isinstance(value, list) else []


def quantity(value: object) -> Decimal | None:
    """Return a quantity's value; None when it is absent, templated or none."""
    if value is None or isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    try:
        return parse(value.number if isinstance(value, Unquoted) else str(value))
    except UsageError:
        return None


def cohort_key(manifest: Manifest) -> str:
    """Return the name of the field that puts the object under a cohort, for its version."""
    version = str(manifest.data.get("apiVersion", "")).rpartition("/")[2]
    if manifest.kind == "Cohort":
        return "parent" if version == "v1alpha1" else "parentName"
    return "cohort" if version == "v1beta1" else "cohortName"


def each(value: object, path: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the mappings of a list with their paths."""
    for position, item in enumerate(listed(value)):
        yield f"{path}[{position}]", mapping(item)


def _shown(value: object) -> str:
    return f'"{value}"' if isinstance(value, str) else str(value)
