"""A stand-in for dcgm-exporter, which needs cards: its exact metric names and labels, for pods on simulated nodes.

Run as `python -m tests.cluster.dcgm --server URL --token TOKEN --port PORT`. It reads nodes and pods from the API
server, gives each pod cards of its node as a device plugin would, and tells how busy they are from the annotation
`gpubot.test/gpu-util` (percent) or, without it, from a steady number drawn from the pod's uid.
When the API server is down it goes on with what it last knew, as the real one does with a kubelet.
"""

from __future__ import annotations

import argparse
import hashlib
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from tests.cluster.cards import Node, Pod, Slot, World
from tests.cluster.web import Api, bearer

_POLL_SECONDS = 1.0
_IDLE_WATTS, _FULL_WATTS = 70, 700
_RESERVED_MIB = 600
# A MIG instance has profiling counters and memory; the per-device utilisation counters don't exist for it.
_WHOLE_CARD_ONLY = ("DCGM_FI_DEV_GPU_UTIL", "DCGM_FI_DEV_MEM_COPY_UTIL")


def _card_uuid(node: str, card: int) -> str:
    digest = hashlib.sha256(f"{node}/{card}".encode()).hexdigest()
    return "GPU-" + "-".join(
        digest[a:b] for a, b in ((0, 8), (8, 12), (12, 16), (16, 20), (20, 32))
    )


def _labels(node: Node, slot: Slot, pod: Pod | None, hostname_label: str) -> str:
    """The labels in dcgm-exporter's order; the last three are absent when no pod holds the card."""
    labels = {
        "gpu": str(slot.card),
        "UUID": _card_uuid(node.name, slot.card),
        "pci_bus_id": f"00000000:{0x18 + slot.card * 0x10:02X}:00.0",
        "device": f"nvidia{slot.card}",
        "modelName": _model_name(node.labels.get("nvidia.com/gpu.product", "")),
    }
    if slot.profile:
        labels |= {"GPU_I_PROFILE": slot.profile, "GPU_I_ID": str(slot.instance)}
    labels |= {
        hostname_label: node.name,
        "DCGM_FI_DRIVER_VERSION": node.labels.get("nvidia.com/cuda.driver-version.full", ""),
    }
    if pod:
        labels |= {"container": pod.container, "namespace": pod.namespace, "pod": pod.name}
    return ",".join(f'{name}="{value}"' for name, value in labels.items())


def _model_name(product: str) -> str:
    """The driver's spelling of a product label: "NVIDIA H100 80GB HBM3"."""
    return product.removesuffix("-SHARED").replace("-", " ")


def _values(node: Node, slot: Slot, pod: Pod | None) -> dict[str, float]:
    total = int(node.labels.get("nvidia.com/gpu.memory", "0"))
    if slot.profile:
        total = int(slot.profile.partition(".")[2].partition("gb")[0]) * 1024
    percent = pod.utilisation if pod else 0.0
    usable = max(total - _RESERVED_MIB, 0)
    used = (
        usable * percent / 125
        if pod is None or pod.memory_used is None
        else min(pod.memory_used, usable)
    )
    return {
        "DCGM_FI_DEV_SM_CLOCK": 1980 if pod else 345,
        "DCGM_FI_DEV_GPU_TEMP": 30 + percent * 0.4,
        "DCGM_FI_DEV_POWER_USAGE": _IDLE_WATTS + (_FULL_WATTS - _IDLE_WATTS) * percent / 100,
        "DCGM_FI_DEV_GPU_UTIL": percent,
        "DCGM_FI_DEV_MEM_COPY_UTIL": percent / 2,
        "DCGM_FI_DEV_FB_FREE": usable - used,
        "DCGM_FI_DEV_FB_USED": used,
        "DCGM_FI_DEV_FB_RESERVED": min(_RESERVED_MIB, total),
        "DCGM_FI_PROF_GR_ENGINE_ACTIVE": percent / 100,
        "DCGM_FI_PROF_PIPE_TENSOR_ACTIVE": percent / 200,
        "DCGM_FI_PROF_DRAM_ACTIVE": percent / 250,
    }


def _rows(node: Node) -> Iterator[tuple[Slot, Pod | None]]:
    """One row per card or MIG instance. Of the pods that share a card only the first has one: the exporter's default."""
    holder = {slot: node.pods[uid] for uid, slots in node.held.items() for slot in slots}
    seen: set[int] = set()
    for slot in node.slots:
        if slot.profile:
            yield slot, holder.get(slot)
        elif slot.card not in seen:
            seen.add(slot.card)
            shares = (holder[s] for s in node.slots if s.card == slot.card and s in holder)
            yield slot, next(shares, None)


def render(nodes: Mapping[str, Node], hostname_label: str = "Hostname") -> str:
    """The text that a scrape gets: all nodes in one, where production has one exporter per node."""
    families: dict[str, list[str]] = {}
    for node in nodes.values():
        for slot, pod in _rows(node):
            labels = _labels(node, slot, pod, hostname_label)
            for name, value in _values(node, slot, pod).items():
                if not (slot.profile and name in _WHOLE_CARD_ONLY):
                    shown = f"{value:.6f}" if "_PROF_" in name else f"{round(value)}"
                    families.setdefault(name, []).append(f"{name}{{{labels}}} {shown}")
    lines = (
        f"# HELP {name} {name}\n# TYPE {name} gauge\n" + "\n".join(rows)
        for name, rows in families.items()
    )
    return "\n".join(lines) + "\n"


def serve(api: Api, port: int, hostname_label: str) -> None:
    """Serves /metrics until the process ends."""
    world = World(api)

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = render(world.nodes, hostname_label).encode()
            self.send_response(200)
            self.send_header("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_arguments: object) -> None:
            """Says nothing: one line per scrape helps nobody."""

    server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    while True:
        try:
            world.refresh()
        except OSError as error:
            print(f"API server: {error}", file=sys.stderr, flush=True)
        time.sleep(_POLL_SECONDS)


def main() -> None:
    """Reads the command line and serves."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--server", required=True)
    parser.add_argument("--token", required=True)
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--hostname-label", choices=("Hostname", "hostname"), default="Hostname")
    chosen = parser.parse_args()
    serve(Api(chosen.server, bearer(chosen.token)), chosen.port, chosen.hostname_label)


if __name__ == "__main__":
    main()
