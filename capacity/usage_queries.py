"""The ledger's PromQL: minutes of GPUs by pod, counted by the server [pure].

Each query counts, minute by minute on the absolute minute grid, whether a sample lies in the
minute before: ``present_over_time`` over just under a minute ignores the five-minute look-back
(which would lengthen every pod without a stale marker) and gives the same on Prometheus 2 (closed
ranges) and 3 (left-open). ``max by`` the device first makes replicas of Prometheus and restarts of the exporter
count once. The query is evaluated a millisecond after the end, off the grid, so that ``[start,
end)`` has exactly its number of minutes.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta

from capacity import promql

STEP = timedelta(minutes=1)
INSIDE = "59s999ms"
OFF_GRID = timedelta(milliseconds=1)
PRESENCE = "DCGM_FI_DEV_FB_USED"
UTIL = "DCGM_FI_DEV_GPU_UTIL"
ENGINE = "DCGM_FI_PROF_GR_ENGINE_ACTIVE"
REQUESTS = "kube_pod_container_resource_requests"


@dataclass(frozen=True, slots=True)
class Labels:
    """How this Prometheus spells the workload's labels on DCGM's series.

    Without ``honorLabels`` the scrape renames them to ``exported_*`` and the plain ones are the
    exporter's own (dcgm-exporter #85, #340).
    """

    namespace: str = "namespace"
    pod: str = "pod"


EXPORTED = Labels("exported_namespace", "exported_pod")


@dataclass(frozen=True, slots=True)
class Span:
    """A part of the window that one query covers; whole minutes, at most a day."""

    start: datetime
    end: datetime

    @property
    def evaluate_at(self) -> datetime:
        return self.end + OFF_GRID

    @property
    def minutes(self) -> int:
        return int((self.end - self.start) / STEP)

    @property
    def subquery(self) -> str:
        return f"[{promql.duration(self.end - self.start)}:{promql.duration(STEP)}]"


def detect_exported() -> str:
    """Count DCGM series whose workload labels were renamed by the scrape."""
    return f'count({PRESENCE}{{exported_namespace!=""}})'


def held(span: Span, namespaces: tuple[str, ...], labels: Labels) -> str:
    """Card-minutes by device and pod: 1 a minute, divided by the pods that share the card."""
    chosen = _matcher(namespaces, labels)
    mine = _present(PRESENCE, chosen, labels)
    return _summed(f"{mine} {_shared_by(labels)}", span)


def busy(span: Span, namespaces: tuple[str, ...], labels: Labels) -> str:
    """Busy card-minutes by device and pod: utilisation 0..1 a minute, divided as ``held``."""
    chosen = _matcher(namespaces, labels)
    return _summed(f"({_ratio(chosen, labels)}) {_shared_by(labels)}", span)


def measured(span: Span, namespaces: tuple[str, ...], labels: Labels) -> str:
    """Card-minutes for which there is a utilisation at all, by device and pod."""
    chosen = _matcher(namespaces, labels)
    return _summed(f"(({_ratio(chosen, labels)}) * 0 + 1) {_shared_by(labels)}", span)


def requested(span: Span, namespaces: tuple[str, ...]) -> str:
    """Minutes times requested devices by namespace, pod and resource, of Running pods (KSM)."""
    chosen = promql.one_of("namespace", namespaces)
    gpus = f'{REQUESTS}{{resource=~"nvidia_com_.+",node!="",{chosen}}}'
    asked = f"max by (namespace,pod,container,resource) ({gpus})"
    running = f'max by (namespace,pod) (kube_pod_status_phase{{phase="Running",{chosen}}} == 1)'
    each = f"sum by (namespace,pod,resource) ({asked}) * on (namespace,pod) group_left () {running}"
    return _summed(each, span)


def exporter_minutes(span: Span) -> str:
    """Minutes in which any GPU was seen, whoever held it: the exporter's coverage of the window."""
    return f"count_over_time((count(present_over_time({PRESENCE}[{INSIDE}]))){span.subquery})"


def _matcher(namespaces: tuple[str, ...], labels: Labels) -> str:
    return promql.one_of(labels.namespace, namespaces)


def _keys(labels: Labels) -> str:
    return f"UUID,GPU_I_ID,GPU_I_PROFILE,modelName,{labels.namespace},{labels.pod}"


def _present(metric: str, chosen: str, labels: Labels) -> str:
    return f"max by ({_keys(labels)}) (present_over_time({metric}{{{chosen}}}[{INSIDE}]))"


def _ratio(chosen: str, labels: Labels) -> str:
    """Utilisation 0..1: GPU_UTIL, or the engine's activity where there is none (MIG).

    Values above the maximum are known exporter faults (DCGM #199) and count as not measured.
    """
    keys = _keys(labels)
    util = f"max by ({keys}) (avg_over_time({UTIL}{{{chosen}}}[{INSIDE}]) <= 100) / 100"
    engine = f"max by ({keys}) (avg_over_time({ENGINE}{{{chosen}}}[{INSIDE}]) <= 1)"
    return f"{util} or {engine}"


def _shared_by(labels: Labels) -> str:
    everyone = _present(PRESENCE, f'{labels.namespace}!=""', labels)
    return f"/ on (UUID,GPU_I_ID) group_left () count by (UUID,GPU_I_ID) ({everyone})"


def _summed(expression: str, span: Span) -> str:
    return f"sum_over_time(({expression}){span.subquery})"
