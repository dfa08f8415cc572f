"""Reads Flux's and Argo CD's objects where they are installed: three lists, with a time limit."""

import json
import threading
import time
from collections.abc import Callable
from datetime import datetime
from typing import Any

from capacity.delivery import ARGO, FLUX, Deliveries, argo, flux
from capacity.errors import Gap
from capacity.kueue_api import Api, ApiError, ClusterConfig
from capacity.kueue_kinds import APPLICATIONS, GIT_REPOSITORIES, KUSTOMIZATIONS, Listed

_SECONDS = 2.0
_PAGE = 500
_QUIET_SECONDS = 10.0


class DeliveryReader:
    """Asks for the controllers' own status when it is wanted; nothing is watched.

    After a failure it waits ten seconds before it asks again, so that an API server that hangs
    holds nobody up for long. ``now`` stamps the gaps.
    """

    def __init__(self, config: ClusterConfig, now: Callable[[], datetime]) -> None:
        self._api = Api(config)
        self._now = now
        self._lock = threading.Lock()
        self._quiet_until = 0.0
        self._since: datetime | None = None
        self._gaps: tuple[Gap, ...] = ()

    def read(self) -> Deliveries:
        """Return what is installed; blocks six seconds at most. A kind that isn't there is fine."""
        with self._lock:
            if time.monotonic() < self._quiet_until:
                return Deliveries(gaps=self._gaps)
            found = (*self._one(FLUX, self._flux), *self._one(ARGO, self._argo))
            gaps = tuple(part for part in found if isinstance(part, Gap))
            self._gaps = gaps
            if gaps:
                self._quiet_until = time.monotonic() + _QUIET_SECONDS
            else:
                self._since = self._now()
            whole = [part for part in found if not isinstance(part, Gap)]
            return Deliveries(tuple(whole), gaps)

    def _one(self, tool: str, read: Callable[[], tuple[Any, ...]]) -> tuple[Any, ...]:
        try:
            return read()
        except ApiError as error:
            missing = f"how far {tool} has come ({error})"
            return (Gap(f"{tool}'s status", self._since, missing),)

    def _flux(self) -> tuple[Any, ...]:
        kustomizations = self._list(KUSTOMIZATIONS)
        return flux(kustomizations, self._list(GIT_REPOSITORIES)) if kustomizations else ()

    def _argo(self) -> tuple[Any, ...]:
        return argo(self._list(APPLICATIONS))

    def _list(self, kind: Listed) -> list[Any]:
        path = f"/apis/{kind.group}/{kind.version}/{kind.plural}"
        try:
            raw = json.loads(self._api.get(path, {"limit": _PAGE}, seconds=_SECONDS))
        except ApiError as error:
            if error.status == 404:  # the controller isn't installed
                return []
            raise
        except ValueError as error:
            raise ApiError(0, f"no Kubernetes API answers there: {error}") from error
        return list(raw.get("items") or []) if isinstance(raw, dict) else []
