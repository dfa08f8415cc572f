"""First sync and memory of the watch cache: ``python -m bench.first_sync [WORKLOADS]``.

The API server is the in-memory one in a process of its own; each reader runs in its own process
too, so that time and memory are its alone. Lines: NAME FIGURE UNIT goal GOAL ok|short.
"""

import gc
import json
import multiprocessing
import resource
import statistics
import sys
import threading
import time
from collections.abc import Callable, Iterable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import urllib3
from kubernetes import client
from kubernetes.informer import SharedInformer

from bench.lines import line
from bench.workload_objects import QUEUES, cluster_queues, local_queues, workloads
from bot.playground.cluster.apiserver import ApiServer
from bot.playground.cluster.objects import ObjectStore
from capacity.kueue import ClusterConfig, ClusterReader, Pace

PATH = "/apis/kueue.x-k8s.io/v1beta2/workloads"
CHANGES = 2_000
INFORMED = 10_000


def serve(count: int, pipe: Any) -> None:
    """Serve so many workloads; on each message make ``CHANGES`` changes, end on None."""
    store = ObjectStore()
    bodies = dict(workloads(count))
    store.load("workloads", bodies)
    store.load("clusterqueues", dict(cluster_queues()))
    store.load("localqueues", dict(local_queues()))
    server = ApiServer(store)
    server.start()
    sample = [json.loads(bodies[key]) for key in list(bodies)[:CHANGES]]
    jobs = serve_jobs(list(bodies.values())[:INFORMED])
    pipe.send((server.url, jobs, sum(map(len, bodies.values())) / count))
    while pipe.recv() is not None:
        for body in sample:
            body["spec"]["priority"] += 1
            store.put("workloads", json.loads(json.dumps(body)))
            time.sleep(0.001)
        pipe.send("done")
    server.stop()


def bare(url: str) -> dict[str, float]:
    """A paged list with bare decoding: what any client has to do at least."""
    pool, token, began = urllib3.PoolManager(), "", time.perf_counter()
    while True:
        query = {"limit": "500", **({"continue": token} if token else {})}
        page = json.loads(pool.request("GET", url + PATH, fields=query).data)
        token = page["metadata"].get("continue", "")
        if not token:
            return {"seconds": time.perf_counter() - began}


def reader(url: str, pipe: Any) -> dict[str, float]:
    """Our reader: first sync, memory, and the cost of a fleet while workloads change."""
    made = ClusterReader(ClusterConfig(server=url), pace=Pace(patience=300.0))
    gc.collect()
    before, began = rss(), time.perf_counter()
    made.start()
    fleet = made.fleet()
    seconds = time.perf_counter() - began
    gc.collect()
    kept = rss() - before
    pipe.send("change")
    costs, threads = [], threading.active_count()
    while not pipe.poll(0):
        start = time.perf_counter()
        fleet = made.fleet()
        costs.append(time.perf_counter() - start)
        assert len(fleet.workloads.pending("queue-0002")) > 0
        time.sleep(0.005)
    pipe.recv()
    made.stop()
    costs.sort()
    return {
        "seconds": seconds,
        "bytes": kept / len(fleet.workloads),
        "count": len(fleet.workloads),
        "fleet_p50": statistics.median(costs) * 1000,
        "fleet_p99": costs[int(len(costs) * 0.99)] * 1000,
        "threads": threads,
    }


def informer(url: str, count: int) -> dict[str, float]:
    """The official client's SharedInformer with its models, on as many Jobs of the same pods."""
    configuration = client.Configuration()
    configuration.host = url
    api = client.BatchV1Api(client.ApiClient(configuration))
    gc.collect()
    before, began = rss(), time.perf_counter()
    made = SharedInformer(api.list_job_for_all_namespaces)
    made.start()
    while len(made.cache.list()) < count:
        time.sleep(0.01)
    seconds = time.perf_counter() - began
    gc.collect()
    return {"seconds": seconds, "bytes": (rss() - before) / count}


class Jobs(BaseHTTPRequestHandler):
    """Serves the Jobs behind the workloads, for the official client's own list call."""

    body = b""

    def do_GET(self) -> None:
        quiet = "watch" in self.path
        if quiet:
            time.sleep(30)
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        self.wfile.write(b"" if quiet else self.body)

    def log_message(self, *args: Any) -> None:
        pass


def serve_jobs(bodies: Iterable[bytes]) -> str:
    """Serve a JobList and return its address."""
    jobs = [_job(json.loads(body)) for body in bodies]
    listed = {"apiVersion": "batch/v1", "kind": "JobList", "metadata": {"resourceVersion": "1"}}
    Jobs.body = json.dumps({**listed, "items": jobs}).encode()
    server = ThreadingHTTPServer(("127.0.0.1", 0), Jobs)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_address[1]}"


def _job(workload: dict[str, Any]) -> dict[str, Any]:
    pods = workload["spec"]["podSets"][0]
    conditions = [
        {k: v for k, v in c.items() if k != "observedGeneration"}
        for c in workload["status"]["conditions"]
    ]
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": workload["metadata"],
        "spec": {"parallelism": pods["count"], "template": pods["template"]},
        "status": {"conditions": conditions},
    }


def rss() -> int:
    """Resident bytes of this process now."""
    return int(Path("/proc/self/statm").read_text("ascii").split()[1]) * resource.getpagesize()


def apart(work: Callable[..., dict[str, float]], *arguments: Any) -> dict[str, float]:
    """Run a measurement in a fresh process."""
    context = multiprocessing.get_context("spawn")
    mine, theirs = context.Pipe()
    process = context.Process(target=_report, args=(theirs, work, arguments))
    process.start()
    found: dict[str, float] = mine.recv()
    process.join(10)
    process.kill()
    return found


def _report(pipe: Any, work: Callable[..., dict[str, float]], arguments: Any) -> None:
    pipe.send(work(*arguments))


def main(count: int = 100_000) -> None:
    context = multiprocessing.get_context("spawn")
    mine, theirs = context.Pipe()
    server = context.Process(target=serve, args=(count, theirs))
    server.start()
    url, jobs, size = mine.recv()
    print(f"# {count} workloads of {size:.0f} bytes, {QUEUES} queues")
    plain = apart(bare, url)
    ours = apart(reader, url, mine)
    print(f"# bare paged list with json: {plain['seconds']:.2f} s; ours {ours['seconds']:.2f} s")
    print(line("P3", ours["seconds"] / plain["seconds"], "x-first-sync-of-bare-list", 1.5))
    print(line("P4", ours["bytes"], "bytes-kept/workload", 1536))
    print(line("P3", ours["fleet_p50"], "ms-fleet-p50-under-change", 5))
    print(line("P3", ours["fleet_p99"], "ms-fleet-p99-under-change", 50))
    some = min(INFORMED, count)
    theirs_ = apart(informer, jobs, some)
    each, ours_each = theirs_["seconds"] / some, ours["seconds"] / count
    print(
        f"# SharedInformer, {some} Jobs: {each * 1e6:.0f} us and {theirs_['bytes']:.0f} bytes each"
    )
    print(line("P3", each / ours_each, "x-faster-than-informer", 5, more_is_better=True))
    print(
        line(
            "P3",
            theirs_["bytes"] / ours["bytes"],
            "x-smaller-than-informer",
            10,
            more_is_better=True,
        )
    )
    mine.send(None)
    server.join(10)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 100_000)
