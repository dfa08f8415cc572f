"""A pasted manifest as the shape of a job, read safely: no tags, aliases, depth or size to hurt.

[pure]
"""

import re
from collections.abc import Mapping
from typing import Any

import yaml

from capacity.errors import UsageError
from capacity.model import PodSet
from commands.fit_shape import Shape
from commands.manifest_kinds import knows, pod_sets
from commands.words import count, listing

MOST_BYTES = 64 * 1024
_MOST_DEPTH = 40
_MOST_EVENTS = 20_000
_QUEUE = "kueue.x-k8s.io/queue-name"
_PRIORITY = "kueue.x-k8s.io/priority-class"
_MOST_PODS = 1_000_000
_MOST_KINDS = 8
_LONGEST_NAME = 253  # of a Kubernetes object
_FENCE = re.compile(r"\s*(?:---\s*\n\s*)?```(?:(?:ya?ml|json)[ \t]*\n)?")
_AGAIN = "Paste one whole Job, JobSet, PyTorchJob, RayJob or Workload."


def shape_of(text: str) -> Shape:
    """Return the shape of the first job in a manifest (YAML or JSON, several documents are fine).

    Raises UsageError with the reason for anything that isn't such a manifest.
    """
    if len(text.encode("utf-8", "replace")) > MOST_BYTES:
        raise UsageError(f"The manifest is larger than {MOST_BYTES // 1024} KiB.", _AGAIN)
    documents = [d for d in _documents(unfenced(text)) if isinstance(d, Mapping)]
    jobs = [d for d in documents if knows(d.get("kind"))]
    if not jobs:
        named = sorted({str(d.get("kind"))[:40] for d in documents})
        kinds = listing(named[:_MOST_KINDS]) or "nothing"
        raise UsageError(f"I see no job in it, only {kinds}.", _AGAIN)
    return _shape(jobs[0], len(jobs) - 1)


def _shape(job: Mapping[str, Any], others: int) -> Shape:
    kind, spec = str(job["kind"]), _block(job, "spec")
    if not spec:
        raise UsageError(f"That {kind} has no spec.", _AGAIN)
    meta = _block(job, "metadata")
    labels = _block(meta, "labels")
    sets = pod_sets(kind, spec)
    _check(sets)
    workload = spec if kind == "Workload" else {}
    return Shape(
        title=f"{kind} {_text(meta, 'name') or 'without name'}",
        pod_sets=sets,
        queue_name=_text(labels, _QUEUE) or _text(workload, "queueName"),
        namespace=_text(meta, "namespace"),
        priority_class=_text(labels, _PRIORITY),
        notes=(f"{count(others, 'more job')} in the manifest not looked at.",) if others else (),
    )


def unfenced(text: str) -> str:
    """Return a manifest without the code fence that it was pasted in; another text as it is."""
    fence = _FENCE.match(text)
    if fence is None:
        return text
    inside = text[fence.end() :]
    return inside.rpartition("```")[0] if "```" in inside else inside


def _check(sets: tuple[PodSet, ...]) -> None:
    if not sets:
        raise UsageError("That job has no pods.", _AGAIN)
    if any(s.count > _MOST_PODS or min(s.requests.values(), default=0) < 0 for s in sets):
        raise UsageError("That job's numbers can't be right.", "Check counts and requests.")
    if not any(any(s.requests.values()) for s in sets):
        raise UsageError("That job asks for no resources.", "Give its containers requests.")


def _documents(text: str) -> list[Any]:
    """Parse after a look at the events, which needs no memory that a small text could blow up."""
    try:
        _check_events(text)
        return list(yaml.load_all(text, _LOADER))  # it is a safe loader
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f" near line {mark.line + 1}" if mark else ""
        raise UsageError(f"That isn't readable YAML{where}.", _AGAIN) from None
    except (ValueError, OverflowError) as error:  # a date or number that can't exist
        raise UsageError(f"That isn't readable YAML: {error}.", _AGAIN) from None


def _check_events(text: str) -> None:
    depth = 0
    for number, event in enumerate(yaml.parse(text, _LOADER)):
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None):
            raise UsageError("I don't read anchors and aliases.", "Write the values out.")
        if getattr(event, "tag", None):  # its constructors raise whatever they like
            raise UsageError("I don't read tags such as !!int.", "Write plain values.")
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
        if depth > _MOST_DEPTH or number > _MOST_EVENTS:
            raise UsageError("That manifest is too deep or too long.", _AGAIN)


_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def _block(mapping: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    value = mapping.get(key)
    return value if isinstance(value, Mapping) else {}


def _text(mapping: Mapping[str, Any], key: str) -> str:
    value = mapping.get(key)
    if not isinstance(value, str):
        return ""
    if len(value) > _LONGEST_NAME:
        raise UsageError(f"Its {key} is longer than a name may be ({_LONGEST_NAME}).", _AGAIN)
    return value
