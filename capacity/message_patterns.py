"""How Kueue v0.19 words its reasons (scheduler, flavorassigner, workload controllers).

[pure]
"""

import re

from capacity.causes import Kind

Patterns = tuple[tuple[Kind, re.Pattern[str]], ...]


def _of(kind: Kind, *texts: str) -> Patterns:
    return tuple((kind, re.compile(text, re.DOTALL)) for text in texts)


_NUMBER = r"<unlimited>|[-+0-9.eEinumkKMGTP]+"
_EXCEEDS = (
    r"insufficient quota for (?P<resource>\S+) in flavor (?P<flavor>\S+), previously considered "
    rf"podsets requests \((?P<considered>{_NUMBER})\) \+ current podset request "
    rf"\((?P<requested>{_NUMBER})\) > maximum capacity \((?P<capacity>{_NUMBER})\)"
)
_WAITS = (
    r"insufficient unused quota for (?P<resource>\S+) in flavor (?P<flavor>\S+), "
    rf"(?P<needed>{_NUMBER}) more needed"
)
_NO_TOPOLOGY_SUPPORT = (
    r'Flavor "(?P<flavor>[^"]+)" (?P<detail>does not support TopologyAwareScheduling'
    r"|information missing in TAS cache|does not contain the requested level"
    r"|supports only TopologyAwareScheduling)"
)
_OTHER_SLICE = (
    r"could not assign (?P<flavor>\S+) flavor since the original workload is assigned: "
    r"(?P<detail>.*)"
)
_TOPOLOGY_REQUEST = (
    r"no requested topology level(?: for (?:slices|additional slice layer))?: ",
    r"podset slice topology \S+ is above the podset topology ",
    r"additional slice layer (?:topology|size) ",
    r"invalid (?:affinity )?node selectors: ",
    r"invalid preferred node affinity terms: ",
    r"invalid podSetUpdate for PodSet ",
    r"unable to calculate domain capacities for PodSet ",
    r"Cannot replace the node, because ",
    r"cannot find replacement assignment for unhealthy node: ",
)
_QUEUE_GONE = (
    r"(?:ClusterQueue|LocalQueue) (?P<subject>\S*) "
    r"(?:not found|doesn't exist|is terminating or missing)"
)

POD_SET = "couldn't assign flavors to pod set "
NEXT_POD_SET = re.compile(rf"; (?={POD_SET})")
NEXT_REFUSAL = re.compile(
    r", (?=insufficient (?:unused )?quota for |untolerated taint |resource [^\s\"]+ unavailable "
    r"|flavor \S+ (?:not found|doesn't match|does not provide)|Flavor \"|skipping flavor "
    r"|could not assign |topology \"|no topology domains "
    rf"|{'|'.join(_TOPOLOGY_REQUEST)})"
)
SUFFIX = re.compile(
    r"\. (?:Pending the (?P<what>preemption|migration) of (?P<pending>\d+) workload\(s\)"
    r"|Preempting (?P<failed>\d+) workload\(s\) failed, will retry\.)\Z"
)
COPIED = "Bypassed scheduling evaluation because an equivalent workload recently failed"
OF_AN_EVICTION = re.compile(
    r"Preempted to accommodate a workload |Evicted to accommodate a workload |Evicted due to "
    r"|Exceeded the PodsReady timeout |The ClusterQueue is stopped\Z|The LocalQueue is stopped\Z"
    r"|Workload was evicted as there was no replacement |Evicted on manager"
)

REFUSALS: Patterns = (
    *_of(Kind.EXCEEDS_MAX_QUOTA, _EXCEEDS),
    *_of(Kind.WAITING_FOR_QUOTA, _WAITS),
    *_of(
        Kind.NO_MATCHING_FLAVOR,
        r"untolerated taint (?P<detail>.+) in flavor (?P<flavor>\S+)",
        r"flavor (?P<flavor>\S+) doesn't match node affinity",
        r"flavor (?P<flavor>\S+) not found",
        r"flavor (?P<flavor>\S+) does not provide resource (?P<resource>\S+)",
        r"resource (?P<resource>\S+) unavailable in ClusterQueue",
        r"skipping flavor (?P<flavor>\S+) (?P<detail>(?:as|due) .+)",
        _NO_TOPOLOGY_SUPPORT,
        _OTHER_SLICE,
    ),
    *_of(
        Kind.TOPOLOGY_PLACEMENT_FAILED,
        r'topology "(?P<detail>[^"]+)" (?:doesn\'t|allows) .*',
        r"no topology domains at level: (?P<detail>.+)",
        *(rf"{begins}.*" for begins in _TOPOLOGY_REQUEST),
    ),
)

WHOLE: Patterns = (
    *_of(
        Kind.WAITING_FOR_PREEMPTED_WORKLOADS,
        r"Workload has overlapping preemption targets with another workload, but will fit .*",
    ),
    *_of(
        Kind.WAITING_FOR_QUOTA,
        r"Workload has overlapping preemption targets with another workload",
        r"Workload no longer fits after processing another workload",
    ),
    *_of(
        Kind.SUSPENDED,
        r"(?:ClusterQueue|LocalQueue) (?P<subject>\S*) is (?:inactive|stopped)",
    ),
    *_of(
        Kind.MISCONFIGURED,
        _QUEUE_GONE,
        r"workload namespace doesn't match ClusterQueue selector",
        r'workload namespace "(?P<subject>[^"]*)" does not exist.*',
        r"resources validation failed.*",
        r"resources didn't satisfy LimitRange constraints.*",
        r"invalid namespace selector: .*",
        r"Workload uses DRA resources but .*",
        r"KueueDRAIntegration feature does not support .*",
    ),
    *_of(
        Kind.WAITING_FOR_PODS_READY,
        r"waiting for all admitted workloads to be in PodsReady condition",
    ),
    *_of(
        Kind.ADMISSION_GATED,
        r"Admission is gated by: (?P<subject>.+)",
        r"Workload requires preemption, but it's gated",
    ),
    *_of(Kind.ON_HOLD, r"Job is on hold", r"StatefulSet scaled to zero; workload on hold"),
    *_of(Kind.DEACTIVATED, r"The workload is deactivated(?: due to (?P<subject>.+))?"),
    *_of(
        Kind.PENDING_EVALUATION,
        r"The workload has failed admission checks",
        r"Workload is pending evaluation in the scheduling queue",
        r"AdmissionGatedBy cleared, waiting for quota reservation",
        r"Workload no longer on hold; waiting for quota reservation",
        r"A more favorable variant is already admitted",
        r"Target flavor is below LastAcceptableFlavorName",
        r"Failed to admit workload: .*",
    ),
)
