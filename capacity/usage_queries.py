"""The ledger's PromQL: minutes of GPUs by pod, counted by the server [pure].

Each query counts, minute by minute on the absolute minute grid, whether a sample lies in the
minute before: ``present_over_time`` over just under a minute ignores the five-minute look-back
(which would lengthen every pod without a stale marker) and gives the same on Prometheus 2 (closed
ranges) and 3 (left-open). ``max by`` the device first makes replicas of Prometheus and restarts of
the exporter count once. The query is evaluated a millisecond after the end, off the grid, so that
``[start, end)`` has exactly its number of minutes.
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
PHASE = "kube_pod_status_phase"


@dataclass(frozen=True, slots=True)
class Labels:
    """How this Prometheus spells the workload's labels on DCGM's series.

    Without ``honorLabels`` the scrape renames them to ``exported_*`` and the plain ones are the
    exporter's own (dcgm-exporter #85, #340). ``shared`` and ``per_process`` tell whether cards are
    shared and whether pods have rows of their own then; asking needlessly costs thrice the time.
    """

    namespace: str = "namespace"
    pod: str = "pod"
    shared: bool = True
    per_process: bool = True


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


Namespaces = tuple[str, ...] | None
"""The namespaces that are asked about; None is every one, an empty tuple none."""


def detect_exported(span: Span) -> str:
    """Count DCGM series whose workload labels were renamed by the scrape."""
    seen = promql.duration(span.end - span.start)
    return f'count(last_over_time({PRESENCE}{{exported_namespace!=""}}[{seen}]))'


def detect_per_process(span: Span) -> str:
    """Count series of shared cards that are a process' own (dcgm-exporter's virtual GPUs)."""
    seen = promql.duration(span.end - span.start)
    return f'count(last_over_time({UTIL}{{vgpu!=""}}[{seen}]))'


def most_sharing(span: Span, labels: Labels) -> str:
    """Return the most pods that any card or slice had within a minute."""
    sharing = f"max(count by (UUID,GPU_I_ID) ({_everyone(labels)}))"
    return f"max_over_time(({sharing}){span.subquery})"


def held(span: Span, namespaces: Namespaces, labels: Labels) -> str:
    """Card-minutes by device and pod: 1 a minute, divided by the pods that share the card."""
    chosen = _matcher(namespaces, labels)
    return _summed(_divided(_present(PRESENCE, chosen, labels), labels), span)


def busy(span: Span, namespaces: Namespaces, labels: Labels) -> str:
    """Busy card-minutes by device and pod: utilisation 0..1 a minute, divided as ``held``.

    It is the larger of GPU_UTIL and the engine's activity, so that none is idle by one signal: on
    MIG there is no GPU_UTIL (dcgm-exporter #105), and the engine's can be stuck at 0 (#662).
    """
    chosen = _matcher(namespaces, labels)
    either = f'{_util(chosen)} / 100 or label_replace({_engine(chosen)}, "signal", "e", "", "")'
    larger = f"max by ({_keys(labels)}) ({either})"
    return _summed(_divided(f"({larger}{_unless_blind(labels)})", labels), span)


def measured(span: Span, namespaces: Namespaces, labels: Labels) -> str:
    """Card-minutes for which there is a utilisation at all, by device and pod."""
    chosen = _matcher(namespaces, labels)
    any_of = f"max by ({_keys(labels)}) ({_util(chosen)} or {_engine(chosen)}) * 0 + 1"
    return _summed(_divided(f"({any_of}{_unless_blind(labels)})", labels), span)


def requested(span: Span, namespaces: Namespaces) -> str:
    """Minutes times requested devices by namespace, pod and resource, of Running pods (KSM)."""
    chosen = _matcher(namespaces, Labels())
    gpus = f'last_over_time({REQUESTS}{{resource=~"nvidia_com_.+",node!="",{chosen}}}[{INSIDE}])'
    asked = f"max by (namespace,pod,container,resource) ({gpus})"
    phase = f'last_over_time({PHASE}{{phase="Running",{chosen}}}[{INSIDE}])'
    running = f"max by (namespace,pod) ({phase} == 1)"
    each = f"sum by (namespace,pod,resource) ({asked}) * on (namespace,pod) group_left () {running}"
    return _summed(each, span)


def exporter_minutes(span: Span) -> str:
    """Minutes in which any GPU was seen, whoever held it: the exporter's coverage of the window."""
    return f"count_over_time((count(present_over_time({PRESENCE}[{INSIDE}]))){span.subquery})"


def card_minutes(span: Span) -> str:
    """Cards seen in each minute, added up, whoever held them; slices count as their one card."""
    return _summed(f"count(count by (UUID) (present_over_time({PRESENCE}[{INSIDE}])))", span)


def requests_known(span: Span) -> str:
    """Tell whether kube-state-metrics was there at all."""
    return f"count(last_over_time({REQUESTS}[{promql.duration(span.end - span.start)}]))"


def _matcher(namespaces: Namespaces, labels: Labels) -> str:
    if namespaces is None:
        return f'{labels.namespace}!=""'
    return promql.one_of(labels.namespace, namespaces)


def _keys(labels: Labels) -> str:
    return f"UUID,GPU_I_ID,GPU_I_PROFILE,modelName,{labels.namespace},{labels.pod}"


def _present(metric: str, chosen: str, labels: Labels) -> str:
    return f"max by ({_keys(labels)}) (present_over_time({metric}{{{chosen}}}[{INSIDE}]))"


def _util(chosen: str) -> str:
    """Values above the maximum are known faults (DCGM #199) and count as not measured."""
    return f"(avg_over_time({UTIL}{{{chosen}}}[{INSIDE}]) <= 100)"


def _engine(chosen: str) -> str:
    return f"(avg_over_time({ENGINE}{{{chosen}}}[{INSIDE}]) <= 1)"


def _unless_blind(labels: Labels) -> str:
    """Leave out shared cards that are busy while each of their pods reads 0.

    Per-process values are all 0 when the exporter can't map processes to pods (no hostPID).
    """
    if not labels.per_process:
        return ""
    device = f'avg_over_time({UTIL}{{{labels.namespace}=""}}[{INSIDE}]) > 5'
    pods = f'avg_over_time({UTIL}{{{labels.namespace}!=""}}[{INSIDE}])'
    return f" unless on (UUID) (({device}) unless on (UUID) ({pods} > 0))"


def _everyone(labels: Labels) -> str:
    return _present(PRESENCE, f'{labels.namespace}!=""', labels)


def _divided(each: str, labels: Labels) -> str:
    """Divide by the pods that share the card, where any do."""
    if not labels.shared:
        return each
    pods = f"count by (UUID,GPU_I_ID) ({_everyone(labels)})"
    return f"{each} / on (UUID,GPU_I_ID) group_left () {pods}"


def _summed(expression: str, span: Span) -> str:
    return f"sum_over_time(({expression}){span.subquery})"
