"""P2: /gpu-quota on a large cluster, and beside `kubectl get -o json | jq` on one API server.

In process: 1,000 queues x 8 flavors and 100,000 workloads, read by the real reader from the
in-memory API server in a process of its own; an answer is question to Block Kit. The peer asks a
real API server for the same objects and lets jq add them up; ours answers from its cache of it.
GPUBOT_BENCH_PEER says how many workloads that one holds; kubectl takes a minute and gigabytes for
100,000.
"""

import json
import multiprocessing
import os
import shutil
import subprocess
import tempfile
import time
import uuid
from base64 import b64encode
from collections.abc import Callable
from pathlib import Path

import urllib3

from bench.first_sync import apart, serve
from bench.lines import line
from bench.workload_objects import QUEUES, cluster_queues, workloads
from bot.blocks import render
from capacity.kueue import ClusterConfig, ClusterReader, Pace
from commands.command import Asker
from commands.parse import parse
from commands.table import run
from tests.builders import FakeWorld
from tests.cluster.build import missing_reason, path_of
from tests.cluster.control_plane import ControlPlane
from tests.cluster.users import ADMIN

SIZES = (10_000, 50_000, 100_000)
ASKED = 200
PEER_WORKLOADS = int(os.environ.get("GPUBOT_BENCH_PEER", "20000"))
AT_ONCE = 100
API = "/apis/kueue.x-k8s.io/v1beta2"
JQ = (
    '[.items[] | select(.kind == "ClusterQueue" and .metadata.name == "queue-0007")'
    " | .status.flavorsReservation, .spec.resourceGroups]"
    ' + [[.items[] | select(.kind == "Workload")'
    ' | select(.status.admission.clusterQueue == "queue-0007")] | length]'
)


def timed(reader: ClusterReader, asked: int) -> list[float]:
    """Seconds of each answer, for queues in turn, sorted."""
    world, taken = FakeWorld(), []
    for number in range(asked):
        start = time.perf_counter()
        world.the_fleet = reader.fleet()
        world.at = world.the_fleet.as_of
        _, page = run(parse(f"quota queue-{number % QUEUES:04}", Asker()), world)
        render(page)
        taken.append(time.perf_counter() - start)
    return sorted(taken)


def answers(config: ClusterConfig) -> dict[str, float]:
    """Answer times of a fresh process that reads this cluster."""
    reader = ClusterReader(config, pace=Pace(patience=300.0))
    reader.start()
    reader.fleet()
    timed(reader, 10)
    taken = timed(reader, ASKED)
    reader.stop()
    return {"p50": taken[len(taken) // 2] * 1000, "p95": taken[int(len(taken) * 0.95)] * 1000}


def in_process() -> None:
    context = multiprocessing.get_context("spawn")
    middle = {}
    for count in SIZES:
        mine, theirs = context.Pipe()
        server = context.Process(target=serve, args=(count, theirs))
        server.start()
        url, _, _ = mine.recv()
        found = apart(answers, ClusterConfig(server=url))
        mine.send(None)
        server.join(10)
        middle[count] = found["p50"]
        print(f"# {count} workloads: /gpu-quota p50 {found['p50']:.1f} ms")
    print(line("P2", found["p95"], "ms-quota-p95", 50))
    print(line("P4", middle[SIZES[-1]] / middle[SIZES[0]], "x-answer-time-100k-to-10k", 1.5))


def beside_kubectl() -> None:
    """Load a real API server, then time both ways to one queue's figures."""
    lacking = [r for p in ("etcd", "kubernetes", "kueue") if (r := missing_reason(p))]
    if lacking or not shutil.which("jq"):
        print(f"# P2 beside kubectl: not measured, {(lacking or ['jq is not installed'])[0]}")
        return
    with (
        tempfile.TemporaryDirectory(prefix="gpubot-bench-") as folder,
        ControlPlane(Path(folder), controllers=False, scheduler=False) as plane,
    ):
        crds = str(path_of("kueue", "crds"))
        plane.kubectl("apply", "--server-side", "-f", crds)
        plane.kubectl("wait", "--for=condition=Established", "--timeout=60s", "-f", crds)
        load(plane)
        config = ClusterConfig(
            server=plane.url, token=ADMIN.token, ca_file=str(plane.certificate.cert)
        )
        ours = apart(answers, config)["p50"] / 1000
        kubectl = path_of("kubernetes", "kubectl")
        kinds = "clusterqueues.kueue.x-k8s.io,workloads.kueue.x-k8s.io"
        get = f"{kubectl} --kubeconfig {plane.kubeconfig()} get {kinds} -A -o json | jq '{JQ}'"
        theirs = _fastest(lambda: subprocess.run(["sh", "-c", get], check=True, stdout=-3))
    print(f"# {QUEUES} queues and {PEER_WORKLOADS} workloads on one real API server:")
    print(f"# kubectl and jq {theirs:.2f} s, ours {ours * 1000:.1f} ms")
    print(line("P2", theirs / ours, "x-faster-than-kubectl-jq", 20, more_is_better=True))


def load(plane: ControlPlane) -> None:
    """Write queues and workloads into etcd as the API server stores them, a hundred at once.

    Custom resources are kept as JSON (kube-apiserver's unstructured scheme). Through the API, with
    a second call for each status, the same takes an hour.
    """
    objects = [("clusterqueues", "ClusterQueue", *each) for each in cluster_queues()]
    objects += [("workloads", "Workload", *each) for each in workloads(PEER_WORKLOADS)]
    pool = urllib3.PoolManager()
    for start in range(0, len(objects), AT_ONCE):
        puts = [{"requestPut": _stored(*each)} for each in objects[start : start + AT_ONCE]]
        done = pool.request("POST", f"{plane.etcd_url}/v3/kv/txn", json={"success": puts})
        if done.status != 200:
            raise RuntimeError(f"etcd refuses objects: {done.data[:200]!r}")
    shown = plane.api.get(f"{API}/workloads?limit=1")
    served = 1 + shown["metadata"]["remainingItemCount"]
    if served != PEER_WORKLOADS or not shown["items"][0]["status"]:
        raise RuntimeError(f"the API server serves {served} workloads")


def _stored(plural: str, kind: str, place: tuple[str, str], raw: bytes) -> dict[str, str]:
    """Return an object as a key and a value of etcd's JSON gateway."""
    body = {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": kind, **json.loads(raw)}
    body["metadata"].pop("resourceVersion", None)
    body["metadata"].setdefault("uid", str(uuid.uuid5(uuid.NAMESPACE_OID, "/".join(place))))
    body["metadata"].setdefault("creationTimestamp", "2026-11-01T00:00:00Z")
    key = "/".join(filter(None, ("/registry/kueue.x-k8s.io", plural, *place)))
    value = json.dumps(body).encode()
    return {"key": b64encode(key.encode()).decode(), "value": b64encode(value).decode()}


def _fastest(work: Callable[[], object]) -> float:
    taken = []
    for _ in range(3):
        start = time.perf_counter()
        work()
        taken.append(time.perf_counter() - start)
    return min(taken)


def main() -> None:
    in_process()
    beside_kubectl()
