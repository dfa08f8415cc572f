"""P2: /gpu-quota on a large cluster, and beside `kubectl get -o json | jq` on one API server.

In process: 1,000 queues x 8 flavors and 100,000 workloads, read by the real reader from the
in-memory API server in a process of its own; an answer is question to Block Kit. The peer asks a
real API server for the same objects and lets jq add them up; ours answers from its cache of it.
"""

import json
import multiprocessing
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

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
PEER_WORKLOADS = 1_000
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
    """Create queues and workloads, then their status, a few at a time."""
    bodies = [(f"{API}/clusterqueues", json.loads(b)) for _, b in cluster_queues()]
    for _, raw in workloads(PEER_WORKLOADS):
        body = json.loads(raw)
        body["metadata"]["namespace"] = "default"
        bodies.append((f"{API}/namespaces/default/workloads", body))

    def create(path: str, body: dict[str, Any]) -> None:
        kind = "Workload" if path.endswith("workloads") else "ClusterQueue"
        status = body.pop("status")
        for name in ("resourceVersion", "managedFields", "uid"):
            body["metadata"].pop(name, None)
        full = {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": kind, **body}
        made = plane.api.post(path, full)
        plane.api.put(f"{path}/{made['metadata']['name']}/status", {**made, "status": status})

    with ThreadPoolExecutor(8) as pool:
        for done in [pool.submit(create, *each) for each in bodies]:
            done.result()


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
