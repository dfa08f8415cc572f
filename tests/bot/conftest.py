"""Stages: the bot's Slack side and a fake Slack, started for one test."""

import io
import logging
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from bot import logs
from capacity.kueue import ClusterConfig, ClusterReader, Pace
from tests.bot.databases import postgres_url, store, store_url  # noqa: F401  # fixtures
from tests.bot.stage import Stage
from tests.cluster.kueue import Kueue


@pytest.fixture
def log_lines() -> io.StringIO:
    """What the bot writes to its log during this test."""
    return io.StringIO()


@pytest.fixture(autouse=True)
def _logging(log_lines: io.StringIO) -> Iterator[None]:
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    logs.configure("INFO", "console", log_lines)
    yield
    root.handlers[:] = handlers
    root.setLevel(level)


@pytest.fixture
def staged() -> Iterator[Callable[..., Stage]]:
    running: list[Stage] = []

    def make(**options: Any) -> Stage:
        stage = Stage(**options).start()
        running.append(stage)
        return stage

    yield make
    for stage in running:
        stage.stop()


@pytest.fixture
def stage(staged: Callable[..., Stage]) -> Stage:
    return staged()


@pytest.fixture
def reader(kueue_cluster: Kueue) -> Iterator[ClusterReader]:
    """Our reader on the real Kueue."""
    config = ClusterConfig("test", kubeconfig=str(kueue_cluster.control_plane.kubeconfig()))
    made = ClusterReader(config, pace=Pace(pulse=0.5, longest_retry=1.0))
    made.start()
    yield made
    made.stop()
