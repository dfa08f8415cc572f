"""Lists in pages: later pages come from the same moment as the first one."""

import base64
import binascii
import json
import threading
from collections import OrderedDict

from bot.playground.cluster.objects import Expired, ObjectStore, Snapshot
from bot.playground.cluster.resources import BY_PLURAL

_KEPT = 32


class Pages:
    """Remembers the snapshots that unfinished lists still need; old ones expire (410)."""

    def __init__(self, store: ObjectStore) -> None:
        self._store = store
        self._kept: OrderedDict[tuple[str, int], Snapshot] = OrderedDict()
        self._lock = threading.Lock()

    def page(self, plural: str, api_version: str, limit: int, token: str) -> bytes:
        """Return a list document as JSON; raises Expired for a token that is too old."""
        version, start = _parse(token) if token else (0, 0)
        snapshot = self._snapshot(plural, version)
        end = start + limit if limit else len(snapshot.bodies)
        rest = len(snapshot.bodies) - end
        meta: dict[str, object] = {"resourceVersion": str(snapshot.version)}
        if rest > 0:
            meta |= {"continue": _token(snapshot.version, end), "remainingItemCount": rest}
        kind = f"{BY_PLURAL[plural].kind}List"
        head = f'{{"apiVersion":"{api_version}","items":['.encode()
        tail = f'],"kind":"{kind}","metadata":{json.dumps(meta)}}}'.encode()
        return head + b",".join(snapshot.bodies[start:end]) + tail

    def forget(self) -> None:
        """Let every unfinished list expire."""
        with self._lock:
            self._kept.clear()

    def _snapshot(self, plural: str, version: int) -> Snapshot:
        with self._lock:
            if version:
                found = self._kept.get((plural, version))
                if found is None:
                    raise Expired("The provided continue parameter is too old.")
                return found
            made = self._store.snapshot(plural)
            self._kept[plural, made.version] = made
            while len(self._kept) > _KEPT:
                self._kept.popitem(last=False)
            return made


def _token(version: int, start: int) -> str:
    return base64.urlsafe_b64encode(json.dumps([version, start]).encode()).decode().rstrip("=")


def _parse(token: str) -> tuple[int, int]:
    try:
        padded = token + "=" * (-len(token) % 4)
        version, start = json.loads(base64.urlsafe_b64decode(padded))
        return int(version), int(start)
    except (binascii.Error, ValueError, TypeError) as error:
        raise Expired("continue key is not valid") from error
