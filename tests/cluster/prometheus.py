"""A real Prometheus with the scrape jobs, the rules and the history that a test wants."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Self
from urllib.parse import quote, urlsplit

from tests.cluster.build import path_of
from tests.cluster.process import Process, ProcessError, free_port, wait_until
from tests.cluster.web import Api, answers


@dataclass(frozen=True, slots=True)
class Scrape:
    """One scrape job of Prometheus."""

    job: str
    url: str
    token: str | None = None
    labels: Mapping[str, str] = field(default_factory=dict)
    """Labels of the target. With `namespace` or `pod` here, the exporter's own become exported_namespace, exported_pod."""
    interval: str = "1s"

    @property
    def config(self) -> dict[str, Any]:
        """The job as an entry of scrape_configs."""
        url = urlsplit(self.url)
        config: dict[str, Any] = {
            "job_name": self.job,
            "scheme": url.scheme,
            "metrics_path": url.path,
            "scrape_interval": self.interval,
            "scrape_timeout": self.interval,
            "static_configs": [{"targets": [url.netloc], "labels": dict(self.labels)}],
        }
        if url.scheme == "https":
            config["tls_config"] = {"insecure_skip_verify": True}
        if self.token:
            config["authorization"] = {"credentials": self.token}
        return config


class Prometheus:
    """Prometheus on a port of its own, optionally with history that was written before it started."""

    def __init__(
        self,
        folder: Path,
        scrapes: Sequence[Scrape] = (),
        *,
        history: Path | None = None,
        rules: Sequence[Path] = (),
    ) -> None:
        """History is a file in OpenMetrics text with timestamps (ends in "# EOF"); rules are rule files."""
        self.folder = folder
        self.scrapes = tuple(scrapes)
        self.rules = tuple(rules)
        self.history = history
        self.url = f"http://127.0.0.1:{free_port()}"
        self.api = Api(self.url, {})
        folder.mkdir(parents=True, exist_ok=True)
        self.process = Process(
            "prometheus",
            [path_of("prometheus"), *self._flags()],
            folder / "prometheus.log",
            ready=lambda: answers(f"{self.url}/-/ready"),
        )

    def start(self) -> Self:
        """Writes the configuration and, the first time, the history; then starts the server."""
        config = {
            "global": {"scrape_interval": "1s", "evaluation_interval": "1s"},
            "scrape_configs": [scrape.config for scrape in self.scrapes],
            "rule_files": [str(rule) for rule in self.rules],
        }
        (self.folder / "prometheus.yml").write_text(json.dumps(config))
        data = self.folder / "data"
        if self.history and not data.exists():
            write_history(self.history, data)
        self.process.start()
        return self

    def stop(self) -> None:
        """Stops the server and keeps its data."""
        self.process.stop()

    def query(self, promql: str, at: float | None = None) -> list[dict[str, Any]]:
        """The result of an instant query: a list of {"metric": labels, "value": [time, text]}."""
        moment = "" if at is None else f"&time={at}"
        answer = self.api.get(f"/api/v1/query?query={quote(promql)}{moment}")
        result: list[dict[str, Any]] = answer["data"]["result"]
        return result

    def value(self, promql: str, at: float | None = None) -> float | None:
        """The one number of an instant query; None when there is no series."""
        result = self.query(promql, at)
        return float(result[0]["value"][1]) if result else None

    def wait_for(self, promql: str, seconds: float = 60) -> list[dict[str, Any]]:
        """Waits until a query has a result, and returns it."""
        wait_until(lambda: bool(self.query(promql)), f"a result of {promql}", seconds)
        return self.query(promql)

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

    def _flags(self) -> Iterable[str]:
        yield f"--config.file={self.folder / 'prometheus.yml'}"
        yield f"--storage.tsdb.path={self.folder / 'data'}"
        # History is old by design.
        yield "--storage.tsdb.retention.time=3650d"
        yield f"--web.listen-address={self.url.removeprefix('http://')}"
        yield "--web.enable-lifecycle"


def write_history(source: Path, data: Path) -> None:
    """Turns a file of OpenMetrics text into blocks in Prometheus' data folder.

    Raises:
        ProcessError: with promtool's words when the text isn't right.
    """
    data.mkdir(parents=True, exist_ok=True)
    promtool = path_of("prometheus", "promtool")
    command: list[str | Path] = [
        promtool,
        "tsdb",
        "create-blocks-from",
        "openmetrics",
        source,
        data,
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise ProcessError(
            f"promtool could not write the history:\n{(done.stdout + done.stderr)[-2000:]}"
        )
