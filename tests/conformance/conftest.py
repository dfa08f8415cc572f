"""Two real Kueues, with and without fair sharing, each on a control plane of its own."""

from collections.abc import Iterator

import pytest

from tests.cluster.control_plane import ControlPlane
from tests.cluster.fixtures import _folder, require
from tests.cluster.kueue import Kueue, KueueOptions

_NEEDS = ("etcd", "kubernetes", "kueue")
_FAST = {"clientConnection": {"qps": 500, "burst": 1000}}


def _running(factory: pytest.TempPathFactory, name: str, options: KueueOptions) -> Iterator[Kueue]:
    require(*_NEEDS)
    with (
        _folder(factory, name) as folder,
        ControlPlane(folder / "plane", controllers=False, scheduler=False) as plane,
        Kueue(plane, folder / "kueue", options) as running,
    ):
        yield running


@pytest.fixture(scope="session")
def fair_kueue(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kueue]:
    """Kueue with fair sharing: it reports weighted shares."""
    yield from _running(
        tmp_path_factory, "fair", KueueOptions(fair_sharing=True, configuration=_FAST)
    )


@pytest.fixture(scope="session")
def plain_kueue(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kueue]:
    """Kueue without fair sharing: it preempts by the classical rules."""
    yield from _running(tmp_path_factory, "plain", KueueOptions(configuration=_FAST))


@pytest.fixture(scope="session")
def granular_kueue(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kueue]:
    """Kueue that names each reason for a wait itself, as it will by default from v0.20 on."""
    gates = {"UnadmittedWorkloadsObservability": True}
    options = KueueOptions(feature_gates=gates, configuration=_FAST)
    yield from _running(tmp_path_factory, "granular", options)
