"""Repositories beside the golden world: one that agrees with it, and one that doesn't."""

from dataclasses import replace

from capacity.delivery import Deliveries, Delivery
from capacity.model import Fleet
from gitops.fragments import scan
from gitops.index import Index
from gitops.layout import Layout
from tests.builders import FakeWorld, a_fleet

HEAD, OLD = "3f2a9c1" + "0" * 33, "e07d44b" + "0" * 33
FILE = "clusters/prod/queues.yaml"


def a_queue(name: str, h100: str, a100: str = "8", *, more: str = "") -> str:
    return f"""\
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata:
  name: {name}
spec:
  cohortName: ml
{more}  resourceGroups:
    - coveredResources: [nvidia.com/gpu]
      flavors:
        - name: h100
          resources:
            - name: nvidia.com/gpu
{h100}
        - name: a100
          resources:
            - name: nvidia.com/gpu
              nominalQuota: {a100}
"""


RESEARCH = """\
              nominalQuota: "32"
              borrowingLimit: 16"""
VISION = """\
              nominalQuota: 24000m
              lendingLimit: 16"""
SERVING = """\
              nominalQuota: 40
              lendingLimit: 24"""
FIFO = "  queueingStrategy: StrictFIFO\n"
ANY = "  preemption: {reclaimWithinCohort: Any}\n"
FLAVORS = """\
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ResourceFlavor
metadata: {name: h100}
spec:
  nodeLabels: {gpu.example.com/card: h100}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ResourceFlavor
metadata: {name: a100}
spec:
  nodeLabels: {gpu.example.com/card: "a100"}
"""


def local(name: str) -> str:
    return f"""\
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: {{name: {name}, namespace: {name}}}
spec: {{clusterQueue: {name}}}
"""


SAME = (
    a_queue("research", RESEARCH, more=FIFO)
    + a_queue("vision", VISION)
    + a_queue("serving", SERVING, more=ANY)
    + FLAVORS
    + "".join(map(local, ("research", "vision", "serving")))
)
OTHER = (
    a_queue("research", RESEARCH.replace("32", "40").replace("16", "8"))
    + a_queue("vision", VISION.replace("              lendingLimit: 16", ""))
    + a_queue("robots", SERVING)
    + a_queue("lab", SERVING.replace("40", "{{ .Values.lab }}"))
    + FLAVORS
    + local("research")
    + local("vision")
)


def without_priorities() -> Fleet:
    """The golden fleet without the classes that no file here declares."""
    return replace(a_fleet(), priority_classes={})


def an_index(files: dict[str, str], commit: str = HEAD) -> Index:
    data = {path: text.encode() for path, text in files.items()}
    facts = {path: scan(body) for path, body in data.items()}
    return Index(commit, Layout(), facts, data.__getitem__)


def drift_world(text: str, *deliveries: Delivery, fleet: Fleet | None = None) -> FakeWorld:
    return FakeWorld(
        fleet or without_priorities(),
        the_index=an_index({FILE: text}),
        the_deliveries=Deliveries(deliveries),
    )


def by_flux(applied: str = HEAD, message: str = "") -> Delivery:
    return Delivery(
        "Flux",
        "flux-system/prod",
        "https://git.example.com/ml/fleet.git",
        "clusters/prod",
        applied=applied,
        attempted=HEAD,
        fetched=HEAD,
        ready=not message,
        speaker="Kustomization flux-system/prod",
        message=message,
    )
