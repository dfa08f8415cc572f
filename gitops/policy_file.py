"""``gpubot/policy.yaml`` to a Policy: strictly, all problems at once, denying when in doubt.

A missing, empty or faulty file gives a policy without rules, which allows nothing; it carries the
problems so that people learn why. [pure]
"""

import hashlib
from collections import Counter
from collections.abc import Callable, Sequence
from typing import get_args

from capacity.errors import UsageError
from capacity.quantity import parse as parse_quantity
from gitops.rules import (
    NOBODY,
    AllOf,
    AnyOf,
    Group,
    Match,
    Named,
    Of,
    Owners,
    Policy,
    Requirement,
    Rule,
    ways,
)
from gitops.strict_yaml import Block, Value, duration, load, positive

PATH = "gpubot/policy.yaml"
_KINDS = ("nominal", "borrowing", "lending")
_OF: tuple[Of, ...] = get_args(Of)
_CONDITIONS = (
    "kind",
    "queue",
    "team",
    "flavor",
    "resource",
    "cluster",
    "asked_by",
    "change",
    "at_most",
    "percent_at_most",
    "for_at_most",
    "edited",
)
_OPERATORS = ("all", "any", "group", "owners_of", "people")
_MOST_WAYS = 64
_DEEPEST = 5


def parse(raw: bytes | None) -> Policy:
    """Return the policy; with any problem it has no rules and so denies everything."""
    version = hashlib.sha256(raw or b"").hexdigest()
    if raw is None:
        return Policy(version, problems=("the file is missing",))
    top = load(raw, "the file")
    top.only("requesters", "clocks", "limits", "rules")
    clocks, limits = top.block("clocks"), top.block("limits")
    clocks.only("approve_within", "merge_within", "live_within")
    limits.only("open_per_person")
    usual = Policy(version)
    policy = Policy(
        version,
        tuple(_rule(block) for block in top.blocks("rules")),
        top.texts("requesters") or usual.requesters,
        clocks.read("approve_within", duration, usual.approve_within),
        clocks.read("merge_within", duration, usual.merge_within),
        clocks.read("live_within", duration, usual.live_within),
        limits.read("open_per_person", positive, usual.open_per_person),
    )
    if not policy.rules and not top.problems:
        top.problems.append("the file has no rules")
    _different_names(top, policy.rules)
    return Policy(version, problems=tuple(top.problems)) if top.problems else policy


def _rule(block: Block) -> Rule:
    block.only("name", "when", "needs")
    name = block.text("name", None)
    needs = block.values.get("needs")
    if needs is None:
        block.wrong(
            block.line, f"rule {name!r} lacks 'needs' (write \"needs: nobody\" if you mean it)"
        )
        return Rule(name, Match(), AnyOf(()))
    requirement = _requirement(block, needs)
    if ways(requirement) > _MOST_WAYS:
        block.wrong(needs.line, f"can be met in more than {_MOST_WAYS} ways; make it simpler")
    return Rule(name, _match(block.block("when")), requirement)


def _match(when: Block) -> Match:
    when.only(*_CONDITIONS)
    kinds = when.texts("kind")
    for kind in kinds:
        if kind not in _KINDS:
            when.wrong(when.values["kind"].line, f"kind {kind!r} is none of {', '.join(_KINDS)}")
    return Match(
        kinds,
        when.texts("queue"),
        when.texts("team"),
        when.texts("flavor"),
        when.texts("resource"),
        when.texts("cluster"),
        when.texts("asked_by"),
        when.read("change", _one_of("raise", "lower"), ""),
        when.read("at_most", _quantity, ""),
        when.read("percent_at_most", positive, None),
        when.read("for_at_most", duration, None),
        when.read("edited", _one_of("true", "false"), "false") == "true",
    )


def _requirement(block: Block, value: Value, depth: int = 0) -> Requirement:
    if value.content == "nobody" and not depth:
        return NOBODY
    inner = block.inside(value, "'needs'")
    found = [key for key in _OPERATORS if key in inner.values]
    if len(found) != 1 or depth > _DEEPEST:
        inner.wrong(value.line, f"a requirement has one of {', '.join(_OPERATORS)}")
        return AnyOf(())
    if found[0] in ("all", "any"):
        return _parts(inner, found[0], depth)
    inner.only(found[0], "count")
    count = inner.read("count", positive, 1)
    if found[0] == "group":
        return Group(inner.text("group", None), count)
    if found[0] == "owners_of":
        return Owners(inner.read("owners_of", _owners_of, "queue"), count)
    return _named(inner, count)


def _parts(inner: Block, operator: str, depth: int) -> Requirement:
    inner.only(operator)
    items = inner.values[operator]
    if not isinstance(items.content, tuple) or not items.content:
        inner.wrong(items.line, f"{operator!r} must be a list of requirements, not empty")
        return AnyOf(())
    parts = tuple(_requirement(inner, item, depth + 1) for item in items.content)
    return AllOf(parts) if operator == "all" else AnyOf(parts)


def _named(inner: Block, count: int) -> Named:
    people = inner.texts("people")
    if len(people) < count:
        inner.wrong(inner.line, f"{count} of {len(people)} people can never be met")
    return Named(people, count)


def _owners_of(text: str) -> Of:
    for of in _OF:
        if text == of:
            return of
    raise ValueError(f"must be one of {', '.join(_OF)}, not {text!r}")


def _one_of(*words: str) -> Callable[[str], str]:
    def read(text: str) -> str:
        if text not in words:
            raise ValueError(f"must be {' or '.join(words)}, not {text!r}")
        return text

    return read


def _quantity(text: str) -> str:
    try:
        negative = parse_quantity(text) < 0
    except UsageError:
        negative = True
    if negative:
        raise ValueError(f"must be a quantity such as 8 or 500m, not {text!r}")
    return text


def _different_names(top: Block, rules: Sequence[Rule]) -> None:
    for name, count in Counter(rule.name for rule in rules).items():
        if count > 1:
            top.problems.append(f"{count} rules are called {name!r}")
