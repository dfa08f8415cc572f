"""Reading the bot's own YAML files strictly: every problem at once, each with its line.

Unknown and repeated keys, anchors, tags, wrong types and several documents are problems, never
guessed around: these files say who may approve what. [pure]
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TypeVar

import yaml

T = TypeVar("T")
_UNITS = {"m": 60, "h": 3600, "d": 86400, "w": 604800}
_DURATION = re.compile(r"([1-9]\d{0,5})([mhdw])")
_LARGEST = 1_000_000
_DEEPEST = 20
# libyaml, where PyYAML was built with it, is not quadratic in nasty files.
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_NULL = "tag:yaml.org,2002:null"
_PLAIN = frozenset(
    f"tag:yaml.org,2002:{kind}"
    for kind in ("map", "seq", "str", "int", "float", "bool", "null", "timestamp")
)


@dataclass(frozen=True, slots=True)
class Value:
    """A node: text, a sequence, a mapping or None (null), with the line it starts on."""

    line: int
    content: "str | tuple[Value, ...] | Mapping[str, Value] | None"


@dataclass(frozen=True, slots=True)
class Block:
    """A mapping being read; what is wrong with it is added to ``problems``."""

    line: int
    values: Mapping[str, Value]
    problems: list[str] = field(compare=False)
    name: str = ""

    def wrong(self, line: int, what: str) -> None:
        """Note a problem at a line."""
        self.problems.append(f"line {line}: {what}")

    def only(self, *known: str) -> None:
        """Note every key that isn't known."""
        for key, value in self.values.items():
            if key not in known:
                self.wrong(value.line, f"unknown key {key!r}; known are {', '.join(known)}")

    def text(self, key: str, default: str | None = "") -> str:
        """Return a scalar's text; without a default (None) the key must be there."""
        value = self.values.get(key)
        if value is None:
            if default is None:
                self.wrong(self.line, f"{self.name} lacks {key!r}")
            return default or ""
        if isinstance(value.content, str):
            return value.content
        self.wrong(value.line, f"{key!r} must be one plain value")
        return default or ""

    def texts(self, key: str) -> tuple[str, ...]:
        """Return one or several texts as a tuple without repeats; absent is empty."""
        value = self.values.get(key)
        if value is None:
            return ()
        if isinstance(value.content, str):
            return (value.content,)
        if not isinstance(value.content, tuple):
            self.wrong(value.line, f"{key!r} must be a name or a list of names")
            return ()
        items = [item.content for item in value.content if isinstance(item.content, str)]
        if len(items) != len(value.content) or len(set(items)) != len(items):
            self.wrong(value.line, f"{key!r} must be a list of different names")
        return tuple(dict.fromkeys(items))

    def read(self, key: str, how: Callable[[str], T], default: T) -> T:
        """Return a scalar converted by ``how``, whose ValueError becomes a problem."""
        value = self.values.get(key)
        if value is None:
            return default
        try:
            return how(value.content if isinstance(value.content, str) else "")
        except ValueError as error:
            self.wrong(value.line, f"{key!r} {error}")
            return default

    def block(self, key: str) -> "Block":
        """Return a mapping inside; absent is an empty one."""
        value = self.values.get(key, Value(self.line, {}))
        return self.inside(value, f"{key!r}")

    def blocks(self, key: str) -> list["Block"]:
        """Return the mappings of a list."""
        value = self.values.get(key)
        if value is None:
            return []
        if not isinstance(value.content, tuple):
            self.wrong(value.line, f"{key!r} must be a list")
            return []
        return [self.inside(item, f"an entry of {key!r}") for item in value.content]

    def named(self, key: str) -> list[tuple[str, "Block"]]:
        """Return the entries of a mapping of mappings."""
        outer = self.block(key)
        return [(name, outer.inside(value, name)) for name, value in outer.values.items()]

    def inside(self, value: Value, name: str) -> "Block":
        """Return the value as a mapping to read; anything else is a problem and reads as empty."""
        if isinstance(value.content, Mapping):
            return Block(value.line, value.content, self.problems, name)
        self.wrong(value.line, f"{name} must be a mapping of keys to values")
        return Block(value.line, {}, self.problems, name)


def load(raw: bytes, name: str) -> Block:
    """Parse one document into the block of its keys; problems are in the block."""
    problems: list[str] = []
    empty = Block(1, {}, problems, name)
    if len(raw) > _LARGEST:
        problems.append(f"the file is larger than {_LARGEST} bytes")
        return empty
    try:
        text = raw.decode("utf-8")
        problems += _too_clever(text)
        node = None if problems else yaml.compose(text, _LOADER)
    except (UnicodeDecodeError, yaml.YAMLError) as error:
        problems.append(" ".join(str(error).split()))
        return empty
    if node is None:
        problems += () if problems else ("the file is empty",)
        return empty
    return empty.inside(_value(node, problems), name)


def duration(text: str) -> timedelta:
    """Return a duration such as 30m, 12h, 3d or 2w; raises ValueError."""
    found = _DURATION.fullmatch(text)
    if not found:
        raise ValueError(f"must be a duration such as 30m, 12h, 3d or 2w, not {text!r}")
    return timedelta(seconds=int(found[1]) * _UNITS[found[2]])


def positive(text: str) -> int:
    """Return a whole number from 1 to 10000; raises ValueError."""
    if not re.fullmatch(r"[1-9]\d{0,3}|10000", text):
        raise ValueError(f"must be a whole number from 1 to 10000, not {text!r}")
    return int(text)


def _too_clever(text: str) -> Iterator[str]:
    """Yield what is refused before a tree is built: aliases, and nesting that no stack can take."""
    depth = 0
    for event in yaml.parse(text, _LOADER):
        if isinstance(event, yaml.AliasEvent):
            yield "anchors and aliases are not allowed here"
            return
        depth += isinstance(event, yaml.CollectionStartEvent)
        depth -= isinstance(event, yaml.CollectionEndEvent)
        if depth > _DEEPEST:
            yield f"nested more than {_DEEPEST} deep"
            return


def _value(node: yaml.Node, problems: list[str]) -> Value:
    line = node.start_mark.line + 1 if node.start_mark else 0
    if node.tag not in _PLAIN:
        problems.append(f"line {line}: the tag {node.tag} is not allowed here")
    if isinstance(node, yaml.ScalarNode):
        return Value(line, None if node.tag == _NULL else str(node.value))
    if isinstance(node, yaml.SequenceNode):
        return Value(line, tuple(_value(item, problems) for item in node.value))
    found: dict[str, Value] = {}
    for key, value in node.value:
        name = str(key.value) if isinstance(key, yaml.ScalarNode) else "(a key that is no text)"
        if name in found:
            problems.append(f"line {key.start_mark.line + 1}: {name!r} is there twice")
        found[name] = _value(value, problems)
    return Value(line, found)
