"""Which versions and kinds of Kueue's API the cluster serves, asked again at every pulse.

The same request tells that the API server is alive, so a quiet watch can be trusted so far.
"""

import threading
import time
from collections.abc import Mapping

import msgspec

from capacity.kueue_api import Api, ApiError
from capacity.kueue_cache import Cache
from capacity.kueue_kinds import GROUP, KINDS, VERSIONS, Kind

clock = time.monotonic


class _Version(msgspec.Struct):
    version: str = ""


class _Group(msgspec.Struct):
    versions: list[_Version] = msgspec.field(default_factory=list)


class _Resource(msgspec.Struct):
    name: str


class _Resources(msgspec.Struct):
    resources: list[_Resource] = msgspec.field(default_factory=list)


def discover(api: Api, seconds: float) -> dict[str, str]:
    """Return the newest version of each kind that the cluster serves, by plural.

    Empty when Kueue isn't installed. An account that may not look is taken to the newest version
    of everything. Raises ApiError when the server doesn't answer.
    """
    try:
        group = msgspec.json.decode(api.get(f"/apis/{GROUP}", seconds=seconds), type=_Group)
        offered = {v.version for v in group.versions}
        found: dict[str, str] = {}
        for version in reversed([v for v in VERSIONS if v in offered]):
            raw = api.get(f"/apis/{GROUP}/{version}", seconds=seconds)
            listed = msgspec.json.decode(raw, type=_Resources)
            found |= dict.fromkeys((r.name for r in listed.resources), version)
    except ApiError as error:
        if error.status == 404:
            return {}
        if error.status == 403:
            return dict.fromkeys((kind.plural for kind in KINDS), VERSIONS[0])
        raise
    except msgspec.DecodeError as error:
        raise ApiError(0, f"no Kubernetes API answers there: {error}") from error
    return found


class Served(threading.Thread):
    """Takes the pulse of the API server and remembers what it serves."""

    def __init__(self, api: Api, cache: Cache, every: float, timeout: float) -> None:
        super().__init__(name="pulse", daemon=True)
        self._api, self._cache = api, cache
        self._every, self._timeout = every, timeout
        self._stopped = threading.Event()
        self._told = threading.Condition()
        self._versions: Mapping[str, str] | None = None
        self._failure = ""

    def stop(self) -> None:
        """Ask the thread to end."""
        self._stopped.set()

    def run(self) -> None:
        """Ask until stopped."""
        while not self._stopped.is_set():
            self._ask()
            self._stopped.wait(self._every)

    def path(self, kind: Kind, patience: float) -> str | None:
        """Return the path of a kind, None where there is no such kind.

        Waits for the first answer; raises ApiError if there is none yet.
        """
        with self._told:
            self._told.wait_for(lambda: self._versions is not None or self._failure, patience)
            if self._versions is None:
                raise ApiError(0, self._failure or "no answer yet")
            version = self._versions.get(kind.plural)
        return f"/apis/{GROUP}/{version}/{kind.plural}" if version else None

    def _ask(self) -> None:
        try:
            versions, failure = discover(self._api, self._timeout), ""
        except ApiError as error:
            versions, failure = None, str(error)
        with self._told:
            self._versions = self._versions if versions is None else versions
            self._failure = failure
            self._told.notify_all()
        self._cache.pulse(failure)
