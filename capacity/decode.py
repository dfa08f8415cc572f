"""JSON bytes of the Kubernetes API to model values, for Kueue's v1beta2 and v1beta1.

The decoder builds only what is named in ``decode_wire``; an object of several kilobytes costs
what its few hundred useful bytes cost. [pure]
"""

from collections.abc import Callable
from typing import Any, Generic, NamedTuple, TypeVar

import msgspec

from capacity.decode_queues import (
    cluster_queue_value,
    cohort_value,
    local_queue_value,
    priority_class_value,
    resource_flavor_value,
)
from capacity.decode_wire import (
    ClusterQueueWire,
    CohortWire,
    LocalQueueWire,
    PriorityClassWire,
    ResourceFlavorWire,
    Wire,
)
from capacity.decode_workload import workload_value
from capacity.decode_workload_wire import WorkloadWire
from capacity.errors import UsageError
from capacity.model import (
    ClusterQueue,
    Cohort,
    LocalQueue,
    ResourceFlavor,
    Workload,
    WorkloadPriorityClass,
)

T = TypeVar("T")
UNREADABLE = (msgspec.DecodeError, UsageError)


class Page(NamedTuple, Generic[T]):
    """One page of a list; ``unreadable`` names objects that don't have the shape of their kind."""

    values: tuple[T, ...]
    unreadable: tuple[str, ...]


class Event(NamedTuple, Generic[T]):
    """One event of a watch: ADDED, MODIFIED, DELETED, BOOKMARK or ERROR.

    ``value`` is None for a bookmark, an error and an unreadable object; ``code`` and ``message``
    are an error's (410: the version is too old to go on from).
    """

    type: str
    namespace: str = ""
    name: str = ""
    value: T | None = None
    resource_version: str = ""
    code: int = 0
    message: str = ""


class _ListMeta(Wire):
    resource_version: str = ""
    continue_: str = msgspec.field(default="", name="continue")


class _RawList(Wire):
    items: list[msgspec.Raw] = msgspec.field(default_factory=list)


class _Envelope(Wire):
    metadata: _ListMeta


class _RawEvent(Wire):
    type: str
    object: msgspec.Raw


class _Status(Wire):
    code: int = 0
    message: str = ""
    reason: str = ""


class _NameMeta(Wire):
    name: str = ""
    namespace: str = ""
    resource_version: str = ""


class _Named(Wire):
    metadata: _NameMeta = msgspec.field(default_factory=_NameMeta)


class ListMeta(NamedTuple):
    """How a list goes on: the token of its next page ("" on the last) and its version."""

    continue_token: str
    resource_version: str


def list_meta(raw: bytes) -> ListMeta:
    """Return how the list goes on, without decoding its objects."""
    meta = _envelope.decode(raw).metadata
    return ListMeta(meta.continue_, meta.resource_version)


_raw_list = msgspec.json.Decoder(_RawList)
_envelope = msgspec.json.Decoder(_Envelope)
_raw_event = msgspec.json.Decoder(_RawEvent)
_status = msgspec.json.Decoder(_Status)
_named = msgspec.json.Decoder(_Named)


class Decoder(Generic[T]):
    """Decodes objects, list pages and watch events of one kind."""

    def __init__(self, wire: type[Any], value: Callable[[Any], T]) -> None:
        self._one = msgspec.json.Decoder(wire)
        self._value = value

    def one(self, raw: bytes | msgspec.Raw) -> T:
        """Return the value of one object; raises one of ``UNREADABLE`` for another shape."""
        return self._value(self._one.decode(raw))

    def page(self, raw: bytes) -> Page[T]:
        """Return a page of a list; an object of another shape is named, the rest is read."""
        found = _raw_list.decode(raw)
        values, unreadable = [], []
        for item in found.items:
            try:
                values.append(self.one(item))
            except UNREADABLE as error:
                unreadable.append(_describe(item, error))
        return Page(tuple(values), tuple(unreadable))

    def event(self, raw: bytes) -> Event[T]:
        """Return one event of a watch; raises msgspec.DecodeError for a cut line."""
        found = _raw_event.decode(raw)
        if found.type == "ERROR":
            status = _status.decode(found.object)
            return Event("ERROR", code=status.code, message=status.message or status.reason)
        meta = _named.decode(found.object).metadata
        event: Event[T] = Event(
            found.type, meta.namespace, meta.name, resource_version=meta.resource_version
        )
        if found.type == "BOOKMARK":
            return event
        try:
            return event._replace(value=self.one(found.object))
        except UNREADABLE as error:
            return event._replace(message=_describe(found.object, error))


def cluster_queue(raw: bytes) -> ClusterQueue:
    """Return the ClusterQueue in one JSON object."""
    return CLUSTER_QUEUE.one(raw)


def cohort(raw: bytes) -> Cohort:
    """Return the Cohort in one JSON object."""
    return COHORT.one(raw)


def local_queue(raw: bytes) -> LocalQueue:
    """Return the LocalQueue in one JSON object."""
    return LOCAL_QUEUE.one(raw)


def resource_flavor(raw: bytes) -> ResourceFlavor:
    """Return the ResourceFlavor in one JSON object."""
    return RESOURCE_FLAVOR.one(raw)


def priority_class(raw: bytes) -> WorkloadPriorityClass:
    """Return the WorkloadPriorityClass in one JSON object."""
    return PRIORITY_CLASS.one(raw)


def workload(raw: bytes) -> Workload:
    """Return the Workload in one JSON object."""
    return WORKLOAD.one(raw)


def _describe(raw: msgspec.Raw, error: Exception) -> str:
    try:
        meta = _named.decode(raw).metadata
    except msgspec.DecodeError:
        return str(error)
    name = f"{meta.namespace}/{meta.name}" if meta.namespace else meta.name
    return f"{name}: {error}"


CLUSTER_QUEUE = Decoder(ClusterQueueWire, cluster_queue_value)
COHORT = Decoder(CohortWire, cohort_value)
LOCAL_QUEUE = Decoder(LocalQueueWire, local_queue_value)
RESOURCE_FLAVOR = Decoder(ResourceFlavorWire, resource_flavor_value)
PRIORITY_CLASS = Decoder(PriorityClassWire, priority_class_value)
WORKLOAD = Decoder(WorkloadWire, workload_value)
