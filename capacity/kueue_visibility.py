"""Kueue's own order of pending workloads, from its visibility API (domain facts: KEP-168).

The API is optional and served by Kueue itself, so every answer is bounded in time and may be
"not available"; callers then order by the rules in ``capacity.order``.
"""

from urllib.parse import quote

import msgspec

from capacity.kueue_api import Api, ApiError
from capacity.kueue_discovery import clock
from capacity.kueue_kinds import VERSIONS, VISIBILITY_GROUP

MOST = 10_000
_SILENT_STATUSES = (0, 503)
_REST_SECONDS = 15.0


class _Meta(msgspec.Struct):
    name: str
    namespace: str = ""


class _Pending(msgspec.Struct, rename="camel"):
    metadata: _Meta
    position_in_cluster_queue: int = 0


class _Summary(msgspec.Struct):
    items: list[_Pending] = msgspec.field(default_factory=list)


class Visibility:
    """Asks for pending workloads; rests for a while after Kueue failed to answer."""

    def __init__(self, api: Api, base: str | None, seconds: float) -> None:
        self._api, self._seconds = api, seconds
        self._base = (base or "").rstrip("/")
        self._rest_until = 0.0

    def pending(self, cluster_queue: str) -> list[tuple[str, str]] | None:
        """Return (namespace, name) by position in the queue, at most the first ``MOST``.

        None when the API is absent, refuses or doesn't answer in time.
        """
        if clock() < self._rest_until:
            return None
        for version in VERSIONS:
            try:
                return self._ask(version, cluster_queue)
            except ApiError as error:
                if error.status in _SILENT_STATUSES:
                    self._rest_until = clock() + _REST_SECONDS
                if error.status != 404:
                    return None
        return None

    def _ask(self, version: str, cluster_queue: str) -> list[tuple[str, str]]:
        path = f"/apis/{VISIBILITY_GROUP}/{version}/clusterqueues/{quote(cluster_queue, safe='')}"
        url = f"{self._base}{path}/pendingworkloads"
        raw = self._api.get(url, {"limit": MOST}, seconds=self._seconds)
        try:
            items = msgspec.json.decode(raw, type=_Summary).items
        except msgspec.DecodeError as error:
            raise ApiError(0, f"not a summary of pending workloads: {error}") from error
        ordered = sorted(items, key=lambda item: item.position_in_cluster_queue)
        return [(item.metadata.namespace, item.metadata.name) for item in ordered]
