"""P6: one edit, the index of a large repository, and ruamel.yaml's round trip on the same files."""

import io
import statistics
import tempfile
import time
from pathlib import Path

from ruamel.yaml import YAML

from bench.lines import line
from bot.playground.seeding import seed_files
from gitops.index import Wanted
from gitops.indexer import Indexer
from gitops.manifest import apply
from gitops.repository import Repository
from tests.gitops.repositories import commit

FILES = 10_000
CLUSTERS = 20
WANTED = Wanted("nominalQuota", "h100", "nvidia.com/gpu")
QUEUE = """# the queue of one team
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata:
  name: q{number}
spec:
  cohortName: ml
  resourceGroups:
  - coveredResources: [nvidia.com/gpu]
    flavors:
    - name: h100
      resources:
      - name: nvidia.com/gpu
        nominalQuota: {quota}   # cards
"""
FULL = (
    """apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata:
  name: q{number}
  labels: {{team: t{number}}}
spec:
  cohortName: ml
  namespaceSelector: {{}}
  preemption: {{reclaimWithinCohort: Any, withinClusterQueue: LowerPriority}}
  resourceGroups:
  - coveredResources: [nvidia.com/gpu, cpu, memory]
    flavors:
"""
    + "".join(
        f"""    - name: {flavor}
      resources:
      - name: nvidia.com/gpu
        nominalQuota: {{quota}}
        borrowingLimit: 16
      - name: cpu
        nominalQuota: 512
      - name: memory
        nominalQuota: 4Ti
"""
        for flavor in ("h100", "a100", "l40s", "t4")
    )
    + """---
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: {{name: q{number}, namespace: t{number}}}
spec: {{clusterQueue: q{number}}}
"""
)
OTHER = (
    """apiVersion: apps/v1
kind: Deployment
metadata:
  name: d{number}
spec:
  replicas: 2
"""
    + "  # a line of an ordinary manifest\n" * 30
)


def _file(number: int) -> str:
    shape = QUEUE if number % 10 == 0 else OTHER
    return shape.format(number=number, quota=number % 64)


def index() -> None:
    with tempfile.TemporaryDirectory(prefix="gpubot-bench-") as folder:
        path = Path(folder) / "fleet.git"
        paths = {n: f"clusters/c{n % CLUSTERS}/f{n}.yaml" for n in range(FILES)}
        first = commit(path, {paths[n]: _file(n) for n in range(FILES)})
        indexer = Indexer(Repository(path))
        cold = _seconds(lambda: indexer.at(first))
        second = commit(path, {paths[0]: QUEUE.format(number=0, quota=63)})
        warm = _seconds(lambda: indexer.at(second).find("c0", "ClusterQueue", "q0", WANTED))
    print(line("P6", cold, f"s-index-of-{FILES}-files", 10))
    print(line("P6", warm, "s-index-after-one-change", 0.2))


def policy_index() -> None:
    """The hardest case: every file holds capacity policy, so every byte is parsed."""
    with tempfile.TemporaryDirectory(prefix="gpubot-bench-") as folder:
        path = Path(folder) / "fleet.git"
        files = {
            f"clusters/c{n % CLUSTERS}/f{n}.yaml": FULL.format(number=n, quota=n % 64)
            for n in range(FILES)
        }
        first = commit(path, files)
        indexer = Indexer(Repository(path))
        print(line("P6", _seconds(lambda: indexer.at(first)), f"s-index-of-{FILES}-policies", 10))


def edit() -> None:
    with tempfile.TemporaryDirectory(prefix="gpubot-bench-") as folder:
        path = Path(folder) / "fleet.git"
        seed = seed_files()
        first = commit(path, seed)
        place = (
            Indexer(Repository(path)).at(first).find("prod-eu", "ClusterQueue", "research", WANTED)
        )
    data = seed[place.path]
    change = place.edit("32", "40")
    ours = statistics.median(_seconds(lambda: apply(place.path, data, [change])) for _ in range(51))
    print(line("P6", ours * 1000, "ms-one-edit", 5))
    kept, took = _round_trip(data)
    print(
        f"# ruamel.yaml round trip of the same file: {took * 1000:.1f} ms, {kept:.0%} of lines kept"
    )
    print(line("P6", took / ours, "x-faster-than-ruamel", 1, more_is_better=True))


def _round_trip(data: bytes) -> tuple[float, float]:
    yaml, out = YAML(), io.BytesIO()
    took = _seconds(lambda: yaml.dump_all(list(yaml.load_all(data)), out))
    before, after = data.splitlines(), set(out.getvalue().splitlines())
    return sum(one in after for one in before) / len(before), took


def _seconds(work: object) -> float:
    began = time.perf_counter()
    work()  # type: ignore[operator]
    return time.perf_counter() - began


def main() -> None:
    edit()
    index()
    policy_index()
