"""Manifests from Git to objects as the API server stores them: with defaults, in canonical form."""

import uuid
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import yaml

from bot.playground.cluster.objects import Object
from bot.playground.cluster.resources import BY_KIND
from capacity.errors import UsageError
from capacity.quantity import canonical, parse

_API = "kueue.x-k8s.io/v1beta2"
_UIDS = uuid.UUID("9f0d9e2a-52f3-4a7d-8f04-3f3f6f0d6a11")
_DEFAULTS: Mapping[str, Mapping[str, Any]] = {
    "ClusterQueue": {
        "queueingStrategy": "BestEffortFIFO",
        "stopPolicy": "None",
        "flavorFungibility": {"whenCanBorrow": "MayStopSearch", "whenCanPreempt": "TryNextFlavor"},
        "preemption": {
            "reclaimWithinCohort": "Never",
            "withinClusterQueue": "Never",
            "borrowWithinCohort": {"policy": "Never"},
        },
    },
    "LocalQueue": {"stopPolicy": "None"},
    "Cohort": {},
    "ResourceFlavor": {},
}
_QUANTITIES = ("nominalQuota", "borrowingLimit", "lendingLimit")


class Rejected(Exception):  # what the API server says, not a fault of ours
    """The API server or Kueue's webhook would refuse these manifests; the message is theirs."""


def objects(files: Mapping[str, str]) -> Iterator[tuple[str, Object]]:
    """Yield (plural, object) for every Kueue object in the files; other documents are passed over.

    Raises Rejected for text that isn't YAML and for an object that would be refused.
    """
    for path, text in sorted(files.items()):
        if path.endswith((".yaml", ".yml")):
            yield from _of_file(path, text)


def _of_file(path: str, text: str) -> Iterator[tuple[str, Object]]:
    try:
        documents = list(yaml.safe_load_all(text))
    except yaml.YAMLError as error:
        raise Rejected(f"{path}: {error}") from error
    for document in documents:
        if not isinstance(document, dict) or document.get("kind") not in BY_KIND:
            continue
        if not str(document.get("apiVersion", "")).startswith("kueue.x-k8s.io/"):
            continue
        try:
            yield BY_KIND[document["kind"]].plural, stored(document)
        except (UsageError, KeyError, TypeError, AttributeError) as error:
            raise Rejected(f"{path}: {document['kind']} is invalid: {error}") from error


def stored(document: Object) -> Object:
    """Return the object as it is stored once applied; raises Rejected where a webhook refuses."""
    kind, name = document["kind"], document["metadata"]["name"]
    namespace = document["metadata"].get("namespace", "")
    kept = {
        k: document["metadata"][k] for k in ("labels", "annotations") if k in document["metadata"]
    }
    tracking = {
        **kept.get("annotations", {}),
        "argocd.argoproj.io/tracking-id": f"prod-eu:kueue.x-k8s.io/{kind}:{namespace}/{name}",
    }
    meta: Object = {
        "name": name,
        **({"namespace": namespace} if namespace else {}),
        "uid": str(uuid.uuid5(_UIDS, f"{kind}/{namespace}/{name}")),
        **kept,
        "annotations": tracking,
    }
    rest = {
        k: v for k, v in document.items() if k not in ("apiVersion", "kind", "metadata", "status")
    }
    found = {"apiVersion": _API, "kind": kind, "metadata": meta, **rest}
    if kind in _DEFAULTS:
        found["spec"] = _merge(_DEFAULTS[kind], document.get("spec") or {})
        _canonical(found["spec"])
        _check(kind, name, found["spec"])
    return found


def _merge(defaults: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    merged = dict(defaults)
    for key, value in given.items():
        both = isinstance(value, dict) and isinstance(merged.get(key), dict)
        merged[key] = _merge(merged[key], value) if both else value
    return merged


def _quotas(spec: Mapping[str, Any]) -> Iterable[Object]:
    return (
        resource
        for group in spec.get("resourceGroups") or ()
        for flavor in group["flavors"]
        for resource in flavor["resources"]
    )


def _canonical(spec: Mapping[str, Any]) -> None:
    for resource in _quotas(spec):
        for key in _QUANTITIES:
            if resource.get(key) is not None:
                resource[key] = canonical(resource[key])


def _check(kind: str, name: str, spec: Mapping[str, Any]) -> None:
    """Refuse what Kueue's webhook refuses about quotas (pkg/webhooks, clusterqueue and cohort)."""
    parent = spec.get("cohortName") if kind == "ClusterQueue" else spec.get("parentName")
    for resource in _quotas(spec):
        for key in _QUANTITIES:
            value = resource.get(key)
            if value is not None and parse(value) < 0:
                raise _denied(kind, name, f"{key}: must be greater than or equal to 0")
            if value is not None and key != "nominalQuota" and not parent:
                field = "cohort" if kind == "ClusterQueue" else "parent"
                raise _denied(kind, name, f"{key}: must be nil when {field} is empty")
        lending = resource.get("lendingLimit")
        if lending is not None and parse(lending) > parse(resource["nominalQuota"]):
            raise _denied(
                kind, name, "lendingLimit: must be less than or equal to the nominalQuota"
            )


def _denied(kind: str, name: str, why: str) -> Rejected:
    hook = f"v{kind.lower()}.kb.io"
    return Rejected(
        f'admission webhook "{hook}" denied the request: {kind} "{name}" is invalid: '
        f"spec.resourceGroups: {why}"
    )
