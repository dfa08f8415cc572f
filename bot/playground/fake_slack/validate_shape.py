"""Checks on JSON as small functions that compose; each reports where, in Slack's words. [pure]."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(slots=True)
class Report:
    """What was found wrong, each with the JSON pointer that Slack would give."""

    errors: list[str] = field(default_factory=list)

    def add(self, path: str, words: str) -> None:
        """Note one error at ``path``."""
        self.errors.append(f"{words} [json-pointer:{path}]")


Check = Callable[[Report, str, Any], None]


def anything(report: Report, path: str, value: Any) -> None:
    """Accept any value: the field exists in Slack and has no limit we know."""


def string(at_most: int, at_least: int = 0) -> Check:
    """Accept text of a length; Slack counts characters, not bytes."""

    def check(report: Report, path: str, value: Any) -> None:
        if not isinstance(value, str):
            report.add(path, "must be a string")
        elif len(value) > at_most:
            report.add(path, f"must be less than {at_most + 1} characters")
        elif len(value) < at_least:
            report.add(path, f"must be more than {at_least - 1} characters")

    return check


def boolean(report: Report, path: str, value: Any) -> None:
    """Accept true or false."""
    if not isinstance(value, bool):
        report.add(path, "must be a boolean")


def integer(at_least: int, at_most: int) -> Check:
    """Accept a whole number in a closed range."""

    def check(report: Report, path: str, value: Any) -> None:
        if not isinstance(value, int) or isinstance(value, bool):
            report.add(path, "must be an integer")
        elif not at_least <= value <= at_most:
            report.add(path, f"must be between {at_least} and {at_most}")

    return check


def one_of(*words: str) -> Check:
    """Accept one of a few words."""

    def check(report: Report, path: str, value: Any) -> None:
        if value not in words:
            report.add(path, f"must be one of: {', '.join(words)}")

    return check


def array(of: Check, at_most: int, at_least: int = 1) -> Check:
    """Accept a list of so many items, each of which passes ``of``."""

    def check(report: Report, path: str, value: Any) -> None:
        if not isinstance(value, list):
            report.add(path, "must be an array")
            return
        if len(value) > at_most:
            report.add(path, f"no more than {at_most} items allowed")
        if len(value) < at_least:
            report.add(path, f"no fewer than {at_least} items allowed")
        for index, item in enumerate(value):
            of(report, f"{path}/{index}", item)

    return check


def fields(required: Mapping[str, Check], optional: Mapping[str, Check] | None = None) -> Check:
    """Accept an object with these properties and no others (beside ``type``)."""
    known = {"type": anything, **(optional or {}), **required}

    def check(report: Report, path: str, value: Any) -> None:
        if not isinstance(value, dict):
            report.add(path, "must be an object")
            return
        for name in required:
            if value.get(name) is None:
                report.add(path, f"missing required field: {name}")
        for name, item in value.items():
            if name not in known:
                report.add(path, f"invalid additional property: {name}")
            elif item is not None:
                known[name](report, f"{path}/{name}", item)

    return check


def both(*checks: Check) -> Check:
    """Accept what passes every check; a value of the wrong shape stops at the first."""

    def check(report: Report, path: str, value: Any) -> None:
        for one in checks:
            before = len(report.errors)
            one(report, path, value)
            if len(report.errors) > before:
                return

    return check


def by_type(table: Mapping[str, Check]) -> Check:
    """Accept an object whose ``type`` is in the table and passes its check."""

    def check(report: Report, path: str, value: Any) -> None:
        kind = value.get("type") if isinstance(value, dict) else None
        if kind is None:
            report.add(path, "missing required field: type")
        elif kind not in table:
            report.add(path, f"unsupported type: {kind}")
        else:
            table[kind](report, path, value)

    return check


def exactly_one(*names: str) -> Check:
    """Accept an object that has one, and only one, of these properties."""

    def check(report: Report, path: str, value: Any) -> None:
        if sum(value.get(name) is not None for name in names) != 1:
            report.add(path, f"must define either {' or '.join(f'`{n}`' for n in names)}")

    return check
