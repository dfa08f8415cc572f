"""A pull request waits for its required status, is merged at the expected head, and Flux makes it live in Kueue.

Not tested: what people click in Gitea's pages.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator

import pytest

from tests.cluster.flux import Flux
from tests.cluster.forge import BOT, Gitea
from tests.cluster.kueue import Kueue
from tests.cluster.objects import Manifest, cluster_queue, flavor
from tests.cluster.process import wait_until
from tests.cluster.repository import Repository
from tests.cluster.web import RefusedError

pytestmark = pytest.mark.cluster

STATUS = "gpubot/approvals"
FILE = "clusters/prod/queues.yaml"


def queues(nominal: int) -> str:
    """The text of a file with a flavor and a queue of so many GPUs."""
    return "\n---\n".join(
        json.dumps(item) for item in (flavor("h100"), cluster_queue("vision", {"h100": nominal}))
    )


@pytest.fixture(scope="module")
def repository(gitea: Gitea) -> Repository:
    """A repository with one queue, and main protected by the bot's status."""
    made = gitea.repository("capacity", {FILE: queues(8)})
    made.protect(statuses=[STATUS])
    return made


@pytest.fixture
def followed(flux: Flux, repository: Repository, kueue_cluster: Kueue) -> Iterator[Flux]:
    """Flux following the repository, from its present head on."""
    flux.follow("capacity", repository.clone_url, "./clusters/prod")
    flux.wait_applied("capacity", repository.head())
    yield flux
    flux.unfollow("capacity")


def nominal(kueue: Kueue) -> str:
    """The quota of the queue in the cluster."""
    queue: Manifest = kueue.control_plane.api.get(
        "/apis/kueue.x-k8s.io/v1beta2/clusterqueues/vision"
    )
    return str(queue["spec"]["resourceGroups"][0]["flavors"][0]["resources"][0]["nominalQuota"])


def test_a_pull_request_becomes_quota(
    followed: Flux, repository: Repository, kueue_cluster: Kueue
) -> None:
    assert nominal(kueue_cluster) == "8"
    head = repository.commit({FILE: queues(12)}, "Give vision 12 GPUs", branch="gpubot/1", user=BOT)
    number = repository.open_pull("gpubot/1", "Give vision 12 GPUs", user=BOT)["number"]
    with pytest.raises(RefusedError, match="required status") as refused:
        repository.merge(number, head)
    assert refused.value.status == 405
    repository.set_status(head, STATUS, "pending", user=BOT)
    with pytest.raises(RefusedError) as refused:
        repository.merge(number, head)
    assert refused.value.status == 405
    repository.set_status(head, STATUS, "success", user=BOT)
    with pytest.raises(RefusedError) as refused:
        repository.merge(number, "0" * 40)
    assert refused.value.status == 409
    merge_when_checked(repository, number, head)
    followed.wait_applied("capacity", repository.head())
    assert nominal(kueue_cluster) == "12"


def merge_when_checked(repository: Repository, number: int, head: str) -> None:
    """Merges; Gitea looks at a pull request in the background and says "try again" meanwhile."""
    deadline = time.monotonic() + 20
    while True:
        try:
            return repository.merge(number, head)
        except RefusedError as refused:
            if "try again" not in refused.body.lower() or time.monotonic() > deadline:
                raise
            time.sleep(0.2)


def test_flux_says_why_a_commit_is_stuck(
    followed: Flux, gitea: Gitea, kueue_cluster: Kueue
) -> None:
    wrong = cluster_queue("wrong", {"h100": 1})
    wrong["spec"]["queueingStrategy"] = "Whatever"
    broken = gitea.repository("broken", {FILE: json.dumps(wrong)})
    followed.follow("broken", broken.clone_url, "./clusters/prod")

    def message() -> str:
        entries = followed.status("broken").get("conditions", ())
        return " ".join(
            entry["message"]
            for entry in entries
            if entry["type"] == "Ready" and entry["status"] == "False"
        )

    wait_until(lambda: "queueingStrategy" in message(), "the reason in the Ready condition")
    followed.unfollow("broken")


def test_direct_pushes_are_refused_and_gitea_keeps_its_data(
    gitea: Gitea, repository: Repository
) -> None:
    with pytest.raises(RefusedError):
        repository.commit({FILE: queues(99)}, "Around the review", user="alice")
    gitea.process.stop()
    gitea.process.start()
    assert "vision" in repository.read(FILE)
    assert gitea.api_as("bob").get("/user")["login"] == "bob"
