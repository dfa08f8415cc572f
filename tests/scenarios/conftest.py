"""The lab as a fixture: one for all its tests, which leave the cluster running and reachable."""

from collections.abc import Iterator

import pytest

from tests.cluster.fixtures import require
from tests.cluster.stack import NEEDS
from tests.lab.lab import Lab


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    require(*NEEDS)
    with Lab(tmp_path_factory.mktemp("lab"), rate_scale=float("inf")) as running:
        yield running
