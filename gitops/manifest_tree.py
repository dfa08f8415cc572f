"""YAML as a tree of nodes with exact spans; the one home of the YAML parser for edits.

libyaml's events are used where PyYAML has them (10 times faster, and the parser that
Kubernetes' own was ported from); the text never has a byte order mark here, which is the only
thing that makes its offsets wrong.

[pure]
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

import yaml

from capacity.errors import Refused
from gitops.manifest_text import Text

_LOADER = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
_OPENING = frozenset({yaml.MappingStartEvent, yaml.SequenceStartEvent})
_STREAM = frozenset({yaml.StreamStartEvent, yaml.StreamEndEvent})
_PROPERTIES = re.compile(r"(?:[&!]\S*\s+)+")


class Scalar(NamedTuple):
    """A value; the span covers its quotes, but neither anchor nor tag. Style "" is plain."""

    value: str
    start: int
    end: int
    style: str = ""
    anchor: str = ""
    tag: str = ""


class Alias(NamedTuple):
    """``*name``: the value stands at the anchor, not here."""

    name: str
    start: int
    end: int


class Mapping(NamedTuple):
    """Keys and values in the file's order; duplicates are kept, so that they can be refused."""

    entries: "tuple[tuple[Node, Node], ...]"
    start: int
    end: int
    flow: bool = False
    anchor: str = ""

    def get(self, key: str) -> "Node | None":
        """Return the value of a key as written here; merge keys are not followed."""
        return next((v for k, v in self.entries if isinstance(k, Scalar) and k.value == key), None)


class Sequence(NamedTuple):
    """Items in the file's order."""

    items: "tuple[Node, ...]"
    start: int
    end: int
    flow: bool = False
    anchor: str = ""


Node = Scalar | Alias | Mapping | Sequence


@dataclass(frozen=True, slots=True)
class Document:
    """One document of a file; ``root`` is None when it holds nothing but comments."""

    root: Node | None
    start: int


@lru_cache(maxsize=8)
def parse(text: Text) -> tuple[Document, ...]:
    """Parse all documents; raises Refused with the parser's reason and the line."""
    failure: yaml.YAMLError | None = None
    for candidate in text.candidates():
        try:
            return _documents(candidate)
        except yaml.YAMLError as error:
            failure = failure or error
    assert failure is not None
    raise unparsable(text, failure) from None


def unparsable(text: Text, error: yaml.YAMLError) -> Refused:
    """Say why and where the text is not YAML."""
    mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    line = text.line(mark.index) if mark else text.first_line
    reason = getattr(error, "problem", None) or getattr(error, "reason", None) or str(error)
    masked = ", even with its templates masked" if text.templates else ""
    return Refused(
        f"{text.path}:{line} can't be parsed as YAML{masked}: {reason}.",
        "Correct the file, or edit it by hand.",
    )


def walk(node: Node | None) -> Iterator[Node]:
    """Yield the node and everything below it, keys included."""
    stack = [node] if node is not None else []
    while stack:
        here = stack.pop()
        yield here
        if isinstance(here, Mapping):
            stack += [part for entry in here.entries for part in entry]
        elif isinstance(here, Sequence):
            stack += here.items


def _documents(source: str) -> tuple[Document, ...]:
    loader = _LOADER(source)
    try:
        return tuple(_read(loader, source))
    finally:
        loader.dispose()


class _Open:
    """A collection whose end has not been seen yet."""

    __slots__ = ("anchor", "flow", "nodes", "sequence", "start")

    def __init__(self, event: Any, *, sequence: bool) -> None:
        self.sequence = sequence
        self.start: int = event.start_mark.index
        self.flow = bool(event.flow_style)
        self.anchor: str = event.anchor or ""
        self.nodes: list[Node] = []

    def close(self, end: int) -> Node:
        nodes = self.nodes
        if self.sequence:
            return Sequence(tuple(nodes), self.start, end, self.flow, self.anchor)
        pairs = tuple(zip(nodes[::2], nodes[1::2], strict=True))
        return Mapping(pairs, self.start, end, self.flow, self.anchor)


def _read(loader: Any, source: str) -> Iterator[Document]:
    stack: list[_Open] = []
    root: Node | None = None
    started = 0
    anchors: set[str] = set()
    while (event := loader.get_event()) is not None:
        shape = type(event)
        if shape in _OPENING:
            stack.append(_Open(event, sequence=shape is yaml.SequenceStartEvent))
            _check_anchor(event, anchors)
        elif shape is yaml.DocumentStartEvent:
            root, started = None, event.start_mark.index
            anchors.clear()
        elif shape is yaml.DocumentEndEvent:
            yield Document(root if _written(root) else None, started)
        elif shape not in _STREAM:
            node = _finished(event, stack, source)
            _check_anchor(event, anchors)
            if stack:
                stack[-1].nodes.append(node)
            else:
                root = node


def _check_anchor(event: Any, anchors: set[str]) -> None:
    """Note an anchor; an alias of none is an error that the parser leaves to its caller."""
    anchor, shape = getattr(event, "anchor", None), type(event)
    if anchor is None:
        return
    if shape is not yaml.AliasEvent:
        anchors.add(anchor)
    elif anchor not in anchors:
        raise yaml.MarkedYAMLError(
            problem=f"found the undefined alias {anchor!r}", problem_mark=event.start_mark
        )


def _finished(event: Any, stack: list[_Open], source: str) -> Node:
    """Return the node that an event completes."""
    shape = type(event)
    if shape is yaml.ScalarEvent:
        return _scalar(event, source)
    if shape is yaml.AliasEvent:
        return Alias(event.anchor, event.start_mark.index, event.end_mark.index)
    return stack.pop().close(event.end_mark.index)


def _written(root: Node | None) -> bool:
    return not (isinstance(root, Scalar) and root.start == root.end)


def _scalar(event: Any, source: str) -> Scalar:
    start, end = event.start_mark.index, event.end_mark.index
    if event.anchor or event.tag:
        properties = _PROPERTIES.match(source, start, end)
        start = properties.end() if properties else start
    style = event.style or ""
    return Scalar(event.value, start, end, style, event.anchor or "", event.tag or "")
