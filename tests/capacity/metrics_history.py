"""A past for a real Prometheus: series written as OpenMetrics, and servers of two versions on it."""

import subprocess
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime, timedelta
from pathlib import Path

from tests.cluster.build import path_of
from tests.cluster.process import Process, free_port
from tests.cluster.prometheus import Prometheus
from tests.cluster.web import answers

DEBIAN = Path("/usr/bin/prometheus")
VERSIONS = ("3", "2.42")
Labels = Mapping[str, str]
Sample = tuple[datetime, float]


class History:
    """Series by metric and labels; ``rename`` maps label names, as a scrape may."""

    def __init__(self, rename: Mapping[str, str] | None = None) -> None:
        self._series: dict[str, dict[str, list[Sample]]] = defaultdict(lambda: defaultdict(list))
        self._rename = rename or {}

    def add(self, metric: str, labels: Labels, samples: Iterable[Sample]) -> None:
        named = {
            (self._rename.get(k, k) if metric.startswith("DCGM") else k): v
            for k, v in labels.items()
        }
        shown = ",".join(f'{name}="{value}"' for name, value in named.items())
        self._series[metric][shown] += samples

    def write(self, path: Path) -> Path:
        with path.open("w") as file:
            for metric, series in self._series.items():
                file.write(f"# TYPE {metric} gauge\n")
                for labels, samples in series.items():
                    for at, value in sorted(samples):
                        file.write(f"{metric}{{{labels}}} {value!r} {at.timestamp():.3f}\n")
            file.write("# EOF\n")
        return path


def every(
    start: datetime, hours: float, value: float, *, seconds: float = 60, offset: float = 13
) -> list[Sample]:
    """Return steady samples of [start, start + hours)."""
    end = start + timedelta(hours=hours)
    at, found = start + timedelta(seconds=offset), []
    while at < end:
        found.append((at, value))
        at += timedelta(seconds=seconds)
    return found


@contextmanager
def serving(version: str, folder: Path, history: Path) -> Iterator[str]:
    """Run the Prometheus of this version on a history; gives its address."""
    if version == "3":
        with Prometheus(folder / "prometheus", history=history) as running:
            yield running.url
        return
    with _debian(folder, history) as url:
        yield url


@contextmanager
def _debian(folder: Path, history: Path) -> Iterator[str]:
    data, config = folder / "data", folder / "prometheus.yml"
    config.write_text("global: {scrape_interval: 60s}\n")
    promtool = DEBIAN.with_name("promtool")
    subprocess.run(
        [promtool, "tsdb", "create-blocks-from", "openmetrics", history, data],
        check=True,
        capture_output=True,
    )
    url = f"http://127.0.0.1:{free_port()}"
    process = Process(
        "prometheus 2.42",
        [
            DEBIAN,
            f"--config.file={config}",
            f"--storage.tsdb.path={data}",
            "--storage.tsdb.retention.time=3650d",
            f"--web.listen-address={url.removeprefix('http://')}",
        ],
        folder / "prometheus.log",
        ready=lambda: answers(f"{url}/-/ready"),
    )
    process.start()
    try:
        yield url
    finally:
        process.stop()


def missing(version: str) -> str:
    """Return why this version can't be had here, or ""."""
    if version == "3":
        return "" if path_of("prometheus").exists() else "Prometheus 3 isn't built"
    return "" if DEBIAN.exists() else "no Prometheus 2 here (Debian: apt-get install prometheus)"
