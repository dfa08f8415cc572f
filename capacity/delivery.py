"""What a GitOps controller says about a repository's way into the cluster, in one shape.

Flux: a Kustomization and its GitRepository; Argo CD: an Application. Upstream:
https://fluxcd.io/flux/components/kustomize/kustomizations/#kustomization-status and
https://argo-cd.readthedocs.io/en/stable/operator-manual/ (the Application's status). [pure]
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from capacity.errors import Gap

FLUX, ARGO = "Flux", "Argo CD"
_COMMIT = re.compile(r"\b[0-9a-f]{40}(?:[0-9a-f]{24})?$")
_FAILED = ("Failed", "Error")

Object = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Delivery:
    """How far one controller has brought a folder of a repository.

    ``applied`` is the commit that is in the cluster, ``fetched`` the newest one that the
    controller has, ``attempted`` the one it tried last ("" if none). ``ready`` is None while it is
    at work, since ``since``. ``message`` are its own words when it fails, and ``speaker`` the
    object that says so; ``paused`` says why it does nothing by itself.
    """

    tool: str
    name: str
    url: str
    path: str
    applied: str = ""
    attempted: str = ""
    fetched: str = ""
    ready: bool | None = None
    since: datetime | None = None
    speaker: str = ""
    message: str = ""
    paused: str = ""

    @property
    def commits(self) -> tuple[str, ...]:
        """Every commit that it names: whose repository it follows can be told by them."""
        return tuple(filter(None, (self.fetched, self.attempted, self.applied)))


@dataclass(frozen=True, slots=True)
class Deliveries:
    """All that is installed in a cluster; ``gaps`` is what couldn't be read."""

    found: tuple[Delivery, ...] = ()
    gaps: tuple[Gap, ...] = ()


def flux(kustomizations: Iterable[Object], repositories: Iterable[Object]) -> tuple[Delivery, ...]:
    """Read Flux's Kustomizations that come from a GitRepository."""
    sources = {_name(item): item for item in repositories}
    return tuple(
        _flux(item, sources.get(_source_name(item), {}))
        for item in kustomizations
        if _at(item, "spec", "sourceRef", "kind") == "GitRepository"
    )


def argo(applications: Iterable[Object]) -> tuple[Delivery, ...]:
    """Read Argo CD's Applications, once for each of their sources."""
    return tuple(
        _argo(item, source, position)
        for item in applications
        for position, source in enumerate(_sources(item))
    )


def commit_of(revision: object) -> str:
    """Return the commit that a revision ends with: "main@sha1:<commit>" (Flux), or a bare one."""
    found = _COMMIT.search(revision) if isinstance(revision, str) else None
    return found[0] if found else ""


def _flux(item: Object, source: Object) -> Delivery:
    own, above = _condition(item, "Ready"), _condition(source, "Ready")
    ready = _truth(own)
    speaker, message = f"Kustomization {_name(item)}", str(own.get("message", ""))
    since = own.get("lastTransitionTime")
    if ready is not False and _truth(above) is False:
        ready, since = False, above.get("lastTransitionTime")
        speaker, message = f"GitRepository {_name(source)}", str(above.get("message", ""))
    return Delivery(
        tool=FLUX,
        name=_name(item),
        url=str(_at(source, "spec", "url") or ""),
        path=_folder(_at(item, "spec", "path")),
        applied=commit_of(_at(item, "status", "lastAppliedRevision")),
        attempted=commit_of(_at(item, "status", "lastAttemptedRevision")),
        fetched=commit_of(_at(source, "status", "artifact", "revision")),
        ready=ready,
        since=_moment(since),
        speaker=speaker,
        message=message if ready is False else "",
        paused=_suspended(("Kustomization", item), ("GitRepository", source)),
    )


def _suspended(*parts: tuple[str, Object]) -> str:
    held = [f"{kind} {_name(item)}" for kind, item in parts if _at(item, "spec", "suspend") is True]
    return f"{' and '.join(held)} suspended" if held else ""


def _argo(item: Object, source: Object, position: int) -> Delivery:
    phase = str(_at(item, "status", "operationState", "phase") or "")
    synced = _at(item, "status", "sync", "status") == "Synced"
    now = _revision(_at(item, "status", "sync"), position)
    tried = _revision(_at(item, "status", "operationState", "syncResult"), position)
    broken = _argo_message(item, phase)
    automated = _at(item, "spec", "syncPolicy", "automated") is not None
    return Delivery(
        tool=ARGO,
        name=_name(item),
        url=str(source.get("repoURL") or ""),
        path=_folder(source.get("path")),
        applied=now if synced else tried if phase == "Succeeded" else "",
        attempted=tried,
        fetched=now,
        ready=None if phase == "Running" else not broken and synced,
        since=_moment(_at(item, "status", "operationState", "startedAt")),
        speaker=f"Application {_name(item)}",
        message=broken,
        paused="" if automated else f"Application {_name(item)} not synced automatically",
    )


def _argo_message(item: Object, phase: str) -> str:
    """Return why it fails: the last operation's message, else its error conditions."""
    if phase in _FAILED:
        return str(_at(item, "status", "operationState", "message") or phase)
    conditions = _listed(_at(item, "status", "conditions"))
    errors = [c for c in conditions if str(c.get("type", "")).endswith("Error")]
    return "; ".join(str(c.get("message", "")) for c in errors)


def _sources(item: Object) -> Sequence[Object]:
    several = _listed(_at(item, "spec", "sources"))
    single = _at(item, "spec", "source")
    return several or ([single] if isinstance(single, dict) else [])


def _revision(holder: Any, position: int) -> str:
    several = _at(holder, "revisions")
    if isinstance(several, list) and position < len(several):
        return commit_of(several[position])
    return commit_of(_at(holder, "revision"))


def _source_name(item: Object) -> str:
    namespace = _at(item, "spec", "sourceRef", "namespace") or _at(item, "metadata", "namespace")
    return f"{namespace}/{_at(item, 'spec', 'sourceRef', 'name')}"


def _name(item: Object) -> str:
    return f"{_at(item, 'metadata', 'namespace')}/{_at(item, 'metadata', 'name')}"


def _condition(item: Object, type_: str) -> Object:
    found = _listed(_at(item, "status", "conditions"))
    return next((c for c in found if c.get("type") == type_), {})


def _truth(condition: Object) -> bool | None:
    return {"True": True, "False": False}.get(str(condition.get("status", "")))


def _folder(path: object) -> str:
    parts = [part for part in str(path or "").split("/") if part not in ("", ".")]
    return "/".join(parts)


def _moment(text: object) -> datetime | None:
    try:
        return datetime.fromisoformat(text) if isinstance(text, str) else None
    except ValueError:
        return None


def _listed(value: object) -> list[Object]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _at(value: Any, *keys: str) -> Any:
    """Return what stands below these keys, None where a controller left something out."""
    for key in keys:
        if not isinstance(value, dict):
            return None
        value = value.get(key)
    return value
