"""Pytest fixtures with real programs; `pytest_plugins = ["tests.cluster.fixtures"]` in the root conftest enables them.

What a test needs is built before the first test runs, so that no test's time limit has to cover a build.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.cluster import stack
from tests.cluster.build import is_built, missing_reason, path_of
from tests.cluster.control_plane import ControlPlane
from tests.cluster.flux import Flux
from tests.cluster.forge import Gitea
from tests.cluster.kueue import Kueue, KueueOptions
from tests.cluster.process import stop_everything
from tests.cluster.stack import Stack

_CONTROL_PLANE = ("etcd", "kubernetes")
_NEEDS = {
    "control_plane": _CONTROL_PLANE,
    "kueue_session": (*_CONTROL_PLANE, "kueue"),
    "gpu_session": stack.NEEDS,
    "gitea": ("gitea",),
    "flux": ("source-controller", "kustomize-controller"),
    "prometheus_program": ("prometheus",),
    "helm_program": ("helm",),
    "kustomize_program": ("kustomize",),
}


def require(*programs: str) -> None:
    """Skips the test, saying why, when a program can't be had here; fails it when $GPUBOT_REQUIRE_ALL is 1."""
    for program in programs:
        if reason := missing_reason(program):
            if os.environ.get("GPUBOT_REQUIRE_ALL") == "1":
                pytest.fail(reason, pytrace=False)
            pytest.skip(reason)


def pytest_collection_finish(session: pytest.Session) -> None:
    """Builds what the chosen tests need."""
    if session.config.option.collectonly:
        return
    fixtures = {name for item in session.items for name in getattr(item, "fixturenames", ())}
    wanted = {program: None for name in _NEEDS if name in fixtures for program in _NEEDS[name]}
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    for program in wanted:
        if reporter and not is_built(program):
            reporter.write_line(f"{program}: not built yet; a build takes minutes and happens once")
        missing_reason(program)


def pytest_unconfigure() -> None:
    """Stops what an interrupted session left running."""
    stop_everything()


@contextmanager
def _folder(factory: pytest.TempPathFactory, name: str) -> Iterator[Path]:
    """A folder of which only the logs are kept afterwards: pytest keeps folders, and databases are big."""
    folder = factory.mktemp(name)
    try:
        yield folder
    finally:
        for path in folder.rglob("*"):
            if path.is_file() and path.suffix != ".log":
                path.unlink(missing_ok=True)


@pytest.fixture(scope="session")
def control_plane(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ControlPlane]:
    """etcd and an API server, nothing else."""
    require(*_NEEDS["control_plane"])
    with (
        _folder(tmp_path_factory, "control-plane") as folder,
        ControlPlane(folder, controllers=False, scheduler=False) as running,
    ):
        yield running


@pytest.fixture(scope="session")
def kueue_session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kueue]:
    """Kueue with webhooks on a control plane of its own, which has controllers but no scheduler and no nodes."""
    require(*_NEEDS["kueue_session"])
    with (
        _folder(tmp_path_factory, "kueue") as folder,
        ControlPlane(folder / "control-plane", scheduler=False) as control_plane,
        Kueue(control_plane, folder / "kueue", KueueOptions(webhooks=True)) as running,
    ):
        yield running


@pytest.fixture
def kueue_cluster(kueue_session: Kueue) -> Iterator[Kueue]:
    """Kueue, emptied after the test. Its control plane is `kueue_cluster.control_plane`."""
    yield kueue_session
    kueue_session.control_plane.start()
    kueue_session.process.start()
    kueue_session.empty()


@pytest.fixture(scope="session")
def gpu_session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    """A whole cluster: simulated GPU nodes, Kueue, kube-state-metrics, DCGM exporter and Prometheus."""
    require(*_NEEDS["gpu_session"])
    with _folder(tmp_path_factory, "gpu") as folder, Stack(folder) as running:
        yield running


@pytest.fixture
def gpu_cluster(gpu_session: Stack) -> Iterator[Stack]:
    """The whole cluster, emptied of jobs and queues after the test; what Prometheus has seen stays."""
    yield gpu_session
    gpu_session.resume()
    gpu_session.empty()


@pytest.fixture(scope="session")
def gitea(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gitea]:
    """A forge with an administrator and several users. Tests make repositories of their own."""
    require(*_NEEDS["gitea"])
    with _folder(tmp_path_factory, "gitea") as folder, Gitea(folder) as running:
        yield running


@pytest.fixture(scope="session")
def flux(kueue_session: Kueue, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Flux]:
    """Flux's source and kustomize controllers on the control plane of `kueue_cluster`."""
    require(*_NEEDS["flux"])
    with (
        _folder(tmp_path_factory, "flux") as folder,
        Flux(kueue_session.control_plane, folder) as running,
    ):
        yield running


@pytest.fixture(scope="session")
def prometheus_program() -> None:
    """For tests that start a Prometheus of their own, or promtool: skips where it can't be had."""
    require(*_NEEDS["prometheus_program"])


@pytest.fixture(scope="session")
def helm_program() -> Path:
    """The path of helm."""
    return _single("helm")


@pytest.fixture(scope="session")
def kustomize_program() -> Path:
    """The path of kustomize."""
    return _single("kustomize")


def _single(program: str) -> Path:
    require(program)
    return path_of(program)
